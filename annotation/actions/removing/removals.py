"""Remove a person's answers from every count of a project: they withdrew, or a researcher excluded them.

Nothing is deleted here (see `erasure`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from django.db import transaction

from annotation.actions import sessions
from annotation.actions.answering import answer_notices
from annotation.actions.deciding.decisions import recount
from annotation.actions.deciding.undo_acceptance import update_downstream_of_answers, update_downstream_of_questions
from annotation.actions.removing import reopen_places
from annotation.actions.removing.redact_descriptions import redact
from annotation.actions.removing.reopen_places import ReopenedPlaces
from annotation.errors import AnnotationError
from annotation.models import Annotator, GroupMember, Removal, Response, Session, SessionState
from annotation.models.responses import LeftOut, ResponseQuerySet
from annotation.models.sessions import OPEN_STATES
from studies.actions.events import Actor, What, record
from studies.models import Project, Study
from studies.names import LONGEST_NOTE, problem_with_text

Why = Removal.Why
_ENDS_AS = {Why.WITHDRAWN: SessionState.WITHDRAWN, Why.EXCLUDED: SessionState.STOPPED}
# Open sessions go on answering, and lapsed ones may return.
_MAY_GO_ON = OPEN_STATES | {SessionState.LAPSED}


class CannotRemove(AnnotationError):
    """The removal cannot be done this way; the message tells the researcher why."""


@dataclass(frozen=True)
class RemovalEffects:
    """Effects of a change in which annotators count, in numbers of 0 or more.

    answers: no longer counted, or counted again. decisions: questions whose decision changed. undone, restored:
    questions of all downstream studies, whether the dataset has their instances or not. sessions: open sessions that
    were ended. without_place: answers that stay uncounted because somebody else has their slot.
    """

    answers: int = 0
    decisions: int = 0
    undone: int = 0
    restored: int = 0
    sessions: int = 0
    without_place: int = 0


@transaction.atomic
def withdraw(*, annotator: Annotator, project: Project, by: Actor, now: datetime) -> RemovalEffects:
    """Remove the answers of somebody who withdrew consent from `project`, for good; repeating it changes nothing."""
    lock(annotator=annotator, project=project)
    if Why.WITHDRAWN in _reasons(annotator, project):
        return RemovalEffects()
    Removal.objects.create(project=project, annotator=annotator, why=Why.WITHDRAWN, at=now)
    followed = remove_answers(annotator=annotator, project=project, why=Why.WITHDRAWN, now=now)
    GroupMember.objects.filter(annotator=annotator, project=project, source__isnull=False).delete()
    # A withdrawal is final, so the text need not be kept in questions that others would still read.
    redact(annotator=annotator, project=project, now=now)
    answer_notices.drop(annotator=annotator, project=project)
    record(project=project, what=What.ANNOTATOR_WITHDRAWN, by=by, now=now, annotator=annotator.pk, **asdict(followed))
    return followed


@transaction.atomic
def exclude(*, annotator: Annotator, project: Project, reason: str, by: Actor, now: datetime) -> RemovalEffects:
    """Exclude the answers of `annotator` from `project` until `include`; repeating it changes nothing.

    They leave the groups that they joined by these answers, until then. Members whom a researcher declared stay.
    Raises CannotRemove without a reason, and for somebody who has withdrawn.
    """
    reason = reason.strip()
    if not reason:
        raise CannotRemove("Say why their answers are not to count; the reason is kept with them.")
    if problem := problem_with_text(reason, LONGEST_NOTE):
        raise CannotRemove(f"The reason cannot be kept. {problem}")
    lock(annotator=annotator, project=project)
    active = _reasons(annotator, project)
    if Why.WITHDRAWN in active:
        raise CannotRemove("This person has withdrawn, so nothing of theirs counts already.")
    if active:
        return RemovalEffects()
    Removal.objects.create(project=project, annotator=annotator, why=Why.EXCLUDED, reason=reason, at=now)
    followed = remove_answers(annotator=annotator, project=project, why=Why.EXCLUDED, now=now)
    won = GroupMember.objects.in_force().filter(annotator=annotator, project=project, source__isnull=False)
    groups = sorted(won.values_list("group", flat=True))
    won.update(suspended_at=now)
    record(
        project=project,
        what=What.ANNOTATOR_EXCLUDED,
        by=by,
        now=now,
        annotator=annotator.pk,
        reason=reason,
        groups=groups,
        **asdict(followed),
    )
    return followed


@transaction.atomic
def include(*, annotator: Annotator, project: Project, by: Actor, now: datetime) -> RemovalEffects:
    """Count the answers of an excluded person again, except where somebody else now has their slot.

    They are in the groups again that they had joined by these answers, unless the membership has expired, or the group
    was declared anew. Their ended sessions stay ended. Raises CannotRemove for somebody who is not excluded, or has
    withdrawn.
    """
    lock(annotator=annotator, project=project)
    active = _reasons(annotator, project)
    if Why.WITHDRAWN in active:
        raise CannotRemove("This person has withdrawn. That has no way back.")
    if not active:
        raise CannotRemove("This person is not excluded, so there is nothing to take back.")
    Removal.objects.in_force().filter(annotator=annotator, project=project).update(ended_at=now)
    without_place = reopen_places.restore_places(annotator=annotator, project=project, now=now)
    theirs = _answers(annotator, project).filter(left_out=Why.EXCLUDED)
    theirs.filter(question__taken_out_at__isnull=False).update(left_out=LeftOut.TAKEN_OUT)
    theirs.update(left_out="")
    questions = list(_answers(annotator, project).counted().values_list("question_id", flat=True))
    followed = _recount(questions, before=RemovalEffects(without_place=without_place), now=now)
    suspended = GroupMember.objects.filter(annotator=annotator, project=project, suspended_at__isnull=False)
    suspended.update(suspended_at=None)
    rejoined = GroupMember.objects.in_force().filter(annotator=annotator, project=project, source__isnull=False)
    record(
        project=project,
        what=What.ANNOTATOR_LET_BACK,
        by=by,
        now=now,
        annotator=annotator.pk,
        groups=sorted(rejoined.values_list("group", flat=True)),
        **asdict(followed),
    )
    return followed


@transaction.atomic
def reopen_slots(
    *, annotator: Annotator, project: Project, by: Actor, now: datetime, study: Study | None = None
) -> ReopenedPlaces:
    """Free the slots of somebody's uncounted answers for others. Repeating it changes nothing.

    study: only its slots, by default those of all studies of `project`. Raises CannotRemove for somebody whose answers
    count.
    """
    lock(annotator=annotator, project=project)
    if not _reasons(annotator, project):
        raise CannotRemove(
            "This person's answers count. Exclude the person first, then ask other people these questions again."
        )
    opened = reopen_places.free_places(annotator=annotator, project=project, study=study)
    if opened.freed:
        Removal.objects.in_force().filter(annotator=annotator, project=project).update(slots_opened_at=now)
        record(project=project, what=What.SLOTS_REOPENED, by=by, now=now, annotator=annotator.pk, slots=opened.answers)
    return opened


def lock(*, annotator: Annotator, project: Project) -> None:
    """Lock an annotator and all studies of `project` until the transaction ends.

    Nobody else gives them questions, the slow path of their answers waits, and nothing is drawn from what was accepted.
    """
    sessions.lock_annotator(Annotator.objects.filter(pk=annotator.pk))
    studies = Study.objects.select_for_update(of=("self",), no_key=True).filter(project=project).order_by("pk")
    list(studies.values_list("pk", flat=True))


def remove_answers(*, annotator: Annotator, project: Project, why: Removal.Why, now: datetime) -> RemovalEffects:
    """End the open sessions of `annotator` in `project`, mark all their answers, and recount."""
    # Sessions first: an answer in transit is stored and marked before its session ends, or finds it ended.
    ended = _end_sessions(annotator, project, to=_ENDS_AS[why], now=now)
    counted = _answers(annotator, project).counted()
    questions = list(counted.values_list("question_id", flat=True))
    _answers(annotator, project).exclude(left_out=why).update(left_out=why)
    return _recount(questions, before=RemovalEffects(sessions=ended), now=now)


def _reasons(annotator: Annotator, project: Project) -> set[str]:
    return Removal.objects.reasons(annotator=annotator.pk, project=project.pk)


def _end_sessions(annotator: Annotator, project: Project, *, to: SessionState, now: datetime) -> int:
    found = Session.objects.filter(annotator=annotator, study__project=project, state__in=_MAY_GO_ON).order_by("pk")
    # Read again under the lock: a session may have lapsed, ended or returned in the meantime.
    ended = 0
    for session in found.select_for_update(of=("self",)).select_related("study"):
        if session.state == SessionState.LAPSED:
            # It holds no seat. Its `ended_at` stays, so that answers after it stay late.
            Session.objects.filter(pk=session.pk).update(state=to)
        else:
            ended += sessions.leave(session=session, to=to, now=now)
    return ended


def _recount(questions: Sequence[int], *, before: RemovalEffects, now: datetime) -> RemovalEffects:
    """Recount the answers to `questions`; add the effects to `before`."""
    undone = update_downstream_of_answers(questions=questions, now=now)
    changed = recount(questions=questions, now=now)
    undone += update_downstream_of_questions(questions=changed, now=now)
    return replace(before, answers=len(questions), decisions=len(changed), **undone)


def _answers(annotator: Annotator, project: Project) -> ResponseQuerySet:
    return Response.objects.filter(annotator=annotator, study__project=project).order_by()
