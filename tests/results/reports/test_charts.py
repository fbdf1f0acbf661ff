from dataclasses import asdict, replace
from xml.etree import ElementTree

import pytest

from results.reports import charts
from results.reports.base import Chart, Point, Reference, Series

PEOPLE = Series("Humans", [Point("all (n = 5)", 0.8675, 0.8405, 0.8919), Point("add <obj>", 0.5)])
MODEL = Series("CLIP", [Point("all (n = 5)", 0.3, 0.2, 0.4), Point("add <obj>", None)])
DOTS = Chart(
    "scores", "Group score", "Humans 86.8 %.", "dots", "share", "Share", [PEOPLE, MODEL], Reference("chance", 1 / 6)
)
BARS = Chart("times", "Times", "Few.", "bars", "count", "Answers", [Series("", [Point("0 to 2 s", 3)])])
STACKED = Chart(
    "units",
    "Answers",
    "Yes.",
    "stacked",
    "share",
    "Share",
    [Series("yes", [Point("left", 0.8)]), Series("no", [Point("left", 0.2)])],
)


def tooltips(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]


@pytest.fixture(scope="module")
def drawing() -> charts.Drawing:
    return charts.draw(DOTS)


def test_marks_say_their_values_with_interval_as_tooltips(drawing: charts.Drawing) -> None:
    found = tooltips(drawing.svg)
    assert "Humans, all (n = 5): 86.75 % (95 % CI 84.05–89.19)" in found
    assert "Humans, add <obj>: 50.00 %" in found
    assert "chance: 16.67 %" in found
    assert not [words for words in found if "CLIP, add" in words], "an undefined value has no mark"


def test_the_picture_is_described_as_a_whole(drawing: charts.Drawing) -> None:
    root = ElementTree.fromstring(drawing.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Group score. Humans 86.8 %."


def test_pages_and_files_have_their_own_colors(drawing: charts.Drawing) -> None:
    assert "var(--chart-1)" in drawing.svg
    assert "style=" not in drawing.svg, "the content security policy allows no inline styles"
    on_paper = charts.in_light_colors(drawing.svg)
    assert "var(" not in on_paper
    assert charts.LIGHT["var(--chart-1)"] in on_paper
    assert drawing.png.startswith(b"\x89PNG")
    assert drawing.pdf.startswith(b"%PDF")


def test_the_specification_holds_the_values(drawing: charts.Drawing) -> None:
    assert drawing.specification["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    rows = [row for each in drawing.specification["datasets"].values() for row in each]
    assert {row["value"] for row in rows if "value" in row} == {0.8675, 0.5, 0.3}


@pytest.mark.parametrize(("chart", "words"), [(BARS, "0 to 2 s: 3"), (STACKED, "no, left: 20.00 %")])
def test_every_form_is_drawn(chart: Chart, words: str) -> None:
    assert words in tooltips(charts.draw(chart).svg)


def test_the_hash_tells_charts_apart_and_survives_storage() -> None:
    assert charts.digest(charts.from_plain(asdict(DOTS))) == charts.digest(DOTS)
    assert charts.digest(replace(DOTS, title="Another")) != charts.digest(DOTS)
