import html
import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from math import pi, sin
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from results.reports.base import Card, Cell, Chart, Column, Point, Range, Report, Series, Shown, Table, Undefined
from results.reports.build import report_of
from results.reports.charts import Drawing
from results.reports.formats import FORMATS, get_files
from results.reports.formats.md import escape as md_escape
from results.reports.formats.tex import escape as tex_escape
from results.reports.page_tables import page_cards
from results.reports.text import cell_text, short_model_names, text_table
from tests.results.reports.small import PROJECT

TABLE = Table(
    "odd",
    "A & B <c>",
    [Column("Na_me"), Column("n", "count"), Column("Share", "share"), Column("Kappa", "coefficient")],
    [["a|b $5", 7512, 0.5, Undefined("Only one rater.")], ["c", 0, None, Range(-0.25, 0.5)]],
    ["50 % of {all}."],
)
CHART = Chart("p", "T", "D <d>", "bars", "count", "Things", [Series("", [Point("x", 3)])])
DRAWING = Drawing({}, "<svg><path fill='var(--chart-1)'/></svg>", b"PNG", b"PDF")


def report_with(*tables: Table, chart: Chart | None = None) -> Report:
    return Report(
        "Odd & <named>", [Card("any", "cost", "Is it <so>?", "50 % & more.", tables, chart, "Simulated: all.")]
    )


REPORT = report_with(TABLE, chart=CHART)


def written(format: str, report: Report = REPORT) -> str:
    """Return the report itself in a format, with its chart drawn."""
    return get_files(format)(report, {"p": DRAWING})[f"report.{format}"].decode()


@pytest.mark.parametrize(
    ("cell", "shown", "expected"),
    [
        (7512, "count", "7,512"),
        (0.00125, "share", "0.13"),
        (0.9040, "share", "90.40"),
        (0.125, "coefficient", "0.13"),
        (-0.001, "coefficient", "0.00"),
        (0.0004, "p", "<\N{NO-BREAK SPACE}0.001"),
        (0.0215, "p", "0.022"),
        (Decimal("1234.5"), "money", "1,234.50"),
        (Range(0.84, 0.955), "share", "84.00–95.50"),
        (None, "count", ""),
        ("none", "text", "none"),
    ],
)
def test_a_number_is_rounded_once_and_half_up(cell: Cell, shown: Shown, expected: str) -> None:
    assert cell_text(cell, shown) == expected


def test_markdown_shows_the_table_and_why_a_number_is_missing() -> None:
    text = written("md")
    assert "| Na\\_me | n | Share (%) | Kappa |\n| --- | ---: | ---: | ---: |" in text
    assert "| a\\|b $5 | 7,512 | 50.00 | — (a) |" in text
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
    text = written("tex")
    assert r"\begin{tabular}{lrrr}" in text
    assert r"a\textbar{}b \$5 & 7,512 & 50.00 & — (a) \\" in text
    assert r"\caption{A \& B \textless{}c\textgreater{}. 50 \% of \{all\}. (a) Only one rater.}" in text


# At the start of a row LaTeX would read them as a length and a star that belong to the row before.
ROW_STARTS = Table("starts", "Starts", [Column("Who")], [("A",), ("[CLS] model",), ("*best*",)])
LONG = Table("long", "Long", [Column("Who"), Column("Answers", "count")], [("a", n) for n in range(90)], ["Counted."])


def test_a_long_table_goes_on_in_further_floats_with_all_of_its_rows() -> None:
    text = written("tex", report_with(LONG))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    assert text.count(r"\caption{Long. Counted.}") == 1
    assert text.count(r"\caption{Long (continued)}") == 2
    assert [text.count(rf"\label{{tab:long{end}}}") for end in ("", "-2", "-3")] == [1, 1, 1]
    assert [line for line in text.splitlines() if line.startswith("a & ")] == [rf"a & {n} \\" for n in range(90)]


def test_a_wide_table_is_made_as_narrow_as_the_text() -> None:
    wide = Table("wide", "Wide", [Column("How often people said it")], [("x",)])
    text = written("tex", report_with(wide))
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in text
    assert r"\shortstack[l]{How often \\ people said \\ it} \\" in text


@pytest.mark.parametrize(
    ("cell", "package"), [("na\u00efve \u2013 \u201cyes\u201d", "fontenc"), ("\u0642\u0637\u0629", "fontspec")]
)
def test_the_first_lines_name_the_packages_that_the_letters_need(cell: str, package: str) -> None:
    table = Table("t", "T", [Column("Who")], [(cell,)])
    head = written("tex", report_with(table)).partition(r"\begin")[0]
    assert package in head
    assert ("lualatex" in head) == (package == "fontspec")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_the_small_report_with_the_packages_that_it_names(tmp_path: Path) -> None:
    report = report_of(PROJECT)
    text = written("tex", replace(report, cards=[*report.cards, *report_with(ROW_STARTS, LONG).cards]))
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
    lines = written("tex", report_with(ROW_STARTS)).splitlines()
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
    page = BeautifulSoup(written("html"), "html.parser")
    assert page.h1 is not None
    assert page.h1.get_text() == "Odd & <named>"
    assert [cell.get_text() for cell in page.select("tbody tr")[0].select("td")] == [
        *("a|b $5", "7,512", "50.00", "— (a)")
    ]
    assert not page.select("script, link, img, [src], [href]")
    assert page.svg is not None


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_how_the_values_of_a_chart_are_computed(format: str) -> None:
    text = written(format, report_with(TABLE, chart=replace(CHART, method="Counted by hand.")))
    assert text.count("Counted by hand.") == 1


def test_pages_say_how_the_values_of_a_chart_are_computed() -> None:
    (card,) = page_cards(report_with(TABLE, chart=replace(CHART, method="Counted by hand.")))
    assert card.notes == ["50 % of {all}.", "Counted by hand."]


def test_json_holds_exact_values_and_reasons() -> None:
    (table,) = json.loads(written("json"))["tables"]
    assert table["rows"] == [
        {"Na_me": "a|b $5", "n": 7512, "Share": 0.5, "Kappa": None},
        {"Na_me": "c", "n": 0, "Share": None, "Kappa": {"low": -0.25, "high": 0.5}},
    ]
    assert table["undefined"] == [{"row": 0, "column": "Kappa", "reason": "Only one rater."}]


def test_json_says_what_made_it_and_when() -> None:
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    twice = [written("json", report_of(PROJECT, made_at=noon)) for _ in range(2)]
    assert json.loads(twice[0])["made"] == {
        "report_version": 12,
        "lineup_version": tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "at": "2026-03-01T12:00:00+00:00",
        "seed": 7,
        "resamples": 1000,
    }
    assert twice[0] == twice[1]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_the_whole_small_report_twice_the_same(format: str) -> None:
    drawings = {"funnel": DRAWING, "scores": DRAWING}
    files = get_files(format)(report_of(PROJECT), drawings)
    assert next(iter(files)) == f"report.{format}"
    assert files == get_files(format)(report_of(PROJECT), drawings)
    beside = {"md": {"funnel.svg", "scores.svg"}, "tex": {"funnel.pdf", "scores.pdf"}}.get(format, set())
    assert set(files) - {f"report.{format}"} == beside
    assert all(b"var(--" not in content for content in files.values())


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_sentences_in_the_order_of_the_cards(format: str) -> None:
    text = html.unescape(written(format, report_of(PROJECT)).replace("\\", ""))
    # Of several lines, the first.
    lines = [card.sentence.splitlines()[0] for card in report_of(PROJECT).cards]
    places = [text.find(line.partition(" %")[0].partition("_")[0]) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


def test_the_charts_say_what_their_axes_measure() -> None:
    assert {chart.name: chart.axis for chart in report_of(PROJECT).charts} == {
        "funnel": "Instances",
        "pairs": "Dots: Cohen's kappa; no intervals",
        "scores": "Group score; lines: 95 % intervals",
        "models": "Group score; lines: 95 % intervals",
        "comparison": "Difference of the shares right; lines: 95 % intervals",
        "wages": "USD an hour",
    }


def test_the_chart_of_scores_says_on_how_many_instances_each_point_stands() -> None:
    (chart,) = [chart for chart in report_of(PROJECT).charts if chart.name == "scores"]
    assert [point.label for point in chart.series[0].points] == ["all (n = 2)", "add obj (n = 1)", "swap att (n = 1)"]
    # One person right and one wrong, means that vary by 1/4, are worth 1/4 over 1/4 = one answer, half of it right.
    # Wilson's limit is (1 - t / sqrt(1 + t^2)) / 2, where t with one degree of freedom is the tangent of .475 pi.
    first = chart.series[0].points[0]
    assert first.low == pytest.approx((1 - sin(0.475 * pi)) / 2)
    assert first.high == pytest.approx((1 + sin(0.475 * pi)) / 2)


def test_instances_without_a_type_have_a_name_in_tables() -> None:
    columns = [Column("Type"), Column("Subtype"), Column("Instances", "count")]
    table = Table("dataset", "The dataset", columns, [("all", "all", 9), ("", "", 9)], [], [])
    assert text_table(table).rows == [["all", "all", "9"], ["no type", "", "9"]]


def test_models_are_named_without_their_weights_in_charts_where_that_names_one() -> None:
    names = ["CLIP 1 (d26faefd4fad)", "SigLIP (d26faefd4fad)", "SigLIP (000000000000)", "BLIP (openai)"]
    assert list(short_model_names(names).values()) == ["CLIP 1", *names[1:]]
