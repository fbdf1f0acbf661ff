"""The questions of a study with their votes, in several orders."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count

from annotation.models import Decision, Response, Skip
from annotation.models.responses import took_ms
from results.queries.exports.soft_labels import soft_labels
from results.queries.instances.instance_history import History, histories
from results.queries.instances.instance_stats import pairs_alike
from results.queries.packed_numbers import pack_ids
from studies.models import Question, Study

PER_PAGE = 10
# Of each order, the first have pages: later ones would be counted and passed over for each page.
MOST_LISTED = 10_000
DISAGREEMENT, DIFFICULTY, TIME, SKIPS = "disagreement", "difficulty", "time", "skips"
SORTS = {
    "": "All",
    DISAGREEMENT: "Most disagreement",
    DIFFICULTY: "Most difficult",
    TIME: "Longest time",
    SKIPS: "Most skipped",
}
# The difficulties, in the order of DIFFICULTY.
DIFFICULTIES = "difficulties"


@dataclass(frozen=True)
class QuestionLine:
    """A question. agreement: share of equal pairs of its counted answers, 0 to 1, None with fewer than two.

    seconds: median time of its counted answers. skips: how many sessions skipped it. difficulty: as exports have it,
    None if it was not asked for.
    """

    asked: History
    agreement: float | None
    seconds: float | None
    skips: int
    difficulty: float | None = None

    @property
    def percent_alike(self) -> float | None:
        return None if self.agreement is None else 100 * self.agreement


def sorted_questions(study: Study, sort: str) -> list[int]:
    """Return the ids of the questions of `study` in this order; those without its number are left out."""
    if sort == DISAGREEMENT:
        several = Decision.objects.filter(study=study, answers__gt=1).order_by("question_id")
        rows = several.values_list("question_id", "votes").iterator(chunk_size=10_000)
        found = [(alike, pk) for pk, votes in rows if (alike := pairs_alike([votes])) is not None]
        return [pk for _, pk in sorted(found)]
    if sort == DIFFICULTY:
        return list(question_difficulties(study))
    if sort == TIME:
        medians = _medians(study)
        return sorted(medians, key=lambda pk: (-medians[pk], pk))
    counted = (
        Skip.objects.filter(study=study, question__check_type="")
        .order_by()
        .values_list("question_id")
        .annotate(n=Count("pk"))
    )
    return list(counted.order_by("-n", "question_id").values_list("question_id", flat=True))


def question_difficulties(study: Study) -> dict[int, float]:
    """Return question -> its difficulty, as exports have it, the most difficult first."""
    found = {question: soft.difficulty for question, soft in soft_labels(study).items()}
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def question_orders(study: Study) -> Mapping[str, Any]:
    """Return each order of the questions of `study` that has to be computed, packed, and DIFFICULTIES."""
    difficulties = question_difficulties(study)
    orders = {sort: pack_ids(sorted_questions(study, sort)) for sort in SORTS if sort not in ("", DIFFICULTY)}
    return {**orders, DIFFICULTY: pack_ids(list(difficulties)), DIFFICULTIES: list(difficulties.values())}


def page_of_questions(
    study: Study,
    ordered: Sequence[int] | None,
    page: Any,
    difficulties: Mapping[int, float] = MappingProxyType({}),
) -> Page[Any]:
    """Return one page of the questions of `study` as QuestionLines: those `ordered`, or as they were launched.

    The first `MOST_LISTED` have pages.
    """
    ids = Question.objects.filter(study=study).order_by("pk").values_list("pk", flat=True)
    found: Page[Any] = Paginator((ids if ordered is None else ordered)[:MOST_LISTED], PER_PAGE).get_page(page)
    shown = list(found.object_list)
    by_id = {each.question.pk: each for each in histories(Question.objects.filter(pk__in=shown), project=study.project)}
    medians = _medians(study, shown)
    skips = dict(Skip.objects.filter(question__in=shown).order_by().values_list("question_id").annotate(n=Count("pk")))
    found.object_list = [
        QuestionLine(
            by_id[pk],
            pairs_alike([by_id[pk].decision.votes]),
            medians.get(pk),
            skips.get(pk, 0),
            difficulties.get(pk),
        )
        for pk in shown
        # Stored orders are older than the deletion of a question.
        if pk in by_id
    ]
    return found


def _medians(study: Study, among: Sequence[int] | None = None) -> Mapping[int, float]:
    """Return the median seconds of the counted answers to each question, of all or these, that have any."""
    timed = Response.objects.counted_in(study).annotate(ms=took_ms()).filter(ms__isnull=False)
    if among is not None:
        timed = timed.filter(question__in=among)
    seconds: dict[int, list[float]] = defaultdict(list)
    for question, ms in timed.values_list("question_id", "ms").iterator(chunk_size=10_000):
        seconds[question].append(ms / 1000)
    return {question: median(each) for question, each in seconds.items()}
