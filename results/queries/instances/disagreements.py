"""Questions of a study on which annotators disagree, and adjudicated questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from analytics.outcomes import Outcome
from annotation.models import Decision
from annotation.models.outcomes import question_is
from annotation.models.responses import counts
from results.queries.instances.instance_stats import pairs_alike
from studies.models import Question, Study

CONFLICTING, DISAGREE, SETTLED = "conflicting", "disagree", "settled"
SHOWN = {CONFLICTING: "Conflicting", DISAGREE: "Different answers", SETTLED: "Settled"}
IMPORTED, DIVIDED = "", "divided"
ORDERS = {IMPORTED: "Import order", DIVIDED: "Most divided"}


@dataclass(frozen=True)
class Wanted:
    """What the list shows: a filter of `SHOWN`, an instance type, a part of a key; "" for all. `order`: of `ORDERS`."""

    show: str = CONFLICTING
    type: str = ""
    key: str = ""
    order: str = IMPORTED


@dataclass(frozen=True)
class QuestionLine:
    """A question in the list. `votes`: how often each answer was given, most first, such as "2 : 1"."""

    pk: int
    key: str
    type: str
    variant: str
    votes: str
    is_settled: bool


def questions_shown(study: Study, shown: str) -> QuerySet[Question]:
    """Return the questions of a filter, unordered. Conflicting ones have all the answers requested so far."""
    questions = Question.objects.filter(study=study).order_by()
    if shown == SETTLED:
        return questions.exclude(decision__settled_choice="")
    if shown == DISAGREE:
        several = questions.filter(decision__answers__gt=1)
        counted = counts("responses__")
        choices = Count("responses__choice", filter=counted, distinct=True)
        # Answers without a single label are compared as a whole.
        whole = Count("responses__answer", filter=counted & Q(responses__choice=""), distinct=True)
        return several.annotate(choices=choices, whole=whole).filter(Q(choices__gt=1) | Q(whole__gt=1))
    conflicting = question_is(Outcome.CONFLICTING, accepts=study.accepts)
    return questions.filter(pk__in=Decision.objects.filter(conflicting, study=study).values("question"))


def different_answers(study: Study) -> list[int]:
    """Return the ids of the questions with different answers, which takes seconds in a large study."""
    return list(questions_shown(study, DISAGREE).values_list("pk", flat=True))


def listed_questions(study: Study, wanted: Wanted, *, different: Sequence[int] | None = None) -> list[int]:
    """Return the ids of the questions that `wanted` describes, in its order.

    different: of `different_answers`, if they were computed before.
    """
    if wanted.show == DISAGREE and different is not None:
        questions = Question.objects.filter(study=study, pk__in=different)
    else:
        # As a subquery, because the counts of answers would group by the columns of the order too.
        questions = Question.objects.filter(study=study, pk__in=questions_shown(study, wanted.show).values("pk"))
    if wanted.type:
        questions = questions.filter(instance__type=wanted.type)
    if wanted.key:
        questions = questions.filter(instance__key__icontains=wanted.key)
    ids = list(questions.order_by("instance__source_file", "instance__source_row", "pk").values_list("pk", flat=True))
    if wanted.order != DIVIDED:
        return ids
    votes = dict(Decision.objects.filter(question__in=ids).order_by().values_list("question_id", "votes"))
    # Answers without a single label have no votes and come last.
    alike = {pk: pairs_alike([votes[pk]]) for pk in ids}
    return sorted(ids, key=lambda pk: 2 if (share := alike[pk]) is None else share)


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


def types_asked(study: Study) -> list[str]:
    """Return the types of the instances that `study` asks about, without the empty one."""
    types = Question.objects.filter(study=study).exclude(instance__type="").order_by("instance__type")
    return list(types.values_list("instance__type", flat=True).distinct())


def counts_shown(study: Study, *, different: Sequence[int] | None = None) -> Mapping[str, int]:
    """Return the number of questions of each filter. different: as for `listed_questions`."""
    counted = {shown: questions_shown(study, shown) for shown in SHOWN if shown != DISAGREE or different is None}
    found = {shown: questions.count() for shown, questions in counted.items()}
    return found if different is None else {**found, DISAGREE: len(different)}
