"""`tex`: tables to include in a paper with \\input; they need the package booktabs. Plots are SVG files beside it."""

from collections.abc import Sequence

from results.reports.base import Report, Table
from results.reports.plots import svg
from results.reports.text import text_table

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
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def files(report: Report) -> dict[str, str]:
    head = f"% {' '.join(report.title.split())}\n% Needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}.\n"
    pictures = {f"{plot.name}.svg": svg(plot) for plot in report.plots}
    return {"report.tex": head + "\n".join(_table(table) for table in report.tables), **pictures}


def _table(table: Table) -> str:
    text = text_table(table)
    places = "".join("r" if number else "l" for number in text.is_number)
    remarks = " ".join(escape(remark) for remark in text.remarks)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.title)}. {remarks}}}" if remarks else rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _line(text.headings),
        r"\midrule",
        *(_line(row) for row in text.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


def escape(text: str) -> str:
    """Return `text` so that LaTeX prints it as it is.

    Example: "50 % of a_b" is "50 \\% of a\\_b".
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in text)
