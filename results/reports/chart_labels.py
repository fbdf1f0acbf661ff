"""Where the names of a chart's series stand beside their marks, instead of a legend. Pure.

Widths are in units of the SVG. Names that find no room stay in a legend.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import pi, sqrt
from statistics import median
from typing import Literal

from results.reports.base import Chart, Point, Series

Align = Literal["left", "right", "center"]
# More series need a legend.
MOST_NAMED = 4
# Of more people in a scatter plot only those farthest from the others are named.
MOST_PEOPLE_NAMED = 8
# Of a letter of a name, and between a name and its mark.
LETTER, GAP = 5.6, 8
# The side of the square before a name that is not at its mark.
SQUARE = 9
# Of a letter of a pseudonym, which has capital letters only.
CAPITAL = 7.6
# Of the letters of a name in a scatter plot.
LETTER_HEIGHT = 12
# Area and half the width of a dot.
DOT_SIZE = 70
DOT = sqrt(DOT_SIZE / pi)
# Of a plot without rows.
HEIGHT = 200
# A name may reach so far beyond the right end of a plot with rows, and of a wider one without.
OVERFLOW, OVERFLOW_OF_WIDE = 140, 80
# Steps of a scale that are named by their numbers in their parts of a bar.
MOST_STEPS = 7


@dataclass(frozen=True)
class Label:
    """The position of a series' name at one of its marks, in the row `label`.

    `x`: the value where the name starts, in the direction of `align`. `y`: the value of the mark in a scatter plot;
    `dy`: the offset below it. `after`: the offset right of `x` of a name that is away from its mark, which then has a
    square in its colour; None for the others. `text`: a shorter name, "" for the whole one.
    """

    series: str
    label: str
    x: float
    align: Align
    y: float | None = None
    dy: float = 0
    after: float | None = None
    text: str = ""

    @property
    def words(self) -> str:
        return self.text or self.series


def overflow_of(chart: Chart) -> float:
    """Return how far a name may reach beyond the right end of the plot."""
    if chart.is_narrow:
        return 0
    return OVERFLOW_OF_WIDE if chart.form in {"scatter", "histogram"} else OVERFLOW


def step_number(name: str) -> str:
    """Return the number of a step without its words. Example: "1 (not at all)" is "1"."""
    return name.partition(" (")[0]


def domain_of(chart: Chart) -> tuple[float, float]:
    """Return the ends of the axis of values; those of bars with counts and amounts may reach further."""
    values = [end for each in chart.series for point in each.points for end in _ends(point)]
    lowest, highest = min(values, default=0), max(values, default=0)
    if chart.form == "diverging":
        # A whole on either side.
        return -1, 1
    if chart.shown in {"share", "coefficient"}:
        return (-1 if lowest < 0 else 0), 1
    if chart.form == "stacked":
        return 0, max(_sums(chart).values(), default=0) or 1
    return min(lowest, 0), highest or 1


def _sums(chart: Chart) -> dict[str, float]:
    found: dict[str, float] = {}
    for point in (point for series in chart.series for point in series.points):
        found[point.label] = found.get(point.label, 0) + (point.value or 0)
    return found


def place_labels(chart: Chart, width: float) -> list[Label]:
    """Return a label for each series, in a plot of this width; none if any series has no room.

    A single series is labelled only if its marks are dots, because nothing else would name it.
    """
    named = [each for each in chart.series if each.points]
    least = 1 if chart.form == "dots" else 2
    most = MOST_STEPS if chart.form == "diverging" else MOST_NAMED
    if not least <= len(named) <= most or not all(each.name for each in named):
        return []
    found = _PLACES[chart.form](chart, named, width) if chart.form in _PLACES else []
    return found if len(found) == len(named) else []


def _ends(point: Point) -> list[float]:
    """Return the value of a point and the ends of its interval."""
    return [end for end in (point.value, point.low, point.high) if end is not None]


def _label_intervals(chart: Chart, named: Sequence[Series], width: float) -> list[Label]:
    """Label intervals: each name at the first interval with room, if possible where no reference crosses it."""
    low, high = domain_of(chart)
    unit = (high - low) / width
    lines = [reference.value for reference in chart.references]
    found = []
    for series in named:
        length = (LETTER * len(series.name) + 2 * GAP) * unit
        places = [place for point in series.points for place in _sides(series, point)]
        near = [place for place in places if _fits(place, length, low, high)]
        free = [place for place in near if not any(_crosses(place, length, line) for line in lines)]
        beyond = [place for place in places if _fits(place, length, low, high + overflow_of(chart) * unit)]
        found += (free or near or sorted(beyond, key=lambda place: place.x))[:1]
    return found


def _sides(series: Series, point: Point) -> Iterator[Label]:
    ends = _ends(point)
    if point.value is not None:
        yield Label(series.name, point.label, max(ends), "left")
        yield Label(series.name, point.label, min(ends), "right")


def _fits(place: Label, length: float, low: float, high: float) -> bool:
    return place.x + length <= high if place.align == "left" else place.x - length >= low


def _crosses(place: Label, length: float, line: float) -> bool:
    return place.x < line < place.x + length if place.align == "left" else place.x - length < line < place.x


def _label_bars(chart: Chart, named: Sequence[Series], width: float) -> list[Label]:
    """Label bars: names after the numbers at their ends.

    If possible all in the first row with room for all; else each in the first row with room, or at its shortest bar.
    """
    _, high = domain_of(chart)
    found: list[Label] = []
    rows: dict[str, list[Label]] = {}
    for series in named:
        ends = [
            Label(series.name, point.label, max(point.value, point.expected or 0), "left")
            for point in series.points
            if point.value is not None
        ]
        length = (LETTER * len(series.name) + 2 * GAP) * high / width
        number = LETTER * len(f"{high:,.2f}") * high / width
        for end in ends:
            if 0 < end.x <= high + overflow_of(chart) * high / width - number - length:
                rows.setdefault(end.label, []).append(end)
        near = [end for end in ends if end.x + number + length <= high]
        fits = length <= overflow_of(chart) * high / width
        found += (near or sorted(ends, key=lambda end: end.x) if near or fits else [])[:1]
    order = dict.fromkeys(point.label for series in named for point in series.points)
    return next((rows[label] for label in order if len(rows.get(label, ())) == len(named)), found)


def _label_bar_parts(chart: Chart, named: Sequence[Series], width: float) -> list[Label]:
    """Label the parts of bars: each name inside the first part with room, or else after the end of a bar."""
    low, high = domain_of(chart)
    begins = begins_of(chart)
    found: list[Label] = []
    for series in named:
        first = None
        for point in series.points:
            start = begins.get(point.label, 0)
            begins[point.label] = start + (point.value or 0)
            text = step_number(series.name) if chart.form == "diverging" else ""
            needs = (LETTER * len(text or series.name) + GAP) * (high - low) / width
            if first is None and (point.value or 0) >= needs:
                first = Label(series.name, point.label, start + (point.value or 0) / 2, "center", text=text)
        found += [first] if first else []
    inside = {label.series for label in found}
    outside = [series for series in named if series.name not in inside]
    return [*found, *_label_bar_ends(outside, begins, width, high - low, low, overflow_of(chart))]


def _label_bar_ends(
    series: Sequence[Series], ends: Mapping[str, float], width: float, span: float, low: float, overflow: float
) -> Iterator[Label]:
    """Yield names after the bar ends of the first row in which each series has a part, while there is room.

    ends: row -> end of its bar. span: of the axis of values, which begins at `low`. overflow: as of `overflow_of`.
    """
    used: dict[str, float] = {}
    for each in series:
        length = SQUARE + LETTER * len(each.name) + 2 * GAP
        for label in (point.label for point in each.points if point.value):
            after = used.get(label, GAP)
            if (ends[label] - low) / span * width + after + length <= width + overflow:
                used[label] = after + length
                yield Label(each.name, label, ends[label], "left", after=after)
                break


def begins_of(chart: Chart) -> dict[str, float]:
    """Return where the values of each label begin: those of a scale so that its middle is at 0."""
    if chart.form != "diverging":
        return {}
    by_label: dict[str, list[float]] = {}
    for series in chart.series:
        for point in series.points:
            by_label.setdefault(point.label, []).extend([] if point.value is None else [point.value])
    return {
        label: -sum(values[: len(values) // 2]) - (values[len(values) // 2] / 2 if len(values) % 2 else 0)
        for label, values in by_label.items()
    }


@dataclass(frozen=True)
class _Box:
    """A rectangle of the plot; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def _label_dots(chart: Chart, named: Sequence[Series], width: float) -> list[Label]:
    """Label a scatter plot: names beside, above or below a dot, where they overlap no other dot or name."""
    low, high = domain_of(chart)
    right = end_of_x(chart)
    dots = {
        (series.name, number): (width * (point.x or 0) / right, HEIGHT * (high - (point.value or 0)) / (high - low))
        for series in named
        for number, point in enumerate(series.points)
    }
    taken = [_Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in dots.values()]
    plot = _Box(0, 0, width + overflow_of(chart), HEIGHT)
    found = []
    for series in named:
        # From the right, where there are fewer dots.
        for number, point in sorted(enumerate(series.points), key=lambda each: each[1].x or 0, reverse=True):
            label, box = _free_place(series.name, point, dots[series.name, number], taken, plot)
            if label is not None:
                found.append(label)
                taken.append(box)
                break
    return found


def _free_place(
    name: str, point: Point, dot: tuple[float, float], taken: Sequence[_Box], plot: _Box, *, letter: float = LETTER
) -> tuple[Label | None, _Box]:
    long, half, (x, y) = letter * len(name), LETTER_HEIGHT / 2, dot
    x_value, y_value = point.x or 0, point.value or 0
    places: Sequence[tuple[Align, float, float]] = (
        ("left", x + GAP, 0),
        ("right", x - GAP - long, 0),
        ("center", x - long / 2, -2 * GAP),
        ("center", x - long / 2, 2 * GAP),
    )
    for align, left, dy in places:
        box = _Box(left, y + dy - half, left + long, y + dy + half)
        inside = plot.left <= box.left and box.right <= plot.right and plot.top <= box.top and box.bottom <= plot.bottom
        if inside and not any(box.meets(other) for other in taken):
            return Label(name, point.label, x_value, align, y_value, dy), box
    return None, plot


def name_people(chart: Chart, width: float) -> list[Label]:
    """Label the people farthest from the median in a scatter plot by pseudonym, if there is room.

    A distance is the larger of both directions, each as a share of the largest.
    """
    if chart.form != "scatter":
        return []
    dots = [(series, point) for series in chart.series for point in series.points if point.value is not None]
    people = [point for _, point in dots if point.link and not point.link.startswith("?")]
    across, up = _distances([point.x or 0 for point in people]), _distances([point.value or 0 for point in people])
    low, high = domain_of(chart)
    right = end_of_x(chart)

    def place_of(x: float | None, y: float | None) -> tuple[float, float]:
        return width * (x or 0) / right, HEIGHT * (high - (y or 0)) / (high - low)

    places = [place_of(point.x, point.value) for _, point in dots]
    taken = [_Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in places]
    for named in place_labels(chart, width):
        long, (x, y) = LETTER * len(named.series), place_of(named.x, named.y)
        left = {"left": x + GAP, "right": x - GAP - long, "center": x - long / 2}[named.align]
        middle = y + named.dy
        taken.append(_Box(left, middle - LETTER_HEIGHT / 2, left + long, middle + LETTER_HEIGHT / 2))
    # A name beside a dot at the upper end is half above the plot.
    plot = _Box(0, -LETTER_HEIGHT / 2, width + overflow_of(chart), HEIGHT)
    found = []
    farthest = sorted(range(len(people)), key=lambda number: max(across[number], up[number]), reverse=True)
    for point in (people[number] for number in farthest[:MOST_PEOPLE_NAMED]):
        label, box = _free_place(point.link, point, place_of(point.x, point.value), taken, plot, letter=CAPITAL)
        if label is not None:
            found.append(label)
            taken.append(box)
    return found


def _distances(values: Sequence[float]) -> list[float]:
    """Return the distance of each value from the median, as a share of the largest one."""
    middle = median(values) if values else 0
    most = max((abs(value - middle) for value in values), default=0) or 1
    return [abs(value - middle) / most for value in values]


def _label_bins(chart: Chart, named: Sequence[Series], width: float) -> list[Label]:
    """Label a histogram: names stacked with squares in their colours, as far right as all bars below are lower.

    Names inside would hide narrow bars, and a name beside them would not show which part it means.
    """
    totals: dict[float, float] = {}
    right = 0.0
    for point in (point for series in named for point in series.points):
        totals[point.x or 0] = totals.get(point.x or 0, 0) + (point.value or 0)
        right = max(right, point.x_end or 0)
    high, lines = max(totals.values(), default=0), [reference.value for reference in chart.references]
    height = (LETTER_HEIGHT + 4) / HEIGHT * high
    length = max(SQUARE + LETTER * len(series.name) + 2 * GAP for series in named) * right / width
    beyond = overflow_of(chart) * right / width
    for start in sorted((start for start in totals if start + length <= right + beyond), reverse=True):
        is_low = all(total <= high - len(named) * height for x, total in totals.items() if start <= x < start + length)
        if is_low and not any(start <= line <= start + length for line in lines):
            return [
                Label(series.name, "", start, "left", high - (place + 0.5) * height, after=GAP / 2)
                for place, series in enumerate(named)
            ]
    return []


def end_of_x(chart: Chart) -> float:
    """Return the right end of the horizontal axis of a scatter plot: a little beyond its last dot."""
    return 1.05 * max((point.x or 0 for each in chart.series for point in each.points), default=0) or 1


_Places = Callable[[Chart, Sequence[Series], float], list[Label]]
_PLACES: Mapping[str, _Places] = {
    "bars": _label_bars,
    "dots": _label_intervals,
    "stacked": _label_bar_parts,
    "diverging": _label_bar_parts,
    "scatter": _label_dots,
    "histogram": _label_bins,
}
