"""Take a question out of a study, or an instance out of all studies, and put it back.

What is taken out is no longer asked and its answers do not count; nothing is deleted.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, astuple
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.actions.deciding.decisions import recount
from annotation.actions.deciding.undo_acceptance import (
    update_downstream,
    update_downstream_of_answers,
    update_downstream_of_questions,
)
from annotation.actions.launching.reopen_studies import reopen_asking
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.withdraw_questions import withdraw_from_all_sessions
from annotation.errors import AnnotationError
from annotation.models import Removal, Response
from annotation.models.responses import RESPONSE, LeftOut
from studies.actions.events import Actor, What, record
from studies.models import Check, Project, Question, Study
from studies.names import LONGEST_NOTE, problem_with_text


class CannotTakeOut(AnnotationError):
    """The question cannot be taken out; the message tells the researcher why."""


@transaction.atomic
def take_out(*, question: Question, reason: str, by: Actor, now: datetime) -> RemovalEffects:
    """Stop asking `question` and counting its answers; repeating it changes nothing.

    Sessions that have it continue without it, and their pay is not affected. Raises CannotTakeOut without a reason.
    """
    return _take_out([question], reason=_checked(reason, "question"), by=by, now=now)


@transaction.atomic
def take_out_instances(
    *, project: Project, instances: Collection[int], reason: str, by: Actor, now: datetime
) -> RemovalEffects:
    """Take out every question about `instances`, by their ids, in all studies of `project`.

    A study that is launched later may ask about them again. Raises CannotTakeOut without a reason.
    """
    questions = questions_about(project, instances).filter(taken_out_at=None)
    return _take_out(questions, reason=_checked(reason, "instance"), by=by, now=now)


@transaction.atomic
def put_back_instances(*, project: Project, instances: Collection[int], by: Actor, now: datetime) -> RemovalEffects:
    """Put back the questions about `instances` that were taken out last, of each instance; others stay out."""
    effects = [put_back(question=question, by=by, now=now) for question in last_taken_out(project, instances)]
    return _add_up(effects)


def questions_about(project: Project, instances: Collection[int]) -> QuerySet[Question]:
    """Return the questions about `instances`, by their ids, in all studies of `project`, upstream studies first.

    Gold questions are among them. Other checks follow the questions that they were made from.
    """
    of_instances = Question.with_checks.filter(study__project=project, instance__in=instances)
    asked = of_instances.filter(check_type__in=("", Check.GOLD))
    return asked.select_related("study", "instance").order_by("study", "pk")


def last_taken_out(project: Project, instances: Collection[int]) -> list[Question]:
    """Return the questions that were taken out together, last of each of `instances`."""
    asked = questions_about(project, instances).filter(taken_out_at__isnull=False)
    last = dict(asked.order_by("taken_out_at").values_list("instance", "taken_out_at"))
    return [each for each in asked if each.taken_out_at == last[each.instance_id]]


def _checked(reason: str, what: str) -> str:
    reason = reason.strip()
    if not reason:
        raise CannotTakeOut(f"Say why the {what} is taken out; the reason is kept with it.")
    if problem := problem_with_text(reason, LONGEST_NOTE):
        raise CannotTakeOut(f"The reason cannot be kept. {problem}")
    return reason


def _take_out(questions: Iterable[Question], *, reason: str, by: Actor, now: datetime) -> RemovalEffects:
    asked = list(questions)
    # Before any study is locked: draws lock their session first.
    for question in [*asked, *_checks_from(asked)]:
        withdraw_from_all_sessions(question)
    return _add_up([_stop_counting(question, reason=reason, by=by, now=now) for question in asked])


def _stop_counting(question: Question, *, reason: str, by: Actor, now: datetime) -> RemovalEffects:
    question = _lock_question(question)
    if question.taken_out_at is not None:
        return RemovalEffects()
    Question.with_checks.filter(pk=question.pk).update(taken_out_at=now, undone_at=question.undone_at or now)
    checks = _checks_from([question])
    checks.filter(taken_out_at=None).update(taken_out_at=now, undone_at=now)
    counted = Response.objects.counted().filter(question=question).count()
    asked = [question.pk, *checks.values_list("pk", flat=True)]
    Response.objects.filter(question__in=asked, left_out="").update(left_out=LeftOut.TAKEN_OUT)
    followed = _recount(question, answers=counted, now=now)
    _record(question, What.QUESTION_TAKEN_OUT, by, now, reason=reason, **asdict(followed))
    return followed


@transaction.atomic
def put_back(*, question: Question, by: Actor, now: datetime) -> RemovalEffects:
    """Ask `question` again where answers are wanted, and count its answers; repeating it changes nothing.

    Answers of people who are removed themselves stay uncounted.
    """
    question = _lock_question(question)
    if question.taken_out_at is None:
        return RemovalEffects()
    # A check that was taken out by itself stays out.
    together = _checks_from([question]).filter(taken_out_at=question.taken_out_at).values_list("pk", flat=True)
    asked = [question.pk, *together]
    Question.with_checks.filter(pk__in=asked).update(taken_out_at=None, undone_at=None)
    answers = Response.objects.filter(question__in=asked, left_out=LeftOut.TAKEN_OUT)
    removals = Removal.objects.in_force().filter(project=question.study.project_id, annotator=OuterRef("annotator"))
    for why in (Removal.Why.WITHDRAWN, Removal.Why.EXCLUDED):
        answers.filter(Exists(removals.filter(why=why))).update(left_out=why)
    answers.update(left_out="")
    _undo_without_source(question, now=now)
    counted = Response.objects.counted().filter(question=question).count()
    followed = _recount(question, answers=counted, now=now)
    reopen_asking(questions=[question.pk])
    _record(question, What.QUESTION_PUT_BACK, by, now, **asdict(followed))
    return followed


def _checks_from(questions: Collection[Question]) -> QuerySet[Question]:
    """Return the checks that show the same as `questions`: their repeats, and instruction checks with their images."""
    made_from = Question.with_checks.filter(
        check_type__in=(Check.REPEAT, Check.INSTRUCTION),
        source_type__in=(Check.REPEAT, Check.INSTRUCTION),
        source_id__in=[question.pk for question in questions],
    )
    return made_from.order_by("pk")


def _add_up(effects: Iterable[RemovalEffects]) -> RemovalEffects:
    return RemovalEffects(*map(sum, zip(*map(astuple, [RemovalEffects(), *effects]), strict=True)))


def _lock_question(question: Question) -> Question:
    """Return the current row of `question`, with its study locked against draws until the transaction ends."""
    Study.objects.select_for_update(of=("self",), no_key=True).get(pk=question.study_id)
    found = Question.with_checks.select_related("study__project", "study__fed_by", "instance")
    return found.get(pk=question.pk)


def _undo_without_source(question: Question, *, now: datetime) -> None:
    """Undo `question` again if the acceptance or answer from which it was made no longer stands."""
    if question.study.fed_by is not None and question.drawn_from_id is not None:
        update_downstream(study=question.study.fed_by, instances=[question.instance_id], now=now)
    if question.source_type == RESPONSE and not Response.objects.counted().filter(pk=question.source_id).exists():
        # Also if that answer was deleted with its author.
        Question.objects.filter(pk=question.pk).update(undone_at=now)


def _recount(question: Question, *, answers: int, now: datetime) -> RemovalEffects:
    """Recount the answers and update downstream questions, also those drawn from a settled decision."""
    undone = update_downstream_of_answers(questions=[question.pk], now=now)
    decided = recount(questions=[question.pk], now=now)
    undone += update_downstream_of_questions(questions=[question.pk], now=now)
    return RemovalEffects(answers, len(decided), **undone)


def _record(question: Question, what: What, by: Actor, now: datetime, **told: object) -> None:
    study = question.study
    about = {"instance": question.instance.key, "question": question.pk}
    record(project=study.project, study=study, what=what, by=by, now=now, **about, **told)
