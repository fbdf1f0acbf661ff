"""Sessions begun before an upgrade go on: what a browser held across it is stored as it was meant.

What each posted value meant was told by the code of the older version, beside its filled database. Whatever makes the
order of options today, none of this may change for a session that began before.
"""

import json
import uuid
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.models import PracticeAnswer, Response, Session, Skip
from tests.pages import hidden_fields
from tests.upgrades.conftest import VERSION
from tests.upgrades.stage import filled

pytestmark = [
    pytest.mark.usefixtures("upgraded"),
    pytest.mark.once(
        on="sqlite",
        because="what a posted value means is told in Python, from rows that test_upgrade.py compares on both",
    ),
]

HELD = filled(VERSION)["held"]
BY_SCRIPT = {"Accept": "application/json"}
PICTURE_FAILED = json.dumps([{"value": "1", "failed_loads": 5}])


def every_value(held: dict[str, Any]) -> list[Any]:
    """Return (who, value) for every value that somebody's browser could post."""
    return [pytest.param(who, value, id=f"{who}-{value}") for who in held for value in held[who]["options"]]


def send(held: dict[str, Any], value: str, **more: str) -> Any:
    response = Client().post(held["action"], held["fields"] | {"choice": value} | more, headers=BY_SCRIPT)
    assert response.status_code == 200, response.content
    return response.json()


def stored(held: dict[str, Any]) -> Response:
    return Response.objects.get(submission_id=held["fields"]["submission"])


def session_of(held: dict[str, Any]) -> Session:
    return Session.objects.get(token=held["page"].split("/")[2])


def shown_widths(html: str) -> dict[str, int]:
    """Return the widths of the pictures beside the values that a question posts."""
    options = BeautifulSoup(html, "html.parser").select("[data-option]:has(img)")
    return {str(option["data-option"]): int(str(option.select_one("img")["width"])) for option in options}  # type: ignore[index]


@pytest.mark.parametrize(("who", "value"), every_value(HELD["answers"]))
def test_an_answer_is_the_option_it_was(who: str, value: str) -> None:
    held = HELD["answers"][who]
    before = session_of(held).questions_answered
    assert send(held, value)["saved"] is True
    response = stored(held)
    assert (response.choice, response.shown_order) == (held["options"][value], held["order"])
    assert (response.question_id, response.is_current) == (held["question"], True)
    assert response.slot_id == int(held["fields"]["slot"])
    assert session_of(held).questions_answered == before + 1


@pytest.mark.parametrize("who", HELD["answers"])
def test_an_answer_sent_without_scripts_is_stored_too(who: str) -> None:
    held = HELD["answers"][who]
    value = min(held["options"])
    assert Client().post(held["action"], held["fields"] | {"choice": value}).status_code == 303
    assert stored(held).choice == held["options"][value]


@pytest.mark.parametrize("who", [who for who, held in HELD["answers"].items() if held["ahead"] is not None])
def test_the_question_ahead_is_answered_as_it_was_shown(who: str) -> None:
    held, ahead = HELD["answers"][who], HELD["answers"][who]["ahead"]
    send(held, min(held["options"]), have=ahead["fields"]["slot"])
    value = max(ahead["options"])
    send(ahead, value)
    assert (stored(ahead).choice, stored(ahead).shown_order) == (ahead["options"][value], ahead["order"])


@pytest.mark.parametrize("who", HELD["answers"])
def test_the_next_question_comes_and_is_shown_as_it_was_ahead(who: str) -> None:
    """Required by a page that holds none ahead, so that the same question comes again: in the same order."""
    held, ahead = HELD["answers"][who], HELD["answers"][who]["ahead"]
    said = send(held, min(held["options"]))
    if ahead is None:
        assert said["next"] is None
        assert said["go"]
        return
    form = BeautifulSoup(said["next"], "html.parser").form
    assert form is not None
    assert hidden_fields(form)["slot"] == ahead["fields"]["slot"]
    # A page of the version before takes the first of those that come.
    assert shown_widths(str(form)) == ahead["widths"]


@pytest.mark.parametrize("who", HELD["answers"])
def test_the_reloaded_page_shows_the_question_as_it_was_and_takes_the_answer(who: str) -> None:
    held = HELD["answers"][who]
    page = BeautifulSoup(Client().get(held["page"]).content, "html.parser")
    form = page.select_one("[data-stage] form.question")
    assert form is not None
    assert hidden_fields(form)["slot"] == held["fields"]["slot"]
    assert shown_widths(str(form)) == held["widths"]
    value = max(held["options"])
    Client().post(held["action"], hidden_fields(form) | {"choice": value}, headers=BY_SCRIPT)
    assert Response.objects.get(session=session_of(held), question=held["question"]).choice == held["options"][value]


@pytest.mark.parametrize(("who", "value"), every_value(HELD["changes"]))
def test_a_change_is_the_option_it_was_and_a_new_version(who: str, value: str) -> None:
    held = HELD["changes"][who]
    assert send(held, value)["saved"] is True
    changed = stored(held)
    assert changed.choice == held["options"][value]
    assert (changed.version, changed.is_current) == (int(held["fields"]["replaces"]) + 1, True)
    current = Response.objects.filter(session=changed.session, question=held["question"], is_current=True)
    assert list(current) == [changed]


@pytest.mark.parametrize(("who", "value"), every_value(HELD["practice"]))
def test_a_practice_answer_is_the_option_it_was(who: str, value: str) -> None:
    held = HELD["practice"][who]
    session = session_of(held)
    response = Client().post(held["action"], held["fields"] | {"choice": value}, follow=True)
    assert response.status_code == 200
    newest = PracticeAnswer.objects.filter(session=session, practice_question=held["question"]).latest("pk")
    assert newest.choice == held["options"][value]


@pytest.mark.parametrize("who", ["fresh", "bereft"])
def test_a_skip_is_taken_and_the_session_goes_on(who: str) -> None:
    """Offered by the page when pictures failed five times, and where the server itself has lost one."""
    held = HELD["answers"][who]
    images = {"images": PICTURE_FAILED} if who == "fresh" else {}
    fields = {"slot": held["fields"]["slot"]} | images
    assert Client().post(held["action"].replace("/answer/", "/skip/"), fields, follow=True).status_code == 200
    skipped = Skip.objects.get(session=session_of(held), question=held["question"])
    assert skipped.file_missing is (who == "bereft")
    ahead = held["ahead"]
    send(ahead, min(ahead["options"]))
    assert stored(ahead).choice == ahead["options"][min(ahead["options"])]


@pytest.mark.parametrize("value", sorted(HELD["ended"]["early"]["options"]))
def test_an_answer_after_the_time_goes_on_where_the_seat_is_free(value: str) -> None:
    held = HELD["ended"]["early"]
    send(held, value)
    assert (stored(held).choice, stored(held).slot_id) == (held["options"][value], int(held["fields"]["slot"]))
    assert session_of(held).state == "working"


@pytest.mark.parametrize("value", sorted(HELD["ended"]["late"]["options"]))
def test_an_answer_after_the_seat_went_to_somebody_else_is_kept_apart(value: str) -> None:
    held = HELD["ended"]["late"]
    send(held, value)
    assert (stored(held).choice, stored(held).slot_id) == (held["options"][value], None)


def test_an_answer_that_was_stored_before_is_not_stored_again() -> None:
    """Its acknowledgement was lost, and the page sends it again."""
    first = Response.objects.filter(session=session_of(HELD["answers"]["changer"])).latest("pk")
    before = Response.objects.count()
    fields = {"slot": str(first.slot_id), "submission": str(first.submission_id), "choice": "1"}
    response = Client().post(HELD["answers"]["changer"]["action"], fields, headers=BY_SCRIPT)
    assert response.status_code == 200
    assert response.json()["saved"] is True
    assert Response.objects.count() == before


def test_the_last_question_of_an_old_session_leads_to_its_end() -> None:
    """Answered one after the other through the pages, as a browser without scripts does."""
    held = HELD["answers"]["coming-again"]
    session = session_of(held)
    client = Client()
    for _ in range(session.questions_total - session.questions_answered):
        form = BeautifulSoup(client.get(held["page"]).content, "html.parser").select_one("form.question")
        assert form is not None
        fields = hidden_fields(form) | {"choice": "1", "submission": str(uuid.uuid4())}
        assert client.post(str(form["action"]), fields, follow=True).status_code == 200
    assert session_of(held).state == "finished"


@pytest.mark.parametrize(("agree", "state"), [("yes", "instructions"), ("no", "no_consent")])
def test_the_consent_of_somebody_who_was_reading_is_taken(agree: str, state: str) -> None:
    """Whoever does not agree is asked once more, which the version before did not."""
    session = Session.objects.filter(state="consent").earliest("pk")
    asked = Client().post(f"/s/{session.token}/consent/", {"agree": agree}, follow=True)
    again = BeautifulSoup(asked.content, "html.parser").select_one('[name="sure"]')
    if again is not None:
        Client().post(f"/s/{session.token}/consent/", {"agree": agree, "sure": "yes"})
    session.refresh_from_db()
    assert session.state == state


def test_whoever_was_reading_the_instructions_goes_on() -> None:
    states = {}
    for session in Session.objects.filter(state="instructions").select_related("study"):
        Client().post(f"/s/{session.token}/begin/", {"part": "0"})
        session.refresh_from_db()
        states[session.study.slug] = session.state
    assert states == {"birds-trial": "practice", "birds-second-baseline": "working"}
