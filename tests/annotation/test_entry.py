"""The door: what each link leads to."""

import hmac
from datetime import timedelta
from hashlib import sha256
from html import unescape
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.actions.answering import advance_session
from annotation.actions.arriving.entry_links import personal_link
from annotation.models import Annotator, EntryEvent, ProlificStudy, Seat, Session, SessionState
from annotation.recruitment.prolific import entry as prolific
from results.queries.studies.progress import suspicious_arrivals
from studies.design import Design
from studies.models import CompletionCode, Study, StudyState
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive, arrive_at_work, create_draft, fresh, launch_study, make_project
from tests.people import make_annotator

pytestmark = pytest.mark.django_db

PROLIFIC = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "6a" * 12, "SESSION_ID": "7b" * 12}


def door(study: Study) -> str:
    return reverse("take", args=[study.entry_name])


def link_of(study: Study, **ids: str) -> str:
    """Return the link with which Prolific sends somebody."""
    return f"{door(study)}?{urlencode(PROLIFIC | ids)}"


def test_start_leads_to_a_clean_address(client: Client) -> None:
    response = client.post(link_of(launch_study()))
    session = Session.objects.get()
    assert response.status_code == 303
    assert response["Location"] == f"/s/{session.token}/"
    assert "no-store" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "same-origin"
    assert (session.provider, session.provider_session_id) == ("prolific", PROLIFIC["SESSION_ID"])


PLACEHOLDERS = [
    *("{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "%PROLIFIC_PID%", "{PROLIFIC_PID}", "${PROLIFIC_PID}"),
    *("${..}", "PROLIFIC_PID", "prolific_pid", "SESSION_ID", "<PROLIFIC_PID>", "[ID]", "$PROLIFIC_PID"),
    *("undefined", "null", "None"),
]
NO_IDS = ["ann", "5f" * 11, "5f" * 13, "5g" * 12, "5f" * 12 + "/x", "5f" * 11 + "\u0663\u0663"]


@pytest.mark.parametrize(
    ("values", "any_ids", "names", "error"),
    [
        (["", " "], True, list(PROLIFIC), prolific.MissingIds),
        (PLACEHOLDERS, True, list(PROLIFIC), prolific.UnfilledIds),
        (NO_IDS, False, ["PROLIFIC_PID", "SESSION_ID"], prolific.NotIds),
    ],
)
def test_a_link_needs_three_ids(values: list[str], any_ids: bool, names: list[str], error: type[Exception]) -> None:
    for name, value in product(names, values):
        with pytest.raises(error):
            prolific.read_entry(PROLIFIC | {name: value}, any_ids=any_ids)


def test_a_placeholder_is_nobody() -> None:
    assert {prolific.read_person({"PROLIFIC_PID": value}) for value in PLACEHOLDERS} == {""}


@pytest.mark.both
@pytest.mark.parametrize(
    ("wrong", "sentence", "what"),
    [
        ({"STUDY_ID": " "}, "Please open this study from Prolific.", EntryEvent.What.MISSING),
        ({"PROLIFIC_PID": PLACEHOLDERS[0]}, "Prolific did not fill in the study link", EntryEvent.What.UNFILLED),
        ({"SESSION_ID": NO_IDS[-1]}, "The IDs in this link are not from Prolific.", EntryEvent.What.NOT_AN_ID),
    ],
)
def test_a_link_without_its_ids_is_refused_and_noted(
    client: Client, wrong: dict[str, str], sentence: str, what: EntryEvent.What
) -> None:
    study = launch_study(recruitment={"any_ids": False})
    for ask in (client.get, client.post):
        response = ask(link_of(study, **wrong))
        assert (response.status_code, sentence in unescape(response.content.decode())) == (400, True)
    assert Session.objects.count() == Annotator.objects.count() == 0
    odd = EntryEvent.objects.get()
    assert (odd.what, odd.times, bool(odd.who)) == (what, 2, "PROLIFIC_PID" not in wrong)


def test_a_full_study_has_a_kind_page_without_a_code(client: Client) -> None:
    study = launch_study(instances=1)
    client.post(link_of(study))
    late = link_of(study, PROLIFIC_PID="ff" * 12, SESSION_ID="ee" * 12)
    for response in (client.get(late), client.post(late)):
        page = response.content.decode()
        assert response.status_code == 200
        assert "All places of this study are taken" in page
        assert "<button" not in page
    assert not any(code in page for code in CompletionCode.objects.values_list("code", flat=True))


@pytest.mark.parametrize(
    ("recruitment", "noted"),
    [({"prolific_study_ids": ["a" * 24], "other_studies": "refuse"}, ["other_study"]), ({"prolific": False}, [])],
)
def test_a_link_from_elsewhere_is_refused(client: Client, recruitment: dict[str, Any], noted: list[str]) -> None:
    assert client.get(link_of(launch_study(recruitment=recruitment))).status_code == 403
    assert list(EntryEvent.objects.values_list("what", flat=True)) == noted


def test_a_link_from_a_study_that_was_published_from_here_is_ours(client: Client) -> None:
    study = launch_study(recruitment={"prolific_study_ids": ["a" * 24], "other_studies": "refuse"})
    fields = {"details": {}, "places": 1, "reward": 4, "currency": "USD", "created_at": NOON}
    ProlificStudy.objects.create(study=study, internal_name="ours", remote_id=PROLIFIC["STUDY_ID"], **fields)
    assert client.get(link_of(study)).status_code == 200
    assert not EntryEvent.objects.exists()


def test_an_invitation_starts_one_session_per_browser_even_if_start_is_pressed_twice(client: Client) -> None:
    link = invitation(launch_study(answers=3))
    first = client.post(link)["Location"]
    assert client.post(link)["Location"] == client.get(link)["Location"] == first
    (visit,) = BeautifulSoup(Client().get(link).content, "html.parser").select("input[name=visit]")
    # That browser has followed neither answer yet, so it sends no cookie.
    second, again = (Client().post(link, {"visit": visit["value"]})["Location"] for _ in range(2))
    assert first != second == again
    assert Session.objects.count() == 2


@pytest.mark.both
def test_a_visit_that_no_page_gave_is_a_new_person(client: Client) -> None:
    study = launch_study(answers=6)
    client.post(invitation(study, who="ann"))
    for visit in ("", "name:ann", "x" * 5000, "\0", "ab" * 11):
        assert Client().post(invitation(study), {"visit": visit}).status_code == 303
    assert Session.objects.count() == 6


def test_a_finished_session_comes_back_to_its_last_page_and_nobody_with_another_id_does(client: Client) -> None:
    study = launch_study()
    client.post(link_of(study))
    for ask in (client.get, client.post):
        assert ask(link_of(study, PROLIFIC_PID="ff" * 12)).status_code == 409
    odd = EntryEvent.objects.get()
    assert (odd.what, odd.times) == (EntryEvent.What.OTHER_PERSON, 2)
    Session.objects.update(state=SessionState.FINISHED, ended_at=NOON)
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    for _ in range(2):
        page = client.get(link_of(study), follow=True).content.decode()
        assert f"https://app.prolific.com/submissions/complete?cc={code}" in page


def invitation(study: Study, *, who: str = "") -> str:
    return personal_link(study=study, name=who) if who else f"{door(study)}?invite={study.invite_token}"


@pytest.mark.parametrize(
    ("state", "sentences"),
    [
        (StudyState.DRAFT, ["This study has not started yet.", "Try the same link again later."]),
        (StudyState.PAUSED, ["This study is paused at the moment.", "Try the same link again later."]),
        (StudyState.CLOSED, ["This study has ended.", "You can close this page"]),
    ],
)
def test_an_invitation_says_that_a_study_is_not_open(client: Client, state: StudyState, sentences: list[str]) -> None:
    study = create_draft() if state == StudyState.DRAFT else launch_study()
    Study.objects.update(state=state, closed_at=NOON if state == StudyState.CLOSED else None)
    for who in ("", "ann"):
        response = client.get(invitation(fresh(study), who=who))
        page = response.content.decode()
        assert response.status_code == 403
        assert all(sentence in page for sentence in sentences)
        assert "<button" not in page
        assert "platform" not in page


def test_an_invitation_to_a_full_study_says_so_at_once_and_the_researcher_sees_who_came(client: Client) -> None:
    study = launch_study(instances=1)
    assert b"<button" in client.get(invitation(study)).content
    Client().post(invitation(study))
    for who in ("", "", "ann", "ann", "ben"):
        page = client.get(invitation(study, who=who)).content.decode()
        assert "All places of this study are taken" in page
        assert "try the same link again later" in page
        assert "<button" not in page
        assert "platform" not in page
    assert Session.objects.count() == 1
    odd = suspicious_arrivals(study)[EntryEvent.What.NO_SEAT, ""]
    assert (odd.times, odd.people) == (5, 2)


def test_a_look_at_an_invitation_says_what_is_free_for_the_one_invited(client: Client) -> None:
    study = launch_study(instances=1, answers=2)
    client.post(invitation(study, who="ann"))
    Study.objects.update(state=StudyState.PAUSED)
    assert client.get(invitation(study, who="ann")).status_code == 303
    assert b"<button" not in client.get(invitation(study, who="ben")).content
    Study.objects.update(state=StudyState.OPEN)
    make_annotator("name:eve", provider="invite", blocked=True)
    blocked = client.get(invitation(study, who="eve"))
    assert blocked.status_code == 403
    assert "You cannot take part in this study." in blocked.content.decode()


def test_an_invitation_to_a_live_study_shows_start_as_soon_as_something_can_be_drawn(client: Client) -> None:
    study = launch_study(instances=1, answers=2, max_answers=3, rule="majority-v1")
    for person, choice, opens in (("ann", "none", True), ("ben", "candidate-1", True), ("eve", "none", False)):
        answer_all(arrive_at_work(study, person), choice)
        assert (b"<button" in client.get(invitation(study)).content) is opens


def test_looking_at_prolifics_link_takes_no_seat_and_leads_back_to_a_session(client: Client) -> None:
    study = launch_study(instances=1)
    for number, look in enumerate((client.get, client.head, client.get)):
        ids = {"PROLIFIC_PID": f"{number:024x}", "SESSION_ID": f"{number:024x}"}
        assert look(link_of(study, **ids)).status_code == 200
    assert Session.objects.count() == Annotator.objects.count() == 0
    assert not Seat.objects.exclude(session=None).exists()
    session = client.post(link_of(study))["Location"]
    for ask in (client.get, client.head, client.post):
        assert ask(link_of(study))["Location"] == session
    assert Session.objects.count() == 1


def test_the_page_behind_prolifics_link_starts_with_one_press_and_no_script(client: Client) -> None:
    study = launch_study()
    page = BeautifulSoup(client.get(link_of(study)).content, "html.parser")
    [form] = page.select("main form")
    assert (form["method"], form.get("action"), len(form.select("button"))) == ("post", None, 1)
    assert not page.select("main script")
    started = client.post(link_of(study), {tag["name"]: tag["value"] for tag in form.select("input")}, follow=True)
    assert "Question 1 of" not in started.content.decode()
    assert b"/begin/" in started.content


def test_looking_at_the_link_of_a_session_whose_time_was_over_claims_nothing(client: Client) -> None:
    study = launch_study(instances=1)
    page = client.post(link_of(study))["Location"]
    advance_session.expire(by=TESTS, now=timezone.now() + timedelta(days=1))
    for _ in range(2):
        assert "Your place is still free" in client.get(link_of(study), follow=True).content.decode()
    assert Seat.objects.get().session is None
    client.post(f"{page}go-on/")
    assert Seat.objects.get().session is not None
    assert b"/begin/" in client.get(page).content


def spellings(an_id: str) -> list[str]:
    full_width = "".join(chr(ord(sign) + 0xFEE0) for sign in an_id)
    return [an_id, an_id.upper(), f"{an_id}.", f" {an_id} ", full_width, full_width.upper()]


@pytest.mark.both
@pytest.mark.parametrize("any_ids", [True, False])
def test_one_person_in_six_spellings_is_one_person_who_takes_part_once(client: Client, any_ids: bool) -> None:
    study = launch_study(answers=9, recruitment={"any_ids": any_ids})
    an_id = "5fabcdef" * 3
    for number, spelling in enumerate(spellings(an_id)):
        client.post(link_of(study, PROLIFIC_PID=spelling, SESSION_ID=f"{number:024x}"))
        client.post(link_of(study, PROLIFIC_PID=an_id, SESSION_ID=spelling))
    assert [annotator.provider_id for annotator in Annotator.objects.all()] == [an_id]
    assert Session.objects.filter(ended_at=None).count() == 1
    assert Seat.objects.exclude(session=None).count() == 1
    Session.objects.filter(ended_at=None).update(state=SessionState.FINISHED, ended_at=NOON)
    for number, spelling in enumerate(spellings(an_id)):
        assert client.post(link_of(study, PROLIFIC_PID=spelling, SESSION_ID=f"{number + 99:024x}")).status_code == 403


def test_a_study_launched_before_ids_were_strict_accepts_what_it_accepted(client: Client) -> None:
    study = launch_study(answers=2)
    # Its design was stored without the line, and without a version.
    stored = study.design.to_stored()
    del stored["version"], stored["recruitment"]["any_ids"]
    study.design = Design.from_stored(stored)
    study.save()
    old = arrive(study, "Ann.", session="Sitting-1")
    response = client.get(link_of(study, PROLIFIC_PID="Ann.", SESSION_ID="Sitting-1"))
    assert response["Location"] == f"/s/{old.token}/"
    client.post(link_of(study, PROLIFIC_PID="Ann.", SESSION_ID="Sitting-2"))
    assert [annotator.provider_id for annotator in Annotator.objects.all()] == ["Ann."]
    assert client.post(link_of(study, PROLIFIC_PID="ben", SESSION_ID="any/thing")).status_code == 303


def test_a_network_may_send_so_many_new_people(client: Client, settings: Settings) -> None:
    settings.ARRIVALS_PER_NETWORK = 3
    study = launch_study(answers=9)
    links = [link_of(study, PROLIFIC_PID=f"{number:024x}", SESSION_ID=f"{number:024x}") for number in range(5)]
    assert [client.post(link).status_code for link in links] == [303, 303, 303, 429, 429]
    refused = client.post(links[4])
    assert 0 < int(refused["Retry-After"]) <= 600
    assert "open the same link again" in refused.content.decode()
    # Who comes back is not counted, and neither is a look.
    assert [client.get(link).status_code for link in links] == [303, 303, 303, 200, 200]
    assert [client.post(link).status_code for link in links[:3]] == [303] * 3
    assert client.post(links[3], REMOTE_ADDR="192.0.2.9").status_code == 303
    # Invitations are counted too.
    assert Client().post(invitation(study)).status_code == 429
    assert EntryEvent.objects.get(what=EntryEvent.What.TOO_MANY).times == 4
    assert Session.objects.count() == 4
    settings.ARRIVALS_PER_NETWORK = 0
    assert [Client().post(invitation(study)).status_code for _ in range(3)] == [303] * 3


def test_neither_a_wrong_invitation_nor_a_typed_name_opens_a_session(client: Client) -> None:
    study = launch_study(answers=3)
    anna = client.post(invitation(study, who="Anna"))["Location"]
    shared = invitation(study)
    key = parse_qs(urlsplit(invitation(study, who="Eve")).query)["key"][0]
    guesses = ("&who=Anna", "&who=Anna&key=", f"&who=Anna&key={key}", "&who=Anna&key=\u00e9", "&who=Ben")
    for link in (f"{door(study)}?invite=", f"{door(study)}?invite=wrong", *(shared + guess for guess in guesses)):
        for ask in (Client().get, Client().post):
            response = ask(link)
            assert (response.status_code, response.get("Location")) == (400, None)
    assert Session.objects.count() == 1
    assert Client().get(invitation(study, who="Anna"))["Location"] == anna


@pytest.mark.both
def test_a_name_with_signs_that_cannot_be_seen_is_refused_and_so_is_a_key_without_a_secret(client: Client) -> None:
    study = launch_study()
    for name in ("Anna\nERROR forged", "Anna\x1b[2J", "\u202eannA", "A" * 101, "\0"):
        assert client.post(invitation(study, who=name)).status_code == 400
    Study.objects.update(order_secret="")
    without = hmac.new(b"", f"invitation|{study.pk}|Anna".encode(), sha256).hexdigest()[:32]
    assert client.post(f"{invitation(study)}&who=Anna&key={without}").status_code == 400
    assert Annotator.objects.count() == 0


def test_a_draft_is_not_betrayed_by_its_name_and_takes_no_old_link_from_a_study(client: Client) -> None:
    ours = launch_study(make_project("ours"))
    draft = create_draft(make_project("theirs"))
    shared = reverse("take", args=[ours.slug])
    assert draft.slug == ours.slug != ours.entry_name
    assert client.get(shared, PROLIFIC).status_code == 200
    Study.objects.filter(pk=ours.pk).update(slug="renamed")
    assert client.get(shared, PROLIFIC).status_code == 404
    early = client.get(reverse("take", args=[draft.public_token]), PROLIFIC)
    assert (early.status_code, "has not started yet" in early.content.decode()) == (403, True)


def test_a_name_that_two_studies_have_leads_to_neither_unless_it_is_the_token_of_one(client: Client) -> None:
    ours = launch_study(make_project("ours"))
    theirs = launch_study(make_project("theirs"))
    shared = reverse("take", args=[ours.slug])
    nowhere = client.get(shared, PROLIFIC)
    assert nowhere.status_code == 404
    assert "There is no study at this address." in nowhere.content.decode()
    Study.objects.filter(pk=theirs.pk).update(public_token=theirs.slug)
    client.post(f"{shared}?{urlencode(PROLIFIC)}")
    assert Session.objects.get().study == theirs
