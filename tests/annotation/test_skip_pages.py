"""Skipping through the pages: what the button posts, and what comes back."""

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.answering import responses
from annotation.models import Session, SessionState, Skip
from studies.models import CompletionCode
from tests.annotation.test_responses import next_slot
from tests.annotation.test_skip_question import lose, pictures, practising, put_back, with_files
from tests.annotation.test_work_pages import form_at, form_of, page_of, post_answer, post_json
from tests.factories import arrive, arrive_at_work, fresh

pytestmark = pytest.mark.django_db


def failures(times: int, value: str = "1") -> str:
    return json.dumps([{"value": value, "loaded_ms": None, "natural": [0, 0], "failed_loads": times}])


def skip(client: Client, session: Session, slot: object, times: int = 9, **headers: str) -> Any:
    """Press the button that skips the question in `slot`, of which one image failed so many times."""
    fields = {"slot": slot, "images": failures(times)}
    return client.post(f"{page_of(session)}skip/", fields, headers=headers)


def test_the_whole_way_without_javascript_past_an_image_that_is_gone(client: Client) -> None:
    study = with_files(instances=2)
    session = arrive_at_work(study)
    lose(next_slot(session).question)
    page = client.get(page_of(session)).content
    (button,) = BeautifulSoup(page, "html.parser").select("[data-stage] [data-skip]")
    assert button["formaction"] == f"{page_of(session)}skip/"
    response = client.post(str(button["formaction"]), form_of(page))
    assert response.status_code == 303
    following = client.get(response["Location"]).content.decode()
    assert "Your pay is not affected." in following
    assert "Question 1 of 1" in following
    post_answer(client, session, "2")
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    assert code in client.get(page_of(session)).content.decode()


def test_the_script_learns_where_to_go(client: Client) -> None:
    session = arrive_at_work(with_files())
    reply = skip(client, session, next_slot(session).pk, 5, accept="application/json")
    assert reply.json() == {"go": f"{page_of(session)}?kept=none"}
    assert Skip.objects.get().images[0]["failed_loads"] == 5


def test_a_refusal_says_why_and_leaves_the_question_there(client: Client) -> None:
    session = arrive_at_work(with_files())
    slot = next_slot(session).pk
    refused = skip(client, session, slot, 4, accept="application/json")
    assert (refused.status_code, refused.json()["error"][:38]) == (422, "All images of this question are availa")
    # Failures that cannot be read are none.
    for images in ("", "[", "[[]]", '[{"value": 1, "failed_loads": 9}]', '[{"value": "1", "failed_loads": "9"}]'):
        page = client.post(f"{page_of(session)}skip/", {"slot": slot, "images": images})
        assert page.status_code == 422
        assert "All images of this question are available" in page.content.decode()
        assert f'data-slot="{slot}"' in page.content.decode()
    assert Skip.objects.count() == 0


@pytest.mark.both
def test_a_skip_that_names_no_question_is_refused_with_a_sentence(client: Client) -> None:
    session = arrive_at_work(with_files())
    for slot in ("", "x", "-1", "9" * 30):
        response = skip(client, session, slot)
        assert response.status_code == 422
        assert "did not say which question" in response.content.decode()


def test_a_stranger_skips_nothing(client: Client) -> None:
    study = with_files(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    slot = next_slot(ann).pk
    assert client.post("/s/no-such-token/skip/", {"slot": slot, "images": failures(9)}).status_code == 404
    assert skip(client, ben, slot).status_code == 404
    assert client.get(f"{page_of(ann)}skip/").status_code == 405
    assert Skip.objects.count() == 0


def test_a_session_that_is_not_at_its_questions_is_led_to_where_it_is(client: Client) -> None:
    session = arrive(with_files(consent="Agree?"))
    response = skip(client, session, 1)
    assert (response.status_code, response["Location"].partition("?")[0]) == (303, page_of(session))
    assert Skip.objects.count() == 0


def test_an_answer_after_a_skip_in_another_tab_is_told_so(client: Client) -> None:
    session = arrive_at_work(with_files())
    answer = form_at(client, session) | {"choice": "1"}
    skip(client, session, answer["slot"])
    told = "You had already skipped question 1. Your answer to it is not saved. Your answer: “Image A”."
    assert told in client.post(f"{page_of(session)}answer/", answer, follow=True).content.decode()
    reply = post_json(client, session, answer).json()
    assert (reply["go"], told in reply["notices"]) == (page_of(session), True)


@pytest.mark.parametrize("instances", [1, 5])
def test_a_session_that_only_skipped_ends_with_the_code_for_review(client: Client, instances: int) -> None:
    session = arrive_at_work(with_files(instances=instances))
    for slot in responses.open_slots(session=session, limit=5):
        skip(client, session, slot.pk, 5)
    page = client.get(page_of(session)).content.decode()
    assert "This session ends here" in page
    assert "0 answers" not in page
    assert [code.outcome for code in CompletionCode.objects.all() if code.code in page] == ["left_out"]


def test_an_answer_that_is_being_changed_cannot_be_skipped(client: Client) -> None:
    session = arrive_at_work(with_files())
    post_answer(client, session)
    assert b"data-skip" not in client.get(f"{page_of(session)}change/").content


def test_the_last_skip_that_is_believed_says_what_one_more_would_do(client: Client) -> None:
    session = arrive_at_work(with_files(instances=8))
    said = []
    for slot in responses.open_slots(session=session, limit=3):
        following = skip(client, session, slot.pk, 5)["Location"]
        said.append("this session ends" in client.get(following).content.decode())
    assert said == [False, False, True]


def test_a_practice_skipped_eight_times_is_not_passed(client: Client) -> None:
    session = practising(rounds=4)
    assert b"data-skip" in client.get(page_of(session)).content
    questions = list(session.study.practice_questions.all())
    for question in questions:
        put_back(*pictures(question))
    for question in questions * 4:
        skip(client, session, question.pk)
    assert (fresh(session).state, session.first_question_at) == (SessionState.LEFT_OUT, None)
    assert "You have not failed." in client.get(page_of(session)).content.decode()


def test_an_invited_person_is_told_whom_to_tell(client: Client) -> None:
    session = arrive_at_work(with_files(instances=1))
    Session.objects.update(provider="invite")
    skip(client, session, next_slot(session).pk)
    page = client.get(page_of(session)).content.decode()
    assert "Please tell the person who invited you what happened." in page
    assert "Prolific" not in page
