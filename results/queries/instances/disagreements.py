"""Questions of a study on which annotators disagree, and adjudicated questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from analytics.outcomes import Outcome
from annotation.models import Decision
from annotation.models.outcomes import question_is
from annotation.models.responses import counts
from results.queries.studies.questions import DISAGREEMENT, sorted_questions
from studies.models import Question, Study

CONFLICTING, DISAGREE, SETTLED = "conflicting", "disagree", "settled"
SHOWN = {CONFLICTING: "Conflicting", DISAGREE: "Different answers", SETTLED: "Settled"}
LAUNCHED, DIVIDED = "", "divided"
ORDERS = {LAUNCHED: "Launch order", DIVIDED: "Most divided"}


@dataclass(frozen=True)
class Wanted:
    """What the list shows: a filter of `SHOWN`, an instance type, a part of a key; "" for all. `order`: of `ORDERS`."""

    show: str = CONFLICTING
    type: str = ""
    key: str = ""
    order: str = LAUNCHED


@dataclass(frozen=True)
class QuestionLine:
    """A question in the list. `votes`: how often each answer was given, most first, such as "2 : 1"."""

    pk: int
    key: str
    type: str
    variant: str
    votes: str
    is_settled: bool


def decisions_shown(study: Study, shown: str) -> QuerySet[Decision]:
    """Return the decisions on the questions of a filter. Conflicting ones have all the answers requested so far."""
    decisions = Decision.objects.filter(study=study).order_by("question_id")
    if shown == SETTLED:
        return decisions.exclude(settled_choice="")
    if shown == DISAGREE:
        counted = counts("question__responses__")
        choices = Count("question__responses__choice", filter=counted, distinct=True)
        # Answers without a single label are compared as a whole.
        no_label = counted & Q(question__responses__choice="")
        whole = Count("question__responses__answer", filter=no_label, distinct=True)
        several = decisions.filter(answers__gt=1).annotate(choices=choices, whole=whole)
        return several.filter(Q(choices__gt=1) | Q(whole__gt=1))
    return decisions.filter(question_is(Outcome.CONFLICTING, accepts=study.accepts))


def different_answers(study: Study) -> list[int]:
    """Return the ids of the questions with different answers, which takes seconds in a large study."""
    return list(decisions_shown(study, DISAGREE).values_list("question_id", flat=True))


def listed_questions(
    study: Study,
    wanted: Wanted,
    *,
    different: Sequence[int] | None = None,
    divided: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of the questions that `wanted` describes, in its order.

    If they were computed before: different: of `different_answers`. divided: all questions with two answers or more,
    the most divided first.
    """
    if wanted.show == DISAGREE and different is not None:
        ids = list(different)
    else:
        ids = list(decisions_shown(study, wanted.show).values_list("question_id", flat=True))
    if wanted.type or wanted.key:
        fitting = Question.objects.filter(study=study)
        fitting = fitting.filter(instance__type=wanted.type) if wanted.type else fitting
        fitting = fitting.filter(instance__key__icontains=wanted.key) if wanted.key else fitting
        fit = set(fitting.values_list("pk", flat=True))
        ids = [pk for pk in ids if pk in fit]
    if wanted.order != DIVIDED:
        return ids
    if divided is None:
        divided = sorted_questions(study, DISAGREEMENT)
    # Answers without a single label cannot be compared, and come last.
    rank = {pk: place for place, pk in enumerate(divided)}
    return sorted(ids, key=lambda pk: rank.get(pk, len(rank)))


def question_lines(ids: Sequence[int]) -> list[QuestionLine]:
    """Return the questions with these ids for the list, in this order."""
    found = Question.objects.filter(pk__in=ids).select_related("instance", "decision")
    shown = found.only("variant", "instance__key", "instance__type", "decision__votes", "decision__settled_choice")
    lines = {
        each.pk: QuestionLine(
            each.pk,
            each.instance.key,
            each.instance.type,
            each.variant,
            " : ".join(map(str, sorted(each.decision.votes.values(), reverse=True))),
            bool(each.decision.settled_choice),
        )
        for each in shown
    }
    return [lines[pk] for pk in ids if pk in lines]


def counts_shown(study: Study, known: Mapping[str, int]) -> Mapping[str, int]:
    """Return the number of questions of each filter. known: those that were counted before."""
    return {
        shown: known[shown] if shown in known else decisions_shown(study, shown).order_by().count() for shown in SHOWN
    }
