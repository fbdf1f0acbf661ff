import re
from dataclasses import asdict, replace
from math import pi
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from results.reports import chart_specification, charts
from results.reports.base import Chart, ChartForm, Point, Reference, Series
from results.reports.chart_labels import GAP, HEIGHT, LETTER, Label, name_people, place_labels

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
    assert lower - upper == chart_specification.REFERENCE_HEIGHT
    offsets = [
        chart_specification.specify(replace(DOTS, references=levels[:n]))["config"]["legend"]["offset"]
        for n in range(3)
    ]
    assert offsets == [6, 18, 30], "no name is behind the legend"


def test_the_picture_is_described_as_a_whole(drawing: charts.Drawing) -> None:
    root = ElementTree.fromstring(drawing.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Group score. Humans 86.8 %."


def test_pages_and_files_have_their_own_colors(drawing: charts.Drawing) -> None:
    assert "var(--chart-1)" in drawing.svg
    assert "style=" not in drawing.svg, "the content security policy allows no inline styles"
    on_paper = charts.in_light_colors(drawing.svg)
    assert "var(" not in on_paper
    assert chart_specification.LIGHT["var(--chart-1)"] in on_paper
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
def test_the_name_of_a_series_beside_its_marks_has_no_tooltip_of_its_own(form: ChartForm) -> None:
    later = 600_000
    named = [one_of(form, 0, "Humans"), one_of(form, later, "CLIP"), Series("Gone", [Point("A", None, x=TIME + later)])]
    svg = charts.draw(chart(form, *named[: 3 if form == "heat" else 2])).svg
    assert "undefined" not in svg
    names = [text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if "Humans" in (text.text or "")]
    assert names
    for name in names:
        title = name.find(f"{SVG}title")
        # Beside a bar it follows the number, which has the words of the bar.
        assert title is None or (form == "bars" and str(title.text).startswith("Humans, A: 50.00 %"))
        assert title is not None or name.get("pointer-events") == "none", "it hides no tooltip behind it"


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
    specification = chart_specification.specify(chart(form, *series))
    rows = [row for each in specification["datasets"].values() for row in each if "end" in row]
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
    (rows,) = chart_specification.specify(chart("bars", Series("", points), shown="count"))["datasets"].values()
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
    # Heights are whole numbers.
    assert heights[1] - heights[0] == pytest.approx(chart_specification.LABEL_HEIGHT, abs=1)
    assert not chart("line", one_of("line", label="m" * 25), x_axis="Time").has_long_labels


def test_names_of_few_columns_of_a_heat_map_are_level() -> None:
    angles = []
    for columns in (3, 4):
        heat = chart("heat", *(one_of("heat", number, f"model {number}") for number in range(columns)))
        angles.append(chart_specification.specify(heat)["layer"][0]["encoding"]["x"]["axis"]["labelAngle"])
    assert angles == [0, -30]


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_legend_has_names_as_long_as_the_plot_is_wide_as_a_whole() -> None:
    """Of 290 units 30 are for the symbol: 41 letters fit, but not beside another name."""
    names = ["Humans", "Drawn scenes, two towers 1 (d26faefd4fad)", "third", "fourth", "fifth"]
    five = chart("dots", *(one_of("dots", name=name) for name in names))
    assert set(names) <= set(texts(charts.draw(five).svg))
    assert chart_specification.specify(five)["layer"][0]["encoding"]["color"]["legend"]["columns"] == 1
    # Six letters and a symbol take 69 units: of five names at most three stand in a line of 290.
    short = chart("dots", *(one_of("dots", name=f"model{number}") for number in range(5)))
    assert chart_specification.specify(short)["layer"][0]["encoding"]["color"]["legend"]["columns"] == 3


def test_a_marker_at_the_lower_end_leaves_the_label_of_its_row_free() -> None:
    """A marker of 70 square units has a radius of about 5."""
    axis = chart_specification.specify(chart("dots", one_of("dots")))["layer"][0]["encoding"]["y"]["axis"]
    assert axis["labelPadding"] > (70 / pi) ** 0.5


def test_marks_lead_to_what_they_count_on_pages_and_not_in_files() -> None:
    points = [Point("all", 3, link="?study=a&state=accepted"), Point("other", 2), Point("A-BCDEF", 1, link="A-BCDEF")]
    bar = chart("bars", Series("", points), shown="count")
    drawing = charts.draw(bar)
    svg = charts.with_addresses(drawing.svg, lambda link: f"/there/{link}")
    root = ElementTree.fromstring(svg)
    links = {link.get("href"): link for link in root.iter(f"{SVG}a")}
    assert set(links) == {"/there/?study=a&state=accepted", "/there/A-BCDEF"}
    link = links["/there/?study=a&state=accepted"]
    assert link.get("aria-label") == "all: 3"
    assert [title.text for title in link.iter(f"{SVG}title")] == ["all: 3"]
    # Links inside a picture would be hidden from screen readers.
    assert root.get("role") == "group"
    assert {text.get("aria-hidden") for text in root.iter(f"{SVG}text")} == {"true"}
    file = charts.for_file(drawing.svg, bar)
    assert "<a " not in file
    assert "href" not in file
    assert ElementTree.fromstring(file).get("role") == "img"
    assert tooltips(file) == tooltips(drawing.svg)


def test_the_keyboard_stops_at_twenty_links_of_a_chart() -> None:
    points = [Point(f"row {number}", number + 1, link=f"?tag={number}") for number in range(23)]
    root = ElementTree.fromstring(charts.draw(chart("bars", Series("", points), shown="count")).svg)
    links = list(root.iter(f"{SVG}a"))
    assert len(links) == 23
    assert [link.get("tabindex") for link in links] == [None] * 20 + ["-1"] * 3


def test_marks_with_the_same_words_and_different_links_have_none() -> None:
    twice = [Series("", [Point("all", 3, link="?a")]), Series("", [Point("all", 3, link="?b")])]
    assert "href" not in charts.draw(chart("bars", *twice, shown="count")).svg


def test_charts_stored_without_links_are_read() -> None:
    older = asdict(DOTS)
    for series in older["series"]:
        for point in series["points"]:
            del point["link"]
    assert charts.from_plain(older) == charts.from_plain(asdict(DOTS))


def has_legend(of: Chart) -> bool:
    return "legend-group" in str(charts.draw(of).svg) or any(
        (layer["encoding"].get("color") or {}).get("legend") for layer in chart_specification.specify(of)["layer"]
    )


def test_up_to_four_series_are_named_beside_their_marks() -> None:
    for number in (2, 4, 5):
        dots = chart("dots", *(one_of("dots", name=f"model {place}") for place in range(number)))
        assert has_legend(dots) == (number > 4)
        assert {f"model {place}" for place in range(number)} <= set(texts(charts.draw(dots).svg))


def test_the_steps_of_a_scale_are_named_by_their_numbers_in_its_bars() -> None:
    names = ["1 (not at all)", "2", "3", "4", "5 (perfectly)"]
    rated = chart("diverging", *(Series(name, [Point("rating", 0.2)]) for name in names))
    assert not has_legend(rated)
    svg = charts.draw(rated).svg
    assert {"1", "2", "3", "4", "5"} <= set(texts(svg))
    assert "1: not at all, 5: perfectly" in svg
    # A part of a hundredth has no room for its number, so the number follows the bar.
    rare = chart("diverging", *(Series(name, [Point("rating", 0.01 if name == "2" else 0.2)]) for name in names))
    assert {"1", "2", "3", "4", "5"} <= set(texts(charts.draw(rare).svg))
    assert not has_legend(rare)


LONG_ROW = "a-study-with-a-long-name: image_to_text, A-YNDNW and A-4NYDW"
# Of a card on a phone of 390 px.
WIDTH_ON_A_PHONE = 316


@pytest.mark.parametrize("form", ["bars", "dots", "stacked", "diverging", "heat", "histogram", "line", "scatter"])
def test_a_chart_with_long_names_fits_a_phone(form: ChartForm) -> None:
    points = [Point(LONG_ROW, 0.5, 0.4, 0.9, x=1, x_end=2), Point("short", 0.3, 0.2, 0.4, x=2, x_end=3)]
    series = [Series(f"A model with a name of {n} words, or some more", points) for n in (8, 9)]
    x_axis = "Seconds" if form in {"histogram", "line", "scatter"} else ""
    title = "Questions that only a person or only a model gets right"
    drawn = charts.draw(replace(chart(form, *series), x_axis=x_axis, title=title))
    widths = [float(ElementTree.fromstring(svg).get("width", "")) for svg in (drawn.narrow, drawn.svg)]
    assert widths[0] <= WIDTH_ON_A_PHONE < widths[1]
    assert tooltips(drawn.narrow) == tooltips(drawn.svg)


def test_the_only_series_of_dots_is_named_too() -> None:
    assert "CLIP" in texts(charts.draw(chart("dots", one_of("dots", name="CLIP"))).svg)
    assert "CLIP" not in texts(charts.draw(chart("bars", one_of("bars", name="CLIP"))).svg)


def test_a_name_stands_right_of_its_interval_or_left_where_there_is_no_room() -> None:
    """A name of 6 letters takes 6 * 5.6 + 2 * 8 = 49.6 of 290 units, which is 0.171 of a share."""
    assert (LETTER, GAP) == (5.6, 8)
    right = [Series("Humans", [Point("all", 0.5, 0.4, 0.82)]), Series("models", [Point("all", 0.5, 0.4, 0.84)])]
    assert place_labels(chart("dots", *right), 290) == [
        Label("Humans", "all", 0.82, "left"),
        Label("models", "all", 0.4, "right"),
    ]


def test_a_name_stands_where_no_reference_crosses_it() -> None:
    series = [Series(name, [Point("all", 0.5), Point("other", 0.7)]) for name in ("Humans", "models")]
    crossed = chart("dots", *series, references=[Reference("chance", 0.55), Reference("another", 0.45)])
    assert [label.label for label in place_labels(crossed, 290)] == ["other", "other"]


def test_names_without_room_stay_in_a_legend() -> None:
    """From 0 to 1 there is room neither at the left nor, for 40 letters (240 units), at the right of the plot."""
    wide = [Series(name, [Point("all", 0.5, 0, 1)]) for name in ("m" * 40, "Humans")]
    assert place_labels(chart("dots", *wide), 290) == []
    assert has_legend(chart("dots", *wide))
    # Nor has a part without a bar.
    parts = [Series("right", [Point("all", 1)]), Series("wrong", [Point("all", 0)])]
    assert has_legend(chart("stacked", *parts))


def test_parts_of_bars_are_named_inside_in_the_first_row_with_room() -> None:
    right = Series("right", [Point("all", 0.9), Point("other", 0.5)])
    wrong = Series("wrong", [Point("all", 0.1), Point("other", 0.5)])
    assert place_labels(chart("stacked", right, wrong), 290) == [
        Label("right", "all", 0.45, "center"),
        Label("wrong", "other", 0.75, "center"),
    ]


def test_names_of_small_parts_are_after_the_bar_with_a_square_in_their_color() -> None:
    """Parts of 5 % are 14.5 of 290 units wide. Letters are 5.6, a square 9, and gaps 8 units wide."""
    small = Series("wrong", [Point("all", 0.05)]), Series("open", [Point("all", 0.05)])
    shown = chart("stacked", Series("right", [Point("all", 0.9)]), *small)
    # The second name begins 9 + 5 * 5.6 + 16 = 53 units after the first.
    placed = [replace(label, x=round(label.x, 6)) for label in place_labels(shown, 290)]
    assert placed == [
        Label("right", "all", 0.45, "center"),
        Label("wrong", "all", 1, "left", after=8),
        Label("open", "all", 1, "left", after=61),
    ]
    assert not has_legend(shown)
    svg = ElementTree.fromstring(charts.draw(shown).svg)
    squares = [path for path in svg.iter(f"{SVG}path") if path.get("d") == "M-4.5,-4.5h9v9h-9Z"]
    assert [square.get("fill") for square in squares] == ["var(--chart-2)", "var(--chart-3)"]
    # Beyond the plot, names may have 140 units.
    assert has_legend(chart("stacked", Series("right", [Point("all", 0.9)]), replace(small[0], name="m" * 25)))


def test_the_names_of_a_histogram_are_over_low_bars_right_of_a_reference() -> None:
    """Ten bins of 44 of 440 units: names of 5 letters need 9 + 28 + 16 = 53, which is 1.2 bins.

    A line of 16 of 200 units is 0.8 of 10 answers, so two need bars of at most 8.4.
    """

    def bins(name: str, *heights: int) -> Series:
        return Series(name, [Point(f"{x}", height, x=x, x_end=x + 1) for x, height in enumerate(heights)])

    named = bins("ann's", 5, 4, 4, 1, 0, 0, 0, 0, 0, 9), bins("ben's", 5, 2, 1, 1, 0, 0, 0, 0, 0, 0)
    shown = chart("histogram", *named, references=[Reference("median", 8.5)], shown="count")
    placed = [replace(label, y=round(label.y or 0, 6)) for label in place_labels(shown, 440)]
    assert placed == [
        Label("ann's", "", 7, "left", 9.6, after=4),
        Label("ben's", "", 7, "left", 8.8, after=4),
    ]
    assert not has_legend(shown)
    assert {"ann's", "ben's"} <= set(texts(charts.draw(shown).svg))
    high = [replace(each, points=[replace(point, value=5) for point in each.points]) for each in named]
    assert has_legend(chart("histogram", *high, shown="count"))


def test_bars_are_named_after_their_number_in_the_first_row_that_has_both() -> None:
    asked = Series("asked", [Point("imported", 70), Point("a", 30), Point("b", 20)])
    kept = Series("accepted", [Point("a", 0), Point("b", 9)])
    shown = chart("bars", asked, kept, shown="count")
    assert {"70", "30", "0", "20 asked", "9 accepted"} <= set(texts(charts.draw(shown).svg))
    assert not has_legend(shown)
    apart = chart("bars", asked, replace(kept, points=[Point("c", 9)]), shown="count")
    assert {"70", "30 asked", "20", "9 accepted"} <= set(texts(charts.draw(apart).svg))


@pytest.mark.parametrize(
    ("seconds", "first", "last"),
    [
        (40, "12:00:00", "12:00:40"),
        (3 * 3600, "12:00", "15:00"),
        (10 * 86400, "22 Nov", "30 Nov"),
        (0, "12:00:00", "12:00:10"),
    ],
    ids=["a minute", "hours", "days", "one moment"],
)
def test_ticks_of_a_time_axis_differ_from_each_other(seconds: int, first: str, last: str) -> None:
    """From 20 November 2025, 12:00 UTC."""
    points = [Point("start", 0, x=TIME), Point("end", 5, x=TIME + 1000 * seconds)]
    svg = charts.draw(chart("line", Series("Given", points), shown="count", x_axis="Time", x_is_time=True)).svg
    ticks = [text for text in texts(svg) if re.fullmatch(r"\d\d(:\d\d)+|\d+ Nov", text)]
    assert (ticks[0], ticks[-1]) == (first, last)
    assert len(set(ticks)) == len(ticks) > 2


def test_names_in_a_scatter_plot_meet_no_dot_and_no_other_name() -> None:
    """The rightmost dot of the first series has dots right and left of it, so that its name is above."""
    first = Series("first", [Point("a", 0.5, x=5.0)])
    second = Series("other", [Point("b", 0.5, x=5.2), Point("c", 0.5, x=4.8), Point("d", 0.5, x=10)])
    labels = {label.series: label for label in place_labels(chart("scatter", first, second), 440)}
    assert labels["first"] == Label("first", "a", 5.0, "center", 0.5, -2 * GAP)
    # The last dot is at 419 of 440 units; 80 more are free beyond the plot.
    assert labels["other"] == Label("other", "d", 10, "left", 0.5)
    assert HEIGHT == 200


def test_the_eight_people_farthest_from_the_others_are_named_in_a_scatter_plot() -> None:
    """The median is at 5 s and 0.5; ten are near it, and nine at 6, 7 and up to 14 s."""
    near = [Point(f"N-{place}", 0.5, x=5 - place / 1000, link=f"N-{place}") for place in range(10)]
    far = [Point(f"F-{place}", 0.5, x=6 + place, link=f"F-{place}") for place in range(9)]
    shown = chart("scatter", Series("", [*near, *far]))
    assert {label.series for label in name_people(shown, 440)} == {f"F-{place}" for place in range(1, 9)}
    assert {f"F-{place}" for place in range(1, 9)} <= set(texts(charts.draw(shown).svg))
    counts = [replace(point, link="?state=accepted") for point in far]
    assert name_people(chart("scatter", Series("", counts)), 440) == []
    # Seven capital letters are 53 wide: beside each other below dots that are 50 apart, they would meet.
    close = [Point(name, 1, x=x, link=name) for name, x in (("A-QW6UD", 9.0), ("A-AFMTF", 10.3))]
    beside = {label.series: label.align for label in name_people(chart("scatter", Series("", close)), 440)}
    assert beside == {"A-QW6UD": "right", "A-AFMTF": "left"}
    # All at one place: one name of four letters has room at each of four sides.
    together = [Point(f"A-{place:02}", 0.5, x=5, link=f"A-{place:02}") for place in range(10)]
    assert len(name_people(chart("scatter", Series("", together)), 440)) == 4


def test_pages_head_charts_and_files_have_the_title_in_the_picture(drawing: charts.Drawing) -> None:
    assert "Group score" not in texts(drawing.svg)
    file = charts.for_file(drawing.svg, DOTS)
    assert "Group score" in texts(file)
    page, root = ElementTree.fromstring(drawing.svg), ElementTree.fromstring(file)
    heights = [float(each.get("height", "")) for each in (page, root)]
    assert heights[1] - heights[0] == charts.TITLE_HEIGHT
    assert root.get("viewBox") == f"0 {-charts.TITLE_HEIGHT} {root.get('width')} {heights[1]:g}"
    # A title of more letters than the picture is wide makes it wider: 8 units for each letter.
    long = replace(DOTS, title="m" * 100)
    assert ElementTree.fromstring(charts.for_file(drawing.svg, long)).get("width") == "800"


@pytest.mark.parametrize("form", ["dots", "heat"])
def test_files_and_specifications_say_that_answers_are_simulated(form: ChartForm) -> None:
    simulated = chart(form, one_of(form), is_simulated=True)
    drawing = charts.draw(simulated)
    assert chart_specification.SIMULATED not in texts(drawing.svg)
    assert chart_specification.SIMULATED in texts(charts.for_file(drawing.svg, simulated))
    assert chart_specification.SIMULATED in str(drawing.specification)
    assert chart_specification.SIMULATED not in str(charts.draw(chart(form, one_of(form))).specification)


def lines_of_labels(svg: str) -> list[list[str]]:
    """Return the lines of each text of several lines."""
    texts = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [lines for text in texts if (lines := [line.text or "" for line in text.iter(f"{SVG}tspan")])]


def test_long_names_of_rows_wrap_on_a_phone_so_that_rows_can_be_told_apart() -> None:
    pair = "drawn-scenes-baseline: image to text, A-GHUFF and A-"
    rows = Series("", [Point(f"{pair}F6DAG", 0.5), Point(f"{pair}XG9HW", 0.6), Point("mean of 2 pairs", 0.55)])
    drawing = charts.draw(chart("dots", rows))
    assert "tspan" not in drawing.svg, "a screen has room for a line"
    found = lines_of_labels(drawing.narrow)
    assert [" ".join(lines).strip() for lines in found] == [point.label for point in rows.points]
    # The last line is the one above the row.
    assert found[2] == ["", "mean of 2 pairs"]
    assert max(len(line) for lines in found for line in lines) <= 41


@pytest.mark.parametrize("form", FORMS)
def test_two_drawings_on_one_page_share_no_id(form: ChartForm) -> None:
    drawing = charts.draw(chart(form, one_of(form, 0, "Humans"), one_of(form, 1, "CLIP")))
    assert not re.findall(r"\bid=|url\(", drawing.svg + drawing.narrow)


def test_names_of_rows_are_above_them_on_a_phone_also_where_the_rows_have_a_title() -> None:
    rows = Series("", [Point("found by 0", 2), Point("found by 1", 3)])
    assert replace(chart("bars", rows, x_axis="People"), is_narrow=True).has_long_labels
