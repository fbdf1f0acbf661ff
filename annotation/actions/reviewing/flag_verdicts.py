"""Verdicts on the flags of a session: a researcher upholds or dismisses them, and may take that back."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.actions.removing import removals
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.reopen_places import ReopenedPlaces
from annotation.errors import AnnotationError
from annotation.models import Removal, Session, SessionFlag
from studies.actions.events import Actor, What, name_of, person, record
from studies.names import LONGEST_NOTE, problem_with_text

Verdict = SessionFlag.Verdict
_EVENTS = {Verdict.UPHELD: What.FLAGS_UPHELD, Verdict.DISMISSED: What.FLAGS_DISMISSED}


class CannotReview(AnnotationError):
    """The flags cannot be reviewed this way; the message tells the researcher why."""


@transaction.atomic
def review_flags(
    *, session: Session, flags: Collection[int], verdict: Verdict, note: str, by: Actor, now: datetime
) -> list[SessionFlag]:
    """Uphold or dismiss `flags` (ids) of `session`. Nothing follows for the answers or the pay.

    Raises CannotReview if somebody else was faster, naming them, and for flags that are gone.
    """
    if problem := problem_with_text(note, LONGEST_NOTE):
        raise CannotReview(f"The note cannot be kept. {problem}")
    found = _lock(session, flags)
    for flag in found:
        if flag.verdict:
            who = name_of(flag.reviewed_by) if flag.reviewed_by else "Somebody"
            raise CannotReview(
                f"{who} {flag.get_verdict_display().lower()} this on {flag.reviewed_at:%-d %B, %H:%M} UTC. "
                "Your decision was not saved."
            )
        if flag.cleared_at is not None:
            raise CannotReview("A later check no longer finds this flag, so there is nothing to decide.")
    _store(found, verdict=verdict.value, note=note.strip(), reviewed_at=now, reviewed_by=person(by))
    _record(session, _EVENTS[verdict], found, by=by, now=now)
    return found


@transaction.atomic
def exclude_and_replace(
    *, session: Session, flags: Collection[int], note: str, by: Actor, now: datetime
) -> tuple[RemovalEffects, ReopenedPlaces]:
    """Uphold `flags` of `session`, exclude its annotator from the project, and ask other people instead.

    The note is the reason. Raises CannotReview and CannotRemove; then nothing is changed.
    """
    review_flags(session=session, flags=flags, verdict=Verdict.UPHELD, note=note, by=by, now=now)
    about: dict[str, Any] = {
        "annotator": session.annotator,
        "project": session.study.project,
        "by": by,
        "now": now,
    }
    excluded = removals.exclude(**about, reason=note)
    return excluded, removals.reopen_slots(**about)


@transaction.atomic
def undo_review(*, session: Session, flags: Collection[int], by: Actor, now: datetime) -> RemovalEffects | None:
    """Take back the verdicts on `flags` of `session`, which are to review again.

    Whoever was excluded together with them is included again; returns what followed from that. A flag that was cleared
    since then, because their answers did not count, is in force again until the next check. Raises CannotReview.
    """
    found = _lock(session, flags)
    if not all(flag.verdict for flag in found):
        raise CannotReview("This review was already undone.")
    times = {flag.reviewed_at for flag in found if flag.verdict == Verdict.UPHELD and flag.reviewed_at}
    excluded = Removal.objects.in_force().filter(
        annotator=session.annotator_id, project=session.study.project_id, why=Removal.Why.EXCLUDED, at__in=times
    )
    followed, values = None, dict[str, object](verdict="", note="", reviewed_at=None, reviewed_by=None)
    if excluded.exists():
        followed = removals.include(annotator=session.annotator, project=session.study.project, by=by, now=now)
        values["cleared_at"] = None
    _store(found, **values)
    _record(session, What.FLAG_REVIEW_UNDONE, found, by=by, now=now)
    return followed


def _lock(session: Session, flags: Collection[int]) -> list[SessionFlag]:
    """Return the chosen flags, locked. Raises CannotReview if there are none, or their person has withdrawn."""
    if Removal.Why.WITHDRAWN in Removal.objects.reasons(
        annotator=session.annotator_id, project=session.study.project_id
    ):
        raise CannotReview("This person has withdrawn, so there is nothing to review any more.")
    chosen = SessionFlag.objects.select_for_update(of=("self",)).select_related("reviewed_by")
    found = list(chosen.filter(session=session, pk__in=flags).order_by("pk"))
    if not found:
        raise CannotReview("Choose at least one flag of this session.")
    return found


def _store(flags: Sequence[SessionFlag], **values: object) -> None:
    SessionFlag.objects.filter(pk__in=[flag.pk for flag in flags]).update(**values)
    for flag in flags:
        flag.refresh_from_db()


def _record(session: Session, what: What, flags: Sequence[SessionFlag], *, by: Actor, now: datetime) -> None:
    study = session.study
    record(
        project=study.project,
        study=study,
        what=what,
        by=by,
        now=now,
        annotator=session.annotator_id,
        session=session.pk,
        rules=", ".join(sorted({flag.rule for flag in flags})),
        flags=len(flags),
    )
