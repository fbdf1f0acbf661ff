"""Cards and tables for pages: texts only, and the same as plain values for storage."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from results.reports import charts
from results.reports.base import SECTIONS, Card, Chart, Column, Report, Table, Undefined
from results.reports.text import TYPE, TextCell, TextTable, text_table

# Longer tables are useless on a page and take browsers seconds.
MOST_ROWS = 200
# Longer ones get their own frame.
MOST_UNFRAMED = 24
# With more, the columns share the width of a laptop: cells wrap and have less space around them.
MOST_ROOMY_COLUMNS = 8


@dataclass(frozen=True)
class PageTable:
    """A table of texts. `notes`: how it was computed."""

    name: str
    title: str
    headings: Sequence[str]
    is_number: Sequence[bool]
    cells: Sequence[Sequence[TextCell]]
    notes: Sequence[str]

    @property
    def columns(self) -> Sequence[tuple[str, bool]]:
        """The headings, each with whether the column has numbers."""
        return list(zip(self.headings, self.is_number, strict=True))

    @property
    def is_long(self) -> bool:
        """Whether it scrolls in its own frame."""
        return len(self.cells) > MOST_UNFRAMED

    @property
    def is_wide(self) -> bool:
        """Whether its cells have to wrap on a laptop."""
        return len(self.headings) > MOST_ROOMY_COLUMNS


@dataclass(frozen=True)
class PageCard:
    """A card of texts, with the title of its section."""

    name: str
    section: str
    question: str
    sentence: str
    simulated: str
    tables: Sequence[PageTable]
    chart: Chart | None

    @property
    def notes(self) -> Sequence[str]:
        """How its tables and its chart were computed, each note once."""
        of_chart = [self.chart.method] if self.chart is not None and self.chart.method else []
        return list(dict.fromkeys([note for table in self.tables for note in table.notes] + of_chart))


def page_cards(report: Report) -> list[PageCard]:
    """Return the cards of `report`; long tables lose their middle, and all their empty columns."""
    return [_page_card(card) for card in report.cards]


def _page_card(card: Card) -> PageCard:
    tables = [page_table(_without_empty(table)) for table in card.tables]
    about = (card.name, SECTIONS[card.section], card.question, card.sentence, card.simulated)
    return PageCard(*about, tables, card.chart)


def page_table(table: Table, *, most_rows: int = MOST_ROWS) -> PageTable:
    """Return `table` for a page. Of more than `most_rows` rows it shows the first ones and the last."""
    text: TextTable = text_table(_shorten(table, most_rows))
    return PageTable(table.name, table.title, text.headings, text.is_number, text.cells, text.table.notes)


def without_undefined(table: Table) -> Table:
    """Return `table` without the columns that are undefined in every row; a note says why they are."""
    reasons: dict[str, list[str]] = {}
    kept = []
    for index, column in enumerate(table.columns):
        cells = [row[index] for row in table.rows]
        if cells and all(isinstance(cell, Undefined) for cell in cells):
            for reason in dict.fromkeys(cell.reason for cell in cells if isinstance(cell, Undefined)):
                reasons.setdefault(reason, []).append(column.title)
        else:
            kept.append(index)
    notes = [f"Left out: {', '.join(titles)}. {reason}" for reason, titles in reasons.items()]
    return replace(
        table,
        columns=[table.columns[index] for index in kept],
        rows=[tuple(row[index] for index in kept) for row in table.rows],
        notes=[*table.notes, *notes],
    )


def table_of_chart(chart: Chart) -> Table:
    """Return the values of `chart` as a table with a row for each label and a column for each series."""
    values: dict[str, dict[str, float | None]] = {}
    for series in chart.series:
        for point in series.points:
            values.setdefault(point.label, {})[series.name] = point.value
    columns = [Column(chart.x_axis), *(Column(series.name or chart.axis, chart.shown) for series in chart.series)]
    rows = [[label, *(of.get(series.name) for series in chart.series)] for label, of in values.items()]
    return Table(chart.name, chart.title, columns, rows)


def _without_empty(table: Table) -> Table:
    """Return `table` without the columns whose cells do not apply in any row; files keep them."""
    kept = [
        place
        for place, column in enumerate(table.columns)
        if column.title == TYPE or not table.rows or any(row[place] not in (None, "") for row in table.rows)
    ]
    columns = [table.columns[place] for place in kept]
    return replace(table, columns=columns, rows=[tuple(row[place] for place in kept) for row in table.rows])


def _shorten(table: Table, most: int) -> Table:
    # The last row may be a total.
    if len(table.rows) <= most:
        return table
    note = f"Showing the first {most - 1:,} of {len(table.rows):,} rows, and the last one."
    return replace(table, rows=[*table.rows[: most - 1], table.rows[-1]], notes=[*table.notes, note])


def plain_cards(cards: Sequence[PageCard]) -> list[dict[str, Any]]:
    """Return JSON-compatible values of `cards`; `cards_from_plain` reads them."""
    return [
        {
            **{name: getattr(card, name) for name in ("name", "section", "question", "sentence", "simulated")},
            "tables": [plain_table(table) for table in card.tables],
            "chart": asdict(card.chart) if card.chart else None,
        }
        for card in cards
    ]


def plain_table(table: PageTable) -> dict[str, Any]:
    """Return JSON-compatible values of `table`; `table_from_plain` reads them."""
    return {**vars(table), "cells": [[astuple(cell) for cell in row] for row in table.cells]}


def cards_from_plain(stored: Sequence[Mapping[str, Any]]) -> list[PageCard]:
    return [
        PageCard(
            **{
                **card,
                "tables": [table_from_plain(table) for table in card["tables"]],
                "chart": charts.from_plain(card["chart"]) if card["chart"] else None,
            }
        )
        for card in stored
    ]


def table_from_plain(stored: Mapping[str, Any]) -> PageTable:
    return PageTable(**{**stored, "cells": [[TextCell(*cell) for cell in row] for row in stored["cells"]]})
