import json
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from math import pi, sin
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from results.reports.base import Cell, Column, Plot, Point, Range, Report, Series, Shown, Table, Undefined
from results.reports.build import report_of
from results.reports.formats import FORMATS, get_files
from results.reports.formats.md import escape as md_escape
from results.reports.formats.tex import escape as tex_escape
from results.reports.plots import svg
from results.reports.text import cell_text
from tests.results.reports.small import PROJECT

TABLE = Table(
    "odd",
    "A & B <c>",
    [Column("Na_me"), Column("n", "count"), Column("Share", "share"), Column("Kappa", "coefficient")],
    [["a|b $5", 7512, 0.5, Undefined("Only one rater.")], ["c", 0, None, Range(-0.25, 0.5)]],
    ["50 % of {all}."],
)
PLOT = Plot("p", "T", "D <d>", "bars", "count", "Things", [Series("", [Point("x", 3)])])
REPORT = Report("Odd & <named>", [TABLE], [PLOT])


@pytest.mark.parametrize(
    ("cell", "shown", "expected"),
    [
        (7512, "count", "7,512"),
        (0.00125, "share", "0.13"),
        (0.9040, "share", "90.40"),
        (0.125, "coefficient", "0.13"),
        (-0.001, "coefficient", "0.00"),
        (0.0004, "p", "< 0.001"),
        (0.0215, "p", "0.022"),
        (Decimal("1234.5"), "money", "1,234.50"),
        (Range(0.84, 0.955), "share", "84.00 to 95.50"),
        (None, "count", ""),
        ("none", "text", "none"),
    ],
)
def test_a_number_is_rounded_once_and_half_up(cell: Cell, shown: Shown, expected: str) -> None:
    assert cell_text(cell, shown) == expected


def test_markdown_shows_the_table_and_why_a_number_is_missing() -> None:
    text = get_files("md")(REPORT)["report.md"]
    assert "| Na\\_me | n | Share (%) | Kappa |\n| --- | ---: | ---: | ---: |" in text
    assert "| a\\|b $5 | 7,512 | 50.00 | undefined (a) |" in text
    assert "(a) Only one rater." in text
    assert "| c | 0 |  | -0.25 to 0.50 |" in text


def test_latex_escapes_what_latex_would_run() -> None:
    given = '\\input{x} & 50% $a_b #1 ~ ^ <|> "'
    assert tex_escape(given) == (
        r"\textbackslash{}input\{x\} \& 50\% \$a\_b \#1 \textasciitilde{} \textasciicircum{} "
        r"\textless{}\textbar{}\textgreater{} \textquotedbl{}"
    )


@pytest.mark.parametrize(
    ("given", "expected"), [("a--b", "a-{}-b"), ("---", "-{}-{}-"), ("?`''", "?{}`'{}'"), ("it's a-b", "it's a-b")]
)
def test_latex_draws_no_two_signs_as_one(given: str, expected: str) -> None:
    assert tex_escape(given) == expected


def test_latex_has_a_row_per_row_and_as_many_cells_as_columns() -> None:
    text = get_files("tex")(REPORT)["report.tex"]
    assert r"\begin{tabular}{lrrr}" in text
    assert r"a\textbar{}b \$5 & 7,512 & 50.00 & undefined (a) \\" in text
    assert r"\caption{A \& B \textless{}c\textgreater{}. 50 \% of \{all\}. (a) Only one rater.}" in text


# At the start of a row LaTeX would read them as a length and a star that belong to the row before.
ROW_STARTS = Table("starts", "Starts", [Column("Who")], [("A",), ("[CLS] model",), ("*best*",)])
LONG = Table("long", "Long", [Column("Who"), Column("Answers", "count")], [("a", n) for n in range(90)], ["Counted."])


def test_a_long_table_goes_on_in_further_floats_with_all_of_its_rows() -> None:
    text = get_files("tex")(Report("R", [LONG], []))["report.tex"]
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    assert text.count(r"\caption{Long. Counted.}") == 1
    assert text.count(r"\caption{Long (continued)}") == 2
    assert [text.count(rf"\label{{tab:long{end}}}") for end in ("", "-2", "-3")] == [1, 1, 1]
    assert [line for line in text.splitlines() if line.startswith("a & ")] == [rf"a & {n} \\" for n in range(90)]


def test_a_wide_table_is_made_as_narrow_as_the_text() -> None:
    wide = Table("wide", "Wide", [Column("How often people said it")], [("x",)])
    text = get_files("tex")(Report("R", [wide], []))["report.tex"]
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in text
    assert r"\shortstack[l]{How often \\ people said \\ it} \\" in text


@pytest.mark.parametrize(
    ("cell", "package"), [("na\u00efve \u2013 \u201cyes\u201d", "fontenc"), ("\u0642\u0637\u0629", "fontspec")]
)
def test_the_first_lines_name_the_packages_that_the_letters_need(cell: str, package: str) -> None:
    table = Table("t", "T", [Column("Who")], [(cell,)])
    head = get_files("tex")(Report("R", [table], []))["report.tex"].partition(r"\begin")[0]
    assert package in head
    assert ("lualatex" in head) == (package == "fontspec")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_the_small_report_with_the_packages_that_it_names(tmp_path: Path) -> None:
    report = report_of(PROJECT)
    text = get_files("tex")(replace(report, tables=[*report.tables, ROW_STARTS, LONG]))["report.tex"]
    packages = re.findall(r"\\usepackage(?:\[\w+\])?\{\w+\}", text)
    assert len(packages) == 3
    (tmp_path / "report.tex").write_text(text, encoding="utf-8")
    lines = [r"\documentclass{article}", *packages, r"\begin{document}", r"\input{report}", r"\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "paper.log").read_text(errors="replace")
    assert "Float too large" not in log
    assert "Overfull" not in log


def test_latex_takes_no_cell_for_an_argument_of_the_row_before() -> None:
    lines = get_files("tex")(Report("R", [ROW_STARTS], []))["report.tex"].splitlines()
    assert lines[lines.index(r"\midrule") + 1 :][:3] == [r"A \\", r"{[}CLS] model \\", r"{*}best{*} \\"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a_b *c*\n<d>", r"a\_b \*c\* \<d\>"),
        # The name of a sign is shown and not the sign.
        ("&copy; &#35; R&D; A & B", r"\&copy; \&#35; R\&D; A & B"),
    ],
)
def test_markdown_marks_are_shown_as_they_are(given: str, expected: str) -> None:
    assert md_escape(given) == expected


def test_html_is_one_page_that_shows_text_as_text_and_asks_for_nothing() -> None:
    page = BeautifulSoup(get_files("html")(REPORT)["report.html"], "html.parser")
    assert page.h1 is not None
    assert page.h1.get_text() == "Odd & <named>"
    assert [cell.get_text() for cell in page.select("tbody tr")[0].select("td")] == [
        *("a|b $5", "7,512", "50.00", "undefined (a)")
    ]
    assert not page.select("script, link, img, [src], [href]")
    assert page.svg is not None


def test_json_holds_exact_values_and_reasons() -> None:
    (table,) = json.loads(get_files("json")(REPORT)["report.json"])["tables"]
    assert table["rows"] == [
        {"Na_me": "a|b $5", "n": 7512, "Share": 0.5, "Kappa": None},
        {"Na_me": "c", "n": 0, "Share": None, "Kappa": {"low": -0.25, "high": 0.5}},
    ]
    assert table["undefined"] == [{"row": 0, "column": "Kappa", "reason": "Only one rater."}]


def test_json_says_what_made_it_and_when() -> None:
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    written = [get_files("json")(report_of(PROJECT, made_at=noon))["report.json"] for _ in range(2)]
    assert json.loads(written[0])["made"] == {
        "report_version": 4,
        "lineup_version": tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "at": "2026-03-01T12:00:00+00:00",
        "seed": 7,
        "resamples": 1000,
    }
    assert written[0] == written[1]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_the_whole_small_report_twice_the_same(format: str) -> None:
    files = get_files(format)(report_of(PROJECT))
    assert next(iter(files)) == f"report.{format}"
    assert files == get_files(format)(report_of(PROJECT))
    drawn = [f"{name}.svg" in files for name in ("funnel", "pairs", "scores")]
    assert all(drawn) or not any(drawn)


def test_every_plot_is_well_formed_and_says_in_words_what_it_is_and_measures() -> None:
    space = "{http://www.w3.org/2000/svg}"
    plots = report_of(PROJECT).plots
    for plot in plots:
        root = ElementTree.fromstring(svg(plot))  # noqa: S314 (made by ourselves)
        assert root.get("role") == "img"
        assert [root.findtext(f"{space}title"), root.findtext(f"{space}desc")] == [plot.title, plot.description]
        assert not any(element.get("style") for element in root.iter())
        assert plot.axis in [element.text for element in root.iter(f"{space}text")]
    assert {plot.name: plot.axis for plot in plots} == {
        "funnel": "Instances",
        "pairs": "Cohen's kappa, with its 95 % interval",
        "scores": "Group score, with its 95 % interval",
    }


def test_the_plot_of_scores_says_on_how_many_instances_each_bar_stands() -> None:
    (plot,) = [plot for plot in report_of(PROJECT).plots if plot.name == "scores"]
    assert [point.label for point in plot.series[0].points] == ["all (n = 2)", "add obj (n = 1)", "swap att (n = 1)"]
    # One person right and one wrong, means that vary by 1/4, are worth 1/4 over 1/4 = one answer, half of it right.
    # Wilson's limit is (1 - t / sqrt(1 + t^2)) / 2, where t with one degree of freedom is the tangent of .475 pi.
    first = plot.series[0].points[0]
    assert first.low == pytest.approx((1 - sin(0.475 * pi)) / 2)
    assert first.high == pytest.approx((1 + sin(0.475 * pi)) / 2)


def test_bars_are_as_long_as_their_values() -> None:
    points = [Point("a", 0.25), Point("b", 0.5), Point("c", None)]
    plot = Plot("p", "T", "D", "bars", "share", "Share", [Series("", points)])
    root = ElementTree.fromstring(svg(plot))  # noqa: S314
    bars = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") == "#0072b2"]
    short, long = (float(bar.get("width", "0")) for bar in bars)
    assert long == pytest.approx(2 * short)
    assert "undefined" in svg(plot)
