"""Table cells from numbers that may be undefined."""

import re
from collections.abc import Hashable, Iterable, Sequence

from analytics.intervals.bootstrap import UNRELIABLE, Interval
from analytics.intervals.clustered_means import clustered_mean
from analytics.intervals.prediction_powered_inference import PredictionPowered
from analytics.preferences import Limits
from analytics.scores import Score, sum_of_scores, wilson_interval
from results.reports.base import Cell, Range, Series, Undefined


def value_or_reason(value: float | None, reason: str | None) -> Cell:
    return Undefined(reason or "") if value is None else value


def limits_or_reason(low: float | None, high: float | None, reason: str | None, warning: str | None = None) -> Cell:
    """Return an interval, or why there is none; with a `warning`, why it cannot be relied on."""
    if reason is None and warning:
        return Undefined(warning)
    return Undefined(reason or "") if low is None or high is None else Range(low, high)


def range_or_reason(interval: Interval | Limits | PredictionPowered) -> Cell:
    """Return an interval, or why there is none or none that can be relied on."""
    return limits_or_reason(interval.low, interval.high, interval.reason, interval.warning)


def ends_of(found: Cell) -> tuple[float | None, float | None]:
    """Return the ends of an interval for a chart, or None twice without one."""
    return (found.low, found.high) if isinstance(found, Range) else (None, None)


def share_of(found: Score) -> Cell:
    return value_or_reason(found.share, found.reason)


def share_range(found: Score) -> Cell:
    """Return Wilson's interval of a share of single answers."""
    interval = wilson_interval(found.count, found.n)
    return Undefined(found.reason or "") if interval is None else Range(*interval)


def range_over_instances(values: Sequence[float], instances: Sequence[Hashable]) -> Cell:
    """Return the interval of the mean score of one answerer: Wilson's, or by instance if one has several."""
    if len(set(instances)) == len(instances):
        return share_range(sum_of_scores(values))
    return range_over_both(values, None, instances)


def range_over_both(values: Sequence[float], people: Sequence[Hashable] | None, instances: Sequence[Hashable]) -> Cell:
    """Return the interval of a mean for other people and instances; without `people`, for other instances."""
    found = clustered_mean(values, people, instances)
    return limits_or_reason(found.low, found.high, found.reason)


def chart_intervals_note(reasons: Iterable[tuple[str, str | None]]) -> str:
    """Return the note on the intervals of a chart: what they generalise to, and which dots have none and why.

    reasons: the name of each dot, and why it has no interval, None if it has one.
    """
    return intervals_note(
        "Chart: intervals of people generalise to other people and other instances, so they need at least two of "
        "each. In the annotators table, intervals generalise only to further answers of the same person.",
        reasons,
    )


def intervals_note(about: str, reasons: Iterable[tuple[str, str | None]]) -> str:
    """Return `about`, a sentence on the intervals of a chart, followed by the dots without one and the reasons."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            by_reason.setdefault(reason, []).append(name)
    without = (f" No interval: {', '.join(names)}. {reason}" for reason, names in by_reason.items())
    return f"{about}{''.join(without)}"


def intervals_axis(values: str, series: Iterable[Series], reasons: Iterable[str | None] = ()) -> str:
    """Return the axis title of `values`, which also explains the interval lines, or why there are none.

    reasons: why dots have no interval; None for a dot with one. The title gives a short reason that all dots share.
    It also says what the dots are if no series has a name that says so.
    """
    series = list(series)
    if not any(each.name for each in series):
        values = f"Dots: {values}"
    if any(point.low is not None and point.high is not None for each in series for point in each.points):
        return f"{values}; lines: 95 % intervals"
    known = set(filter(None, reasons))
    short = {re.sub(f"(: {UNRELIABLE}|, so there is no interval)\\.$", "", reason) for reason in known} - known
    said = next(iter(short)) if len(known) == len(short) == 1 else ""
    why = f": {said[0].lower()}{said[1:]}" if said else ""
    return f"{values}; no intervals{why}"
