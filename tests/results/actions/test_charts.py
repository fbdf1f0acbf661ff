from dataclasses import replace
from datetime import timedelta

import pytest

from background.models import Job, JobState
from results.actions.charts import KEPT, look_up_charts, stored_drawings
from results.models import StoredChart
from results.reports.base import Card, Chart, Point, Report, Series
from studies.models import Project
from tests.factories import NOON, make_project
from tests.jobs import run_now

pytestmark = pytest.mark.django_db

CHART = Chart("times", "Times", "Few.", "bars", "count", "Answers", [Series("", [Point("0 to 2 s", 3)])])


@pytest.fixture
def project() -> Project:
    return make_project()


def test_a_chart_is_drawn_once_for_a_project(project: Project) -> None:
    rows, jobs = look_up_charts(project, [CHART], now=NOON)
    assert rows["times"].drawn_at is None
    assert look_up_charts(project, [CHART], now=NOON)[1] == [], "its job waits already"
    assert run_now(jobs[0], now=NOON).state == JobState.DONE
    drawn, jobs = look_up_charts(project, [CHART], now=NOON)
    assert "0 to 2 s: 3" in drawn["times"].svg
    assert jobs == []
    report = Report("Any", [Card("times", "cost", "How long?", "Not long.", [], CHART)])
    assert stored_drawings(project, report)["times"].pdf.startswith(b"%PDF")
    assert stored_drawings(make_project("other"), report) == {}


def test_a_chart_that_cannot_be_drawn_is_not_tried_again(project: Project) -> None:
    _, (job,) = look_up_charts(project, [CHART], now=NOON)
    StoredChart.objects.update(values={"name": "times"})
    assert run_now(job, now=NOON).state == JobState.FAILED
    assert look_up_charts(project, [CHART], now=NOON)[1] == []


def test_charts_that_no_page_shows_any_more_are_deleted(project: Project) -> None:
    look_up_charts(project, [CHART], now=NOON)
    later = NOON + KEPT
    look_up_charts(project, [CHART], now=later)
    assert StoredChart.objects.get().asked_at == later
    _, (job,) = look_up_charts(project, [replace(CHART, title="New")], now=later + KEPT + timedelta(seconds=1))
    run_now(job, now=later + KEPT + timedelta(seconds=1))
    assert [row.values["title"] for row in StoredChart.objects.all()] == ["New"]
    assert Job.objects.count() == 2
