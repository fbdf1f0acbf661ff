"""What the pages of the practice say: what it asks before it begins, how a round went, and when it counts."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.answering import practice
from annotation.models import Session
from studies.kinds import get_kind, posted_values
from tests.annotation.test_practice import RIGHT, WRONG, study_with_practice
from tests.annotation.test_work_pages import form_at, page_of
from tests.factories import arrive, arrive_at_work

pytestmark = pytest.mark.django_db


def value_of(session: Session, choice: str) -> tuple[int, str]:
    """Return the practice question that `session` is at and the value that `choice` has on its page."""
    session.refresh_from_db()
    asked = practice.next_question(session=session)
    assert asked is not None
    order = practice.order_for(session=session, question=asked)
    values = posted_values(get_kind(asked.kind), asked.content, order)
    return asked.pk, next(value for value, key in values.items() if key == choice)


def give(client: Client, session: Session, choice: str) -> Any:
    """Answer as the page's script does."""
    slot, value = value_of(session, choice)
    fields = {"slot": slot, "choice": value}
    return client.post(f"{page_of(session)}practice/", fields, headers={"Accept": "application/json"}).json()


def words(html: str | bytes) -> str:
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (2, "You need 2 right answers out of 3 to go on. You have 2 tries."),
        (1, "You need 1 right answer out of 3 to go on."),
        (0, ""),
    ],
)
def test_what_is_needed_and_what_failing_means_is_said_beforehand(client: Client, wanted: int, said: str) -> None:
    page = words(client.get(page_of(arrive(study_with_practice(trials=3, wanted=wanted, rounds=2)))).content)
    assert said in page
    # Practice that nobody can fail threatens with nothing.
    assert ("If you do not pass, the study ends there." in page) == (wanted > 0)


def test_the_script_learns_what_to_mark_only_after_the_answer(client: Client) -> None:
    session = arrive_at_work(study_with_practice())
    _, right = value_of(session, RIGHT)
    _, wrong = value_of(session, WRONG)
    before = client.get(page_of(session)).content.decode()
    assert "verdict" not in before
    told = give(client, session, WRONG)
    assert (told["own"], told["right"]) == (wrong, right)
    assert "Not quite. You chose Image" in words(told["told"])
    # What a reload after it shows.
    assert "Not quite" in client.get(told["address"]).content.decode()


def test_a_round_that_was_not_enough_says_how_it_went_and_what_is_needed(client: Client) -> None:
    session = arrive_at_work(study_with_practice(trials=2, wanted=2, rounds=2))
    assert "To go on" not in words(give(client, session, RIGHT)["told"])
    last = give(client, session, WRONG)
    assert "You got 1 of 2 right. You need 2 to go on, so the practice starts again." in words(last["told"])
    again = words(client.get(page_of(session)).content)
    assert "This is round 2 of 2. Last time you got 1 of 2 right; you need 2." in again
    give(client, session, WRONG)
    failed = give(client, session, WRONG)
    assert "You got 0 of 2 right. You needed 2 to go on." in words(failed["told"])


def test_passing_says_that_now_it_counts_with_scripts_and_without(client: Client) -> None:
    session = arrive_at_work(study_with_practice(trials=1, wanted=1))
    told = give(client, session, RIGHT)
    for html in (told["told"], client.get(told["address"]).content):
        assert "You got 1 of 1 right. Practice is over. Your answers count from now on." in words(html)
        (onward,) = BeautifulSoup(html, "html.parser").select("a[data-onward]")
        assert (onward["href"], onward.has_attr("autofocus")) == (page_of(session), True)


def test_the_posted_page_marks_the_own_and_the_right_answer_with_signs(client: Client) -> None:
    session = arrive_at_work(study_with_practice())
    fields = form_at(client, session) | {"choice": value_of(session, WRONG)[1]}
    page = client.post(f"{page_of(session)}practice/", fields, follow=True).content
    marks = [mark.get_text(strip=True) for mark in BeautifulSoup(page, "html.parser").select("figcaption .mark")]
    assert sorted(marks) == ["✓ Right answer", "✗ Your answer"]


def test_a_practice_answer_that_is_none_is_told_to_the_script(client: Client) -> None:
    session = arrive_at_work(study_with_practice())
    fields = form_at(client, session) | {"choice": "9"}
    refused = client.post(f"{page_of(session)}practice/", fields, headers={"Accept": "application/json"})
    assert refused.status_code == 422
    assert "Choose one of the options" in refused.json()["error"]
