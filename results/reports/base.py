"""Cards with tables and charts, independent of format. Values are exact; writers round them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

# Seed of resampling, so that a report made again gives the same numbers.
SEED = 7
# The program's version, as in pyproject.toml.
LINEUP = "0.1.0"
# Raised when tables or columns of a report change name or meaning.
REPORT_VERSION = 12

INSTANCES = "instances"

# Formats of columns. "share": a percentage with two decimals. "percent": with one, as in sentences, for one person, who
# answers few questions. Coefficients and money have two decimals.
Shown = Literal["text", "count", "share", "percent", "coefficient", "p", "money"]
MEASURES: Collection[Shown] = ("share", "percent", "coefficient", "p")
ChartForm = Literal["bars", "dots", "stacked", "diverging", "heat", "histogram", "line", "scatter"]

# Letters of the label of a row that leave a chart beside it narrow enough for half a page, and for a phone.
LONGEST_SHORT_LABEL, LONGEST_LABEL_OF_PHONE = 24, 6

# Sections of a report, in order: key -> title.
SECTIONS: Mapping[str, str] = {
    "dataset": "The dataset",
    "agreement": "Agreement",
    "people": "People",
    "models": "Models",
    "people-and-models": "People and models",
    "descriptions": "Descriptions",
    "bias": "Position and other bias",
    "cost": "Time, pay and cost",
}


@dataclass(frozen=True)
class Undefined:
    """An undefined number, with the reason."""

    reason: str


@dataclass(frozen=True)
class Range:
    """From `low` to `high`, formatted like its column."""

    low: float
    high: float


def count_tooltip(count: int, unit: str, instances: int) -> str:
    """Return what a list of `instances` shows that `count` of `unit`, in the plural, leads to; "" if it shows these."""
    if unit == INSTANCES:
        return ""
    shown = "instance" if instances == 1 else f"{instances:,} instances"
    counted = f"these {count:,} {unit} are" if count > 1 else f"this {unit.removesuffix('s')} is"
    return f"The {shown} that {counted} about"


class LinkedCount(int):
    """A count, and the query of the list of instances that shows exactly these or the instances they are about.

    unit: what is counted, in the plural. instances: how many the list shows.
    """

    query: str
    unit: str
    instances: int

    def __new__(cls, count: int, query: str, *, unit: str = INSTANCES, instances: int | None = None) -> Self:
        made = super().__new__(cls, count)
        made.query, made.unit = query, unit
        made.instances = count if instances is None else instances
        return made

    @property
    def tooltip(self) -> str:
        """Return a text about the list if it shows something other than what was counted; else ""."""
        return count_tooltip(self, self.unit, self.instances)


class AnnotatorName(str):
    """The pseudonym of an annotator, which pages link to the annotator's page."""


class Bar(float):
    """A number that pages also draw as a bar: `low` to `high` is its range, `most` the end of the scale."""

    low: float | None
    high: float | None
    most: float

    def __new__(cls, value: float, *, low: float | None = None, high: float | None = None, most: float = 1) -> Self:
        made = super().__new__(cls, value)
        made.low, made.high, made.most = low, high, most
        return made


class Positions(float):
    """A p-value that pages draw with the counts it is about: how often each position was chosen."""

    counts: Sequence[int]

    def __new__(cls, p: float, counts: Sequence[int]) -> Self:
        made = super().__new__(cls, p)
        made.counts = counts
        return made


Cell = str | int | float | Decimal | Range | Undefined | None


@dataclass(frozen=True)
class Column:
    title: str
    shown: Shown = "text"


@dataclass(frozen=True)
class Table:
    """A table; `name` is its name in files. A cell that is None does not apply.

    `rests_on`: slugs of the studies with the answers behind it.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    rests_on: Sequence[str] = ()

    @property
    def says_something(self) -> bool:
        """Whether it has a row and, if it has measures, a defined one. Counts are not measures."""
        measures = [place for place, column in enumerate(self.columns) if column.shown in MEASURES]
        cells = [row[place] for row in self.rows for place in measures]
        return bool(self.rows) and (
            not measures or any(cell is not None and not isinstance(cell, Undefined) for cell in cells)
        )


@dataclass(frozen=True)
class Point:
    """A value, with its interval if known.

    `expected`: the value expected by chance. `x`: position on the horizontal axis (a bar ends at `x_end`); times are in
    milliseconds since 1970. `link`: target of its mark on pages, "" without: the query of the list of instances that it
    counts, starting with a question mark, or the pseudonym of its person.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    x: float | None = None
    x_end: float | None = None
    link: str = ""


@dataclass(frozen=True)
class Series:
    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Reference:
    """A value that all others are compared with, such as chance."""

    name: str
    value: float


@dataclass(frozen=True)
class Chart:
    """A chart.

    `description`: text for people who cannot see it. `shown`: as for columns. `axis`: title of the value axis.
    `references`: dashed lines. `method`: how its values are computed, "" if the notes of its tables say so.
    `is_simulated`: it has simulated answers, and its files say so. `is_narrow`: as wide as a phone's window.

    `form`: charts with a row per label are `bars`, `dots` with intervals, `stacked` shares of a whole, `diverging`
    shares of the steps of a scale around its middle, and `heat`, with a cell per label and series. Charts with a
    horizontal axis titled `x_axis` are a `histogram`, a `line` (dashed except for the first series) and a `scatter`
    plot. A histogram has its references on the horizontal axis, which shows times if `x_is_time`.
    """

    name: str
    title: str
    description: str
    form: ChartForm
    shown: Shown
    axis: str
    series: Sequence[Series]
    references: Sequence[Reference] = ()
    x_axis: str = ""
    x_is_time: bool = False
    method: str = ""
    is_simulated: bool = False
    is_narrow: bool = False

    @property
    def has_points(self) -> bool:
        return any(series.points for series in self.series)

    @property
    def has_long_labels(self) -> bool:
        """Whether row labels are above their rows, because they are too long to be beside them."""
        labels = (point.label for series in self.series for point in series.points)
        longest = LONGEST_LABEL_OF_PHONE if self.is_narrow else LONGEST_SHORT_LABEL
        # On a screen a heat map has room beside its rows.
        has_rows = self.form in {"bars", "dots", "stacked", "diverging"} or (self.is_narrow and self.form == "heat")
        return has_rows and max(map(len, labels), default=0) > longest


@dataclass(frozen=True)
class Card:
    """One result: a question, a sentence that answers it, the tables behind it, and a chart.

    `name`: its name in addresses and files. `section`: a key of `SECTIONS`. `sentence`: a line for each thing that it
    is about, or a single line. `simulated`: which annotators behind it are simulated, "" if people gave all answers.
    """

    name: str
    section: str
    question: str
    sentence: str
    tables: Sequence[Table]
    chart: Chart | None = None
    simulated: str = ""


@dataclass(frozen=True)
class Report:
    """The cards of a report, in order. `made_at`: creation time, ISO 8601, "" if not given."""

    title: str
    cards: Sequence[Card]
    made_at: str = ""

    @property
    def tables(self) -> list[Table]:
        return [table for card in self.cards for table in card.tables]

    @property
    def charts(self) -> list[Chart]:
        return [card.chart for card in self.cards if card.chart is not None]

    @property
    def sections(self) -> list[tuple[str, list[Card]]]:
        """The titles of the sections that have cards, and their cards."""
        found: dict[str, list[Card]] = {}
        for card in self.cards:
            found.setdefault(SECTIONS[card.section], []).append(card)
        return list(found.items())

    def table(self, name: str) -> Table:
        """Return the table called `name`. Raises KeyError."""
        return {table.name: table for table in self.tables}[name]
