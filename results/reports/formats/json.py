"""`json`: exact values for programs. An undefined number is null with its reason under `undefined`.

`made` holds the provenance: version of the schema and of the program, time, and resampling settings. Two reports of the
same rows at the same time are identical.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from analytics.intervals.bootstrap import RESAMPLES
from results.reports.base import LINEUP, REPORT_VERSION, SEED, Card, Cell, Chart, Range, Report, Table, Undefined
from results.reports.charts import Drawing


def files(report: Report, drawings: Mapping[str, Drawing] | None) -> dict[str, bytes]:
    content = {
        "title": report.title,
        "made": {
            "report_version": REPORT_VERSION,
            "lineup_version": LINEUP,
            "at": report.made_at or None,
            "seed": SEED,
            "resamples": RESAMPLES,
        },
        "cards": [_card(card) for card in report.cards],
        "tables": [_table(table) for table in report.tables],
        "charts": [_chart(chart) for chart in report.charts],
    }
    return {"report.json": f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()}


def _card(card: Card) -> dict[str, Any]:
    return {
        "name": card.name,
        "section": card.section,
        "question": card.question,
        "sentence": card.sentence,
        "simulated": card.simulated,
        "tables": [table.name for table in card.tables],
        "chart": card.chart.name if card.chart else None,
    }


def _table(table: Table) -> dict[str, Any]:
    titles = [column.title for column in table.columns]
    return {
        "name": table.name,
        "title": table.title,
        "columns": [{"title": column.title, "shown": column.shown} for column in table.columns],
        "rows": [{title: _value(cell) for title, cell in zip(titles, row, strict=True)} for row in table.rows],
        "undefined": [
            {"row": number, "column": title, "reason": cell.reason}
            for number, row in enumerate(table.rows)
            for title, cell in zip(titles, row, strict=True)
            if isinstance(cell, Undefined)
        ],
        "notes": list(table.notes),
    }


def _value(cell: Cell) -> Any:
    if isinstance(cell, Undefined):
        return None
    if isinstance(cell, Range):
        return {"low": cell.low, "high": cell.high}
    return float(cell) if isinstance(cell, Decimal) else cell


def _chart(chart: Chart) -> dict[str, Any]:
    series = [
        {
            "name": each.name,
            "points": [
                {"label": point.label, "value": point.value, "low": point.low, "high": point.high}
                for point in each.points
            ],
        }
        for each in chart.series
    ]
    said = {name: getattr(chart, name) for name in ("name", "title", "description", "axis", "shown", "method")}
    return {**said, "series": series}
