"""Charts: Vega-Lite specifications by Altair, and their SVG, PNG and PDF by vl-convert.

Both libraries take seconds to load and vl-convert needs 80 MB, so only work in the background and commands call this.
Specifications name colours as CSS variables, so that one SVG fits light, dark and printed pages; files get the light
colours.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from results.reports.base import Chart, Point, Reference, Series
from results.reports.text import cell_text, range_text

if TYPE_CHECKING:
    import altair

NOT_DRAWN = "This chart was not drawn yet. Download the report again in a minute."
# Raised when charts look different, so that stored ones are drawn again.
DRAWING = 1
WIDTH, STEP, LONGEST_LABEL = 620, 18, 260
# Colours that stay distinct for people with colour blindness (Okabe and Ito), for white paper.
LIGHT: Mapping[str, str] = {
    "var(--chart-ink)": "#1c1c1c",
    "var(--chart-muted)": "#565656",
    "var(--chart-grid)": "#dddddd",
    "var(--chart-1)": "#0072b2",
    "var(--chart-2)": "#d55e00",
    "var(--chart-3)": "#009e73",
    "var(--chart-4)": "#cc79a7",
    "var(--chart-5)": "#e69f00",
    "var(--chart-6)": "#56b4e9",
    "var(--chart-7)": "#595959",
}
COLORS = [name for name in LIGHT if re.search(r"\d", name)]
# One fewer than colours, so that no two of 42 series look alike.
SHAPES = ["circle", "diamond", "square", "triangle-up", "cross", "triangle-down"]
_SVG = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Drawing:
    """A drawn chart. `svg`: for pages, with CSS variables; the others are files with the light colours."""

    specification: Mapping[str, Any]
    svg: str
    png: bytes
    pdf: bytes


def digest(chart: Chart) -> str:
    """Return a SHA-256 hash of all that the drawing of `chart` depends on."""
    return hashlib.sha256(json.dumps([DRAWING, asdict(chart)], sort_keys=True).encode()).hexdigest()


def from_plain(stored: Mapping[str, Any]) -> Chart:
    """Return the chart that `dataclasses.asdict` made `stored` of."""
    series = [Series(each["name"], [Point(**point) for point in each["points"]]) for each in stored["series"]]
    reference = Reference(**stored["reference"]) if stored["reference"] else None
    return Chart(**{**stored, "series": series, "reference": reference})


def draw(chart: Chart) -> Drawing:
    """Draw `chart`."""
    import vl_convert

    specification = specify(chart)
    svg = _with_tooltips(vl_convert.vegalite_to_svg(specification), chart)
    on_paper = in_light_colors(svg)
    return Drawing(specification, svg, vl_convert.svg_to_png(on_paper, scale=2), vl_convert.svg_to_pdf(on_paper))


def specify(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of `chart`, with its data."""
    import altair

    points = altair.InlineData(values=list(_rows(chart)))
    y = altair.Y(
        "label:N", sort=None, title=None, axis=altair.Axis(labelLimit=LONGEST_LABEL, domain=False, ticks=False)
    )
    base = altair.Chart(points).encode(y=y, description="words:N")
    layers = {"bars": _bars, "dots": _dots, "stacked": _stacked}[chart.form](base, chart)
    if chart.reference is not None:
        words = f"{chart.reference.name}: {_value_text(chart.reference.value, chart)}"
        line = altair.Chart(altair.InlineData(values=[{"reference": chart.reference.value, "words": words}]))
        layers.append(
            line.mark_rule(strokeDash=[4, 4], color="var(--chart-muted)").encode(x="reference:Q", description="words:N")
        )
    specification: dict[str, Any] = (
        altair.layer(*layers)
        .properties(width=WIDTH, height=altair.Step(STEP), title=chart.title, description=chart.description)
        .configure(font="sans-serif", background="transparent")
        .configure_title(anchor="start", color="var(--chart-ink)", fontSize=14)
        .configure_axis(
            labelColor="var(--chart-ink)",
            titleColor="var(--chart-muted)",
            gridColor="var(--chart-grid)",
            domainColor="var(--chart-muted)",
            tickColor="var(--chart-muted)",
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor="var(--chart-ink)", labelFontSize=12, orient="top", title=None, labelLimit=300)
        .configure_view(stroke=None)
        .to_dict()
    )
    return specification


def in_light_colors(text: str) -> str:
    """Return an SVG or a specification with the light colours instead of CSS variables."""
    for name, color in LIGHT.items():
        text = text.replace(name, color)
    return text


def _rows(chart: Chart) -> Iterator[dict[str, Any]]:
    for series in chart.series:
        for point in series.points:
            words = f"{series.name}, {point.label}" if series.name else point.label
            row = {"series": series.name, **asdict(point), "words": f"{words}: {_point_text(point, chart)}"}
            # Vega-Lite draws a missing interval where it is told of none.
            yield {name: value for name, value in row.items() if value is not None}


def _point_text(point: Point, chart: Chart) -> str:
    if point.value is None:
        return "undefined"
    text = _value_text(point.value, chart)
    if point.low is None or point.high is None:
        return text
    return f"{text} (95 % CI {range_text(point.low, point.high, chart.shown)})"


def _value_text(value: float, chart: Chart) -> str:
    return cell_text(value, chart.shown) + (" %" if chart.shown == "share" else "")


def _x(chart: Chart, field: str = "value:Q") -> "altair.X":
    import altair

    values = [value for each in chart.series for point in each.points for value in (point.value, point.low, point.high)]
    lowest = min((value for value in values if value is not None), default=0)
    ends = {"count": altair.Undefined}.get(chart.shown, [-1 if lowest < 0 else 0, 1])
    form = {"share": ".0%", "count": "d"}.get(chart.shown, "~g")
    return altair.X(
        field, title=chart.axis, scale=altair.Scale(domain=ends), axis=altair.Axis(format=form, tickCount=5)
    )


def _names(chart: Chart) -> list[str]:
    return [each.name for each in chart.series]


def _color(chart: Chart) -> "altair.Color":
    import altair

    legend = altair.Legend() if len(chart.series) > 1 else None
    scale = altair.Scale(domain=_names(chart), range=COLORS)
    return altair.Color("series:N", title=None, scale=scale, legend=legend, sort=None)


def _beside_each_other(base: "altair.Chart", chart: Chart) -> "altair.Chart":
    """Put the points of several series with one label below each other."""
    import altair

    return base.encode(yOffset=altair.YOffset("series:N", sort=_names(chart))) if len(chart.series) > 1 else base


def _bars(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    apart = _beside_each_other(base, chart).encode(color=_color(chart))
    values = apart.mark_text(align="left", dx=4).encode(x=_x(chart), text=_format(chart))
    return [apart.mark_bar().encode(x=_x(chart)), values.encode(color=_ink())]


def _dots(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    apart = _beside_each_other(base, chart).encode(color=_color(chart))
    shape = altair.Shape("series:N", title=None, scale=altair.Scale(domain=_names(chart), range=SHAPES), legend=None)
    whiskers = apart.mark_rule(strokeWidth=2).encode(x=_x(chart, "low:Q"), x2="high:Q")
    return [whiskers, apart.mark_point(filled=True, size=70, opacity=1).encode(x=_x(chart), shape=shape)]


def _stacked(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    order = altair.Order("place:Q")
    numbered = base.transform_calculate(place=f"indexof({json.dumps(_names(chart))}, datum.series)")
    return [numbered.mark_bar().encode(x=_x(chart).stack("zero"), color=_color(chart), order=order)]


def _format(chart: Chart) -> "altair.Text":
    import altair

    return altair.Text("value:Q", format={"share": ".1%", "count": ",d"}.get(chart.shown, ".2f"))


def _ink() -> Any:
    import altair

    return altair.value("var(--chart-ink)")


def _with_tooltips(svg: str, chart: Chart) -> str:
    """Name the picture for screen readers, and give each mark its words as a tooltip."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)  # noqa: S314 - made by vl-convert from our own specification
    root.set("role", "img")
    root.set("aria-label", f"{chart.title}. {chart.description}")
    for mark in root.iter():
        words = mark.get("aria-label")
        if mark is not root and words and mark.get("aria-roledescription") != "axis":
            ElementTree.SubElement(mark, f"{{{_SVG}}}title").text = words
        if mark is not root:
            # The picture is one thing to a screen reader, described as a whole; the table has each value.
            for name in ("role", "aria-label", "aria-roledescription", "aria-hidden"):
                mark.attrib.pop(name, None)
    return ElementTree.tostring(root, encoding="unicode")
