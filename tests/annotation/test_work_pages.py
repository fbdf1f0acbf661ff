"""The pages of a session, as a browser without JavaScript walks them, and as the page's script does."""

import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.answering import advance_session, responses, skip_question
from annotation.models import PracticeAnswer, Response, Seat, Session, SessionState, Slot
from studies.models import CompletionCode, Image, Study
from studies.picture_handles import handle_of
from tests.factories import (
    NOON,
    arrive,
    arrive_at_work,
    fresh,
    launch_study,
    make_instance,
    make_project,
    make_prolific_study,
)
from tests.pages import hidden_fields

pytestmark = pytest.mark.django_db

PRACTICE = {
    "pass": 1,
    "rounds": 2,
    "questions": [{"instance": "trial", "right": "candidate-1", "feedback": "Look at the map."}],
}


def page_of(session: Session) -> str:
    return f"/s/{session.token}/"


def form_of(html: bytes, *, selector: str = "form.question") -> dict[str, str]:
    """Return the fields that the form would post as it stands."""
    form = BeautifulSoup(html, "html.parser").select_one(selector)
    assert form is not None
    return hidden_fields(form)


def form_at(client: Client, session: Session, path: str = "") -> dict[str, str]:
    """Return the fields of the question on the page where `session` is, or on another of its pages."""
    return form_of(client.get(f"{page_of(session)}{path}").content)


def post_answer(client: Client, session: Session, choice: str = "1") -> Any:
    """Answer the question on the page of `session` as a form without scripts does."""
    return client.post(f"{page_of(session)}answer/", form_at(client, session) | {"choice": choice})


def slots_in(html: bytes) -> list[str]:
    """Return the slots of all questions that a page, or what its script gets, holds."""
    return [str(form["data-slot"]) for form in BeautifulSoup(html, "html.parser").select("form[data-question]")]


def following_slots(session: Session, limit: int) -> list[str]:
    return [str(slot.pk) for slot in responses.open_slots(session=session, limit=limit)]


def post_json(client: Client, session: Session, fields: dict[str, Any]) -> Any:
    return client.post(f"{page_of(session)}answer/", fields, headers={"Accept": "application/json"})


def study_with_practice(**design: Any) -> Study:
    project = make_project()
    make_instance(project, "trial")
    return launch_study(project, practice=PRACTICE, **design)


def test_the_whole_way_without_javascript(client: Client) -> None:
    study = launch_study(instances=2, consent="Do you **agree**?")
    session = arrive(study)
    page = page_of(session)
    assert b"<strong>agree</strong>" in client.get(page).content
    client.post(f"{page}consent/", {"agree": "yes"})
    client.post(f"{page}begin/")
    for _ in range(2):
        assert post_answer(client, session, "2").status_code == 303
    assert Response.objects.count() == 2
    assert CompletionCode.objects.get(study=study, outcome="finished").code in client.get(page).content.decode()


def test_every_address_of_a_session_leads_to_where_it_is(client: Client) -> None:
    session = arrive(launch_study(consent="Agree?"))
    for address in ("begin/", "practice/"):
        response = client.post(f"{page_of(session)}{address}", {"choice": "1", "slot": "1"})
        assert response["Location"] == page_of(session)
    assert fresh(session).state == SessionState.CONSENT
    # Nothing can be changed before the first answer, and no part begun that is not there.
    working = arrive_at_work(launch_study(study="other"))
    assert client.get(f"{page_of(working)}change/")["Location"] == page_of(working)
    for part in ("1", "8", "-1", "x"):
        client.post(f"{page_of(working)}begin/", {"part": part})
        assert client.get(page_of(working)).status_code == 200


@pytest.mark.both
@pytest.mark.parametrize("token", ["no-such-token", "a%00b", "%ff%fe", "x" * 5000])
def test_a_token_that_no_session_has_or_no_database_could_hold_is_not_found(client: Client, token: str) -> None:
    assert client.get(f"/s/{token}/").status_code == 404
    answer = {"slot": "1", "submission": str(uuid.uuid4()), "choice": "1"}
    for address in ("answer", "give-up", "go-on"):
        assert client.post(f"/s/{token}/{address}/", answer).status_code == 404


@pytest.mark.parametrize(("held", "numbers"), [(3, [5]), (1, [3, 4, 5])])
def test_the_script_gets_as_many_questions_as_it_lacks(client: Client, held: int, numbers: list[int]) -> None:
    session = arrive_at_work(launch_study(instances=6))
    shown, *ahead = slots_in(client.get(page_of(session)).content)
    assert len(ahead) == 3
    fields = {"slot": shown, "submission": str(uuid.uuid4()), "choice": "1", "have": ",".join(ahead[:held])}
    answered = post_json(client, session, fields).json()
    assert (answered["saved"], answered["submission"]) == (True, fields["submission"])
    assert (answered["answered"], answered["total"], answered["go"]) == (1, 6, None)
    assert slots_in(answered["next"].encode()) == following_slots(session, 4)[held:]
    assert [number for number in range(1, 7) if f"Question {number} of 6" in answered["next"]] == numbers


def test_the_script_is_sent_to_the_last_page_after_the_last_answer_and_its_repeat(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    fields = form_at(client, session) | {"choice": "none"}
    answered, repeated = (post_json(client, session, fields).json() for _ in range(2))
    assert (answered["go"], answered["next"]) == (page_of(session), None)
    assert answered == repeated
    assert Response.objects.count() == 1


def test_a_change_that_another_device_was_faster_with_is_told_what_stands(client: Client, session: Session) -> None:
    post_answer(client, session)
    here, there = (form_at(client, session, "change/") for _ in range(2))
    client.post(f"{page_of(session)}answer/", there | {"choice": "none"})
    late = client.post(f"{page_of(session)}answer/", here | {"choice": "2"}, follow=True)
    assert "You had changed your answer to question 1 on another page. That change counts." in late.content.decode()
    again = post_json(client, session, here | {"choice": "3", "submission": str(uuid.uuid4())}).json()
    assert (again["go"], again["notices"].count("That change counts.")) == (page_of(session), 2)
    assert Response.objects.get(is_current=True).choice == "none"


@pytest.mark.both
def test_a_malformed_post_gets_a_sentence_and_stores_nothing(client: Client, session: Session) -> None:
    fields = form_at(client, session) | {"choice": "1"}
    for wrong, sentence in (
        *(({"slot": slot}, "no question") for slot in ("", "abc", "9" * 30)),
        *(({"submission": submission}, "without its number") for submission in ("", "not-a-uuid")),
        ({"choice": ""}, "Choose one of the answers"),
        *(({"choice": choice}, "Choose one of the options") for choice in ("9", "candidate-1")),
        ({"replaces": "x"}, "unknown answer"),
        ({"replaces": "7"}, "can no longer be changed"),
    ):
        script = post_json(client, session, fields | wrong)
        assert (script.status_code, sentence in script.json()["error"]) == (422, True), wrong
        plain = client.post(f"{page_of(session)}answer/", fields | wrong)
        assert (plain.status_code, sentence in plain.content.decode()) == (422, True), wrong
    assert Response.objects.count() == 0


def test_what_the_browser_measured_is_stored(client: Client, session: Session) -> None:
    images = [{"value": "1", "loaded_ms": 12.5, "natural": [512, 512], "shown": [330, 330], "failed_loads": 0}]
    numbers = {"first_choice_ms": 1500, "send_ms": 2100, "hidden_ms": 0, "changes_of_mind": 2}
    numbers |= {"window_width": 1366, "window_height": 650}
    post_json(client, session, form_at(client, session) | {"choice": "1", "images": json.dumps(images)} | numbers)
    assert Response.objects.values(*numbers).get() == numbers
    assert Response.objects.get().images_seen == images


@pytest.mark.both
@pytest.mark.parametrize(
    "images",
    [
        *("nonsense", "{}", "[1, 2]", '[{"value": NaN}]', "[" * 5000, '[{"loaded_ms": 1e999}]'),
        f'[{{"loaded_ms": 1{"0" * 400}}}]',
    ],
    ids=str.__len__,
)
def test_nonsense_in_the_measurements_never_costs_the_answer(client: Client, images: str) -> None:
    numbers = ["-1", "1e9", "NaN", "9" * 40, "99999999999"]
    session = arrive_at_work(launch_study(instances=len(numbers)))
    for number in numbers:
        fields = form_at(client, session) | {"choice": "1", "send_ms": number, "images": images}
        assert post_json(client, session, fields).status_code == 200
    assert Response.objects.count() == len(numbers)


def test_stopping_late_stops_and_stopping_after_the_end_changes_nothing(client: Client) -> None:
    study = launch_study(instances=1, answers=2)
    late, done = lapsed(arrive_at_work(study, "ann")), arrive_at_work(study, "ben")
    client.post(f"{page_of(late)}give-up/", follow=True)
    assert fresh(late).state == SessionState.GIVEN_UP
    assert Seat.objects.filter(session=None).count() == 1
    post_answer(client, done)
    for ask in (client.get, client.post):
        assert ask(f"{page_of(done)}give-up/")["Location"] == page_of(done)
    assert fresh(done).state == SessionState.FINISHED


def lapsed(session: Session) -> Session:
    """Return the session after its time has run out."""
    advance_session.expire(by="timetable", now=session.lease_until + timedelta(seconds=1))
    session.refresh_from_db()
    return session


@pytest.mark.parametrize(
    ("agree", "is_taken", "state"),
    [("yes", False, SessionState.WORKING), ("no", False, SessionState.NO_CONSENT), ("yes", True, SessionState.LAPSED)],
)
def test_consent_counts_unless_the_seat_has_gone(
    client: Client, agree: str, is_taken: bool, state: SessionState
) -> None:
    study = launch_study(instances=1, consent="Agree?")
    session = lapsed(arrive(study))
    if is_taken:
        arrive(study, "ben")
    client.post(f"{page_of(session)}consent/", {"agree": agree, "sure": "yes"})
    if state == SessionState.WORKING:
        # Nor is whoever reads the instructions for longer than the seat is kept too late.
        lapsed(fresh(session))
    client.post(f"{page_of(session)}begin/")
    assert fresh(session).state == state
    assert Seat.objects.filter(session=session).exists() == (state == SessionState.WORKING)
    answer = {"slot": Slot.objects.get().pk, "submission": str(uuid.uuid4()), "choice": "1"}
    assert post_json(client, session, answer).status_code == (200 if state == SessionState.WORKING else 404)


def test_a_page_asked_for_while_the_last_answer_is_stored_is_asked_for_again(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    # What a request sees that read the session just before the answer and its questions just after it.
    Slot.objects.update(answered_at=session.arrived_at)
    assert client.get(page_of(session))["Location"] == page_of(session)


@pytest.mark.parametrize(
    ("meanwhile", "headings", "answered", "total"),
    [
        ("answered", ["Question 2 of 3", "Question 3 of 3"], "1", "3"),
        ("skipped", ["Question 1 of 2", "Question 2 of 2"], "0", "2"),
    ],
)
def test_a_page_made_while_a_question_is_answered_or_skipped_counts_that(
    client: Client, monkeypatch: pytest.MonkeyPatch, meanwhile: str, headings: list[str], answered: str, total: str
) -> None:
    session = arrive_at_work(launch_study(instances=3))
    look = responses.open_slots

    def be_overtaken(**wanted: Any) -> list[Slot]:
        monkeypatch.undo()
        first = look(session=session, limit=1)[0]
        if meanwhile == "answered":
            sent = responses.Submission(slot=first.pk, submission=uuid.uuid4(), posted={"choice": "1"})
            responses.submit(token=session.token, sent=sent, now=NOON)
        else:
            skip_question.skip(session=session, slot=first.pk, failed_loads={"1": 9}, now=NOON)
        return look(**wanted)

    monkeypatch.setattr(responses, "open_slots", be_overtaken)
    page = BeautifulSoup(client.get(page_of(session)).content, "html.parser")
    shown = [heading.get_text(" ", strip=True) for heading in page.select("[data-question] [data-heading]")]
    assert [heading.split(".")[0] for heading in shown] == headings
    assert [each.get_text() for each in page.select("[data-answered]")] == [answered]
    assert [each["max"] for each in page.select("[data-progress]")] == [total]


def right_value(html: bytes, study: Study) -> str:
    """Return the value whose image is the practice question's candidate-1."""
    question = study.practice_questions.get()
    image = handle_of(question.content["options"][1]["image"], study=study.pk)
    option = BeautifulSoup(html, "html.parser").select_one(f'[data-option]:has(a[href*="{image}"])')
    assert option is not None
    return str(option["data-option"])


def test_practice_leads_to_the_questions_and_the_way_back_not_into_the_practice(client: Client) -> None:
    study = study_with_practice()
    session = arrive_at_work(study)
    page = page_of(session)
    shown = client.get(page).content
    feedback = client.post(f"{page}practice/", form_of(shown) | {"choice": right_value(shown, study)})["Location"]
    assert fresh(session).state == SessionState.WORKING
    assert b"Look at the map." in client.get(feedback).content
    post_answer(client, session)
    assert b"Question 2 of" in client.get(feedback).content


@pytest.mark.both
def test_a_number_that_no_row_has_is_answered_with_a_page(client: Client) -> None:
    session = arrive_at_work(study_with_practice())
    page = page_of(session)
    for number in ("", "x", "9" * 30, "9" * 5000):
        assert client.get(f"{page}?feedback={number}").status_code == 200
        refused = client.post(f"{page}practice/", {"slot": number, "choice": "1"})
        assert (refused.status_code, "Reload it and choose again" in refused.content.decode()) == (422, True)
    assert PracticeAnswer.objects.count() == 0


def test_the_instructions_say_what_is_paid_for_failing_the_practice(client: Client) -> None:
    study = study_with_practice(pay={"currency": "USD", "per_session": "8.00"})
    session = arrive(study)
    assert "The practice itself is not paid." in client.get(page_of(session)).content.decode()
    action = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 50, "slots": 5}
    make_prolific_study(study, "study", details={"completion_codes": [{"code": "CSCREEN1", "actions": [action]}]})
    page = client.get(page_of(session)).content.decode()
    assert "If you do not pass, the study ends there, and you are paid US$\N{NO-BREAK SPACE}0.50." in page
    assert "The practice itself is not paid." not in page


def test_failing_every_round_ends_kindly_with_its_own_code(client: Client) -> None:
    session = arrive_at_work(study_with_practice())
    page = page_of(session)
    for _ in range(2):
        client.post(f"{page}practice/", form_at(client, session) | {"choice": "none"})
    end = client.get(page).content.decode()
    assert fresh(session).state == SessionState.FAILED_CHECKS
    assert PracticeAnswer.objects.count() == 2
    codes = dict(CompletionCode.objects.values_list("outcome", "code"))
    assert codes["failed_checks"] in end
    assert codes["finished"] not in end


def test_no_page_betrays_codes_keys_or_ids_before_the_end(client: Client) -> None:
    session = arrive(study_with_practice(consent="Agree?", instances=3), "5f5f5f5f5f5f5f5f5f5f5f5f")
    page = page_of(session)
    seen = [client.get(page)]
    seen.append(client.post(f"{page}consent/", {"agree": "yes"}, follow=True))
    seen.append(client.post(f"{page}begin/", follow=True))
    seen.append(client.post(f"{page}practice/", form_at(client, session) | {"choice": "1"}, follow=True))
    Session.objects.update(state=SessionState.WORKING)
    seen.append(client.get(page))
    seen.append(post_json(client, session, form_at(client, session) | {"choice": "1"}))
    seen.append(client.get(f"{page}change/"))
    codes = CompletionCode.objects.values_list("code", flat=True)
    # Whoever has the originals could look up their digests.
    digests = Image.objects.values_list("sha256", flat=True)
    secrets = [*codes, *digests, session.annotator.provider_id, "candidate-", "cc="]
    for response in seen:
        found = [secret for secret in secrets if secret in response.content.decode()]
        assert found == [], response.request["PATH_INFO"]


def test_pages_of_a_session_are_not_cached_and_load_no_foreign_things(client: Client, session: Session) -> None:
    response = client.get(page_of(session))
    assert "no-store" in response["Cache-Control"]
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(rb"(src|href)=\"https?://", response.content)
    assert b"<script>" not in response.content
    assert b'style="' not in response.content


@pytest.mark.both
def test_a_comment_is_kept_only_at_the_end(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    page = page_of(session)
    client.post(f"{page}comment/", {"comment": "too early"})
    assert fresh(session).comment == ""
    post_answer(client, session)
    client.post(f"{page}comment/", {"comment": "Fun\0!"})
    assert fresh(session).comment == "Fun!"


def test_a_look_at_a_lapsed_session_takes_its_seat_only_when_that_is_asked_for(client: Client) -> None:
    study = launch_study()
    session = lapsed(arrive_at_work(study))
    page = page_of(session)
    assert client.get(f"{page}go-on/").status_code == 405
    assert "Your place is still free" in client.get(page).content.decode()
    assert Seat.objects.get().session is None
    assert client.post(f"{page}go-on/")["Location"] == page
    assert b"data-question" in client.get(page).content
    lapsed(fresh(session))
    arrive(study, "ben")
    assert "The time for this session is over" in client.get(page).content.decode()
    client.post(f"{page}go-on/")
    assert fresh(session).state == SessionState.LAPSED
