"""The charts of a study's overview."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from analytics.work.projection import Projection, projected_end
from annotation.minimum_pay import minimum_hourly_pay
from results.models import StoredChart
from results.queries.studies.activity import StudyActivity
from results.queries.studies.progress import StudyProgress
from results.reports.base import Chart
from results.reports.page_tables import PageTable, page_table, table_of_chart
from results.reports.sections.activity import (
    hours_chart,
    progress_chart,
    say_projection,
    seconds_chart,
    wages_chart,
)
from results.views.charts import live_charts
from studies.models import Study, StudyState


@dataclass(frozen=True)
class ShownChart:
    """A chart of the page: its newest drawing, what it shows now in words, and its values now."""

    row: StoredChart
    chart: Chart
    table: PageTable


@dataclass(frozen=True)
class Overview:
    """`projection`: a sentence, "" where nothing is expected any more. `version`: changes with every new drawing."""

    projection: str
    charts: Sequence[ShownChart]
    version: int


def overview_of(study: Study, progress: StudyProgress, activity: StudyActivity, *, now: datetime) -> Overview:
    hours = [(datetime.fromtimestamp(start, UTC), n) for start, n in activity.hours]
    left = progress.answers.to_come
    # Without open places, a study may still get answers: somebody who arrives, or asking other people, opens more.
    expected = study.state == StudyState.OPEN and (left > 0 or study.completed_at is not None)
    first, last = (None if at is None else datetime.fromtimestamp(at, UTC) for at in (activity.first, activity.last))
    projection = projected_end(hours, first=first, last=last, left=left, now=now) if expected else Projection(None)
    charts = [
        chart for chart in _charts(study, progress, activity, hours, (first, last), projection) if chart.has_points
    ]
    rows = live_charts(study, charts)
    shown = [
        ShownChart(rows[chart.name], chart, page_table(table_of_chart(chart))) for chart in charts if chart.name in rows
    ]
    drawn = [row.drawn_at.timestamp() for row in rows.values() if row.drawn_at]
    return Overview(say_projection(projection), shown, int(1000 * max(drawn, default=0)))


def _charts(
    study: Study,
    progress: StudyProgress,
    activity: StudyActivity,
    hours: Sequence[tuple[datetime, int]],
    ends: tuple[datetime | None, datetime | None],
    projection: Projection,
) -> Sequence[Chart]:
    seconds: defaultdict[str, dict[float, int]] = defaultdict(dict)
    for kind, second, n in activity.seconds:
        seconds[kind][second] = n
    currency, (first, last) = study.design.pay.currency, ends
    return [
        progress_chart(
            f"{study.slug}-progress",
            hours,
            first=first,
            last=last,
            wanted=progress.answers.wanted,
            projection=projection,
        ),
        hours_chart(f"{study.slug}-hours", hours),
        seconds_chart(f"{study.slug}-seconds", seconds, progress.seconds.median),
        wages_chart(f"{study.slug}-wages", activity.wages, currency=currency, minimum=minimum_hourly_pay(currency)),
    ]
