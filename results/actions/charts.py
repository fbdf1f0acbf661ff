"""Charts of pages: drawn by a worker, and stored by the hash of their data."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta

from django.db.models import QuerySet

from background.jobs import request_job
from background.models import UNFINISHED, Job, JobState
from background.work import RunningJob, Work
from results.models import StoredChart
from results.reports import charts
from results.reports.base import Chart, Report
from results.reports.charts import Drawing
from studies.models import Project, Study

KIND = "results.chart"
# A chart that no page has shown for this long is deleted: its data have changed.
KEPT = timedelta(days=2)
NEW_AT_MOST_EVERY = timedelta(minutes=1)
# A page that refreshes itself has a chart drawn again at most this often, and shows the older drawing until then.
REDRAWN_AT_MOST_EVERY = timedelta(minutes=5)
ONE_DAY = timedelta(days=1)


def look_up_charts(
    project: Project, shown: Iterable[Chart], *, now: datetime
) -> tuple[Mapping[str, StoredChart], list[Job]]:
    """Return chart name -> its row, drawn or not, without its files; and the jobs to send that draw the others."""
    wanted = {charts.digest(chart): chart for chart in shown}
    stored = _charts_by_digest(project, wanted)
    missing = [
        StoredChart(project=project, digest=digest, values=asdict(chart), asked_at=now)
        for digest, chart in wanted.items()
        if digest not in stored
    ]
    if missing:
        StoredChart.objects.bulk_create(missing, ignore_conflicts=True)
        stored = _charts_by_digest(project, wanted)
    old = [row.pk for row in stored.values() if row.asked_at < now - ONE_DAY]
    if old:
        StoredChart.objects.filter(pk__in=old).update(asked_at=now)
    found = {chart.name: stored[digest] for digest, chart in wanted.items() if digest in stored}
    return found, _request_jobs(project, {name: row for name, row in found.items() if row.drawn_at is None}, now)


def look_up_live_charts(
    study: Study, shown: Iterable[Chart], *, now: datetime
) -> tuple[Mapping[str, StoredChart], list[Job]]:
    """Return chart name -> its newest drawing, or its row before the first one; and the jobs to send.

    shown: their names are those of no other chart of the project. A chart whose data change with every answer is drawn
    again five minutes after it was last requested.
    """
    newest: dict[str, StoredChart] = {}
    drawn: dict[str, StoredChart] = {}
    for row in _of_study(study):
        newest[row.values["name"]] = row
        if row.drawn_at is not None:
            drawn[row.values["name"]] = row
    digests = {chart.name: charts.digest(chart) for chart in shown}
    missing = [
        StoredChart(project=study.project, study=study, digest=digests[chart.name], values=asdict(chart), asked_at=now)
        for chart in shown
        if _is_due(newest.get(chart.name), digests[chart.name], now)
    ]
    if missing:
        StoredChart.objects.bulk_create(missing, ignore_conflicts=True)
        newest |= {row.values["name"]: row for row in _of_study(study)}
    found = {name: drawn.get(name) or newest[name] for name in digests if name in newest}
    for name, row in found.items():
        row.is_old = row.digest != digests[name]
    undrawn = {name: newest[name] for name in found if newest[name].drawn_at is None}
    return found, _request_jobs(study.project, undrawn, now)


def _of_study(study: Study) -> QuerySet[StoredChart]:
    return StoredChart.objects.filter(study=study).defer("png", "pdf", "specification").order_by("pk")


def _is_due(newest: StoredChart | None, digest: str, now: datetime) -> bool:
    if newest is None:
        return True
    return newest.digest != digest and newest.asked_at <= now - REDRAWN_AT_MOST_EVERY


def _charts_by_digest(project: Project, digests: Iterable[str]) -> dict[str, StoredChart]:
    rows = StoredChart.objects.filter(project=project, digest__in=list(digests))
    return {row.digest: row for row in rows.defer("png", "pdf", "specification", "values")}


def _request_jobs(project: Project, undrawn: Mapping[str, StoredChart], now: datetime) -> list[Job]:
    """Return the new jobs that draw these charts, by name; none for a chart whose job waits, runs or has failed.

    While answers come in, a chart of one name is drawn once a minute.
    """
    if not undrawn:
        return []
    keys = [str(row.pk) for row in undrawn.values()]
    requested = Job.objects.filter(kind=KIND, key__in=keys, state__in=[*UNFINISHED, JobState.FAILED])
    states = dict(requested.values_list("key", "state"))
    recent = StoredChart.objects.filter(project=project, drawn_at__gt=now - NEW_AT_MOST_EVERY)
    drawn = set(recent.values_list("values__name", flat=True))
    jobs = []
    for name, row in undrawn.items():
        row.is_failed = states.get(str(row.pk)) == JobState.FAILED
        if str(row.pk) not in states and name not in drawn:
            arguments, key = {"chart": row.pk}, str(row.pk)
            jobs.append(request_job(kind=KIND, arguments=arguments, by=None, now=now, key=key))
    return [job for job, is_new in jobs if is_new]


def _draw(job: RunningJob) -> None:
    row = StoredChart.objects.filter(pk=job.arguments["chart"], drawn_at=None).first()
    if row is not None:
        drawing = charts.draw(charts.from_plain(row.values))
        StoredChart.objects.filter(pk=row.pk).update(
            specification=drawing.specification,
            svg=drawing.svg,
            narrow_svg=drawing.narrow,
            png=drawing.png,
            pdf=drawing.pdf,
            drawn_at=job.now(),
        )
        if row.study_id is not None:
            older = StoredChart.objects.filter(study=row.study_id, pk__lt=row.pk, values__name=row.values["name"])
            older.delete()
    StoredChart.objects.filter(asked_at__lt=job.now() - KEPT).delete()


CHART = Work(run=_draw, trouble="The chart could not be drawn.", minutes=2, days_kept=1)


def stored_drawings(project: Project, report: Report) -> dict[str, Drawing]:
    """Return chart name -> drawing, for the charts of `report` that a worker has drawn."""
    digests = {charts.digest(chart): chart.name for chart in report.charts}
    rows = StoredChart.objects.filter(project=project, digest__in=list(digests), drawn_at__isnull=False)
    return {
        digests[row.digest]: Drawing(row.specification, row.svg, bytes(row.png or b""), bytes(row.pdf or b""))
        for row in rows
    }


def draw_all(report: Report) -> dict[str, Drawing]:
    """Draw every chart of `report`, which takes seconds; return chart name -> drawing."""
    return {chart.name: charts.draw(chart) for chart in report.charts}
