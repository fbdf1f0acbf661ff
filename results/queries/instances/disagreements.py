"""Questions of a study on which annotators disagree, and adjudicated questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q, QuerySet

from analytics.outcomes import Outcome
from annotation.models import Decision
from annotation.models.outcomes import question_is
from annotation.models.responses import counts
from results.queries.instances.explorer import matching_words
from results.queries.studies.questions import DISAGREEMENT, MOST_LISTED, SKIPS, TIME, sorted_questions
from studies.models import Instance, Question, Study

CONFLICTING, DISAGREE, SETTLED = "conflicting", "disagree", "settled"
SHOWN = {CONFLICTING: "Conflicting", DISAGREE: "Different answers", SETTLED: "Settled"}
LAUNCHED, DIVIDED = "", "divided"
ORDERS = {LAUNCHED: "Launch order", DIVIDED: "Most divided", TIME: "Longest time", SKIPS: "Most skipped"}
# The sorts of the Questions page that these orders follow.
SORTS = {DIVIDED: DISAGREEMENT, TIME: TIME, SKIPS: SKIPS}


@dataclass(frozen=True)
class DisagreementFilters:
    """What the list shows: a filter of `SHOWN`, an instance type, words in a key or a caption; "" for all.

    `order`: of `ORDERS`.
    """

    show: str = CONFLICTING
    type: str = ""
    words: str = ""
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


def filtered_decisions(study: Study, shown: str) -> QuerySet[Decision]:
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
    return list(filtered_decisions(study, DISAGREE).values_list("question_id", flat=True))


def listed_questions(
    study: Study,
    wanted: DisagreementFilters,
    *,
    different: npt.NDArray[np.int64] | None = None,
    ranked: Sequence[int] | npt.NDArray[np.int64] | None = None,
) -> list[int]:
    """Return the ids of the questions that `wanted` describes, in its order: the first `MOST_LISTED`, and the next.

    If they were computed before: different: of `different_answers`. ranked: of `sorted_questions` in the order wanted.
    """
    is_ranked = wanted.order in SORTS
    if wanted.show == DISAGREE:
        ids = np.array(different_answers(study), np.int64) if different is None else different
        if wanted.type or wanted.words:
            fitting = Question.objects.filter(_fits(study, wanted), study=study)
            ids = ids[np.isin(ids, list(fitting.order_by().values_list("pk", flat=True)))]
    else:
        decisions = filtered_decisions(study, wanted.show)
        if wanted.type or wanted.words:
            decisions = decisions.filter(_fits(study, wanted, "question__"))
        found = decisions.values_list("question_id", flat=True)
        ids = np.array(list(found if is_ranked else found[: MOST_LISTED + 1]), np.int64)
    if is_ranked:
        rank = np.array(sorted_questions(study, SORTS[wanted.order]) if ranked is None else ranked, np.int64)
        # Questions without a position in the order come last, such as those whose answers cannot be compared.
        ids = np.concatenate([rank[np.isin(rank, ids)], ids[~np.isin(ids, rank)]])
    listed: list[int] = ids[: MOST_LISTED + 1].tolist()
    return listed


def _fits(study: Study, wanted: DisagreementFilters, path: str = "") -> Q:
    """Match the questions that have the type and the words; `path` leads to them. Checks are none."""
    fits = Q(**{f"{path}check_type": ""})
    if wanted.type:
        fits &= Q(**{f"{path}instance__type": wanted.type})
    if wanted.words:
        named = Instance.objects.filter(matching_words(study.project, wanted.words), project=study.project)
        fits &= Q(**{f"{path}instance__in": named})
    return fits


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


def filter_counts(study: Study, known: Mapping[str, int]) -> Mapping[str, int]:
    """Return the number of questions of each filter, at most one more than `MOST_LISTED`.

    known: those that were counted before, which may be larger.
    """
    return {
        shown: known[shown]
        if shown in known
        else filtered_decisions(study, shown).order_by()[: MOST_LISTED + 1].count()
        for shown in SHOWN
    }
