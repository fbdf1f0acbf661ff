"""Tables of papers: published and computed figures, both as text, as printed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analytics.scores import Score
from evaluation.protocols import Breakdown
from results.reports.base import Cell, Column, Table
from results.reports.formats.md import render_table

PUBLISHED, COMPUTED, NONE = "published", "computed", "—"
# Why figures are not computed.
WEIGHTS = "needs the model's weights and the images, or a file of its results"
ANSWERS = "needs people's answers, which were not released"
# Of tables whose content nobody compared with this list.
NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class PaperRow:
    """A row of a table, such as a model.

    `published`, `computed`: column -> figure; computed without files is {}. `needs`: what a row without computed
    figures needs, as the end of a sentence; "" if it has all.
    """

    who: str
    published: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper. `source`: where its published figures are from."""

    paper: str
    title: str
    source: str
    rows: Sequence[PaperRow]
    notes: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in (*row.published, *row.computed)))

    def compared(self) -> tuple[int, int]:
        """Return how many figures are both published and computed, and how many of these are equal."""
        pairs = [
            (row.published[name], row.computed[name])
            for row in self.rows
            for name in row.published
            if name in row.computed
        ]
        return len(pairs), sum(published == computed for published, computed in pairs)


def others(paper: str, which: str) -> PaperTable:
    """Return an entry for the tables of a paper that are not listed. `which`: such as "All after table 2"."""
    return PaperTable(paper, "Tables that are not listed", "the paper", [PaperRow(which, needs=NOT_CHECKED)])


def percent(part: Breakdown, cell: str, decimals: int = 2) -> str:
    """Return a share of an evaluation in percent, rounded as in the papers; "—" if it is undefined."""
    found = part.cells[cell]
    value = found.percent(decimals) if isinstance(found, Score) else None
    return NONE if value is None else str(value)


def as_markdown(tables: Sequence[PaperTable]) -> str:
    """Return a summary, then each paper's tables, as Markdown."""
    compared, equal = (sum(counts) for counts in zip(*(table.compared() for table in tables), strict=True))
    summary = [f"{compared:,} published figures were computed from the files, {equal:,} of them with the same result."]
    if compared > equal:
        summary.append("Differences are named under their tables.")
    lines = [" ".join(summary), ""]
    papers = dict.fromkeys(table.paper for table in tables)
    lines += ["| Paper | Table | Computed here | Not computed here |", "| --- | --- | --- | --- |"]
    for table in tables:
        done = ", ".join(row.who for row in table.rows if row.computed) or "nothing"
        missing = "; ".join(f"{', '.join(rows)}: {needs}" for needs, rows in _missing(table).items()) or "nothing"
        lines.append(f"| {table.paper} | {table.title} | {done} | {missing} |")
    for paper in papers:
        of_paper = [_table(table) for table in tables if table.paper == paper and table.columns]
        if of_paper:
            lines += ["", f"### {paper}"]
            lines += [part for table in of_paper for part in ("", render_table(table, level=4))]
    return "\n".join(lines) + "\n"


def _missing(table: PaperTable) -> dict[str, list[str]]:
    missing: dict[str, list[str]] = {}
    for row in table.rows:
        if row.needs:
            missing.setdefault(row.needs, []).append(row.who)
    return missing


def _table(table: PaperTable) -> Table:
    columns = [Column("Row"), Column("Figures"), *(Column(name) for name in table.columns)]
    rows: list[Sequence[Cell]] = []
    for row in table.rows:
        for name, figures in ((PUBLISHED, row.published), (COMPUTED, row.computed)):
            if figures:
                rows.append((row.who, name, *(figures.get(column, NONE) for column in table.columns)))
    compared, equal = table.compared()
    differences = [
        f"Different: {row.who}, {name}: published {published}, computed {row.computed[name]}."
        for row in table.rows
        for name, published in row.published.items()
        if name in row.computed and row.computed[name] != published
    ]
    counted = [f"{compared:,} figures compared, {equal:,} equal."] if compared else []
    notes = [f"Published figures: {table.source}.", *table.notes, *counted, *differences]
    return Table("", table.title, columns, rows, notes)
