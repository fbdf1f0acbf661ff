import re
from dataclasses import asdict, replace
from math import pi
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from results.reports import charts
from results.reports.base import Chart, ChartForm, Point, Reference, Series

PEOPLE = Series("Humans", [Point("all (n = 5)", 0.8675, 0.8405, 0.8919), Point("add <obj>", 0.5)])
MODEL = Series("CLIP", [Point("all (n = 5)", 0.3, 0.2, 0.4), Point("add <obj>", None)])
DOTS = Chart(
    "scores", "Group score", "Humans 86.8 %.", "dots", "share", "Share", [PEOPLE, MODEL], [Reference("chance", 1 / 6)]
)


SVG = "{http://www.w3.org/2000/svg}"


def tooltips(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


@pytest.fixture(scope="module")
def drawing() -> charts.Drawing:
    return charts.draw(DOTS)


def test_marks_say_their_values_with_interval_as_tooltips(drawing: charts.Drawing) -> None:
    found = tooltips(drawing.svg)
    assert "Humans, all (n = 5): 86.75 % (95 % CI 84.05–89.19)" in found
    assert "Humans, add <obj>: 50.00 %" in found
    assert "chance: 16.67 %" in found
    assert not [words for words in found if "CLIP, add" in words], "an undefined value has no mark"


def test_the_names_of_two_references_are_above_each_other() -> None:
    levels = [Reference("chance, people", 1 / 16), Reference("chance, models", 1 / 6)]
    svg = charts.draw(replace(DOTS, references=levels)).svg
    assert {"chance, people: 6.25 %", "chance, models: 16.67 %"} <= set(tooltips(svg))
    places = [re.search(rf'translate\(([\d.]+),(-?[\d.]+)\)"[^>]*>{name.name}<', svg) for name in levels]
    lower, upper = (float(place[2]) for place in places if place)
    assert lower - upper == charts.REFERENCE_HEIGHT
    offsets = [charts.specify(replace(DOTS, references=levels[:n]))["config"]["legend"]["offset"] for n in range(3)]
    assert offsets == [18, 18, 30], "no name is behind the legend"


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


LONG = "名" * 100 + "א" * 100
TIME = 1_763_640_000_000


def chart(form: ChartForm, *series: Series, **fields: Any) -> Chart:
    return Chart("any", LONG, LONG, form, fields.pop("shown", "share"), "Share", series, **fields)


def one_of(form: ChartForm, number: int = 0, name: str = "", label: str = "A") -> Series:
    return Series(name, [Point(label, 0.5, 0.4, 0.6, x=TIME + number, x_end=TIME + number + 1)])


FORMS = get_args(ChartForm)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_time", [True, False])
def test_every_form_draws_one_point_with_its_words(form: ChartForm, is_time: bool) -> None:
    svg = charts.draw(chart(form, one_of(form), references=[Reference("half", 0.5)], x_is_time=is_time)).svg
    assert [words for words in tooltips(svg) if words.startswith("A: 50.00 %")]
    assert "half: " in " ".join(tooltips(svg))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_draws_a_dozen_series_with_long_names_in_any_script(form: ChartForm) -> None:
    many = [one_of(form, number, f"{number}{LONG}", LONG) for number in range(12)]
    svg = charts.draw(chart(form, *many)).svg
    marks = [words for words in tooltips(svg) if LONG in words]
    assert {words.partition("名")[0] for words in marks} == {str(number) for number in range(12)}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_without_a_point_is_still_a_picture(form: ChartForm) -> None:
    assert "<svg" in charts.draw(chart(form)).svg
    assert not chart(form).has_points


def test_rows_keep_their_order_whether_or_not_they_have_an_interval() -> None:
    points = [Point("first", 0.5), Point("second", 0.5, 0.4, 0.6), Point("third", 0.5)]
    texts = ElementTree.fromstring(charts.draw(chart("dots", Series("", points))).svg).iter(f"{SVG}text")
    shown = [text.text for text in texts if text.text in {"first", "second", "third"}]
    assert shown == ["first", "second", "third"]


def bars(form: ChartForm, *series: Series) -> dict[str, tuple[float, float]]:
    """Return where the bar of each series and label begins and ends."""
    specification = charts.specify(chart(form, *series))
    rows = [row for each in specification["datasets"].values() for row in each if "start" in row]
    return {f"{row['series']}{row['label']}": (row["start"], row["end"]) for row in rows}


def test_steps_of_a_scale_stand_around_its_middle() -> None:
    """Of three steps half of the middle one lies to each side; of two, each lies to its own."""
    three = [Series(step, [Point("", share)]) for step, share in (("1", 0.5), ("2", 0.2), ("3", 0.3))]
    ends = [end for both in bars("diverging", *three).values() for end in both]
    assert ends == pytest.approx([-0.6, -0.1, -0.1, 0.1, 0.1, 0.4])
    two = [Series("no", [Point("", 0.25)]), Series("yes", [Point("", 0.75)])]
    assert bars("diverging", *two) == {"no": (-0.25, 0), "yes": (0, 0.75)}
    # A scale of another question has no place in the row.
    other = [Series("no", [Point("a", 1.0), Point("b", None)]), Series("low", [Point("a", None), Point("b", 1.0)])]
    assert bars("diverging", *other) == {"noa": (-0.5, 0.5), "lowb": (-0.5, 0.5)}


def test_shares_and_counts_of_a_bin_stand_on_each_other() -> None:
    two = [Series("a", [Point("x", 0.2)]), Series("b", [Point("x", 0.3), Point("y", 0.4)])]
    assert bars("stacked", *two) == {"ax": (0, 0.2), "bx": (0.2, 0.5), "by": (0, 0.4)}


def test_what_is_expected_is_in_the_words_of_a_bar() -> None:
    bar = chart("bars", Series("", [Point("first", 3, expected=2.5)]), shown="count")
    assert "first: 3 (expected 2.50)" in tooltips(charts.draw(bar).svg)


def test_the_number_of_a_bar_is_beyond_its_tick() -> None:
    points = [Point("first", 3, expected=2.5), Point("second", 2, expected=2.5), Point("third", 2)]
    (rows,) = charts.specify(chart("bars", Series("", points), shown="count"))["datasets"].values()
    assert [row["number_at"] for row in rows] == [3, 2.5, 2]


def test_the_hash_tells_charts_apart_and_survives_storage() -> None:
    assert charts.digest(charts.from_plain(asdict(DOTS))) == charts.digest(DOTS)
    # As versions stored it that drew one reference.
    for reference in (None, Reference("chance", 0.25)):
        chart = replace(DOTS, references=[reference] if reference else [])
        older = {name: value for name, value in asdict(chart).items() if name != "references"}
        older["reference"] = asdict(reference) if reference else None
        assert charts.from_plain(older) == charts.from_plain(asdict(chart))
    assert charts.digest(replace(DOTS, title="Another")) != charts.digest(DOTS)


def test_long_labels_are_above_their_rows() -> None:
    """Above them a chart fits into a card on a phone, which has 321 units."""
    widths, heights = [], []
    for letters in (24, 25):
        svg = charts.draw(replace(chart("dots", one_of("dots", label="m" * letters)), title="Any")).svg
        width, height = (float(ElementTree.fromstring(svg).get(side, "")) for side in ("width", "height"))
        widths.append(width)
        heights.append(height)
    assert widths[1] <= 321 < widths[0]
    assert heights[0] + charts.STEP == heights[1]
    assert not chart("line", one_of("line", label="m" * 25), x_axis="Time").has_long_labels


def test_names_of_few_columns_of_a_heat_map_are_level() -> None:
    angles = []
    for columns in (3, 4):
        heat = chart("heat", *(one_of("heat", number, f"model {number}") for number in range(columns)))
        angles.append(charts.specify(heat)["layer"][0]["encoding"]["x"]["axis"]["labelAngle"])
    assert angles == [0, -30]


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_legend_has_names_as_long_as_the_plot_is_wide_as_a_whole() -> None:
    """Of 290 units 30 are for the symbol: 41 letters fit, but not beside another name."""
    name = "Drawn scenes, two towers 1 (d26faefd4fad)"
    two = chart("dots", one_of("dots", name="Humans"), one_of("dots", name=name))
    assert {"Humans", name} <= set(texts(charts.draw(two).svg))
    assert charts.specify(two)["layer"][0]["encoding"]["color"]["legend"]["columns"] == 1
    # Six letters and a symbol take 69 units: four fit into a line of 290, and of five at most three stand in one.
    for names, columns in ((4, 4), (5, 3)):
        short = chart("dots", *(one_of("dots", name=f"model{number}") for number in range(names)))
        assert charts.specify(short)["layer"][0]["encoding"]["color"]["legend"]["columns"] == columns


def test_a_marker_at_the_lower_end_leaves_the_label_of_its_row_free() -> None:
    """A marker of 70 square units has a radius of about 5."""
    axis = charts.specify(chart("dots", one_of("dots")))["layer"][0]["encoding"]["y"]["axis"]
    assert axis["labelPadding"] > (70 / pi) ** 0.5
