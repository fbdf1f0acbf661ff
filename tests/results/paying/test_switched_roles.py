"""People who arrive through one study of a lobby and take part in the other: both studies say where they are paid."""

from decimal import Decimal
from typing import NamedTuple

import pytest
from django.test import Client

from annotation.actions.arriving.switch_role import switch
from annotation.actions.paying.order_payments import order_rewards
from annotation.models import Session, SessionState
from results.queries.paying.review import review_of, reviewed_sessions
from results.queries.paying.study_money import study_money
from studies.models import Study
from tests.annotation.test_lobby import LOBBY, make_live, wait
from tests.annotation.test_rejection_rules import MESSAGE
from tests.factories import NOON, TESTS, make_member, make_prolific_study, make_submission, sit_down
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
PAY = {"currency": "USD", "per_session": "4.00", "least_answers": 1}
BEN = "60bf9310e8dec401be6e9616"


class Switched(NamedTuple):
    """Ben came through `came` and finished `took` instead."""

    took: Study
    came: Study
    left: Session
    worked: Session


@pytest.fixture
def switched() -> Switched:
    took, came = make_live(lobby=LOBBY | {"either_role": True}, pay=PAY)
    took.design = took.design.model_copy(update={"pay": came.design.pay})
    took.save()
    left = wait(came, BEN)
    worked = switch(session=left, now=NOON)
    Session.objects.filter(pk=worked.pk).update(state=SessionState.FINISHED, ended_at=NOON)
    make_submission(make_prolific_study(came), left, left.provider_session_id)
    left.refresh_from_db()
    return Switched(took, came, left, worked)


@pytest.fixture
def owner(switched: Switched) -> Client:
    return signed_in(make_member(switched.took.project, "owner", name="olga"))


def test_the_study_that_they_came_through_says_where_they_worked(switched: Switched, owner: Client) -> None:
    [line] = reviewed_sessions(switched.came)
    assert (line.is_finished, line.marks, line.session) == (True, ["Took part in best-vase instead"], switched.worked)
    # Nobody approves them unseen.
    assert review_of(switched.came).marked == [line]
    page = owner.get("/studies/vases/step-4/review/")
    assert 'Finished in <a href="/studies/vases/best-vase/">best-vase</a>' in words_of(page)
    page = owner.get(f"/studies/vases/step-4/review/{switched.left.pk}/")
    assert "?study=best-vase#answers" in page.content.decode()


def test_nobody_is_too_quick_by_the_times_of_a_study_in_which_they_did_not_work(
    switched: Switched, owner: Client
) -> None:
    for number in range(10):
        sit_down(switched.came, f"person-{number}", state=SessionState.FINISHED)
    page = owner.post(
        f"/studies/vases/step-4/review/{switched.left.pk}/reject/", {"category": "TOO_QUICKLY", "message": MESSAGE}
    )
    assert "Speed is a reason only after 10 sessions have finished." in words_of(page)


@pytest.mark.parametrize("page", ["review", "owed"])
def test_the_study_that_they_worked_for_leads_to_where_they_are_paid(
    switched: Switched, owner: Client, page: str
) -> None:
    shown = owner.get(f"/studies/vases/best-vase/{page}/").content.decode()
    assert "Reviewed and paid in step-4" in shown
    assert f'href="/studies/vases/step-4/review/{switched.left.pk}/"' in shown
    assert "Reviewed and paid in" not in owner.get(f"/studies/vases/step-4/{page}/").content.decode()


def test_what_was_ordered_there_is_no_longer_owed_here(switched: Switched) -> None:
    assert (study_money(switched.took).still_owed, study_money(switched.came).still_owed) == (Decimal(4), Decimal(0))
    order_rewards(study=switched.came, sessions=[switched.left.pk], chosen=True, by=TESTS, now=NOON)
    assert study_money(switched.took).still_owed == Decimal(0)


def test_who_was_rejected_there_is_owed_nothing_here(switched: Switched) -> None:
    switched.left.submission.status = "REJECTED"
    switched.left.submission.save()
    assert study_money(switched.took).still_owed == Decimal(0)
