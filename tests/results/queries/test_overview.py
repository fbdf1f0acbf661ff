"""Numbers of the overview of a project, each computed by hand."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from annotation.models import Response
from results.queries.studies.overview import Spending, Totals, answers_by_day, count_totals, project_spending
from studies.actions.studies import change_state
from studies.models import Project, Study, StudyState
from tests.factories import NOON, TESTS, answer, make_project, questions, sit_down
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through

PER_SESSION = {"pay": {"currency": "USD", "per_session": "2.00"}, "surveys": {"size": 2}}
PER_ANSWER = {"study": "other", "pay": {"currency": "EUR", "per_answer": "0.10"}, "surveys": {"size": 4}}


@pytest.fixture
def project(researcher: User) -> Project:
    return project_of(researcher)


def test_spending_is_what_is_due_and_what_open_places_will_cost(project: Project) -> None:
    """Two places at 2.00, one of them finished; four answers at 0.10 to come, one of them given."""
    by_session = open_study(project, STEP_3 | PER_SESSION)
    sit_through(by_session, "ann", "none")
    by_answer = open_study(project, STEP_3 | PER_ANSWER)
    sit_through(by_answer, "ben", by_key(vase_0="none"))
    euro = Spending("EUR", Decimal("0.10"), Decimal("0.30"))
    assert project_spending(project) == [euro, Spending("USD", Decimal("2.00"), Decimal("2.00"))]
    change_state(study=by_session, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert project_spending(project) == [euro, Spending("USD", Decimal("2.00"), Decimal(0))]


def test_nothing_is_spent_where_nobody_is_paid(project: Project) -> None:
    open_study(project, STEP_3 | {"pay": {"currency": "USD", "per_session": "0"}})
    assert project_spending(project) == []


def test_answers_are_counted_by_the_day_on_which_they_came(study: Study) -> None:
    session = sit_down(study, "one")
    for question in questions(study)[:3]:
        answer(session, question, "none")
    first, second, third = Response.objects.order_by("pk")
    Response.objects.filter(pk=first.pk).update(received_at=NOON - timedelta(days=13))
    Response.objects.filter(pk=second.pk).update(received_at=NOON - timedelta(days=14))
    Response.objects.filter(pk=third.pk).update(received_at=NOON)
    days = answers_by_day(study.project, today=date(2026, 11, 20))
    assert len(days) == 14
    assert {day: n for day, n in days if n} == {date(2026, 11, 7): 1, date(2026, 11, 20): 1}
    assert answers_by_day(make_project("empty"), today=date(2026, 11, 20))[-1] == (date(2026, 11, 20), 0)


def test_totals_are_stored_and_read_without_loss(project: Project) -> None:
    study = open_study(project, STEP_3 | PER_ANSWER)
    sit_through(study, "ann", by_key(vase_0="candidate-1", vase_1="none"))
    totals = count_totals(project, now=NOON)
    assert (totals.dataset, totals.days[-1]) == (1, (date(2026, 11, 20), 2))
    assert Totals.read(totals.stored()) == totals
