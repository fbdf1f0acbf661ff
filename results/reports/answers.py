"""How people answered the questions of one study: how often each thing was said, where it stood, how long it took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np

from analytics.bias import PositionBias, position_bias
from analytics.pay import percentile
from analytics.scores import score
from results.reports.addresses import ALL
from results.reports.base import Cell, Column, Plot, Point, Series, Table, Undefined
from results.reports.cells import share_range, value_or_reason
from results.reports.facts import Answerable
from results.reports.funnel import Category

RIGHT, RIGHT_OPTION = "right", "the right option"
SHARES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))
# Seconds; how the plot of times groups them.
TIMES = (0, 2, 5, 10, 20, 40, 80)
NOBODY_TIMED = "No browser has measured a time."


@dataclass(frozen=True, slots=True)
class AnswerDetails:
    """One counted answer, or `times` equal ones.

    `right`: the right option, "" where none is known. `position`: where the chosen option stood among the `positions`
    shuffled ones, from 0; None for one that always comes last. `seconds`: with the page in view, as the browser
    measured it.
    """

    kind: str
    category: Category
    choice: str
    right: str
    position: int | None
    positions: int
    seconds: float | None
    times: int = 1


class Timed(Protocol):
    """An answer, or `times` of them, to a question of `kind` that took so many `seconds`."""

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


Kinds = Mapping[str, Answerable]


def rates_table(answers: Sequence[AnswerDetails], kinds: Kinds) -> Table:
    """Return how often each option was chosen that is always offered, such as None, and the right option where one is
    known, by category. kinds: kind -> what can be answered to its questions."""
    columns = [Column("Kind"), Column("Answer"), Column("Type"), Column("Subtype"), Column("Answers", "count")]
    columns += [Column("Times", "count"), Column("Share", "share"), Column("95 % interval", "share")]
    rows: list[Sequence[Cell]] = []
    asked_for = list(_asked_for(answers, kinds))
    for kind, what, of_kind in asked_for:
        for category, said in _by_category(of_kind, what).items():
            found = score(said)
            share = value_or_reason(found.share, found.reason)
            rows.append((kind, what, *category, found.n, found.count, share, share_range(found)))
    notes = ["Counted answers only. Wilson's intervals, as if every answer came from somebody else."]
    called = (RIGHT_OPTION if what == RIGHT else kinds[kind].name(what) for kind, what, _ in asked_for)
    chosen = " and ".join(dict.fromkeys(called))
    return Table("rates", f"How often {chosen} was chosen", columns, rows, notes)


def _asked_for(answers: Iterable[AnswerDetails], kinds: Kinds) -> Iterable[tuple[str, str, list[AnswerDetails]]]:
    by_kind: dict[str, list[AnswerDetails]] = {}
    for answer in answers:
        by_kind.setdefault(answer.kind, []).append(answer)
    for kind, of_kind in by_kind.items():
        for option in kinds[kind].always:
            yield kind, option, of_kind
        if any(answer.right for answer in of_kind):
            yield kind, RIGHT, of_kind


def _by_category(answers: Iterable[AnswerDetails], what: str) -> Mapping[Category, list[bool]]:
    found: dict[Category, list[bool]] = {}
    for answer in answers:
        said = answer.choice == (answer.right if what == RIGHT else what)
        found.setdefault(answer.category, []).extend([said] * answer.times)
    everything = [said for of_one in found.values() for said in of_one]
    return {(ALL, ALL): everything, **dict(sorted(found.items()))}


def rates_plot(answers: Sequence[AnswerDetails], kinds: Kinds) -> Plot:
    series = [
        Series(
            f"{kind}: {what}",
            [Point(" ".join(filter(None, dict.fromkeys(category))), score(said).share) for category, said in found],
        )
        for kind, what, of_kind in _asked_for(answers, kinds)
        for found in [_by_category(of_kind, what).items()]
    ]
    words = "; ".join(
        f"{each.name} " + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value)
        for each in series
    )
    return Plot(
        "rates", "Share of the answers per category", f"{words}.", "bars", "share", "Share of the answers", series
    )


def _biases(answers: Iterable[AnswerDetails]) -> dict[str, PositionBias]:
    chosen: dict[str, list[tuple[int, int]]] = {}
    for answer in answers:
        if not answer.positions:
            # Everything stands where it always stands.
            continue
        positions = chosen.setdefault(answer.kind, [])
        if answer.position is not None:
            positions.extend([(answer.position, answer.positions)] * answer.times)
    return {
        kind: position_bias([position for position, _ in found], [of for _, of in found])
        for kind, found in chosen.items()
    }


def positions_table(answers: Sequence[AnswerDetails]) -> Table:
    """Test whether people choose by place: options are shown in random order."""
    columns = [Column("Kind"), Column("Place"), Column("Times chosen", "count"), Column("Expected", "coefficient")]
    columns += [Column("Chi-squared", "coefficient"), Column("p", "p"), Column("Cohen's w", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for kind, bias in _biases(answers).items():
        test = [value_or_reason(value, bias.reason) for value in (bias.chi_squared, bias.p, bias.effect)]
        rows.append((kind, ALL, bias.n, None, *test))
        for position, (times, expected) in enumerate(zip(bias.counts, bias.expected, strict=True), start=1):
            rows.append((kind, str(position), times, expected, None, None, None))
    notes = [
        "Options stand in random order, so without bias every place is chosen equally often. Answers that chose an "
        "option that always comes last are left out. Cohen's w: .1 is a small effect, .3 a medium one. p takes answers "
        "for independent, and is drawn at random where fewer than 5 are expected at a place. People with a habit each "
        "of their own cancel out here: the table of the annotators tests everybody alone."
    ]
    return Table("places", "Whether people choose by place", columns, rows, notes)


def positions_plot(answers: Sequence[AnswerDetails]) -> Plot:
    found = _biases(answers)
    series = [
        Series(kind, [Point(f"place {position}", times) for position, times in enumerate(bias.counts, start=1)])
        for kind, bias in found.items()
        if bias.n
    ]
    words = "; ".join(f"{kind}: {', '.join(map(str, bias.counts))} times" for kind, bias in found.items())
    title, words = "Times each place was chosen", f"From the first place on. {words}."
    return Plot("places", title, words, "bars", "count", "Answers", series)


def _times(answers: Iterable[Timed]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for answer in answers:
        of_kind = found.setdefault(answer.kind, [])
        if answer.seconds is not None:
            of_kind.extend([answer.seconds] * answer.times)
    return found


def times_table(answers: Iterable[Timed]) -> Table:
    columns = [Column("Kind"), Column("Answers timed", "count")]
    columns += [Column(f"{title} (s)", "coefficient") for title in ("10 %", "25 %", "Median", "75 %", "90 %")]
    rows: list[Sequence[Cell]] = [
        (kind, len(seconds), *(percentile(seconds, share) if seconds else Undefined(NOBODY_TIMED) for share in SHARES))
        for kind, seconds in _times(answers).items()
    ]
    notes = ["From shown to first sent, as the browser measured it, without the time the page was out of sight."]
    return Table("times", "Time a question takes", columns, rows, notes)


def times_plot(answers: Iterable[Timed]) -> Plot:
    labels = [f"{low} to {high} s" for low, high in pairwise(TIMES)] + [f"over {TIMES[-1]} s"]
    series = []
    for kind, seconds in _times(answers).items():
        counts = Counter((np.searchsorted(TIMES, seconds, side="right") - 1).tolist())
        if seconds:
            series.append(Series(kind, [Point(label, counts[index]) for index, label in enumerate(labels)]))
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {point.value}" for point in each.points) for each in series
    )
    return Plot("times", "Answers by the time they took", f"{words}.", "bars", "count", "Answers", series)
