"""`json`: exact values for programs. An undefined number is null with its reason under `undefined`.

`made` holds the provenance: version of the schema and of the program, time, and resampling settings. Two reports of the
same rows at the same time are identical.
"""

import json
from decimal import Decimal
from typing import Any

from analytics.intervals.bootstrap import RESAMPLES
from results.reports.base import LINEUP, REPORT_VERSION, SEED, Cell, Plot, Range, Report, Table, Undefined


def files(report: Report) -> dict[str, str]:
    content = {
        "title": report.title,
        "made": {
            "report_version": REPORT_VERSION,
            "lineup_version": LINEUP,
            "at": report.made_at or None,
            "seed": SEED,
            "resamples": RESAMPLES,
        },
        "tables": [_table(table) for table in report.tables],
        "plots": [_plot(plot) for plot in report.plots],
    }
    return {"report.json": json.dumps(content, ensure_ascii=False, indent=1) + "\n"}


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


def _plot(plot: Plot) -> dict[str, Any]:
    series = [
        {
            "name": each.name,
            "points": [
                {"label": point.label, "value": point.value, "low": point.low, "high": point.high}
                for point in each.points
            ],
        }
        for each in plot.series
    ]
    return {"name": plot.name, "title": plot.title, "description": plot.description, "series": series}
