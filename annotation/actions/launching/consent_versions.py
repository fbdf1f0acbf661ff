"""Versions of the consent text of a launched study: which is shown, who agreed to which, and amendments.

The design of a launched study is frozen, so the text in it stays version 1.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.models import Session, SessionState
from annotation.models.sessions import OPEN_STATES
from studies.actions.events import Actor, What, name_of, person, record, who_launched
from studies.design.model import LONGEST_PAGE
from studies.errors import StudyError
from studies.models import UNDER_WAY, ConsentVersion, Study
from studies.models.consents import sha256_of
from studies.names import LONGEST_NOTE, problem_with_text

# Sessions that have agreed to a text and may continue. Before, they are shown the latest text anyway.
_UNDER_WAY = (OPEN_STATES - {SessionState.CONSENT}) | {SessionState.LAPSED}


def latest_version(study: Study) -> ConsentVersion | None:
    """Return the consent text that newcomers to `study` see.

    None without a consent page, and while a study that an older version of the platform launched has only the text of
    its design.
    """
    return ConsentVersion.objects.filter(study=study).order_by("number").last() if study.design.consent else None


def stored_version(*, study: Study, now: datetime) -> ConsentVersion | None:
    """Return the latest version of a launched study, and store version 1 first if an older platform launched it."""
    at = study.launched_at or now
    return latest_version(study) or first_version(study=study, author=who_launched(study) or "", now=at)


def first_version(*, study: Study, author: Actor, now: datetime) -> ConsentVersion | None:
    """Store the consent text of the design as version 1; None without one. Repeating it changes nothing."""
    if not study.design.consent:
        return None
    text = study.design.consent
    values = {"text": text, "sha256": sha256_of(text), "at": now, "by": person(author), "by_name": name_of(author)}
    return ConsentVersion.objects.get_or_create(study=study, number=1, defaults=values)[0]


@dataclass(frozen=True)
class Amendment:
    """A new version of a consent text. asked: sessions under way that are shown it before their next question."""

    version: ConsentVersion
    asked: int


@transaction.atomic
def amend_consent(*, study: Study, text: str, reason: str, ask_again: bool, by: Actor, now: datetime) -> Amendment:
    """Make `text` the consent text of a launched study, from now on.

    ask_again: sessions under way are shown it before their next question. Otherwise they go on under the text that they
    agreed to. Raises StudyError with all problems.
    """
    text, reason = text.replace("\r\n", "\n").strip(), reason.strip()
    # One amendment at a time, so that each gets its own number.
    study = Study.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=study.pk)
    before = stored_version(study=study, now=now) if study.launched_at else None
    problems = _problems(study, before, text, reason)
    if problems or before is None:
        raise StudyError(*problems)
    version = ConsentVersion.objects.create(
        study=study,
        number=before.number + 1,
        text=text,
        sha256=sha256_of(text),
        reason=reason,
        at=now,
        by=person(by),
        by_name=name_of(by),
    )
    asked = _ask_again(study) if ask_again else 0
    record(
        project=study.project,
        study=study,
        what=What.CONSENT_AMENDED,
        by=by,
        now=now,
        version=version.number,
        sha256=version.sha256,
        reason=reason,
        sessions=asked,
    )
    return Amendment(version, asked)


def _ask_again(study: Study) -> int:
    """Have all sessions under way be asked; return their number."""
    # Also those that have not agreed yet: one may be agreeing to the text before at this moment.
    Session.objects.filter(study=study, state__in=_UNDER_WAY | {SessionState.CONSENT}).update(asks_consent=True)
    return Session.objects.filter(study=study, state__in=_UNDER_WAY, asks_consent=True).count()


def _problems(study: Study, before: ConsentVersion | None, text: str, reason: str) -> list[str]:
    if study.launched_at is None:
        return ["This study is a draft. Change `consent` in its study file."]
    if before is None:
        return ["This study has no consent page, so it has no text to change. Duplicate it, and write `consent` there."]
    if study.state not in UNDER_WAY:
        return ["This study is closed. Nobody will read a new consent text, so nothing was changed."]
    problems = []
    if not text:
        problems.append("The consent text is empty. Write the complete text.")
    elif problem := problem_with_text(text, LONGEST_PAGE):
        problems.append(f"The consent text cannot be stored. {problem}")
    elif text == before.text.strip():
        problems.append(f"This is already the text of version {before.number}. Change it, or cancel.")
    if not reason:
        problems.append("Say why the text changes, such as the number of the ethics amendment.")
    elif problem := problem_with_text(reason, LONGEST_NOTE):
        problems.append(f"The reason cannot be stored. {problem}")
    return problems
