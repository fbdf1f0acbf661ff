"""Charts: the SVG, PNG and PDF of their specifications by vl-convert, with tooltips and links.

vl-convert needs 80 MB, so only work in the background and commands call this. Files get the light colours.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from html import escape, unescape
from typing import Any
from xml.etree import ElementTree

from results.reports.base import Chart, Point, Reference, Series
from results.reports.chart_specification import LIGHT, SIMULATED, point_words, specify

NOT_DRAWN = "This chart has not been drawn yet. Download the report again in a minute."
# Raised when charts look different, so that stored ones are drawn again.
DRAWING = 14
# The keyboard stops at so many marks with a link; the table beside a chart has the same links.
MOST_STOPS = 20
_SVG = "http://www.w3.org/2000/svg"
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="[^"]*"')
# Of the title above and the notice below the picture in a file.
TITLE_HEIGHT, NOTICE_HEIGHT, TITLE_LETTER = 24, 20, 8
_LINKS = re.compile(r'<a href="([^"]*)"[^>]*>|</a>')


@dataclass(frozen=True)
class Drawing:
    """A drawn chart. The others than `svg` are files with the light colours.

    `svg`: for pages, with CSS variables and with links as in `Point.link`; `with_addresses` puts addresses into these.
    It has no title, because pages have it as a heading. `for_file` makes a file of it. `narrow`: the same for phones.
    """

    specification: Mapping[str, Any]
    svg: str
    png: bytes
    pdf: bytes
    narrow: str = ""


def digest(chart: Chart) -> str:
    """Return a SHA-256 hash of all that the drawing of `chart` depends on."""
    return hashlib.sha256(json.dumps([DRAWING, asdict(chart)], sort_keys=True).encode()).hexdigest()


def from_plain(stored: Mapping[str, Any]) -> Chart:
    """Return the chart that `dataclasses.asdict` made `stored` of, also in a version with at most one `reference`."""
    values = dict(stored)
    if "references" not in values:
        older = values.pop("reference")
        values["references"] = [older] if older else []
    series = [Series(each["name"], [Point(**point) for point in each["points"]]) for each in values["series"]]
    references = [Reference(**each) for each in values["references"]]
    return Chart(**{**values, "series": series, "references": references})


def draw(chart: Chart) -> Drawing:
    """Draw `chart`."""
    import vl_convert

    specification = specify(chart)
    svg, narrow = (
        _with_tooltips(vl_convert.vegalite_to_svg(_on_page(specify(each), each)), each)
        for each in (chart, replace(chart, is_narrow=True))
    )
    on_paper = for_file(svg, chart)
    # On a transparent ground vl-convert gets the colours of half transparent marks wrong.
    ground = '<rect y="-50" width="100%" height="200%" fill="#ffffff" />'
    on_white = on_paper.replace(">", f">{ground}", 1)
    return Drawing(
        specification, svg, vl_convert.svg_to_png(on_white, scale=2), vl_convert.svg_to_pdf(on_paper), narrow
    )


def _on_page(specification: Mapping[str, Any], chart: Chart) -> dict[str, Any]:
    """Return a specification without its title, which pages have as a heading.

    Of a heat map the title also says what its cells are.
    """
    return {**specification, "title": {**specification["title"], "subtitle": ""} if chart.form == "heat" else None}


def in_light_colors(text: str) -> str:
    """Return an SVG or a specification with the light colours instead of CSS variables."""
    for name, color in LIGHT.items():
        text = text.replace(name, color)
    return text


def for_file(svg: str, chart: Chart) -> str:
    """Return the SVG of `chart` for files: in light colours, with its title and without links.

    Below it stands that answers are simulated, if some are.
    """
    plain = in_light_colors(_LINKS.sub("", svg)).replace('role="group"', 'role="img"', 1)
    found = _SIZE.search(plain)
    if found is None:
        return plain
    width, height = max(float(found[1]), TITLE_LETTER * len(chart.title)), float(found[2])
    head = 0 if chart.form == "heat" else TITLE_HEIGHT
    foot = NOTICE_HEIGHT if chart.is_simulated else 0
    size = f'width="{width:g}" height="{height + head + foot:g}" viewBox="0 {-head} {width:g} {height + head + foot:g}"'
    look = 'font-family="sans-serif" font-size='
    texts = f'<text x="5" y="-8" {look}"14px" font-weight="bold">{escape(chart.title)}</text>' if head else ""
    texts += f'<text x="5" y="{height + 12:g}" {look}"11px">{SIMULATED}</text>' if foot else ""
    return plain.replace(found[0], size, 1).replace("</svg>", f"{texts}</svg>")


def with_addresses(svg: str, address_of: Callable[[str], str]) -> str:
    """Return an SVG with addresses instead of what its points are linked to. address_of: of `Point.link`."""

    def replace_link(found: re.Match[str]) -> str:
        whole, link = found[0], found[1]
        return whole.replace(link, escape(address_of(unescape(link))), 1) if link else whole

    return _LINKS.sub(replace_link, svg)


def _with_tooltips(svg: str, chart: Chart) -> str:
    """Name the picture for screen readers, give each mark its words as a tooltip, and link the marks of points.

    Without links the picture is one thing to a screen reader, described as a whole; the table has each value.
    """
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)  # noqa: S314 - made by vl-convert from our own specification
    links = _links(chart)
    root.set("role", "group" if links else "img")
    root.set("aria-label", f"{chart.title}. {chart.description}")
    stops = 0
    for parent in list(root.iter()):
        for place, mark in enumerate(parent):
            words = mark.get("aria-label")
            is_mark = words and mark.get("aria-roledescription") not in {"axis", "legend", "title"}
            for name in ("role", "aria-label", "aria-roledescription", "aria-hidden"):
                mark.attrib.pop(name, None)
            if links and mark.tag == f"{{{_SVG}}}text":
                mark.set("aria-hidden", "true")
            if not words or not is_mark:
                if mark.tag == f"{{{_SVG}}}text":
                    # Or it hides the tooltip and the link of the mark behind it.
                    mark.set("pointer-events", "none")
                continue
            ElementTree.SubElement(mark, f"{{{_SVG}}}title").text = words
            if words in links and mark.tag == f"{{{_SVG}}}path":
                about = {"href": links[words], "aria-label": words}
                stops += 1
                parent[place] = _linked(mark, about if stops <= MOST_STOPS else {**about, "tabindex": "-1"})
    return ElementTree.tostring(root, encoding="unicode")


def _links(chart: Chart) -> dict[str, str]:
    """Return the words of a point -> its link. Points with the same words and different links have none."""
    found: dict[str, set[str]] = {}
    for series in chart.series:
        for point in series.points:
            found.setdefault(point_words(series, point, chart), set()).add(point.link)
    return {words: link for words, links in found.items() if len(links) == 1 and (link := next(iter(links)))}


def _linked(mark: ElementTree.Element, attributes: Mapping[str, str]) -> ElementTree.Element:
    link = ElementTree.Element(f"{{{_SVG}}}a", dict(attributes))
    link.append(mark)
    return link
