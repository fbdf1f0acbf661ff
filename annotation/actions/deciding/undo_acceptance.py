"""Undo questions drawn from an acceptance that no longer stands, and restore them when it does again.

Drawn questions and their answers stay, but an undone question has no effect.
"""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db.models import Q, QuerySet

from annotation.actions.launching.reopen_studies import reopen_asking
from annotation.models import Response, Slot
from annotation.models.outcomes import accepted_decisions
from annotation.models.responses import RESPONSE
from studies.actions.questions import origin_of
from studies.models import Check, Question, Study

# Numbers of downstream questions that were "undone" and "restored".
DownstreamChanges = Counter[str]


def downstream_questions(question: Question) -> QuerySet[Question]:
    """Return the downstream questions drawn from `question`: about its accepted instance, and about its answers."""
    accepted = Q(study__fed_by=question.study_id, instance=question.instance_id, drawn_from__isnull=False)
    answers = Response.objects.filter(question=question)
    return Question.objects.filter(accepted | Q(source_type=RESPONSE, source_id__in=answers.values("pk")))


def is_used_downstream(question: Question) -> bool:
    """Whether another study asks about `question` or an answer to it, so that these are final."""
    return downstream_questions(question).filter(undone_at=None).exists()


def is_answer_final(given: Response) -> bool:
    """Whether another study uses an answer in a slot, so that its annotator can no longer change it."""
    return is_used_downstream(_ordinary_before_gold(given) or given.question)


def _ordinary_before_gold(given: Response) -> Question | None:
    """Return the last ordinary question that the annotator answered before a gold question; None for other questions.

    No study uses gold questions. Their answers become final like the ones before them, because annotators could
    otherwise tell which questions are gold. A repeat of a gold question becomes final with it.
    """
    question = given.question
    if question.check_type not in (Check.GOLD, Check.REPEAT):
        return None
    asked = question.source_id if question.check_type == Check.REPEAT else question.pk
    same_seat = Slot.objects.filter(seat__slots=given.slot_id)
    gold = same_seat.filter(question=asked, question__check_type=Check.GOLD).first()
    if gold is None:
        return None
    answered = same_seat.ordinary().filter(annotator=given.annotator_id, answered_at__isnull=False)
    before = answered.filter(position__lt=gold.position).select_related("question").order_by("-position").first()
    return None if before is None else before.question


def update_downstream_of_answers(*, questions: Collection[int], now: datetime) -> DownstreamChanges:
    """Undo or restore downstream questions about the answers to `questions`, as these count now.

    Runs in a transaction. Answers to undone questions stay, without effect.
    """
    answers = Response.objects.filter(question__in=questions)
    asked = Question.objects.filter(source_type=RESPONSE, source_id__in=answers.values("pk")).order_by("pk")
    asked = asked.select_for_update(of=("self",), no_key=True)
    counted = set(answers.counted().values_list("pk", flat=True))
    undone = [each.pk for each in asked if each.undone_at is None and each.source_id not in counted]
    restored = [each.pk for each in asked if _can_restore(each) and each.source_id in counted]
    Question.objects.filter(pk__in=undone).update(undone_at=now)
    _restore(restored)
    return Counter(undone=len(undone), restored=len(restored))


def update_downstream_of_questions(*, questions: Collection[int], now: datetime) -> DownstreamChanges:
    """Call `update_downstream` for the instances of `questions`, whose decisions have changed."""
    instances: dict[int, set[int]] = {}
    for asker, instance in Question.objects.filter(pk__in=questions).values_list("study_id", "instance_id"):
        instances.setdefault(asker, set()).add(instance)
    followed: DownstreamChanges = Counter()
    for study in Study.objects.filter(pk__in=instances).order_by("pk"):
        followed += update_downstream(study=study, instances=instances[study.pk], now=now)
    return followed


def update_downstream(*, study: Study, instances: Collection[int], now: datetime) -> DownstreamChanges:
    """Undo or restore downstream questions about `instances` of `study`, along the whole pipeline.

    Runs in a transaction. A drawn question stands while its instance is accepted with the same result as when it was
    drawn.
    """
    followed: DownstreamChanges = Counter()
    for fed in study.feeds.order_by("pk"):
        # Locked before reading: of two answers that restore two steps of one pipeline at the same moment, the later one
        # sees both.
        drawn = Question.objects.filter(study=fed, instance__in=instances, drawn_from__isnull=False).order_by("pk")
        asked = list(drawn.select_for_update(of=("self",), no_key=True))
        standing = _unchanged_questions(study, asked)
        undone = [question for question in asked if question.undone_at is None and question.pk not in standing]
        restored = [question for question in asked if _can_restore(question) and question.pk in standing]
        Question.objects.filter(pk__in=[question.pk for question in undone]).update(undone_at=now)
        _restore([question.pk for question in restored])
        followed += Counter(undone=len(undone), restored=len(restored))
        if changed := {question.instance_id for question in (*undone, *restored)}:
            followed += update_downstream(study=fed, instances=changed, now=now)
    return followed


def _restore(questions: Collection[int]) -> None:
    if questions:
        Question.objects.filter(pk__in=questions).update(undone_at=None)
        reopen_asking(questions=questions)


def _can_restore(question: Question) -> bool:
    """Whether `question` is undone and was not taken out by a researcher."""
    return question.undone_at is not None and question.taken_out_at is None


def _unchanged_questions(study: Study, asked: Collection[Question]) -> set[int]:
    """Return which of `asked` rest on an acceptance of `study` that is unchanged."""
    instances = {question.instance_id for question in asked}
    accepted: dict[int, tuple[Question, str]] = {}
    by_instance: dict[int, list[tuple[Question, str]]] = {}
    decisions = accepted_decisions(study).filter(question__instance__in=instances).select_related("question")
    for decision in decisions.order_by("decided_at", "question_id"):
        accepted[decision.question_id] = (decision.question, decision.winner)
        by_instance.setdefault(decision.question.instance_id, []).append(accepted[decision.question_id])
    standing = set()
    for question in asked:
        drawn_from = accepted.get(question.drawn_from_id or 0)
        if drawn_from is None:
            continue
        # Older versions handed on what the one question had won, instead of what all questions about the instance had.
        origins = (origin_of(by_instance[question.instance_id]), origin_of([drawn_from]))
        if question.won in [origin.won for origin in origins]:
            standing.add(question.pk)
    return standing
