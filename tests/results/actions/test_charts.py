from dataclasses import replace
from datetime import timedelta

import pytest

from background.models import Job, JobState
from results.actions.charts import KEPT, REDRAWN_AT_MOST_EVERY, look_up_charts, look_up_live_charts, stored_drawings
from results.models import StoredChart
from results.reports.base import Card, Chart, Point, Report, Series
from studies.models import Project
from tests.factories import NOON, make_project, make_study
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


def test_a_live_chart_is_drawn_again_after_five_minutes_and_the_old_one_shown_until_then(project: Project) -> None:
    study, changed = make_study(project), replace(CHART, title="Changed")
    _, (job,) = look_up_live_charts(study, [CHART], now=NOON)
    run_now(job, now=NOON)
    soon, later = NOON + REDRAWN_AT_MOST_EVERY - timedelta(seconds=1), NOON + REDRAWN_AT_MOST_EVERY
    found, jobs = look_up_live_charts(study, [changed], now=soon)
    assert (found["times"].values["title"], found["times"].is_old, jobs) == ("Times", True, [])
    found, (job,) = look_up_live_charts(study, [changed], now=later)
    assert found["times"].values["title"] == "Times"
    assert look_up_live_charts(study, [replace(CHART, title="Once more")], now=later)[1] == [], "a job waits already"
    run_now(job, now=later)
    found, jobs = look_up_live_charts(study, [changed], now=later)
    assert (found["times"].values["title"], found["times"].is_old, jobs) == ("Changed", False, [])
    assert StoredChart.objects.count() == 1, "the older drawing is gone"


def test_a_live_chart_that_stays_the_same_is_drawn_once(project: Project) -> None:
    study = make_study(project)
    _, (job,) = look_up_live_charts(study, [CHART], now=NOON)
    run_now(job, now=NOON)
    found, jobs = look_up_live_charts(study, [CHART], now=NOON + timedelta(days=1))
    assert (found["times"].is_old, jobs) == (False, [])
