"""What is found to be wrong with a study, and told once."""

from datetime import timedelta

import pytest

from annotation.models import SessionState
from studies.models import Event, Study, StudyState
from tests.factories import NOON, make_instance, make_launched, make_project, make_study, sit_down
from workspace.actions.alarms import record_underpaid

pytestmark = pytest.mark.django_db


def study_that_took(minutes: int) -> Study:
    """Return an open study that pays USD 8.00, of which one sitting took so long."""
    project = make_project()
    make_instance(project, "vase-1")
    study = make_launched(make_study(project), seats=2)
    sit_down(study, "ann", state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=minutes))
    return study


def noted() -> list[str]:
    record_underpaid(by="timetable", now=NOON)
    return list(Event.objects.filter(what="study underpaid").values_list("study_name", flat=True))


@pytest.mark.parametrize(("minutes", "times"), [(60, 0), (61, 1)])
def test_pay_under_the_least_is_an_alarm_once(minutes: int, times: int) -> None:
    # USD 8.00 for an hour is the least, for a minute more it is 8 * 60 / 61 = 7.87 an hour.
    study_that_took(minutes)
    for _ in range(2):
        assert noted() == ["birds-step-3"] * times
    if times:
        assert Event.objects.get(what="study underpaid").details == {
            "currency": "USD",
            "median": "7.87",
            "least": "8.00",
        }


def test_a_study_that_is_over_alarms_nobody() -> None:
    study_that_took(61)
    Study.objects.update(state=StudyState.CLOSED, closed_at=NOON)
    assert noted() == []


def test_nor_does_one_in_which_nobody_was_paid_yet() -> None:
    Study.objects.filter(pk=study_that_took(61).pk).get().sessions.update(state=SessionState.WORKING, ended_at=None)
    assert noted() == []
