"""Tables and plots, before anybody decides how they look. Values are exact; whoever writes them rounds."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

# Resampling starts from here, so that a report made again says the same.
SEED = 7
# The version of this program, as pyproject.toml has it.
LINEUP = "0.1.0"
# Raised when tables or columns of a report change their names or their meaning.
REPORT_VERSION = 4

INSTANCES = "instances"

# How a column is shown: a share of 1 as a percentage with two decimals; coefficients and money with two decimals.
Shown = Literal["text", "count", "share", "coefficient", "p", "money"]
MEASURES: Collection[Shown] = ("share", "coefficient", "p")


@dataclass(frozen=True)
class Undefined:
    """A number that cannot be had, and why."""

    reason: str


@dataclass(frozen=True)
class Range:
    """From `low` to `high`, shown as its column is."""

    low: float
    high: float


class Listed(int):
    """A count, and the query by which the list of instances shows exactly these, or the instances that these are about.

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
    def explained(self) -> str:
        """Return what the list shows where that is something else than was counted; else ""."""
        if self.unit == INSTANCES:
            return ""
        shown = "instance" if self.instances == 1 else f"{self.instances:,} instances"
        counted = f"these {self:,} {self.unit} are" if self > 1 else f"this {self.unit.removesuffix('s')} is"
        return f"The {shown} that {counted} about"


Cell = str | int | float | Decimal | Range | Undefined | None


@dataclass(frozen=True)
class Column:
    title: str
    shown: Shown = "text"


@dataclass(frozen=True)
class Table:
    """`name` is the table's name in files. A cell that is None does not apply.

    `rests_on`: the slugs of the studies whose answers it was made of. `is_long_form`: it says at length what another
    table says in short, so that a page shows it when somebody asks for it.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    rests_on: Sequence[str] = ()
    is_long_form: bool = False

    @property
    def says_something(self) -> bool:
        """Whether it has a row and, where it has measures, one that is defined. Counts are no measures."""
        measures = [place for place, column in enumerate(self.columns) if column.shown in MEASURES]
        cells = [row[place] for row in self.rows for place in measures]
        return bool(self.rows) and (
            not measures or any(cell is not None and not isinstance(cell, Undefined) for cell in cells)
        )


@dataclass(frozen=True)
class Point:
    """A value, and where known the interval around it."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Plot:
    """`bars` from zero, or `points` with intervals; every series has a point for each of the same labels.

    `description` says in words what is to be seen, for those who cannot see it. `shown` as for columns. `axis` is the
    title of the axis of values.
    """

    name: str
    title: str
    description: str
    form: Literal["bars", "points"]
    shown: Shown
    axis: str
    series: Sequence[Series]


@dataclass(frozen=True)
class Report:
    """`made_at`: the moment it was made, ISO 8601, "" where nobody said."""

    title: str
    tables: Sequence[Table]
    plots: Sequence[Plot]
    made_at: str = ""

    def table(self, name: str) -> Table:
        """Return the table called `name`. Raises KeyError."""
        return {table.name: table for table in self.tables}[name]
