"""`html`: one self-contained page with charts."""

from collections.abc import Mapping
from html import escape

from results.reports.base import Card, Report, Table
from results.reports.charts import NOT_DRAWN, Drawing, for_file
from results.reports.text import text_table

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; margin: 2rem auto; max-width: 75rem;
       padding: 0 1rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0; font-size: 0.9rem; }
caption { text-align: left; font-weight: 600; padding: 0.5rem 0; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #ddd; text-align: left; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
figure { margin: 1rem 0; }
.remark { color: #444; font-size: 0.9rem; margin: 0.25rem 0; }
"""


def files(report: Report, drawings: Mapping[str, Drawing] | None) -> dict[str, bytes]:
    title = escape(report.title)
    parts = [
        "<!doctype html>",
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
    ]
    for heading, cards in report.sections:
        parts += [f"<h2>{escape(heading)}</h2>", *(_card(card, drawings) for card in cards)]
    parts.append("</body>\n</html>")
    return {"report.html": ("\n".join(parts) + "\n").encode()}


def _card(card: Card, drawings: Mapping[str, Drawing] | None) -> str:
    notice = f'\n<p class="remark"><strong>{escape(card.simulated)}</strong></p>' if card.simulated else ""
    picture = ""
    if card.chart is not None and drawings is not None:
        drawing = drawings.get(card.chart.name)
        picture = f"\n<figure>{for_file(drawing.svg, card.chart)}</figure>" if drawing else f"\n<p>{NOT_DRAWN}</p>"
    tables = "\n".join(render_table(table) for table in card.tables)
    if card.chart is not None and drawings is not None and card.chart.method:
        tables += f'\n<p class="remark">{escape(card.chart.method)}</p>'
    return (
        f'<section id="card-{card.name}">\n<h3>{escape(card.question)}</h3>\n<p>{escape(card.sentence)}</p>'
        f"{notice}{picture}\n<details>\n<summary>Tables and method</summary>\n{tables}\n</details>\n</section>"
    )


def render_table(table: Table) -> str:
    """Return the table with title and remarks as HTML."""
    text = text_table(table)
    classes = [' class="number"' if number else "" for number in text.is_number]
    headings = "".join(
        f'<th scope="col"{kind}>{escape(heading)}</th>' for heading, kind in zip(text.headings, classes, strict=True)
    )
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in text.rows
    )
    remarks = "".join(f'\n<p class="remark">{escape(remark)}</p>' for remark in text.remarks)
    return (
        f'<div class="table" id="{escape(table.name)}" tabindex="0">\n<table>\n'
        f"<caption>{escape(table.title)}</caption>\n<thead><tr>{headings}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>{remarks}"
    )
