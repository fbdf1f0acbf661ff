"""Giving back the seat of a submission that ended on the platform."""

import pytest
from django.test import Client

from annotation.actions.responses import open_slots
from annotation.models import Response, Seat, SessionState
from tests.annotation.test_responses import send
from tests.factories import arrive, arrive_at_work, launch_study, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(make_person("owner", superuser=True))
    return client


def test_a_returned_submission_frees_its_seat_and_keeps_its_answers(owner: Client) -> None:
    study = launch_study(instances=3)
    session = arrive_at_work(study, "ann", session="65f00000000000000000bb01")
    send(session, open_slots(session=session, limit=1)[0])
    page = owner.post("/studies/vases/best-vase/returned/", {"submission": " 65f00000000000000000bb01 "}, follow=True)
    session.refresh_from_db()
    assert session.state == SessionState.RETURNED
    assert Seat.objects.get(study=study).session is None
    assert Response.objects.count() == 1
    assert "stays: 1 answer." in page.content.decode()
    assert "65f00000000000000000bb01" not in page.content.decode()
    assert arrive(study, "ben").questions_total == 2


@pytest.mark.parametrize("typed", ["", "unknown", "65f0\0"])
def test_an_id_that_no_open_session_has_changes_nothing_and_says_so(owner: Client, typed: str) -> None:
    session = arrive(launch_study(), session="known")
    page = owner.post("/studies/vases/best-vase/returned/", {"submission": typed}, follow=True)
    session.refresh_from_db()
    assert session.state == SessionState.INSTRUCTIONS
    assert "No open session of this study has that submission id." in page.content.decode()


def test_texts_with_a_zero_character_are_no_error(owner: Client) -> None:
    launch_study()
    assert owner.get("/projects/vases/instances/%00/").status_code == 404
