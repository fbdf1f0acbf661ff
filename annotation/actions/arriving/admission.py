"""Who may enter a study, and the messages for those who may not."""

from datetime import datetime

from django.utils.translation import gettext

from annotation.actions.answering import practice_rounds
from annotation.actions.arriving import eligibility, lobby
from annotation.errors import CannotTakePart, NothingLeft, NothingYet, NotOpen
from annotation.language import translate
from annotation.models import Annotator, Block, Removal, Session
from annotation.models.sessions import TAKEN_PART
from annotation.recruitment import invite
from studies.eligibility import get_rule
from studies.models import Study, StudyState


def check_open_to(*, study: Study, annotator: Annotator | None, provider: str) -> None:
    """Raise CannotTakePart, NotOpen or NotEligible if `annotator` (None: somebody new) may not begin `study`."""
    if annotator is not None:
        _check_not_removed(study=study, annotator=annotator, provider=provider)
    if study.state != StudyState.OPEN:
        raise _not_open(StudyState(study.state), provider)
    if annotator is not None and has_taken_part(study=study, annotator=annotator):
        raise CannotTakePart(
            gettext("You have already taken part in this study. Thank you!"),
            gettext("Your answers are saved; there is nothing to do."),
        )
    open_sessions = Session.objects.filter(study=study, annotator=annotator, ended_at=None)
    # Rules do not apply to somebody who returns under a new submission.
    if study.design.eligibility and (annotator is None or not open_sessions.exists()):
        eligibility.check(study=study, annotator=annotator, provider=provider)


def _check_not_removed(*, study: Study, annotator: Annotator, provider: str) -> None:
    reasons = Removal.objects.reasons(annotator=annotator.pk, project=study.project_id)
    what_next = gettext("Please return it on the platform.") if provider != invite.PROVIDER else ""
    if Removal.Why.WITHDRAWN in reasons:
        raise CannotTakePart(
            gettext("You withdrew your consent, so you cannot take part in these studies again."), what_next
        )
    if reasons or is_blocked(study=study, annotator=annotator):
        raise CannotTakePart(gettext("You cannot take part in this study."), what_next)


def is_blocked(*, study: Study, annotator: Annotator) -> bool:
    """Whether a researcher lets the annotator start no further session, in the project of `study` or anywhere."""
    if annotator.blocked:
        return True
    return Block.objects.in_force().filter(annotator=annotator, project=study.project_id).exists()


def has_taken_part(*, study: Study, annotator: Annotator) -> bool:
    """Whether the annotator has had all sessions allowed per person, or has failed the practice."""
    most = study.design.recruitment.sessions_per_annotator
    done = Session.objects.filter(study=study, annotator=annotator, state__in=TAKEN_PART)
    return bool(most and done.count() >= most) or practice_rounds.has_failed(study=study, annotator=annotator)


def _not_open(state: StudyState, provider: str) -> NotOpen:
    reason = {
        StudyState.DRAFT: gettext("This study has not started yet."),
        StudyState.PAUSED: gettext("This study is paused at the moment."),
        StudyState.CLOSED: gettext("This study has ended."),
    }[state]
    if provider != invite.PROVIDER:
        return NotOpen(reason, gettext("Please return it on the platform, or try the same link again later."))
    if state == StudyState.CLOSED:
        return NotOpen(reason, gettext("There is nothing left for you to do. You can close this page."))
    return NotOpen(reason, gettext("Try the same link again later."))


def nothing_left(*, study: Study, annotator: Annotator | None, provider: str, now: datetime) -> NothingLeft:
    """Return the error for somebody who gets no questions.

    All places are taken, what is left is for others, or nothing is ready yet.
    """
    is_invited = provider == invite.PROVIDER
    what_next = (
        gettext("This is not your fault. A place may become free: try the same link again later.")
        if is_invited
        else gettext(
            "This is not your fault. A place may become free: try the same link again later, or return the study on "
            "the platform that invited you."
        )
    )
    kept = next(iter(eligibility.find_bars_by_rule(study=study, annotator=annotator)), "")
    if kept and lobby.has_questions_ready(study=study, annotator=None, now=now):
        return NothingLeft(translate(get_rule(kept).told), what_next, rule=kept)
    if not lobby.may_get_questions_later(study=study, annotator=annotator, now=now):
        return NothingLeft(gettext("All places of this study are taken at the moment."), what_next)
    return NothingYet(
        gettext(
            "The questions in this study depend on the answers of other people. None is ready for you at the moment."
        ),
        gettext("This is not your fault. Try the same link again later.")
        if is_invited
        else gettext(
            "This is not your fault. Try the same link again later, or return the study on the platform that invited "
            "you."
        ),
    )
