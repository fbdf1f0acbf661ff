"""Plots as SVG: labels on the left, values to the right. Plain attributes only, so that any page can show them."""

from collections.abc import Iterator
from decimal import Decimal
from html import escape

from results.reports.base import Plot, Point
from results.reports.text import cell_text

WIDTH = 800
_LEFT, _RIGHT, _TOP = 250, 90, 48
_THICK, _GAP, _FOOT = 18, 10, 56
# Distinct for people with colour blindness, too (Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
_TICKS = 5
_LONGEST_LABEL = 36


def svg(plot: Plot) -> str:
    """Return the plot as an <svg> element with an accessible title and description."""
    labels = list(dict.fromkeys(point.label for series in plot.series for point in series.points))
    block = _THICK * len(plot.series) + _GAP
    legend = _THICK * len(plot.series) + _GAP if len(plot.series) > 1 else 0
    bottom = _TOP + block * len(labels)
    height = bottom + _FOOT + legend
    low, high = _limits(plot)
    scale = _Scale(low, high)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" aria-labelledby="{plot.name}-title {plot.name}-desc" font-family="sans-serif" font-size="13">',
        f'<title id="{plot.name}-title">{escape(plot.title)}</title>',
        f'<desc id="{plot.name}-desc">{escape(plot.description)}</desc>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(12, 24, plot.title, weight="bold", size=15),
        *_axis(plot, scale, bottom),
    ]
    for row, label in enumerate(labels):
        top = _TOP + block * row
        parts.append(_text(_LEFT - 10, top + (block - _GAP) / 2 + 4, _shortened(label), anchor="end"))
        for number, series in enumerate(plot.series):
            found = next((point for point in series.points if point.label == label), None)
            if found is not None:
                parts += _mark(plot, found, scale, top + _THICK * number, _COLOURS[number % len(_COLOURS)])
    parts += _legend(plot, bottom + _FOOT) if legend else []
    return "\n".join([*parts, "</svg>"])


class _Scale:
    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        return round(_LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - _LEFT - _RIGHT), 2)

    def ticks(self) -> list[float]:
        return [self.low + (self.high - self.low) * step / _TICKS for step in range(_TICKS + 1)]


def _limits(plot: Plot) -> tuple[float, float]:
    """Return the ends of the axis: 1 for shares and coefficients, a round number for counts."""
    values = [
        value
        for series in plot.series
        for point in series.points
        for value in (point.value, point.low, point.high)
        if value is not None
    ]
    if plot.shown == "count":
        return 0, _round_number(max(values, default=1))
    return (-1 if min(values, default=0) < 0 else 0), 1


def _round_number(value: float) -> float:
    """Return the smallest of 5, 10, 20, 50, 100 and so on that is at least `value`."""
    power = 1
    while True:
        for step in (5, 10, 20):
            if step * power >= value:
                return step * power
        power *= 10


def _axis(plot: Plot, scale: _Scale, bottom: int) -> Iterator[str]:
    for tick in scale.ticks():
        x = scale(tick)
        yield f'<line x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{bottom}" stroke="#dddddd"/>'
        words = f"{round(100 * tick)} %" if plot.shown == "share" else _tick_text(tick, plot)
        yield _text(x, bottom + 18, words, anchor="middle", colour="#444444")
    yield _text((scale(scale.low) + scale(scale.high)) / 2, bottom + 38, plot.axis, anchor="middle", colour="#444444")


def _tick_text(tick: float, plot: Plot) -> str:
    return cell_text(round(tick) if plot.shown == "count" else Decimal(str(round(tick, 2))), plot.shown)


def _mark(plot: Plot, point: Point, scale: _Scale, top: float, colour: str) -> Iterator[str]:
    middle = top + _THICK / 2
    if point.value is None:
        yield _text(scale(scale.low) + 4, middle + 4, "undefined", colour="#444444")
        return
    x, end = scale(point.value), scale(point.value)
    if plot.form == "bars":
        start = scale(0)
        yield f'<rect x="{start}" y="{top + 2}" width="{round(x - start, 2)}" height="{_THICK - 4}" fill="{colour}"/>'
    if point.low is not None and point.high is not None:
        end = max(end, scale(point.high))
        ends = f'x1="{scale(point.low)}" x2="{scale(point.high)}"'
        # An interval must stay visible on its own bar.
        drawn = "#1c1c1c" if plot.form == "bars" else colour
        yield f'<line {ends} y1="{middle}" y2="{middle}" stroke="{drawn}" stroke-width="2"/>'
    if plot.form == "points":
        yield f'<circle cx="{x}" cy="{middle}" r="5" fill="{colour}"/>'
    unit = " %" if plot.shown == "share" else ""
    yield _text(end + 8, middle + 4, cell_text(point.value, plot.shown) + unit, size=12)


def _legend(plot: Plot, top: int) -> Iterator[str]:
    for number, series in enumerate(plot.series):
        y = top + _THICK * number
        yield f'<rect x="{_LEFT}" y="{y}" width="12" height="12" fill="{_COLOURS[number % len(_COLOURS)]}"/>'
        yield _text(_LEFT + 18, y + 11, series.name, size=12)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, weight: str = "", colour: str = "#1c1c1c"
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{round(x, 2)}" y="{round(y, 2)}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{bold}>'
        f"{escape(words)}</text>"
    )
