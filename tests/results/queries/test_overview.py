"""Numbers of the overview of a project, each computed by hand."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.actions.removing.retire_questions import put_back, take_out
from annotation.models import Response, Seat, Session, SessionState
from results.queries.studies.overview import (
    Spending,
    StudySpending,
    Totals,
    accepted_pictures,
    answers_by_day,
    count_totals,
    project_spending,
    study_lines,
)
from results.queries.studies.progress import Answers
from studies.actions.studies import change_state
from studies.models import Project, Study, StudyState
from tests.factories import NOON, TESTS, answer, make_project, questions, sit_down
from tests.removing import exclude, reopen
from tests.results.pipelines import STEP_3, STEP_4, by_key, open_study, project_of, sit_through

PER_SESSION = {"pay": {"currency": "USD", "per_session": "2.00"}, "surveys": {"size": 2}}
PER_ANSWER = {"study": "other", "pay": {"currency": "EUR", "per_answer": "0.10"}, "surveys": {"size": 4}}


@pytest.fixture
def project(researcher: User) -> Project:
    return project_of(researcher)


def test_spending_is_what_is_due_and_what_open_places_will_cost(project: Project) -> None:
    """Two places at 2.00, one of them finished; four answers at 0.10 to come, one of them given; a third as fee."""
    by_session = open_study(project, STEP_3 | PER_SESSION)
    sit_through(by_session, "ann", "none")
    by_answer = open_study(project, STEP_3 | PER_ANSWER)
    sit_through(by_answer, "ben", by_key(vase_0="none"))
    euro = Spending("EUR", [StudySpending("other", Decimal("0.10"), Decimal("0.30"), Decimal("0.13"), Decimal("0.03"))])
    dollars = Spending(
        "USD", [StudySpending("step-3", Decimal("2.00"), Decimal("2.00"), Decimal("1.33"), Decimal("0.67"))]
    )
    assert project_spending(project) == [euro, dollars]
    change_state(study=by_session, to=StudyState.CLOSED, by=TESTS, now=NOON)
    closed = Spending("USD", [StudySpending("step-3", Decimal("2.00"), Decimal(0), Decimal("0.67"), Decimal("0.67"))])
    assert project_spending(project) == [euro, closed]


def test_a_place_that_was_filled_for_less_costs_nothing_more(project: Project) -> None:
    """One of two places of two questions; ann lost one of them, and is paid half of 2.00."""
    pay = {"pay": {"currency": "USD", "per_session": "2.00", "least_answers": 2}, "surveys": {"size": 2}}
    said = iter(["none", ""])
    session = sit_through(open_study(project, STEP_3 | pay), "ann", lambda question: next(said))
    Session.objects.filter(pk=session.pk).update(state=SessionState.FINISHED, ended_at=NOON)
    Seat.objects.filter(session=session).update(filled_at=NOON)
    ((spending,),) = [each.studies for each in project_spending(project)]
    assert (spending.owed, spending.to_come) == (Decimal("1.00"), Decimal("2.00"))


def test_a_place_of_somebody_excluded_costs_nothing_more_until_others_are_asked(project: Project) -> None:
    """Four answers at 0.10, two of them given by ben, who is paid and no longer counts: two are still to come."""
    study = open_study(project, STEP_3 | PER_ANSWER | {"surveys": {"size": 2}})
    sit_through(study, "ben", "none")
    exclude(project, "ben")
    ((line,),) = [study_lines(project, now=NOON)]
    assert line.answers == Answers(0, 4, to_come=2, without_place=2)
    ((spending,),) = [each.studies for each in project_spending(project)]
    assert (spending.owed, spending.to_come) == (Decimal("0.20"), Decimal("0.20"))
    # Nobody is asked a question that was taken out, so that it needs no place.
    question = Response.objects.order_by("pk")[0].question
    take_out(question=question, reason="Broken.", by=TESTS, now=NOON)
    assert study_lines(project, now=NOON)[0].answers == Answers(0, 3, to_come=2, without_place=1)
    put_back(question=question, by=TESTS, now=NOON)
    reopen(project, "ben")
    assert study_lines(project, now=NOON)[0].answers == Answers(0, 4, to_come=4)
    assert project_spending(project)[0].to_come == Decimal("0.40")


def test_the_fee_of_prolific_is_estimated_for_what_is_spent_and_to_come(project: Project, settings: Any) -> None:
    """Two places at 2.00, and one without Prolific: a third of 4.00, to the cent."""
    settings.PLATFORM_FEE_PERCENT = Decimal("33.33")
    sit_through(open_study(project, STEP_3 | PER_SESSION), "ann", "none")
    by_link = {"study": "links", "kind": "best_of_n", "surveys": {"size": 4}, "recruitment": {"prolific": False}}
    open_study(project, PER_SESSION | by_link)
    (dollars,) = project_spending(project)
    assert [(each.study, each.fee) for each in dollars.studies] == [("links", 0), ("step-3", Decimal("1.33"))]
    assert (dollars.owed, dollars.to_come) == (Decimal("2.00"), Decimal("4.00"))
    # Of the fee, 0.67 are on what is owed.
    assert (dollars.owed_with_fee, dollars.to_come_with_fee) == (Decimal("2.67"), Decimal("4.66"))
    assert dollars.total == Decimal("7.33")


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
    assert Totals.read(totals.dump()) == totals


def test_the_image_that_people_accepted_comes_first_in_its_role(project: Project) -> None:
    """Step 3 chooses the third candidate of vase-0, and step 4 confirms it."""
    sit_through(open_study(project, STEP_3), "ann", by_key(vase_0="candidate-2"))
    step_4 = open_study(project, STEP_4)
    sit_through(step_4, "ben", "original")
    vase = project.instances.get(key="vase-0")
    candidates = [use.image_id for use in vase.images.filter(role="candidate").order_by("position")]
    [(found, images)] = accepted_pictures([vase.pk], [step_4])
    assert found == vase
    assert [(each.role, each.image) for each in images[:1]] == [("negative_image", candidates[2])]
    # The others once each, the original first.
    assert [each.role for each in images[1:]] == ["image", "candidate", "candidate", "candidate"]
    assert candidates[2] not in [each.image for each in images[1:]]
