"""`md`: GitHub Markdown, with charts as separate SVG files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from results.reports.base import Card, Report, Table
from results.reports.charts import NOT_DRAWN, Drawing, for_file
from results.reports.text import text_table


def files(report: Report, drawings: Mapping[str, Drawing] | None) -> dict[str, bytes]:
    parts = [f"# {escape(report.title)}"]
    for title, cards in report.sections:
        parts.append(f"## {escape(title)}")
        parts += [part for card in cards for part in _card(card, drawings)]
    drawn = [(chart, drawings[chart.name]) for chart in report.charts if drawings and chart.name in drawings]
    pictures = {f"{chart.name}.svg": for_file(drawing.svg, chart).encode() for chart, drawing in drawn}
    return {"report.md": ("\n\n".join(parts) + "\n").encode(), **pictures}


def write_tables(title: str, tables: Iterable[Table]) -> str:
    """Return a title and tables, without cards."""
    return "\n\n".join([f"# {escape(title)}", *map(render_table, tables)]) + "\n"


def _card(card: Card, drawings: Mapping[str, Drawing] | None) -> Iterator[str]:
    yield f"### {escape(card.question)}"
    yield escape(" ".join(card.sentence.splitlines()))
    if card.simulated:
        yield f"**{escape(card.simulated)}**"
    if card.chart is not None and drawings is not None:
        drawn = card.chart.name in drawings
        yield f"![{escape(card.chart.description)}]({card.chart.name}.svg)" if drawn else NOT_DRAWN
        if card.chart.method:
            yield escape(card.chart.method)
    yield from (render_table(table, level=4) for table in card.tables)


def render_table(table: Table, *, level: int = 2) -> str:
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
