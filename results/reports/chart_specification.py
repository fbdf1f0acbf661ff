"""Vega-Lite specifications of charts, made by Altair, which takes a second to load.

They name colours as CSS variables, so that one SVG fits light, dark and printed pages.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from results.reports.base import Chart, Point, Reference, Series
from results.reports.chart_labels import (
    DOT_SIZE,
    GAP,
    HEIGHT,
    MOST_NAMED,
    SQUARE,
    Label,
    begins_of,
    domain_of,
    end_of_x,
    name_people,
    place_labels,
    step_number,
)
from results.reports.text import cell_text, range_text

if TYPE_CHECKING:
    import altair

STEP, LONGEST_LABEL, LONGEST_SLANTED_LABEL = 16, 440, 180
# Of a label of one line above a row, and of each line more; of more lines only the first ones are shown.
LABEL_HEIGHT, LINE_HEIGHT, MOST_LABEL_LINES = 18, 14, 3
# A row of several series beside each other has this for each of them.
SHARED_STEP = 12
# In milliseconds: a shorter axis of times is drawn so long, and shorter ones than the other have ticks with seconds,
# because six ticks are less than a minute apart.
SHORTEST_TIME, LONGEST_BY_SECOND = 10_000, 360_000
# About as many ticks as an axis below the plot has.
MOST_TICKS = 6
# Of the plots of charts with rows, which fit into a phone's window, and of the others.
ROWS_WIDTH, WIDTH = 290, 440
# The same on a phone of 360 px, where the labels of rows are above them; letters of a title in its width.
NARROW_ROWS_WIDTH, NARROW_WIDTH, NARROW_LABEL, LETTERS_OF_PHONE = 270, 240, 270, 34
# Columns of a heat map with room for their names in a line.
MOST_LEVEL_NAMES = 3
# Text fits into the cells of a heat map up to this many columns.
MOST_CELL_TEXTS = 12
_ON_EACH_OTHER = {"stacked", "diverging", "histogram"}
_BESIDE_EACH_OTHER = {"bars", "dots"}
# Widths of a letter of a legend and of the symbol before a name. Names get room beside the longest one's, and on more
# than a plot's width they are cut.
LETTER, SYMBOL, MOST_LEGEND_COLUMNS = 6.5, 30, 3
# Of the name of a reference above the plot.
REFERENCE_HEIGHT = 12
# Between a legend and the plot or the names of references above it.
LEGEND_OFFSET = 6
# Between the label of a row and its first mark, so that a marker at the lower end does not touch the label.
LABEL_PADDING = 8
# Colours that stay distinct for people with colour blindness (Okabe and Ito), for white paper.
LIGHT: Mapping[str, str] = {
    "var(--chart-ink)": "#1c1c1c",
    "var(--chart-muted)": "#565656",
    "var(--chart-grid)": "#dddddd",
    "var(--behind)": "#ffffff",
    "var(--chart-on-strong)": "#ffffff",
    "var(--chart-on-soft)": "#000000",
    "var(--chart-1)": "#0072b2",
    "var(--chart-2)": "#d55e00",
    "var(--chart-3)": "#009e73",
    "var(--chart-4)": "#cc79a7",
    "var(--chart-5)": "#e69f00",
    "var(--chart-6)": "#56b4e9",
    "var(--chart-7)": "#595959",
    "var(--chart-less-3)": "#a34700",
    "var(--chart-less-2)": "#d55e00",
    "var(--chart-less-1)": "#f0b183",
    "var(--chart-middle)": "#d9d9d9",
    "var(--chart-more-1)": "#8fc3e3",
    "var(--chart-more-2)": "#0072b2",
    "var(--chart-more-3)": "#004f7c",
}
COLORS = [name for name in LIGHT if re.search(r"chart-\d", name)]
# Colours of ordered steps, from the lowest to the highest.
ORDERED = [name for name in LIGHT if re.search(r"less|middle|more", name)]
# The colour of text on a colour; black on the others.
_ON = {
    **dict.fromkeys(("var(--chart-1)", "var(--chart-less-3)"), "var(--chart-on-strong)"),
    **dict.fromkeys(("var(--chart-more-2)", "var(--chart-more-3)"), "var(--chart-on-strong)"),
    **dict.fromkeys(("var(--chart-less-1)", "var(--chart-middle)", "var(--chart-more-1)"), "var(--chart-on-soft)"),
}
# One fewer than colours, so that no two of 42 series look alike.
SHAPES = ["circle", "diamond", "square", "triangle-up", "cross", "triangle-down"]
SIMULATED = "With simulated answers"


def specify(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of `chart`, with its data."""
    import altair

    points = altair.Chart(altair.InlineData(values=list(_rows(chart)))).encode(description="words:N")
    size: dict[str, Any]
    if chart.form in _OVER_X:
        layers, size = _OVER_X[chart.form](points, chart), {"width": _width(chart), "height": HEIGHT}
    else:
        is_shared = len(chart.series) > 1 and chart.form in _BESIDE_EACH_OTHER
        height = SHARED_STEP * len(chart.series) if is_shared else STEP
        layers = _IN_ROWS[chart.form](points.encode(y=_rows_axis(chart, height)), chart)
        step = SHARED_STEP if is_shared else STEP + _label_height(chart)
        size = {"width": _width(chart), "height": altair.Step(step)}
    if chart.form == "heat":
        size["width"] = max(_width(chart), STEP * len(chart.series))
    for line, reference in enumerate(chart.references):
        layers += _reference(reference, chart, line)
    # A title above a legend is above the names of references anyway.
    names = 0 if _has_legend(chart) else REFERENCE_HEIGHT * len(chart.references)
    notice = SIMULATED if chart.is_simulated else altair.Undefined
    words = wrap(chart.title, LETTERS_OF_PHONE) if chart.is_narrow else chart.title
    title = altair.TitleParams(words, offset=8 + names, subtitle=notice)
    specification: dict[str, Any] = (
        altair.layer(*layers)
        .properties(title=title, description=chart.description, **size)
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
        .configure_legend(
            labelColor="var(--chart-ink)",
            labelFontSize=12,
            orient="top",
            title=None,
            symbolLimit=0,
            offset=LEGEND_OFFSET + REFERENCE_HEIGHT * len(chart.references),
        )
        .configure_view(stroke=None)
        .to_dict()
    )
    return specification


def _rows(chart: Chart) -> Iterator[dict[str, Any]]:
    """Yield the data of a chart.

    Shares and bars on top of each other have a `start` and an `end`. The number of a bar is after `number_at`: the end
    of the bar, or the tick of what is expected if it is beyond.
    """
    begins = begins_of(chart)
    named = {(each.series, each.label) for each in _labels(chart)}
    for series in chart.series:
        for point in series.points:
            row = {"series": series.name, **asdict(point), "words": point_words(series, point, chart)}
            del row["link"]
            if point.value is not None and chart.form == "bars":
                row["number_at"] = point.value if point.expected is None else max(point.value, point.expected)
                row["number"] = _number_text(point.value, chart)
                if (series.name, point.label) in named:
                    row["number"] += f" {series.name}"
            if point.value is not None and chart.form in _ON_EACH_OTHER:
                row["start"] = begins.get(point.label, 0)
                row["end"] = begins[point.label] = row["start"] + point.value
            # Vega-Lite draws a missing interval where it is told of none.
            yield {name: value for name, value in row.items() if value is not None}


def point_words(series: Series, point: Point, chart: Chart) -> str:
    name = f"{series.name}, {point.label}" if series.name else point.label
    return f"{name}: {_point_text(point, chart)}"


def _point_text(point: Point, chart: Chart) -> str:
    if point.value is None:
        return "no value"
    text = _value_text(point.value, chart)
    if point.expected is not None:
        text = f"{text} (expected {cell_text(point.expected, 'coefficient')})"
    if point.low is None or point.high is None:
        return text
    return f"{text} (95 % CI {range_text(point.low, point.high, chart.shown)})"


def _number_text(value: float, chart: Chart) -> str:
    return f"{value:.1%}" if chart.shown == "share" else f"{value:,.{0 if chart.shown == 'count' else 2}f}"


def _labels(chart: Chart) -> list[Label]:
    return place_labels(chart, _width(chart))


def _value_text(value: float, chart: Chart) -> str:
    return cell_text(value, chart.shown) + (" %" if chart.shown == "share" else "")


def _reference(reference: Reference, chart: Chart, line: int) -> "list[altair.Chart]":
    """Draw the line of a reference with its name at its end, above the names of those before it."""
    import altair

    row = {"reference": reference.value, "name": reference.name, "words": f"{reference.name}: {reference.value:g}"}
    if chart.form != "histogram":
        row["words"] = f"{reference.name}: {_value_text(reference.value, chart)}"
    base = altair.Chart(altair.InlineData(values=[row])).encode(description="words:N")
    if chart.form in {"line", "scatter"}:
        base, text = base.encode(y="reference:Q"), base.encode(y="reference:Q", x=altair.value(0))
        name = text.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color="var(--chart-muted)")
    else:
        base, text = (
            base.encode(x="reference:Q"),
            base.encode(x="reference:Q", y=altair.value(-4 - REFERENCE_HEIGHT * line)),
        )
        name = text.mark_text(baseline="bottom", color="var(--chart-muted)")
    return [base.mark_rule(strokeDash=[4, 4], color="var(--chart-muted)"), name.encode(text="name:N")]


def _values_axis(chart: Chart) -> dict[str, Any]:
    """Return the title, scale and axis of the values."""
    import altair

    is_whole = chart.form == "stacked" or chart.shown in {"share", "coefficient"}
    ends = list(domain_of(chart)) if is_whole else altair.Undefined
    form = {"share": ".0%", "count": "d", "money": ".2f"}.get(chart.shown, "~g")
    most = max((point.value or 0 for each in chart.series for point in each.points), default=0)
    axis = altair.Axis(format=form, tickCount=max(min(5, int(most)), 1) if chart.shown == "count" else 5)
    # A title that is longer than the plot widens the picture, which shrinks all letters.
    letters = int(_width(chart) // LETTER)
    parts = chart.axis.split("; ") if len(chart.axis) > letters else []
    title = [line for part in parts for line in wrap(part, letters)] or chart.axis
    return {"title": title, "scale": altair.Scale(domain=ends), "axis": axis}


def _x(chart: Chart, field: str = "value:Q") -> "altair.X":
    import altair

    return altair.X(field, **_values_axis(chart))


def _label_lines(chart: Chart) -> dict[str, list[str]]:
    """Return the lines of each label above a row, with empty ones before them, so that the last is above the row."""
    letters = int((NARROW_LABEL if chart.is_narrow else LONGEST_LABEL) // LETTER)
    labels = dict.fromkeys(point.label for each in chart.series for point in each.points)
    lines = {label: wrap(label, letters, max_lines=MOST_LABEL_LINES, placeholder=" …") for label in labels}
    most = max(map(len, lines.values()))
    return {label: [""] * (most - len(of)) + of for label, of in lines.items()}


def _label_height(chart: Chart) -> int:
    """Return the height of the labels above rows, 0 where they are beside them."""
    if not chart.has_long_labels:
        return 0
    return LABEL_HEIGHT + LINE_HEIGHT * (len(next(iter(_label_lines(chart).values()))) - 1)


def _rows_axis(chart: Chart, height: int) -> "altair.Y":
    """Return the axis of rows that are so high. Their labels are beside them, or above them if they are long."""
    import altair

    # Without it, rows with an interval come before the others.
    order = list(dict.fromkeys(point.label for each in chart.series for point in each.points))
    limit = NARROW_LABEL if chart.is_narrow else LONGEST_LABEL
    axis = altair.Axis(labelLimit=limit, labelPadding=LABEL_PADDING, domain=False, ticks=False)
    if not chart.has_long_labels:
        return altair.Y("label:N", sort=order, title=None, axis=axis)
    axis.labelAlign, axis.labelPadding, axis.zindex = "left", 0, 1
    room = _label_height(chart)
    axis.labelOffset = altair.ExprRef(f"-bandwidth('y') / 2 - {room - LABEL_HEIGHT / 2}")
    axis.labelLineHeight = LINE_HEIGHT
    axis.labelExpr = f"{json.dumps(_label_lines(chart))}[datum.label]"
    # The room for labels is before each row, also before the first.
    share = room / (room + height)
    scale = altair.Scale(type="band", paddingInner=share, paddingOuter=share / 2, align=1)
    return altair.Y("label:N", sort=order, title=None, axis=axis, scale=scale)


def _over_x(chart: Chart, field: str = "x:Q") -> "altair.X":
    """Return the horizontal axis of a chart that has no rows."""
    import altair

    axis = altair.Axis(grid=False, tickCount=MOST_TICKS)
    if not chart.x_is_time:
        most = max((point.x or 0 for each in chart.series for point in each.points), default=0)
        if chart.form == "line" and most <= MOST_TICKS:
            # Along a line things are counted: there is nothing between 1 and 2.
            axis.values = list(range(int(most) + 1))
        ends = [0, end_of_x(chart)] if chart.form == "scatter" else altair.Undefined
        return altair.X(field, title=chart.x_axis, scale=altair.Scale(zero=True, domain=ends), axis=axis)
    times = [
        time for each in chart.series for point in each.points for time in (point.x, point.x_end) if time is not None
    ]
    start, end = (min(times), max(times)) if times else (0, 0)
    ends = [start, max(end, start + SHORTEST_TIME)] if times else altair.Undefined
    clock = "%H:%M:%S" if end - start < LONGEST_BY_SECOND else "%H:%M"
    day, hour = "utcFormat(datum.value, '%-d %b')", f"utcFormat(datum.value, '{clock}')"
    axis.labelExpr = f"utcFormat(datum.value, '%H:%M:%S') == '00:00:00' ? {day} : {hour}"
    axis.labelOverlap = True
    return altair.X("x:T", title=chart.x_axis, scale=altair.Scale(type="utc", domain=ends), axis=axis)


def _names(chart: Chart) -> list[str]:
    return [each.name for each in chart.series]


def _color(chart: Chart, colors: Sequence[str] = COLORS) -> "altair.Color":
    import altair

    names = _names(chart)
    legend = None
    if _has_legend(chart):
        legend = altair.Legend(columns=_legend_columns(chart), labelLimit=_width(chart) - SYMBOL)
    scale = altair.Scale(domain=names, range=list(colors))
    return altair.Color("series:N", title=None, scale=scale, legend=legend, sort=None)


def _has_legend(chart: Chart) -> bool:
    if chart.form == "line":
        return len(chart.series) > MOST_NAMED or _names_overlap(chart)
    return chart.form != "heat" and len(chart.series) > 1 and not _labels(chart)


def _names_overlap(chart: Chart) -> bool:
    """Tell whether lines whose names are below their ends end too close to each other for that."""
    highest = max((point.value or 0 for each in chart.series for point in each.points), default=0)
    ends = sorted(each.points[-1].value or 0 for each in chart.series[1:] if each.points)
    return any(upper - lower < highest * LINE_HEIGHT / HEIGHT for lower, upper in pairwise(ends))


def _width(chart: Chart) -> int:
    """Return the width of the plot, without its labels."""
    if chart.is_narrow:
        return NARROW_WIDTH if chart.form in _OVER_X else NARROW_ROWS_WIDTH
    return WIDTH if chart.form in _OVER_X else ROWS_WIDTH


def _legend_columns(chart: Chart) -> int:
    """Return how many names stand beside each other in a legend: all if they fit over the plot, else at most three."""
    widths = [LETTER * len(name) + SYMBOL for name in _names(chart)]
    if sum(widths) <= _width(chart):
        return len(widths)
    return min(max(int(_width(chart) // max(widths)), 1), MOST_LEGEND_COLUMNS)


def _offset_series(base: "altair.Chart", chart: Chart) -> "altair.Chart":
    """Put the points of several series with one label below each other."""
    import altair

    return base.encode(yOffset=altair.YOffset("series:N", sort=_names(chart))) if len(chart.series) > 1 else base


def _bars(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    apart = _offset_series(base, chart).encode(color=_color(chart))
    numbers = apart.mark_text(align="left", dx=6)
    values = numbers.encode(x=_x(chart, "number_at:Q"), text="number:N", color=_ink())
    size = STEP if len(chart.series) == 1 else SHARED_STEP
    expected = apart.mark_tick(thickness=2, size=size).encode(x=_x(chart, "expected:Q"), color=_ink())
    has_expected = any(point.expected is not None for each in chart.series for point in each.points)
    return [apart.mark_bar().encode(x=_x(chart)), values, *([expected] if has_expected else [])]


def _dots(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    apart = _offset_series(base, chart).encode(color=_color(chart))
    whiskers = apart.mark_rule(strokeWidth=2).encode(x=_x(chart, "low:Q"), x2="high:Q")
    dots = apart.mark_point(filled=True, size=DOT_SIZE, opacity=1).encode(x=_x(chart), shape=_shape(chart))
    return [whiskers, dots, *_beside_marks(apart, chart)]


def _beside_marks(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    """Draw the names of series and people beside their marks, in front of lines that would cross them."""
    import altair

    drawn = []
    color_of = dict(zip(_names(chart), COLORS, strict=False))
    for each in [*_labels(chart), *name_people(chart, _width(chart))]:
        row = {"series": each.series, "label": each.label, "at": each.x, "y": each.y}
        at = base.properties(data=altair.InlineData(values=[row]))
        if each.y is None:
            at = at.encode(x=_x(chart, "at:Q"))
        else:
            at = at.encode(x=_over_x(chart, "at:Q"), y=altair.Y("y:Q", **_values_axis(chart)))
        dx: float = {"left": GAP, "right": -GAP, "center": 0}[each.align]
        if each.after is not None:
            dx = each.after + SQUARE + GAP / 2
            drawn.append(_square(at, each.after, color_of[each.series]))
        text = at.encode(text="series:N", color=_ink())
        halo: dict[str, Any] = {"strokeWidth": 3, "stroke": "var(--behind)"}
        drawn += [text.mark_text(aria=False, align=each.align, dx=dx, dy=each.dy, **look) for look in (halo, {})]
    return drawn


def _square(at: "altair.Chart", after: float, color: str) -> "altair.Chart":
    """Draw the square before the name of a series that is not at its mark."""
    import altair

    look: dict[str, Any] = {"shape": "square", "filled": True, "opacity": 1, "size": SQUARE**2}
    square: altair.Chart = at.mark_point(aria=False, xOffset=after + SQUARE / 2, **look)
    return square.encode(color=altair.value(color))


def _inside_bars(base: "altair.Chart", chart: Chart, colors: Sequence[str]) -> "list[altair.Chart]":
    """Draw the names of series inside their parts of the bars, or after the bars with a square of their colour."""
    import altair

    color_of = dict(zip(_names(chart), colors, strict=False))
    drawn = []
    for each in _labels(chart):
        row = {"series": each.words, "label": each.label, "middle": each.x}
        at = base.properties(data=altair.InlineData(values=[row])).encode(x="middle:Q")
        if each.after is not None:
            drawn.append(_square(at, each.after, color_of[each.series]))
            text = at.mark_text(aria=False, align="left", dx=each.after + SQUARE + GAP / 2)
            drawn.append(text.encode(text="series:N", color=_ink()))
            continue
        text = at.mark_text(aria=False)
        color = altair.value(_ON.get(color_of[each.series], "#000000"))
        drawn.append(text.encode(text="series:N", color=color))
    return drawn


def _stacked_bars(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    x = _x(chart, "start:Q")
    return [base.mark_bar().encode(x=x, x2="end:Q", color=_color(chart)), *_inside_bars(base, chart, COLORS)]


def _diverging(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    last = max(len(chart.series) - 1, 1)
    middle = (len(ORDERED) - 1) / 2
    colors = [ORDERED[round(middle + middle * (2 * place / last - 1))] for place in range(len(chart.series))]
    ends = altair.Scale(domain=list(domain_of(chart)))
    axis = altair.Axis(labelExpr="format(abs(datum.value), '.0%')", tickCount=5)
    title = [chart.axis, *([words] if (words := _words_of_steps(chart)) and not _has_legend(chart) else [])]
    x = altair.X("start:Q", title=title, scale=ends, axis=axis)
    bars = base.mark_bar().encode(x=x, x2="end:Q", color=_color(chart, colors))
    return [bars, *_inside_bars(base, chart, colors)]


def _words_of_steps(chart: Chart) -> str:
    """Return what the numbers of steps mean, of those that have words."""
    numbers = {name: step_number(name) for name in _names(chart)}
    words = {number: name[len(number) + 2 : -1] for name, number in numbers.items() if name != number}
    return ", ".join(f"{number}: {text}" for number, text in words.items())


def _heat(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    is_level = len(chart.series) <= MOST_LEVEL_NAMES
    # Slanted names reach beyond the right end of the plot.
    slant = -90 if chart.is_narrow else -30
    angle, limit = (0, _width(chart) // max(len(chart.series), 1)) if is_level else (slant, LONGEST_SLANTED_LABEL)
    axis = altair.Axis(orient="top", labelAngle=angle, labelLimit=limit, domain=False, ticks=False)
    cells = base.encode(x=altair.X("series:N", sort=None, title=None, axis=axis))
    # Not darker, so that text can be read on it.
    strength = altair.Scale(domain=[0, 1], range=[0.04, 0.6])
    painted = cells.mark_rect(color=COLORS[0]).encode(
        fillOpacity=altair.FillOpacity("value:Q", scale=strength, legend=None)
    )
    texts = cells.mark_text().encode(text=altair.Text("value:Q", format=".0%"), color=_ink())
    return [painted, texts] if len(chart.series) <= MOST_CELL_TEXTS else [painted]


def _histogram(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    y = altair.Y("start:Q", **_values_axis(chart))
    bars = base.mark_rect(x2Offset=-1).encode(x=_over_x(chart), x2="x_end", y=y, y2="end", color=_color(chart))
    return [bars, *_beside_marks(base, chart)]


def _line(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    is_named = not _has_legend(chart)
    color = _color(chart)
    lines = base.encode(x=_over_x(chart), y=altair.Y("value:Q", **_values_axis(chart)), color=color)
    dashes = altair.Scale(domain=_names(chart), range=[[1, 0], *[[5, 4]] * max(len(chart.series) - 1, 1)])
    ends = [{"series": each.name, **asdict(each.points[-1])} for each in chart.series if each.points and is_named]
    # The first line rises to its end, so its name has room above it; the others go on from there.
    above = lines.mark_text(aria=False, align="right", baseline="bottom", dx=-8, dy=-2)
    below = lines.mark_text(aria=False, align="right", baseline="top", dx=-4, dy=24)
    return [
        lines.mark_line(strokeWidth=2).encode(
            strokeDash=altair.StrokeDash("series:N", scale=dashes, legend=None), description="series:N"
        ),
        lines.mark_point(filled=True, size=16, opacity=1),
        above.encode(text="series:N").properties(data=altair.InlineData(values=ends[:1])),
        below.encode(text="series:N").properties(data=altair.InlineData(values=ends[1:])),
    ]


def _scatter(base: "altair.Chart", chart: Chart) -> "list[altair.Chart]":
    import altair

    y = altair.Y("value:Q", **_values_axis(chart))
    points = base.mark_point(filled=True, size=DOT_SIZE, opacity=0.8)
    dots = points.encode(x=_over_x(chart), y=y, color=_color(chart), shape=_shape(chart))
    return [dots, *_beside_marks(base, chart)]


_Layers = Callable[["altair.Chart", Chart], "list[altair.Chart]"]
_IN_ROWS: Mapping[str, _Layers] = {
    "bars": _bars,
    "dots": _dots,
    "stacked": _stacked_bars,
    "diverging": _diverging,
    "heat": _heat,
}
_OVER_X: Mapping[str, _Layers] = {"histogram": _histogram, "line": _line, "scatter": _scatter}


def _shape(chart: Chart) -> "altair.Shape":
    import altair

    scale = altair.Scale(domain=_names(chart), range=SHAPES)
    return altair.Shape("series:N", title=None, scale=scale, legend=None)


def _ink() -> Any:
    import altair

    return altair.value("var(--chart-ink)")
