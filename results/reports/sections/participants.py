"""Numbers that compare the people of a project over all its studies."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan

import numpy as np
import numpy.typing as npt

from analytics.work.pay import percentile
from results.reports.base import AnnotatorName, Bar, Cell, Column, Range, Table, Undefined
from results.reports.sections.annotators import (
    ALONE,
    RIGHT_RANGE,
    PersonsAnswer,
    with_range,
)
from results.reports.sections.answers import NOBODY_TIMED

Indices = npt.NDArray[np.int64]

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


def people_numbers(studies: Iterable[Iterable[PersonsAnswer]]) -> dict[str, PersonNumbers]:
    """Return the name of each annotator -> their numbers over `studies`: the counted answers of each.

    As in `annotators_table`, but over all studies and kinds together. Reads the answers once and keeps some numbers of
    each, because a large project has millions.
    """
    kept = _Answers()
    for answers in studies:
        for one in answers:
            kept.add(one)
    theirs, compared = _rows_by(kept.annotator, len(kept.names)), _rows_by(kept.by, len(kept.names))
    others, same = kept.compare()
    subject, credit, seconds = np.asarray(kept.subject), np.asarray(kept.credit), np.asarray(kept.seconds)
    instance = np.asarray(kept.instance)
    found = {}
    for name, mine, beside in zip(kept.names, theirs, compared, strict=True):
        known, timed = mine[~np.isnan(credit[mine])], mine[~np.isnan(seconds[mine])]
        found[name] = PersonNumbers(
            len(mine),
            *_share_and_range(_pairs(others[beside], same[beside], subject[beside])),
            *_share_and_range(list(zip(credit[known].tolist(), instance[known].tolist(), strict=True))),
            percentile(seconds[timed].tolist(), Fraction(1, 2)) if timed.size else None,
        )
    return found


class _Answers:
    """Of each answer the annotator (its index in `names`), instance, credit and seconds, nan if unknown.

    Of each label that is compared with those of others: who gave it (`by`), its question, unit, label and instance.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.annotator, self.instance = array("q"), array("q")
        self.credit, self.seconds = array("d"), array("d")
        self.by, self.about, self.subject = array("q"), array("q"), array("q")
        self.unit, self.label = array("q"), array("q")
        self._units: dict[str, int] = {}
        self._labels: dict[str, int] = {}

    def add(self, one: PersonsAnswer) -> None:
        annotator = self.names.setdefault(one.annotator, len(self.names))
        credit = one.credit
        self.annotator.append(annotator)
        self.instance.append(one.instance)
        self.credit.append(nan if credit is None else credit)
        self.seconds.append(nan if one.seconds is None else one.seconds)
        # Those that were added because others differed are bound to differ from some.
        for unit, label in {} if one.added else one.labels.items():
            self.by.append(annotator)
            self.about.append(one.question)
            self.subject.append(one.instance)
            self.unit.append(self._units.setdefault(unit, len(self._units)))
            self.label.append(self._labels.setdefault(label, len(self._labels)))

    def compare(self) -> tuple[Indices, Indices]:
        """Return for each label how many others were given to the same, and how many of them are equal to it."""
        task = _number(np.asarray(self.about), np.asarray(self.unit), len(self._units))
        equal = _number(task, np.asarray(self.label), len(self._labels))
        return np.bincount(task)[task] - 1, np.bincount(equal)[equal] - 1


def _number(first: Indices, second: Indices, of_second: int) -> Indices:
    """Number the pairs of two columns from 0; the second has numbers below `of_second`."""
    numbers: Indices = np.unique(first * max(of_second, 1) + second, return_inverse=True)[1]
    return numbers


def _rows_by(column: Sequence[int], groups: int) -> list[Indices]:
    """Return the rows of each number below `groups` in `column`, in order."""
    if not groups:
        return []
    values = np.asarray(column)
    ends = np.cumsum(np.bincount(values, minlength=groups))[:-1]
    return np.split(np.argsort(values, kind="stable"), ends)


def _pairs(others: Indices, same: Indices, subject: Indices) -> Sequence[tuple[float, int]]:
    """Return for each answer of others 1 if it is the same, else 0, with the id of its instance."""
    return [
        (float(place < equal), instance)
        for n, equal, instance in zip(others.tolist(), same.tolist(), subject.tolist(), strict=True)
        for place in range(n)
    ]


def _share_and_range(found: Sequence[tuple[float, int]]) -> tuple[float | None, tuple[float, float] | None]:
    """Return `with_range` as plain numbers."""
    share, interval = with_range(found)
    limits = (interval.low, interval.high) if isinstance(interval, Range) else None
    return (share if isinstance(share, float) else None), limits


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
