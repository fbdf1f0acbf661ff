"""Tiny charts beside numbers in tables; the numbers say the same, so screen readers skip the charts."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from results.reports.text import TextCell

# In units of the SVG.
WIDTH, HEIGHT, COLUMN, GAP = 60, 12, 7, 2

register = template.Library()


@register.simple_tag
def small_chart(cell: TextCell) -> SafeString:
    """Return the bar of a number with its range, or the columns of several counts; nothing for other cells."""
    if cell.bar:
        value, low, high = (round(share * WIDTH, 1) for share in cell.bar)
        shapes = format_html(
            '<rect class="track" width="{}" height="{}"/><rect width="{}" height="{}"/>'
            '<path d="M{} 6H{}M{} 3v6M{} 3v6"/>',
            *(WIDTH, HEIGHT, value, HEIGHT, low, high, low, high),
        )
        return _svg(WIDTH, shapes)
    if cell.columns:
        heights = [round(share * HEIGHT, 1) for share in cell.columns]
        places = [(n * (COLUMN + GAP), HEIGHT - height, COLUMN, height) for n, height in enumerate(heights)]
        shapes = format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}"/>', places)
        return _svg(len(heights) * (COLUMN + GAP) - GAP, shapes)
    return SafeString("")


def _svg(width: int, shapes: SafeString) -> SafeString:
    return format_html(
        '<svg class="small-chart" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true">{}</svg> ',
        *(width, HEIGHT, width, HEIGHT, shapes),
    )
