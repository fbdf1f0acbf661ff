"""Giving back the seat of a submission that ended on the platform."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from annotation.actions.answering.responses import open_slots
from annotation.models import Identity, ProlificStudy, Response, Seat, Session, SessionState, Submission
from results.models import Pseudonym
from studies.models import Event
from tests.annotation.test_responses import send
from tests.factories import NOON, arrive, arrive_at_work, launch_study, make_person, make_project, redesign
from tests.pages import words_of

pytestmark = pytest.mark.django_db
STUDY = "/studies/vases/best-vase/"


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
    assert "1 answer kept." in page.content.decode()
    assert "65f00000000000000000bb01" not in page.content.decode()
    assert arrive(study, "ben").questions_total == 2


def test_only_a_study_with_prolific_asks_for_ids_of_submissions(owner: Client) -> None:
    study = launch_study(instances=3)
    arrive(study, "ann")
    said = "Release the place of a returned submission"
    assert said in words_of(owner.get("/studies/vases/best-vase/"))
    redesign(study, recruitment=study.design.recruitment.model_copy(update={"prolific": False}))
    assert said not in words_of(owner.get("/studies/vases/best-vase/"))


@pytest.mark.both
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


def test_who_asked_for_more_time_is_said_on_their_row(owner: Client) -> None:
    session = arrive_at_work(launch_study(answers=2), "ann")
    arrive(session.study, "ben")
    Session.objects.filter(pk=session.pk).update(more_time_at=datetime(2026, 3, 1, 14, 5, tzinfo=UTC))
    assert words_of(owner.get("/studies/vases/best-vase/")).count("requested more time at 14:05") == 1


def free(session: Session) -> str:
    return f"/studies/vases/best-vase/sessions/{session.pk}/free/"


def test_every_open_session_has_a_button_on_its_row_that_frees_its_seat(owner: Client) -> None:
    study = launch_study(instances=3)
    session = arrive_at_work(study, "65f00000000000000000aa01", session="65f00000000000000000bb01")
    send(session, open_slots(session=session, limit=1)[0])
    assert f'href="{free(session)}"' in words_of(owner.get("/studies/vases/best-vase/"))
    asked = words_of(owner.get(free(session)))
    name = Pseudonym.objects.get().name
    assert f"Release the place of {name}?" in asked
    assert f"{name} has answered 1 of 3 questions" in asked
    assert "Their answers are kept and count." in asked
    assert "65f00000000000000000" not in asked
    session.refresh_from_db()
    assert session.state == SessionState.WORKING
    told = words_of(owner.post(free(session), follow=True))
    session.refresh_from_db()
    assert session.state == SessionState.RETURNED
    assert Seat.objects.get(study=study).session is None
    assert "Place released. 1 answer kept." in told
    assert f'href="{free(session)}"' not in told
    event = Event.objects.get(what="seat freed")
    assert (event.by_name, event.details) == ("owner", {"session": session.pk, "answers": 1})


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_seat_of_a_session_that_has_ended_is_not_freed_again(owner: Client, method: str) -> None:
    session = arrive(launch_study())
    owner.post(free(session))
    before = Session.objects.values().get()
    page = words_of(getattr(owner, method)(free(session), follow=True))
    assert "This session has already ended (returned on the platform) and holds no place. Nothing changed." in page
    assert Session.objects.values().get() == before
    assert Event.objects.filter(what="seat freed").count() == 1


def test_a_session_of_another_study_is_not_found(owner: Client) -> None:
    project = make_project()
    session = arrive(launch_study(project))
    launch_study(project, study="other")
    assert owner.post(f"/studies/vases/other/sessions/{session.pk}/free/").status_code == 404
    session.refresh_from_db()
    assert session.state == SessionState.INSTRUCTIONS


def test_a_stranger_frees_no_seat(client: Client) -> None:
    session = arrive(launch_study())
    client.force_login(make_person("stranger"))
    for response in (client.get(free(session)), client.post(free(session))):
        assert response.status_code == 404
    session.refresh_from_db()
    assert session.state == SessionState.INSTRUCTIONS


def test_freeing_a_seat_needs_the_token_of_our_own_form() -> None:
    session = arrive(launch_study())
    member = Client(enforce_csrf_checks=True)
    member.force_login(make_person("root", superuser=True))
    assert member.post(free(session)).status_code == 403


@pytest.fixture
def on_prolific() -> ProlificStudy:
    """A study on Prolific, and Ann's submission, which waits for review though her session goes on."""
    study = launch_study()
    row = ProlificStudy.objects.create(
        study=study, internal_name="vases-1", places=3, reward="4.00", currency="USD", created_at=NOON
    )
    fields = {"prolific_study": row, "status": "AWAITING REVIEW", "flag": "no_data", "read_at": NOON}
    Submission.objects.create(**fields, session=arrive(study, "ann"), id_digest="a digest")
    return row


def test_what_prolific_says_of_a_session_stands_beside_it_in_words(owner: Client, on_prolific: ProlificStudy) -> None:
    Session.objects.update(identity=Identity.UNVERIFIED)
    page = words_of(owner.get(STUDY))
    assert "Prolific: Awaiting review" in page
    assert "Completed on Prolific, not here" in page
    assert "Not verified by Prolific yet" in page
    assert "1 session does not match its submission on Prolific." in page
    assert "never came here" not in page


def test_sessions_that_do_not_fit_are_listed_alone(owner: Client, on_prolific: ProlificStudy) -> None:
    arrive(launch_study(study="another"), "ben")
    assert "1 session " in words_of(owner.get(f"{STUDY}?state=unfit"))
    Submission.objects.update(flag="")
    page = words_of(owner.get(f"{STUDY}?state=unfit"))
    assert "No session matches." in page
    assert "what Prolific says" not in page
    Session.objects.update(identity=Identity.MISMATCH)
    assert "Somebody else&#x27;s submission" in words_of(owner.get(f"{STUDY}?state=unfit"))


def test_submissions_of_people_who_never_came_are_counted(owner: Client, on_prolific: ProlificStudy) -> None:
    Submission.objects.update(session=None)
    page = words_of(owner.get(STUDY))
    assert "1 submission was completed on Prolific by people who never came here." in page
