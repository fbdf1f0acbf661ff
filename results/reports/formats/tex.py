"""`tex`: cards for \\input in a paper; its first lines list the required packages.

A table wider than the text is scaled down; a long one continues in further floats. Charts are separate PDF files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from results.reports.base import Card, Chart, Report
from results.reports.charts import NOT_DRAWN, Drawing
from results.reports.text import TextTable, text_table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "\N{NO-BREAK SPACE}": "~",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    # Unescaped at the start of a row, they would belong to the end of the row before.
    "[": "{[}",
    "*": "{*}",
}
# Characters that fonts would draw as another: dashes, quotation marks, inverted marks.
_DRAWN_AS_ONE = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)|(?<=`)(?=`)|(?<=[?!])(?=`)")


# Rows per page below a caption.
ROWS_PER_FLOAT = 40
# A longer heading is set in several lines.
LONGEST_LINE = 12
# Characters of pdflatex with T1 fonts.
_LATIN = range(0x180)
_SIGNS = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u2026")
_FOR_PDFLATEX = r"""% Needs \usepackage{booktabs}, \usepackage{graphicx} and \usepackage[T1]{fontenc}.
"""
_FOR_LUALATEX = r"""% Needs \usepackage{booktabs}, \usepackage{graphicx} and \usepackage{fontspec}. It has letters that
% pdflatex cannot set: compile it with lualatex or xelatex, and name a font that has them with \setmainfont.
"""


def files(report: Report, drawings: Mapping[str, Drawing] | None) -> dict[str, bytes]:
    head = f"% {' '.join(report.title.split())}\n"
    content = "\n".join(part for card in report.cards for part in _card(card, drawings))
    pictures = {f"{name}.pdf": drawing.pdf for name, drawing in (drawings or {}).items()}
    return {"report.tex": f"{head}{_needs(content)}{content}".encode(), **pictures}


def table_text(table: TextTable) -> str:
    """Return one table, with the packages that it needs."""
    content = _floats(table)
    return f"{_needs(content)}{content}"


def _needs(content: str) -> str:
    return _FOR_PDFLATEX if _is_latin(content) else _FOR_LUALATEX


def _card(card: Card, drawings: Mapping[str, Drawing] | None) -> Iterator[str]:
    yield rf"\paragraph{{{escape(card.question)}}}" + f"\n{escape(card.sentence)}\n"
    if card.simulated:
        yield rf"\textbf{{{escape(card.simulated)}}}" + "\n"
    if card.chart is not None and drawings is not None:
        yield _figure(card.chart) if card.chart.name in drawings else f"% {NOT_DRAWN}\n"
    yield from (_floats(text_table(table)) for table in card.tables)


def _figure(chart: Chart) -> str:
    caption = f"{chart.title}. {chart.method}" if chart.method else chart.title
    lines = [
        r"\begin{figure}",
        r"\centering",
        rf"\includegraphics[width=\linewidth]{{{chart.name}.pdf}}",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{fig:{chart.name}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines) + "\n"


def _is_latin(text: str) -> bool:
    return all(ord(sign) in _LATIN or sign in _SIGNS for sign in text)


def _floats(text: TextTable) -> str:
    """Return a table as one float, or as several marked as continued."""
    starts = range(0, max(len(text.rows), 1), ROWS_PER_FLOAT)
    return "\n".join(
        _float(text, text.rows[start : start + ROWS_PER_FLOAT], number) for number, start in enumerate(starts)
    )


def _float(text: TextTable, rows: Sequence[Sequence[str]], number: int) -> str:
    title, name = escape(text.table.title), text.table.name
    remarks = " ".join(escape(remark) for remark in text.remarks)
    first = f"{title}. {remarks}" if remarks else title
    alignment = "".join("r" if is_number else "l" for is_number in text.is_number)
    lines = [
        r"\begin{table}",
        r"\centering\footnotesize",
        rf"\caption{{{title} (continued)}}" if number else rf"\caption{{{first}}}",
        rf"\label{{tab:{name}-{number + 1}}}" if number else rf"\label{{tab:{name}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _headings(text),
        r"\midrule",
        *(_line(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _headings(text: TextTable) -> str:
    cells = []
    for heading, is_number in zip(text.headings, text.is_number, strict=True):
        lines = [escape(line) for line in wrap(heading, LONGEST_LINE, break_long_words=False, break_on_hyphens=False)]
        stack = (r"\shortstack[r]{" if is_number else r"\shortstack[l]{") + r" \\ ".join(lines) + "}"
        cells.append(stack if len(lines) > 1 else "".join(lines))
    return " & ".join(cells) + r" \\"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


def escape(text: str) -> str:
    """Return `text` so that LaTeX prints it as it is.

    Example: "50 % of a_b" is "50 \\% of a\\_b".
    """
    return "{}".join("".join(_ESCAPES.get(sign, sign) for sign in part) for part in _DRAWN_AS_ONE.split(text))
