"""Skipping through the pages: what the button posts, and what comes back."""

import json
import uuid
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.answering import responses
from annotation.models import PracticeAnswer, Session, SessionState, Skip
from studies.models import CompletionCode
from tests.annotation.test_responses import next_slot
from tests.annotation.test_skip_question import lose, practising, put_back, with_files
from tests.annotation.test_work_pages import form_of, page_of
from tests.factories import arrive, arrive_at_work, fresh

pytestmark = pytest.mark.django_db


def failures(times: int, value: str = "1") -> str:
    return json.dumps([{"value": value, "loaded_ms": None, "natural": [0, 0], "failed_loads": times}])


def skip(client: Client, session: Session, **fields: Any) -> Any:
    return client.post(f"{page_of(session)}skip/", fields)


def skip_as_script(client: Client, session: Session, **fields: Any) -> Any:
    return client.post(f"{page_of(session)}skip/", fields, headers={"Accept": "application/json"})


def test_the_whole_way_without_javascript_past_an_image_that_is_gone(client: Client) -> None:
    study = with_files(instances=2)
    session = arrive_at_work(study)
    lose(next_slot(session).question)
    page = client.get(page_of(session)).content
    button = BeautifulSoup(page, "html.parser").select_one("[data-stage] [data-skip]")
    assert button is not None
    assert button["formaction"] == f"{page_of(session)}skip/"
    response = client.post(str(button["formaction"]), form_of(page))
    assert response.status_code == 303
    following = client.get(response["Location"]).content
    assert "Your pay is not affected." in following.decode()
    assert "Question 1 of 1" in following.decode()
    client.post(f"{page_of(session)}answer/", form_of(following) | {"choice": "2"})
    assert (
        CompletionCode.objects.get(study=study, outcome="finished").code
        in client.get(page_of(session)).content.decode()
    )


def test_the_script_learns_where_to_go(client: Client) -> None:
    session = arrive_at_work(with_files())
    reply = skip_as_script(client, session, slot=next_slot(session).pk, images=failures(5))
    assert reply.json() == {"go": f"{page_of(session)}?kept=none"}
    assert Skip.objects.get().images[0]["failed_loads"] == 5


def test_a_refusal_says_why_and_leaves_the_question_there(client: Client) -> None:
    session = arrive_at_work(with_files())
    slot = next_slot(session)
    refused = skip_as_script(client, session, slot=slot.pk, images=failures(4))
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("All images of this question are available")
    page = skip(client, session, slot=slot.pk)
    assert page.status_code == 422
    assert "All images of this question are available" in page.content.decode()
    assert f'data-slot="{slot.pk}"' in page.content.decode()
    assert Skip.objects.count() == 0


@pytest.mark.both
@pytest.mark.parametrize("slot", ["", "x", "-1", "9" * 30])
def test_a_skip_that_names_no_question_is_refused_with_a_sentence(client: Client, slot: str) -> None:
    response = skip(client, arrive_at_work(with_files()), slot=slot)
    assert response.status_code == 422
    assert "did not say which question" in response.content.decode()


@pytest.mark.parametrize(
    "images", ["", "[", "[[]]", '[{"value": 1, "failed_loads": 9}]', '[{"value": "1", "failed_loads": "9"}]']
)
def test_failures_that_cannot_be_read_are_none(client: Client, images: str) -> None:
    session = arrive_at_work(with_files())
    assert skip(client, session, slot=next_slot(session).pk, images=images).status_code == 422
    assert Skip.objects.count() == 0


def test_a_stranger_skips_nothing(client: Client) -> None:
    study = with_files(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    slot = next_slot(ann)
    assert client.post("/s/no-such-token/skip/", {"slot": slot.pk, "images": failures(9)}).status_code == 404
    assert skip(client, ben, slot=slot.pk, images=failures(9)).status_code == 404
    assert client.get(f"{page_of(ann)}skip/").status_code == 405
    assert Skip.objects.count() == 0


def test_a_session_that_is_not_at_its_questions_is_led_to_where_it_is(client: Client) -> None:
    session = arrive(with_files(consent="Agree?"))
    response = skip(client, session, slot=1, images=failures(9))
    assert response.status_code == 303
    assert response["Location"].startswith(page_of(session))
    assert Skip.objects.count() == 0


def test_an_answer_after_a_skip_in_another_tab_is_told_so(client: Client) -> None:
    session = arrive_at_work(with_files())
    slot = next_slot(session)
    skip(client, session, slot=slot.pk, images=failures(9))
    answer = {"slot": slot.pk, "submission": str(uuid.uuid4()), "choice": "1"}
    address = f"{page_of(session)}answer/"
    told = "You had already skipped question 1. Your answer to it is not saved. Your answer: “Image A”."
    assert told in client.post(address, answer, follow=True).content.decode()
    reply = client.post(address, answer, headers={"Accept": "application/json"}).json()
    assert (reply["go"], told in reply["notices"]) == (page_of(session), True)


def test_practice_goes_on_without_what_cannot_be_shown(client: Client) -> None:
    session = practising()
    assert b"data-skip" in client.get(page_of(session)).content
    for question in session.study.practice_questions.all():
        assert skip(client, session, slot=question.pk).status_code == 303
    assert fresh(session).state == SessionState.WORKING
    assert PracticeAnswer.objects.count() == 2


def test_a_session_that_was_shown_nothing_ends_with_the_code_for_review(client: Client) -> None:
    session = arrive_at_work(with_files(instances=1))
    skip(client, session, slot=next_slot(session).pk, images=failures(9))
    page = client.get(page_of(session)).content.decode()
    assert "This session ends here" in page
    assert "0 answers" not in page
    codes = dict(CompletionCode.objects.values_list("outcome", "code"))
    assert codes["left_out"] in page
    assert codes["finished"] not in page


def test_an_answer_that_is_being_changed_cannot_be_skipped(client: Client) -> None:
    session = arrive_at_work(with_files())
    client.post(f"{page_of(session)}answer/", form_of(client.get(page_of(session)).content) | {"choice": "1"})
    assert b"data-skip" not in client.get(f"{page_of(session)}change/").content


def test_five_posts_and_no_answer_do_not_lead_to_the_pay(client: Client) -> None:
    study = with_files(instances=5)
    session = arrive_at_work(study)
    for slot in responses.open_slots(session=session, limit=5):
        skip(client, session, slot=slot.pk, images=failures(5))
    page = client.get(page_of(session)).content.decode()
    codes = dict(CompletionCode.objects.filter(study=study).values_list("outcome", "code"))
    assert [outcome for outcome, code in codes.items() if code in page] == ["left_out"]


def test_the_last_skip_that_is_believed_says_what_one_more_would_do(client: Client) -> None:
    session = arrive_at_work(with_files(instances=8))
    said = []
    for slot in responses.open_slots(session=session, limit=3):
        following = skip(client, session, slot=slot.pk, images=failures(5))["Location"]
        said.append("this session ends" in client.get(following).content.decode())
    assert said == [False, False, True]


def test_a_practice_skipped_eight_times_is_not_passed(client: Client) -> None:
    session = practising(rounds=4)
    for question in session.study.practice_questions.all():
        put_back(*(option["image"] for option in question.content["options"]))
    for question in [*session.study.practice_questions.all()] * 4:
        skip(client, session, slot=question.pk, images=failures(9))
    session.refresh_from_db()
    assert (session.state, session.first_question_at) == (SessionState.LEFT_OUT, None)
    assert "You have not failed." in client.get(page_of(session)).content.decode()


def test_an_invited_person_is_told_whom_to_tell(client: Client) -> None:
    session = arrive_at_work(with_files(instances=1))
    Session.objects.update(provider="invite")
    skip(client, session, slot=next_slot(session).pk, images=failures(9))
    page = client.get(page_of(session)).content.decode()
    assert "Please tell the person who invited you what happened." in page
    assert "Prolific" not in page
