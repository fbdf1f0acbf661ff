"""Charts of a study's overview: answers over time with the projected end, time per question, and wages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from analytics.work.projection import HOUR, Projection, full_hour_after
from results.reports.base import Chart, Point, Reference, Series
from results.reports.histogram import histogram
from studies.wording import format_count

Hours = Sequence[tuple[datetime, int]]

LAST_HOURS = 72
# Longer studies are shown by day, so that the line stays light.
MOST_HOURS_DRAWN = 400
MOST_PEOPLE_DRAWN = 40
MILLISECONDS = 1000
TIME_AXIS = "Time (UTC)"


def say_projection(projection: Projection) -> str:
    """Return a sentence about the projected end."""
    if projection.end is None or projection.since is None:
        return projection.reason
    end = full_hour_after(projection.end.astimezone(UTC))
    rate = f"{projection.per_hour:.1f} answers an hour"
    measured = f"{projection.answers:,} since {_moment(projection.since.astimezone(UTC))}"
    return f"At {rate} ({measured}), the last answer is expected by {_moment(end)} UTC."


def progress_chart(
    name: str, hours: Hours, *, first: datetime | None, last: datetime | None, wanted: int, projection: Projection
) -> Chart:
    """Chart the number of answers by the end of each hour, from the `first` to the `last` answer, and projected."""
    points, given = [], 0
    for place, (hour, answers) in enumerate(hours):
        given += answers
        is_last_of_day = place + 1 == len(hours) or hours[place + 1][0].date() != hour.date()
        if len(hours) <= MOST_HOURS_DRAWN or is_last_of_day:
            is_last = place + 1 == len(hours)
            points.append(_at(last if is_last and last is not None else hour + HOUR, given))
    if points:
        points.insert(0, _at(first or hours[0][0], 0))
    series, says = [Series("Given", points)], ""
    if projection.end is not None and points:
        end = full_hour_after(projection.end)
        series.append(Series("Projected", [points[-1], _at(end, wanted)]))
        says = f"Projected end: {_moment(end)} UTC."
    words = f"{given:,} of {wanted:,} answers. {says}".rstrip()
    references = [Reference("asked for", wanted)] if wanted else []
    title = "Answers over time"
    return Chart(name, title, words, "line", "count", "Answers", series, references, TIME_AXIS, x_is_time=True)


def hours_chart(name: str, hours: Hours) -> Chart:
    """Chart the answers of each of the last 72 hours until the last answer, if more than one hour has any."""
    recent = [(hour, answers) for hour, answers in hours if hour > hours[-1][0] - LAST_HOURS * HOUR]
    points = [
        Point(f"{_moment(hour)} to {hour + HOUR:%H:%M}", answers, x=_x(hour), x_end=_x(hour + HOUR))
        for hour, answers in recent
        if len(recent) > 1
    ]
    most = max(recent, key=lambda each: each[1], default=None)
    words = f"The {LAST_HOURS} hours before the last answer."
    if most:
        words += f" Most: {most[1]:,} in the hour from {_moment(most[0])} UTC."
    series = [Series("", points)]
    return Chart(
        name, "Answers per hour", words, "histogram", "count", "Answers", series, (), TIME_AXIS, x_is_time=True
    )


def seconds_chart(name: str, seconds: Mapping[str, Mapping[float, int]], median: float | None) -> Chart:
    """Chart the time per question. seconds: kind -> time in seconds -> number of answers."""
    series = histogram(seconds, unit="s")
    references = [] if median is None else [Reference(f"median {median:.1f} s", median)]
    n = sum(times for of_kind in seconds.values() for times in of_kind.values())
    words = f"{n:,} answers, {references[0].name}." if references else ""
    series = [Series("", series[0].points)] if len(series) == 1 else series
    return Chart(name, "Time per question", words, "histogram", "count", "Answers", series, references, "Seconds")


def wages_chart(name: str, wages: Sequence[tuple[str, float]], *, currency: str, minimum: Decimal | None) -> Chart:
    """Chart the hourly wage of each session against the minimum; of many sessions, or without names, a histogram.

    wages: pseudonym, or "", and hourly wage, lowest first.
    """
    paid = wages if any(wage for _, wage in wages) else ()
    references = [] if minimum is None else [Reference(f"minimum {minimum:.2f}", float(minimum))]
    low = sum(wage < minimum for _, wage in paid) if minimum is not None else 0
    words = format_count(len(paid), "finished session") + (f", {low:,} under the minimum." if references else ".")
    title, axis = "Hourly wage by session", f"{currency} an hour"
    if len(paid) <= MOST_PEOPLE_DRAWN and all(who for who, _ in paid):
        before = Counter[str]()
        points = []
        for who, wage in paid:
            before[who] += 1
            points.append(Point(f"{who} ({before[who]})" if before[who] > 1 else who, wage, link=who))
        return Chart(name, title, words, "dots", "money", axis, [Series("", points)], references, "Annotator")
    series = histogram({"": Counter(wage for _, wage in paid)}, unit=currency)
    return Chart(name, title, words, "histogram", "count", "Sessions", series, references, axis)


def _at(time: datetime, value: int) -> Point:
    return Point(_moment(time), value, x=_x(time))


def _x(time: datetime) -> float:
    return time.timestamp() * MILLISECONDS


def _moment(time: datetime) -> str:
    return f"{time.day} {time:%b %Y, %H:%M}"
