"""Numbers that compare the people of a project over all its studies."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analytics.work.pay import percentile
from results.reports.base import AnnotatorName, Bar, Cell, Column, Range, Table, Undefined
from results.reports.sections.annotators import (
    ALONE,
    RIGHT_RANGE,
    PersonsAnswer,
    same_answers,
    same_as_others,
    with_range,
)
from results.reports.sections.answers import NOBODY_TIMED

NO_ANSWER = "No numbers of this person yet."
NOT_KNOWN = "The right answers to this person's questions are unknown."
ONE_INSTANCE = "All about one instance, which gives no interval."
ABOUT_PEOPLE = (
    "Counted answers of all studies and question types together. Agreement with others: over all answers of others to "
    "the same questions, without answers added because others differed; an answer with several parts counts part by "
    "part. Right: where the right answer is known, or the "
    "mean score where answers can be partly right. Intervals are Wilson's, clustered by instance if one has several "
    "answers. Low agreement alone is not evidence of carelessness: compare people within one study on its Annotators "
    "page."
)


@dataclass(frozen=True)
class PersonNumbers:
    """The numbers of one person over several studies, for comparing people.

    answers: those that count. agreement: the share of answers of others to the same questions that are the same. right:
    the mean score of their answers. Both from 0 to 1, with their 95 % intervals (low, high), all None if unknown.
    seconds: median time per question, None if nobody timed them.
    """

    answers: int
    agreement: float | None
    agreement_range: Sequence[float] | None
    right: float | None
    right_range: Sequence[float] | None
    seconds: float | None


def people_numbers(studies: Iterable[Sequence[PersonsAnswer]]) -> dict[str, PersonNumbers]:
    """Return the name of each annotator -> their numbers over `studies`: the counted answers of each.

    As in `annotators_table`, but over all studies and kinds together.
    """
    mine: defaultdict[str, list[PersonsAnswer]] = defaultdict(list)
    same: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for answers in studies:
        subjects = {one.question: one.instance for one in answers}
        for name, beside in same_as_others(one for one in answers if not one.added).items():
            same[name] += same_answers(beside, subjects)
        for one in answers:
            mine[one.annotator].append(one)
    return {
        name: PersonNumbers(
            len(theirs),
            *_share_and_range(same.get(name, [])),
            *_share_and_range([(one.credit, one.instance) for one in theirs if one.credit is not None]),
            _median_seconds(theirs),
        )
        for name, theirs in mine.items()
    }


def _share_and_range(found: Sequence[tuple[float, int]]) -> tuple[float | None, tuple[float, float] | None]:
    """Return `with_range` as plain numbers."""
    share, interval = with_range(found)
    limits = (interval.low, interval.high) if isinstance(interval, Range) else None
    return (share if isinstance(share, float) else None), limits


def _median_seconds(mine: Iterable[PersonsAnswer]) -> float | None:
    seconds = [one.seconds for one in mine if one.seconds is not None]
    return percentile(seconds, Fraction(1, 2)) if seconds else None


def people_table(people: Iterable[tuple[str, PersonNumbers | None]]) -> Table:
    """Return a row with the numbers of each of these people; None for somebody without a counted answer."""
    rows = list(people)
    slowest = max((numbers.seconds or 0 for _, numbers in rows if numbers), default=0)
    columns = [
        *(
            Column("Annotator"),
            Column("Agreement with others", "percent"),
            Column("Agreement, 95 % interval", "percent"),
        ),
        *(Column("Right", "percent"), Column(RIGHT_RANGE, "percent"), Column("Median seconds", "coefficient")),
    ]
    cells = [(AnnotatorName(name), *_numbers_shown(numbers, slowest)) for name, numbers in rows]
    return Table("people", "People", columns, cells, [ABOUT_PEOPLE])


def _numbers_shown(numbers: PersonNumbers | None, slowest: float) -> tuple[Cell, ...]:
    if numbers is None:
        return (Undefined(NO_ANSWER),) * 5
    seconds = Undefined(NOBODY_TIMED) if numbers.seconds is None else Bar(numbers.seconds, most=slowest)
    return (
        *_bar_and_range(numbers.agreement, numbers.agreement_range, ALONE),
        *_bar_and_range(numbers.right, numbers.right_range, NOT_KNOWN),
        seconds,
    )


def _bar_and_range(share: float | None, limits: Sequence[float] | None, reason: str) -> tuple[Cell, Cell]:
    if share is None:
        return Undefined(reason), Undefined(reason)
    low, high = limits or (None, None)
    interval = Undefined(ONE_INSTANCE) if low is None or high is None else Range(low, high)
    return Bar(share, low=low, high=high), interval
