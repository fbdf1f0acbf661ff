"""Compute the flags of a study's sessions, and store what changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from analytics.flags import Evidence, get_flag_rule
from analytics.study_flags import find_flags
from annotation.models import Response, Session, SessionFlag
from results.models import FlagCheck
from results.queries.quality.session_records import sent_records
from studies.actions.events import Actor, What, record
from studies.models import Event, Study, StudyState

# New answers of an open study are checked this often; a session that ended, at once.
CHECK_EVERY = timedelta(minutes=5)
# Answers are stored a little after the time that they bear.
OVERLAP = timedelta(seconds=30)
# After these, other answers count.
CHANGES_ANSWERS = (
    *(What.ANNOTATOR_WITHDRAWN, What.ANNOTATOR_EXCLUDED, What.ANNOTATOR_LET_BACK, What.ANNOTATOR_FORGOTTEN),
    *(What.QUESTION_TAKEN_OUT, What.QUESTION_PUT_BACK),
)


@dataclass(frozen=True)
class FlagChanges:
    """sessions: with answers. flagged: of these, with a flag. found, cleared: flags that were not, or are no
    longer, found."""

    sessions: int = 0
    flagged: int = 0
    found: int = 0
    cleared: int = 0


def flag_sessions(*, study: Study, by: Actor, now: datetime) -> FlagChanges:
    """Apply all flag rules to the sessions of `study`; running twice equals once, and only changes are written.

    A flag that is no longer found is cleared, also because its answers no longer count: after a withdrawal, an
    exclusion, or where questions were taken out. Verdicts stay. A computation that began later wins.
    """
    sent, captions = sent_records(study)
    by_session = find_flags(sent, captions=captions)
    found = {(session, name): evidence for session, names in by_session.items() for name, evidence in names.items()}
    sessions = len(by_session)
    with transaction.atomic():
        check, _ = FlagCheck.objects.select_for_update().get_or_create(
            study=study, defaults={"checked_at": now, "sessions": sessions}
        )
        if check.checked_at > now:
            return FlagChanges()
        check.checked_at, check.sessions = now, sessions
        check.save()
        new, cleared = _store(study, found, now=now)
        if new or cleared:
            record(
                project=study.project, study=study, what=What.FLAGS_CHANGED, by=by, now=now, found=new, cleared=cleared
            )
    return FlagChanges(sessions, len({session for session, _ in found}), new, cleared)


def _store(study: Study, found: Mapping[tuple[int, str], Evidence], *, now: datetime) -> tuple[int, int]:
    """Store the flags of `study` and return how many were found anew, and how many were cleared."""
    stored = {(row.session_id, row.rule): row for row in SessionFlag.objects.filter(session__study=study)}
    # A session may have been deleted meanwhile.
    there = set(Session.objects.filter(pk__in={session for session, _ in found}).values_list("pk", flat=True))
    new, changed, found_again, cleared = [], [], 0, 0
    for (session, name), evidence in found.items():
        version, row = get_flag_rule(name).version, stored.get((session, name))
        values: dict[str, Any] = {"version": version, "evidence": dict(evidence), "cleared_at": None}
        if row is None:
            if session in there:
                new.append(SessionFlag(session_id=session, rule=name, found_at=now, **values))
        elif any(getattr(row, field) != value for field, value in values.items()):
            found_again += row.cleared_at is not None
            vars(row).update(values)
            changed.append(row)
    for key, row in stored.items():
        if key not in found and row.cleared_at is None:
            row.cleared_at = now
            changed.append(row)
            cleared += 1
    SessionFlag.objects.bulk_create(new, batch_size=500)
    SessionFlag.objects.bulk_update(changed, ["version", "evidence", "cleared_at"], batch_size=500)
    return len(new) + found_again, cleared


def studies_to_flag(*, now: datetime) -> Iterator[Study]:
    """Yield the studies with answers that their flags do not know.

    A session has ended, other answers count since then, or an open study has new answers for CHECK_EVERY.
    """
    for study in _launched():
        check = getattr(study, "flag_check", None)
        if check is None:
            if Response.objects.filter(study=study).exists():
                yield study
        elif _is_due(study, check.checked_at, now=now):
            yield study


def _launched() -> QuerySet[Study]:
    launched = Study.objects.exclude(state=StudyState.DRAFT).select_related("project", "flag_check")
    return launched.order_by("pk")


def _is_due(study: Study, checked_at: datetime, *, now: datetime) -> bool:
    since = checked_at - OVERLAP
    answers = Response.objects.filter(study=study, received_at__gt=since)
    ended = Session.objects.filter(study=study, ended_at__gt=since)
    changed = Event.objects.filter(Q(study=study) | Q(study=None), project=study.project_id, at__gt=since)
    is_changed = changed.filter(what__in=CHANGES_ANSWERS).exists()
    return is_changed or (
        answers.exists()
        and (checked_at + CHECK_EVERY <= now or ended.filter(Exists(answers.filter(session=OuterRef("pk")))).exists())
    )
