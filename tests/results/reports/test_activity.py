"""Charts of a study's overview, counted by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from analytics.work.projection import Projection
from results.reports.base import Chart, Reference
from results.reports.page_tables import page_table, table_of_chart
from results.reports.sections.activity import hours_chart, progress_chart, say_projection, seconds_chart, wages_chart
from tests.results.reports.small import values

NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOWHERE = Projection(None, reason="Too few answers yet.")


def test_progress_adds_up_and_leads_to_the_projected_end() -> None:
    end = Projection(NINE + 4.5 * HOUR, 12.0, answers=30, since=NINE)
    hours, last = [(NINE, 20), (NINE + HOUR, 10)], NINE + 1.5 * HOUR
    first = NINE + timedelta(minutes=38)
    chart = progress_chart("p", hours, first=first, last=last, wanted=54, projection=end)
    given, projected = ([(point.label, point.value) for point in series.points] for series in chart.series)
    assert given == [("20 Nov 2026, 09:38", 0), ("20 Nov 2026, 10:00", 20), ("20 Nov 2026, 10:30", 30)]
    assert projected == [("20 Nov 2026, 10:30", 30), ("20 Nov 2026, 14:00", 54)]
    assert chart.references == [Reference("asked for", 54)]
    assert chart.description == "30 of 54 answers. Projected end: 20 Nov 2026, 14:00 UTC."
    assert say_projection(end) == (
        "At 12.0 answers an hour (30 since 20 Nov 2026, 09:00), the last answer is expected by 20 Nov 2026, 14:00 UTC."
    )


def test_nothing_is_projected_without_a_reason_to() -> None:
    chart = progress_chart("p", [(NINE, 1)], first=NINE, last=NINE, wanted=4, projection=NOWHERE)
    assert len(chart.series) == 1
    assert chart.description == "1 of 4 answers."
    assert not progress_chart("p", [], first=None, last=None, wanted=4, projection=NOWHERE).has_points


def test_long_studies_are_drawn_by_day() -> None:
    hours = [(NINE + place * HOUR, 1) for place in range(24 * 30)]
    last = hours[-1][0] + HOUR
    points = progress_chart("p", hours, first=NINE, last=last, wanted=9999, projection=NOWHERE).series[0].points
    # From 9:00 of the first day to 9:00 of the last one: 30 midnights, the beginning and the end.
    assert len(points) == 30 + 2
    assert points[-1].value == 24 * 30


def test_hours_are_those_before_the_last_answer() -> None:
    chart = hours_chart("h", [(NINE - 73 * HOUR, 9), (NINE - 71 * HOUR, 3), (NINE, 5)])
    assert values(chart) == {"17 Nov 2026, 10:00 to 11:00": 3, "20 Nov 2026, 09:00 to 10:00": 5}
    assert [(point.x_end or 0) - (point.x or 0) for point in chart.series[0].points] == [3_600_000] * 2
    assert chart.description.endswith("Most: 5 in the hour from 20 Nov 2026, 09:00 UTC.")
    assert not hours_chart("h", []).has_points


def test_one_hour_with_answers_is_no_chart() -> None:
    assert not hours_chart("h", [(NINE - 73 * HOUR, 9), (NINE, 5)]).has_points
    assert hours_chart("h", [(NINE - HOUR, 9), (NINE, 5)]).has_points


def test_times_have_a_series_for_each_kind_and_one_median() -> None:
    one = seconds_chart("t", {"rating": {2: 3}}, 2.4)
    assert values(one) == {"0 to 1 s": 0, "1 to 2 s": 0, "2 to 3 s": 3}
    assert one.references == [Reference("median 2.4 s", 2.4)]
    two = seconds_chart("t", {"rating": {2: 3}, "check": {0: 1}}, 2.4)
    assert [series.name for series in two.series] == ["rating", "check"]


def wages(*found: tuple[str, float], minimum: str | None = "8.00") -> Chart:
    return wages_chart("w", found, currency="USD", minimum=Decimal(minimum) if minimum else None)


def test_wages_are_by_person_against_the_minimum() -> None:
    chart = wages(("A-ANN", 7.99), ("A-BEN", 8.0), ("A-ANN", 12.0))
    assert values(chart) == {"A-ANN": 7.99, "A-BEN": 8.0, "A-ANN (2)": 12.0}
    assert chart.description == "3 finished sessions, 1 under the minimum."
    assert wages(("A-ANN", 7.99), minimum=None).references == []
    assert not wages(("A-ANN", 0.0)).has_points, "the study pays nothing"
    assert values(wages(("A-ANN", 0.0), ("A-BEN", 9.0)))["A-ANN"] == 0


def test_many_wages_are_a_histogram() -> None:
    chart = wages(*((f"A-{n}", 10.0) for n in range(41)))
    assert chart.form == "histogram"
    assert values(chart)["10 to 11 USD"] == 41


def test_a_chart_is_a_table_too() -> None:
    table = page_table(table_of_chart(seconds_chart("t", {"rating": {1: 3}, "check": {0: 1}}, 1.0)))
    assert list(table.headings) == ["Seconds", "rating", "check"]
    assert [[cell.text for cell in row] for row in table.cells] == [["0 to 1 s", "0", "1"], ["1 to 2 s", "3", "0"]]
