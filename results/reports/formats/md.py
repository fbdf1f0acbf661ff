"""`md`: GitHub Markdown, with plots as separate SVG files."""

import re
from collections.abc import Sequence

from results.reports.base import Report, Table
from results.reports.plots import svg
from results.reports.text import text_table


def files(report: Report) -> dict[str, str]:
    pictures = {f"{plot.name}.svg": svg(plot) for plot in report.plots}
    parts = [f"# {escape(report.title)}", *(section(table) for table in report.tables)]
    parts += [f"## {escape(plot.title)}\n\n![{escape(plot.description)}]({plot.name}.svg)" for plot in report.plots]
    return {"report.md": "\n\n".join(parts) + "\n", **pictures}


def section(table: Table, *, level: int = 2) -> str:
    """Return a heading, the table and its remarks."""
    text = text_table(table)
    lines = [
        _line([escape(heading) for heading in text.headings]),
        _line(["---:" if number else "---" for number in text.is_number]),
        *(_line([escape(cell) for cell in row]) for row in text.rows),
    ]
    remarks = [escape(remark) for remark in text.remarks]
    return "\n\n".join([f"{'#' * level} {escape(table.title)}", "\n".join(lines), *remarks])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escape(text: str) -> str:
    """Escape `text` for one line of Markdown."""
    return re.sub(r"([\\`*_|<>\[\]~]|&(?=#?\w+;))", r"\\\1", " ".join(text.split()))
