"""A report for pages: tables as text with plots, and the same as plain values for storage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.reports.base import Column, Report, Table
from results.reports.plots import svg
from results.reports.text import TextTable, text_table

# Longer tables are useless on a page and take browsers seconds.
MOST_ROWS = 200
# Longer ones get their own frame.
MOST_UNFRAMED = 24


@dataclass(frozen=True)
class Finding:
    """A table, and its plot if there is one: SVG with escaped text."""

    text: TextTable
    plot: str

    @property
    def rows(self) -> Sequence[Sequence[tuple[str, bool, str, str, int]]]:
        """Return the cells of each row.

        Each with whether it is a number, the query of its list, what that shows if it differs from the count, and the
        number of instances.
        """
        text = self.text
        return [
            list(zip(row, text.is_number, *of_row, strict=True))
            for row, *of_row in zip(text.rows, text.queries, text.explained, text.instances, strict=True)
        ]

    @property
    def leads_elsewhere(self) -> bool:
        """Whether a count links to something other than what was counted."""
        return any(any(row) for row in self.text.explained)

    @property
    def is_long(self) -> bool:
        """Whether it is so long that it scrolls in its own frame, which says so."""
        return len(self.text.rows) > MOST_UNFRAMED

    @property
    def headings(self) -> Sequence[tuple[str, bool]]:
        return list(zip(self.text.headings, self.text.is_number, strict=True))


def findings_of(report: Report, *, most_rows: int | None = MOST_ROWS) -> Iterator[Finding]:
    """Yield the tables of `report`; long ones lose their middle."""
    plots = {plot.name: plot for plot in report.plots}
    for table in report.tables:
        yield Finding(text_table(_shortened(table, most_rows)), svg(plots[table.name]) if table.name in plots else "")


def _shortened(table: Table, most: int | None) -> Table:
    # The last row may be a total.
    if most is None or len(table.rows) <= most:
        return table
    note = f"The first {most - 1:,} rows and the last of {len(table.rows):,} are shown."
    return replace(table, rows=[*table.rows[: most - 1], table.rows[-1]], notes=[*table.notes, note])


def plain(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return JSON-compatible values of `findings`; `from_plain` reads them."""
    return [
        {
            "name": finding.text.table.name,
            "title": finding.text.table.title,
            "columns": [[column.title, column.shown] for column in finding.text.table.columns],
            "notes": list(finding.text.table.notes),
            "is_long_form": finding.text.table.is_long_form,
            "headings": list(finding.text.headings),
            "rows": [list(row) for row in finding.text.rows],
            "reasons": list(finding.text.reasons),
            "queries": [list(row) for row in finding.text.queries],
            "explained": [list(row) for row in finding.text.explained],
            "instances": [list(row) for row in finding.text.instances],
            "plot": finding.plot,
        }
        for finding in findings
    ]


def from_plain(kept: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Return findings for a page; their tables no longer hold exact values."""
    return [
        Finding(
            TextTable(
                table=Table(
                    name=each["name"],
                    title=each["title"],
                    columns=[Column(title, shown) for title, shown in each["columns"]],
                    rows=[],
                    notes=each["notes"],
                    is_long_form=each["is_long_form"],
                ),
                headings=each["headings"],
                rows=each["rows"],
                reasons=each["reasons"],
                queries=each["queries"],
                explained=each["explained"],
                instances=each["instances"],
            ),
            each["plot"],
        )
        for each in kept
    ]
