"""Charts of the seconds per answer, drawn with the page."""

from typing import Any

from django import template

from results.queries.people.answer_times import SessionTimes

register = template.Library()

HEIGHT, WIDTH = 48, 960
WIDEST_BAR = 12


@register.inclusion_tag("results/people/_times.html")
def seconds_chart(times: SessionTimes | None) -> dict[str, Any]:
    """Return the context of a chart: a bar for each answer, in order, and a line at the median.

    The places of answers to checks stay empty.
    """
    if times is None or not times.measured:
        return {"times": times}
    top = times.top or 1.0
    places = times.answers[-1].number
    step = min(WIDTH / places, WIDEST_BAR)
    bars = [
        {
            "x": round((each.number - 1) * step, 2),
            "width": round(max(step * 0.75, 0.5), 2),
            "y": round(HEIGHT * (1 - min(each.seconds / top, 1)), 2),
            "height": max(round(HEIGHT * min(each.seconds / top, 1), 2), 0.5),
            "is_cut": each.seconds > top,
            "said": f"Answer {each.number}: {each.seconds:,.1f} s",
        }
        for each in times.answers
        if each.seconds is not None
    ]
    return {
        "times": times,
        "bars": bars,
        "width": round(step * places, 2),
        "height": HEIGHT,
        "median_y": round(HEIGHT * (1 - min(times.median / top, 1)), 2),
        "unmeasured": len(times.answers) - len(bars),
    }
