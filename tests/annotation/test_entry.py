"""The door: what each link leads to."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, EntryEvent, Session, SessionState
from results.tables.progress import odd_arrivals
from studies.models import CompletionCode, Study, StudyState
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, arrive_at_work, create_draft, launch_study

pytestmark = pytest.mark.django_db

PROLIFIC = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "6a" * 12, "SESSION_ID": "7b" * 12}


def door(study: Study) -> str:
    return reverse("take", args=[study.slug])


def test_prolific_leads_to_a_clean_address(client: Client) -> None:
    response = client.get(door(launch_study()), PROLIFIC)
    session = Session.objects.get()
    assert response.status_code == 303
    assert response["Location"] == f"/s/{session.token}/"
    assert "no-store" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "same-origin"
    assert (session.provider, session.provider_session_id) == ("prolific", PROLIFIC["SESSION_ID"])


@pytest.mark.parametrize("absent", list(PROLIFIC))
@pytest.mark.parametrize("how", ["absent", "empty"])
def test_a_link_without_an_id_asks_to_come_from_prolific(client: Client, absent: str, how: str) -> None:
    query = {name: value for name, value in PROLIFIC.items() if name != absent}
    response = client.get(door(launch_study()), query | ({absent: " "} if how == "empty" else {}))
    assert response.status_code == 400
    assert "Please open this study from Prolific." in response.content.decode()
    assert Session.objects.count() == 0
    assert EntryEvent.objects.get().what == EntryEvent.What.MISSING


@pytest.mark.parametrize(
    "value", ["{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "undefined", "null", "x" * 201]
)
def test_an_unfilled_link_says_so(client: Client, value: str) -> None:
    response = client.get(door(launch_study()), PROLIFIC | {"PROLIFIC_PID": value})
    assert response.status_code == 400
    assert "not filled in by Prolific" in response.content.decode()
    assert Session.objects.count() == 0


def test_another_persons_id_gets_a_409_and_an_event(client: Client) -> None:
    study = launch_study()
    client.get(door(study), PROLIFIC)
    response = client.get(door(study), PROLIFIC | {"PROLIFIC_PID": "ff" * 12})
    assert response.status_code == 409
    assert EntryEvent.objects.get().what == EntryEvent.What.OTHER_PERSON
    assert Session.objects.count() == 1


def test_a_full_study_has_a_kind_page_without_a_code(client: Client) -> None:
    study = launch_study(instances=1)
    client.get(door(study), PROLIFIC)
    response = client.get(door(study), PROLIFIC | {"PROLIFIC_PID": "ff" * 12, "SESSION_ID": "ee" * 12})
    page = response.content.decode()
    assert response.status_code == 200
    assert "All places of this study are taken" in page
    assert not any(code in page for code in CompletionCode.objects.values_list("code", flat=True))


def test_a_draft_has_not_started(client: Client) -> None:
    response = client.get(door(create_draft()), PROLIFIC)
    assert response.status_code == 403
    assert "has not started yet" in response.content.decode()


def test_a_link_from_an_unlisted_study_is_refused_where_the_file_says_so(client: Client) -> None:
    study = launch_study(recruitment={"prolific_study_ids": ["a" * 24], "other_studies": "refuse"})
    assert client.get(door(study), PROLIFIC).status_code == 403
    assert EntryEvent.objects.get().what == EntryEvent.What.OTHER_STUDY


def test_prolific_is_not_let_in_where_the_study_does_not_recruit_there(client: Client) -> None:
    assert client.get(door(launch_study(recruitment={"prolific": False})), PROLIFIC).status_code == 403


def test_an_unknown_study_is_not_found(client: Client) -> None:
    assert client.get("/take/nothing-here/", PROLIFIC).status_code == 404


def test_looking_at_an_invitation_takes_no_seat(client: Client) -> None:
    study = launch_study()
    response = client.get(door(study), {"invite": study.invite_token})
    assert response.status_code == 200
    assert Session.objects.count() == 0


def test_an_invitation_starts_one_session_per_browser(client: Client) -> None:
    study = launch_study(answers=3)
    link = f"{door(study)}?invite={study.invite_token}"
    first = client.post(link)["Location"]
    assert client.post(link)["Location"] == first
    assert client.get(link)["Location"] == first
    assert Client().post(link)["Location"] != first
    assert Session.objects.count() == 2


def test_start_pressed_twice_takes_one_seat(client: Client) -> None:
    study = launch_study(answers=3)
    link = f"{door(study)}?invite={study.invite_token}"
    page = BeautifulSoup(client.get(link).content, "html.parser")
    visit = page.select_one("input[name=visit]")
    assert visit is not None
    # The browser has followed neither answer yet, so it sends no cookie.
    first, second = (Client().post(link, {"visit": visit["value"]}) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Session.objects.count() == 1


@pytest.mark.parametrize("visit", ["", "name:ann", "x" * 5000, "\0", "ab" * 11])
def test_a_visit_that_no_page_gave_is_a_new_person(client: Client, visit: str) -> None:
    study = launch_study(answers=3)
    link = f"{door(study)}?invite={study.invite_token}"
    client.post(f"{link}&who=ann")
    assert Client().post(link, {"visit": visit}).status_code == 303
    assert Session.objects.count() == 2


def test_a_named_invitation_is_the_same_session_in_any_browser(client: Client) -> None:
    study = launch_study(answers=3)
    link = f"{door(study)}?invite={study.invite_token}&who=ann"
    assert client.post(link)["Location"] == Client().post(link)["Location"]


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_wrong_invitation_is_refused(client: Client, token: str) -> None:
    assert client.post(f"{door(launch_study())}?invite={token}").status_code == 400
    assert Session.objects.count() == 0


def test_a_finished_session_comes_back_to_its_last_page(client: Client) -> None:
    study = launch_study()
    client.get(door(study), PROLIFIC)
    Session.objects.update(state=SessionState.FINISHED, ended_at="2026-11-20T12:00Z")
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    for _ in range(2):
        page = client.get(door(study), PROLIFIC, follow=True).content.decode()
        assert f"https://app.prolific.com/submissions/complete?cc={code}" in page


def invitation(study: Study, *, who: str = "") -> str:
    return f"{door(study)}?invite={study.invite_token}" + (f"&who={who}" if who else "")


@pytest.mark.parametrize(
    ("state", "sentences"),
    [
        (StudyState.DRAFT, ["This study has not started yet.", "Try the same link again later."]),
        (StudyState.PAUSED, ["This study is paused at the moment.", "Try the same link again later."]),
        (StudyState.CLOSED, ["This study has ended.", "this page can be closed"]),
    ],
)
@pytest.mark.parametrize("who", ["", "ann"])
def test_an_invitation_to_a_study_that_is_not_open_says_so_at_once(
    client: Client, state: StudyState, sentences: list[str], who: str
) -> None:
    study = create_draft() if state == StudyState.DRAFT else launch_study()
    Study.objects.update(state=state, closed_at=NOON if state == StudyState.CLOSED else None)
    study.refresh_from_db()
    response = client.get(invitation(study, who=who))
    page = response.content.decode()
    assert response.status_code == 403
    assert all(sentence in page for sentence in sentences)
    assert "<button" not in page
    assert "platform" not in page


def test_an_invitation_to_a_full_study_says_so_at_once(client: Client) -> None:
    study = launch_study(instances=1)
    assert b"<button" in client.get(invitation(study)).content
    Client().post(invitation(study))
    for who in ("", "ann"):
        page = client.get(invitation(study, who=who)).content.decode()
        assert "All places of this study are taken" in page
        assert "try the same link again later" in page
        assert "<button" not in page
        assert "platform" not in page
    assert Session.objects.count() == 1


def test_a_look_at_an_invitation_says_what_is_free_for_the_one_invited(client: Client) -> None:
    study = launch_study(instances=1, answers=2)
    client.post(invitation(study, who="ann"))
    Study.objects.update(state=StudyState.PAUSED)
    assert b"<button" in client.get(invitation(study, who="ann")).content
    assert b"<button" not in client.get(invitation(study, who="ben")).content
    Study.objects.update(state=StudyState.OPEN)
    Annotator.objects.create(provider="invite", provider_id="name:eve", blocked=True)
    blocked = client.get(invitation(study, who="eve"))
    assert blocked.status_code == 403
    assert "You cannot take part in this study." in blocked.content.decode()


def test_an_invitation_to_a_live_study_shows_start_as_soon_as_something_can_be_drawn(client: Client) -> None:
    study = launch_study(instances=1, answers=2, max_answers=3, rule="majority-v1")
    for person, choice, opens in (("ann", "none", True), ("ben", "candidate-1", True), ("eve", "none", False)):
        answer_all(arrive_at_work(study, person), choice)
        assert (b"<button" in client.get(invitation(study)).content) is opens


def test_a_link_opened_a_thousand_times_is_one_row(client: Client) -> None:
    study = launch_study()
    for _ in range(20):
        client.get(door(study), {"PROLIFIC_PID": "ann"})
        client.get(door(study))
    assert sorted(EntryEvent.objects.values_list("times", flat=True)) == [20, 20]


@pytest.mark.parametrize("person", ["{{%PROLIFIC_PID%}}", "%7B%7BPROLIFIC_PID", "undefined", "x" * 300])
def test_a_placeholder_is_nobody(client: Client, person: str) -> None:
    study = launch_study()
    for session in ("{{%SESSION_ID%}}", ""):
        client.get(door(study), {"PROLIFIC_PID": person, "STUDY_ID": "study", "SESSION_ID": session})
    assert {what: (odd.times, odd.people) for what, odd in odd_arrivals(study).items()} == {
        EntryEvent.What.UNFILLED: (1, 0),
        EntryEvent.What.MISSING: (1, 0),
    }


def test_the_researcher_sees_that_invited_people_came_when_nothing_was_left(client: Client) -> None:
    study = launch_study(instances=1)
    Client().post(invitation(study))
    for who in ("", "", "ann", "ann", "ben"):
        client.get(invitation(study, who=who))
    odd = odd_arrivals(study)[EntryEvent.What.NO_SEAT]
    assert (odd.times, odd.people) == (5, 2)
