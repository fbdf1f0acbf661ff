"""Answers to the questions of one study: frequency of options, positions, and times."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from analytics.intervals.clustered_means import ClusteredMean, mean_of
from analytics.people import number_answers
from analytics.position_bias import PositionBias, position_bias
from analytics.work.pay import percentile
from results.reports.base import Cell, Chart, Column, Point, Series, Table, Undefined
from results.reports.cells import chart_intervals_note, intervals_axis, limits_or_reason, value_or_reason
from results.reports.explorer_links import ALL
from results.reports.facts import StudyFacts
from results.reports.labels import answers_to
from results.reports.sections.activity import seconds_chart
from results.reports.sections.funnel import Category, have_types
from results.reports.text import category_label

RIGHT, RIGHT_OPTION = "right", "the right option"
SHARES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))
NOBODY_TIMED = "No browser has measured a time."


@dataclass(frozen=True, slots=True)
class AnswerDetails:
    """A counted answer, or `times` equal ones.

    `position`: of the chosen option among the `positions` shuffled ones, from 0; None for a fixed last one. `seconds`:
    with the page in view, by the browser.
    """

    kind: str
    category: Category
    position: int | None
    positions: int
    seconds: float | None
    times: int = 1


class TimedAnswer(Protocol):
    """An answer, or `times` of them, to a question of `kind` that took this many `seconds`."""

    @property
    def kind(self) -> str: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def times(self) -> int: ...


@dataclass(frozen=True, slots=True)
class TimedAnswers:
    kind: str
    seconds: float | None
    times: int


@dataclass(frozen=True)
class _Rate:
    """How often `option` was chosen in questions of `kind` about a category, of `times` answers."""

    kind: str
    option: str
    category: Category
    times: int
    share: ClusteredMean


def rates_table(study: StudyFacts) -> Table:
    """Return how often each option always offered, such as None, and the right option was chosen, by category."""
    columns = [Column("Kind"), Column("Answer"), Column("Type"), Column("Subtype"), Column("Answers", "count")]
    columns += [Column("Times", "count"), Column("Share", "share"), Column("95 % interval", "share")]
    found = list(_rates(study))
    rows: list[Sequence[Cell]] = [
        (
            *(each.kind, each.option, *each.category, each.share.n_answers, each.times, each.share.value),
            limits_or_reason(each.share.low, each.share.high, each.share.reason),
        )
        for each in found
    ]
    notes = [
        "Counted answers only. Every answer counts once, so that the share of the right option can differ from the "
        "score of people, in which every person counts once. Intervals by person and instance generalise to other "
        "people and other instances."
    ]
    called = (
        RIGHT_OPTION if each.option == RIGHT else study.label_spaces[each.kind].name(each.option) for each in found
    )
    chosen = " and ".join(dict.fromkeys(called))
    return Table("rates", f"How often {chosen} was chosen", columns, rows, notes)


def _rates(study: StudyFacts) -> Iterable[_Rate]:
    questions = {question.id: question for question in study.questions}
    for kind, label_space in study.label_spaces.items():
        given = [answer for answer in answers_to(study, kind) if not answer.unit]
        right = np.array([questions[answer.question].right for answer in given], dtype=object)
        choices = np.array([answer.choice for answer in given], dtype=object)
        asked_for = {option: choices == option for option in label_space.always if given}
        if right.size and (right != "").any():
            asked_for[RIGHT] = choices == right
        instances = [questions[answer.question].instance for answer in given]
        categories = _places_of_categories([study.categories.get(instance, ("", "")) for instance in instances])
        people = [answer.annotator for answer in given]
        numbered = {
            category: number_answers([people[place] for place in places], [instances[place] for place in places])
            for category, places in categories.items()
        }
        for option, chosen in asked_for.items():
            for category, places in categories.items():
                values = chosen[places].astype(np.float64)
                share = mean_of(replace(numbered[category], values=values))
                yield _Rate(kind, option, category, int(values.sum()), share)


def _places_of_categories(categories: Sequence[Category]) -> Mapping[Category, list[int]]:
    """Return category -> its positions in a list of categories; all positions first."""
    found: dict[Category, list[int]] = {}
    for place, category in enumerate(categories):
        found.setdefault(category, []).append(place)
    return {(ALL, ALL): list(range(len(categories))), **dict(sorted(found.items()))}


def rates_chart(study: StudyFacts) -> Chart:
    points: dict[str, list[Point]] = {}
    found = list(_rates(study))
    if not have_types(each.category for each in found):
        found = [each for each in found if each.category == (ALL, ALL)]
    for each in found:
        label = category_label(each.category)
        points.setdefault(f"{each.kind}: {each.option}", []).append(
            Point(label, each.share.value, each.share.low, each.share.high)
        )
    series = [Series(name, of_name) for name, of_name in points.items()]
    words = "; ".join(
        f"{each.name} " + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value)
        for each in series
    )
    axis = intervals_axis("Share of the answers", series, (each.share.reason for each in found))
    note = chart_intervals_note(
        (f"{each.option}, {category_label(each.category)}", each.share.reason) for each in found
    )
    return Chart("rates", "Share of the answers per category", f"{words}.", "dots", "share", axis, series, method=note)


def _biases(answers: Iterable[AnswerDetails]) -> dict[str, PositionBias]:
    chosen: dict[str, list[tuple[int, int]]] = {}
    for answer in answers:
        if not answer.positions:
            # All positions are fixed.
            continue
        positions = chosen.setdefault(answer.kind, [])
        if answer.position is not None:
            positions.extend([(answer.position, answer.positions)] * answer.times)
    return {
        kind: position_bias([position for position, _ in found], [of for _, of in found])
        for kind, found in chosen.items()
    }


def positions_table(answers: Sequence[AnswerDetails]) -> Table:
    """Test for position bias: options are shuffled."""
    columns = [Column("Kind"), Column("Position"), Column("Times chosen", "count"), Column("Expected", "coefficient")]
    columns += [Column("Chi-squared", "coefficient"), Column("p", "p"), Column("Cohen's w", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for kind, bias in _biases(answers).items():
        p = None if bias.too_few else bias.p
        test = [value_or_reason(value, bias.reason or bias.too_few) for value in (bias.chi_squared, p, bias.effect)]
        rows.append((kind, ALL, bias.n, None, *test))
        for position, (times, expected) in enumerate(zip(bias.counts, bias.expected, strict=True), start=1):
            rows.append((kind, str(position), times, expected, None, None, None))
    notes = [
        "Options are in random order, so without bias every position is chosen equally often. Answers with an option "
        "that is always last are left out. Cohen's w: .1 is a small effect, .3 a medium one. p assumes independent "
        "answers, and is simulated if fewer than 5 are expected at a position. It is left out if even all answers at "
        "one position would not give p < 0.05: with fewer than 6 answers for two positions, or 4 for four. Different "
        "habits of different people cancel out here; the annotators table tests each person separately."
    ]
    return Table("places", "Position bias", columns, rows, notes)


def positions_chart(answers: Sequence[AnswerDetails]) -> Chart:
    found = _biases(answers)
    series = [
        Series(
            kind,
            [
                Point(f"position {position}", times, expected=expected)
                for position, (times, expected) in enumerate(zip(bias.counts, bias.expected, strict=True), start=1)
            ],
        )
        for kind, bias in found.items()
        if bias.n
    ]
    words = "; ".join(
        f"{each.name}: "
        + ", ".join(f"{point.value or 0:,.0f} (expected {point.expected or 0:,.1f})" for point in each.points)
        for each in series
    )
    title, words = (
        "Times each position was chosen",
        f"Bars from the first position to the last. {words}. Ticks: expected counts.",
    )
    return Chart("positions", title, words, "bars", "count", "Answers", series)


def _times(answers: Iterable[TimedAnswer]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for answer in answers:
        of_kind = found.setdefault(answer.kind, [])
        if answer.seconds is not None:
            of_kind.extend([answer.seconds] * answer.times)
    return found


def times_table(answers: Iterable[TimedAnswer]) -> Table:
    columns = [Column("Kind"), Column("Answers timed", "count")]
    columns += [Column(f"{title} (s)", "coefficient") for title in ("10 %", "25 %", "Median", "75 %", "90 %")]
    rows: list[Sequence[Cell]] = [
        (kind, len(seconds), *(percentile(seconds, share) if seconds else Undefined(NOBODY_TIMED) for share in SHARES))
        for kind, seconds in _times(answers).items()
    ]
    notes = ["From shown to first sent, as the browser measured it, without the time the page was out of sight."]
    return Table("times", "Time a question takes", columns, rows, notes)


def times_chart(answers: Iterable[TimedAnswer]) -> Chart:
    found = _times(answers)
    every = [each for seconds in found.values() for each in seconds]
    median = percentile(every, Fraction(1, 2)) if every else None
    return seconds_chart("times", {kind: Counter(seconds) for kind, seconds in found.items()}, median)
