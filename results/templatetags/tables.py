"""Render tables and charts of results pages in Python: a template takes ten times as long per cell."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import template
from django.template import RequestContext
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from results.models import StoredChart
from results.reports.charts import with_addresses
from results.reports.explorer_links import COUNTED
from results.reports.page_tables import PageTable
from results.reports.text import TextCell
from studies.models import Project

# Sizes of the small charts beside numbers, in units of the SVG.
WIDTH, HEIGHT, COLUMN, GAP = 60, 12, 7, 2

register = template.Library()


@dataclass(frozen=True)
class Links:
    """Links of the cells of a page, to pages of `project` if it is given."""

    project: Project | None
    is_kept: bool

    @cached_property
    def instances(self) -> str:
        return reverse("instances", args=[self.project.slug]) if self.project else ""

    def to_instances(self, cell: TextCell) -> str:
        """Return the URL of the instances behind a count; on pages with cached numbers it includes the count."""
        return f"{self.instances}{cell.query}{f'&{COUNTED}={cell.instances}' if self.is_kept else ''}"


@register.simple_tag(takes_context=True)
def table_rows(context: RequestContext, table: PageTable) -> SafeString:
    """Return the rows of `table`. With `listed_in`, a project, counts lead to their instances and names to people.

    With `stacks` each cell names its column, for phones, where the cells of a row are below each other.
    """
    links = Links(context.get("listed_in"), is_kept=bool(context.get("kept")))
    attributes = [SafeString(' class="number"' if is_number else "") for is_number in table.is_number]
    if context.get("stacks"):
        titles = [SafeString(""), *(format_html(' data-title="{}"', heading) for heading in table.headings[1:])]
        attributes = [title + others for title, others in zip(titles, attributes, strict=True)]
    return format_html_join(
        "\n",
        "<tr>{}</tr>",
        (
            [
                format_html_join(
                    "",
                    "<td{}>{}</td>",
                    ((of_cell, _content(cell, links)) for cell, of_cell in zip(row, attributes, strict=True)),
                )
            ]
            for row in table.cells
        ),
    )


@register.simple_tag
def chart_picture(chart: StoredChart, project: Project) -> SafeString:
    """Return the drawing of `chart`, whose marks lead to the instances and people of `project` that they are about."""
    instances = reverse("instances", args=[project.slug])

    def address_of(link: str) -> str:
        is_query = link.startswith("?")
        return f"{instances}{link}" if is_query else reverse("person", args=[project.slug, link])

    # They were made by vl-convert and escaped by ElementTree.
    wide, narrow = (SafeString(with_addresses(svg, address_of)) for svg in (chart.svg, chart.narrow_svg))
    if not narrow:
        return wide
    return format_html('<div class="on-screens">{}</div><div class="on-phones">{}</div>', wide, narrow)


@register.simple_tag
def cell_content(cell: TextCell) -> Any:
    """Return the HTML of `cell`, with its small chart, or the reason why a number is undefined."""
    return _content(cell, Links(None, is_kept=False))


def _content(cell: TextCell, links: Links) -> Any:
    if cell.reason:
        hidden = format_html('<span class="visually-hidden"> {}</span>', cell.reason)
        return format_html('<abbr title="{}">{}{}</abbr>', cell.reason, cell.text, hidden)
    if cell.is_person and links.project:
        person = reverse("person", args=[links.project.slug, cell.text])
        return format_html('<a class="pseudonym" href="{}">{}</a>', person, cell.text)
    if cell.query and links.project:
        title = format_html(' title="{}"', cell.tooltip) if cell.tooltip else ""
        return format_html('<a href="{}"{}>{}</a>', links.to_instances(cell), title, cell.text)
    return _small_chart(cell) + escape(cell.text)


def _small_chart(cell: TextCell) -> SafeString:
    """Return the bar of a number with its range, or the columns of several counts; "" for other cells.

    The number says the same, so screen readers skip it. It contains only numbers, which need no escaping.
    """
    if cell.bar:
        value, low, high = (round(share * WIDTH, 1) for share in cell.bar)
        return _svg(
            WIDTH,
            f'<rect class="track" width="{WIDTH}" height="{HEIGHT}"/><rect width="{value}" height="{HEIGHT}"/>'
            f'<path d="M{low} 6H{high}M{low} 3v6M{high} 3v6"/>',
        )
    if cell.columns:
        heights = [round(share * HEIGHT, 1) for share in cell.columns]
        shapes = (
            f'<rect x="{n * (COLUMN + GAP)}" y="{HEIGHT - height}" width="{COLUMN}" height="{height}"/>'
            for n, height in enumerate(heights)
        )
        return _svg(len(heights) * (COLUMN + GAP) - GAP, "".join(shapes))
    return SafeString("")


def _svg(width: int, shapes: str) -> SafeString:
    """Return a small chart; `shapes`: made of numbers only."""
    head = (
        f'<svg class="small-chart" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" aria-hidden="true">'
    )
    return SafeString(f"{head}{shapes}</svg> ")
