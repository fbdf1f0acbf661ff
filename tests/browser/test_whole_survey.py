"""Whole surveys, and that what is stored is what was clicked."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response, Session, SessionState
from studies.models import CompletionCode, Outcome, Study
from tests.browser.stage import Opener, answer, come_from_prolific, picture_of, question_number, stored_pictures

CONSENT = {"consent": "You may stop at any time."}


@pytest.mark.both
def test_a_whole_survey_by_keyboard_alone(
    page: Page, live_server: LiveServer, open_study: Callable[..., Study]
) -> None:
    study = open_study(instances=5, **CONSENT)
    page.route("https://app.prolific.com/**", lambda route: route.fulfill(body="Prolific"))
    come_from_prolific(page, live_server.url, study)
    page.get_by_role("button", name="I agree", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Instructions · Which vase?")
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    clicked = []
    for number, key in enumerate(["1", "c", "0", "n", "4"], start=1):
        assert question_number(page) == number
        clicked.append(answer(page, key))
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    session = Session.objects.get()
    assert session.state == SessionState.FINISHED
    assert stored_pictures(session) == clicked
    code = CompletionCode.objects.get(study=study, outcome=Outcome.FINISHED).code
    page.get_by_role("link", name="Go back to Prolific").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"https://app.prolific.com/submissions/complete?cc={code}")


def test_a_whole_survey_by_mouse(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)
    clicked = []
    for number, value in enumerate(["2", "none", "4", "1"], start=1):
        assert question_number(page) == number
        clicked.append(picture_of(page, value))
        page.locator(f"[data-stage] [data-option='{value}'] label").click()
        page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert stored_pictures(session) == clicked


def test_a_whole_survey_without_javascript(
    browser: Browser, live_server: LiveServer, open_study: Callable[..., Study]
) -> None:
    study = open_study(instances=3, **CONSENT)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        come_from_prolific(page, live_server.url, study)
        page.get_by_role("button", name="I agree", exact=True).click()
        page.get_by_role("button", name="Start").click()
        page.get_by_role("link", name="Help").click()
        expect(page.get_by_role("heading", name="Instructions")).to_be_visible()
        page.get_by_role("link", name="Go back").click()
        clicked = []
        for value in ("3", "none", "1"):
            clicked.append(picture_of(page, value))
            page.locator(f"[data-stage] [data-option='{value}'] label").click()
            page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
        expect(page.get_by_role("link", name="Go back to Prolific")).to_be_visible()
    assert stored_pictures(Session.objects.get()) == clicked
    assert set(Response.objects.values_list("unmeasured", flat=True)) == {"no_scripts"}


def test_what_the_browser_measures_is_stored(page: Page, at_work: Opener) -> None:
    session = at_work(instances=3)
    for number in (1, 2):
        assert question_number(page) == number
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.keyboard.press("1")
        page.wait_for_timeout(60)
        page.keyboard.press("Enter")
    page.locator("[data-answered]", has_text="2").wait_for()
    first, second = Response.objects.filter(session=session).order_by("id")
    for response in (first, second):
        assert response.changes_of_mind == 2
        assert response.first_choice_ms is not None
        assert response.send_ms is not None
        assert response.first_choice_ms + 60 <= response.send_ms < 60_000
        assert response.hidden_ms == 0
        assert (response.window_width, response.window_height) == (1366, 650)
        assert [image["value"] for image in response.images_seen] == ["1", "2", "3", "4"]
        assert all(image["natural"] == [400, 400] for image in response.images_seen)
        assert all(image["failed_loads"] == 0 and image["loaded_ms"] >= 0 for image in response.images_seen)
        assert all(250 < image["shown"][0] == image["shown"][1] < 350 for image in response.images_seen)


def test_the_last_answer_can_be_changed(page: Page, at_work: Opener) -> None:
    session = at_work(instances=3)
    answer(page, "1")
    page.get_by_role("link", name="Change my last answer").click()
    expect(page.get_by_text("You are changing your answer to question 1.")).to_be_visible()
    expect(page.get_by_role("radio", name="Image A")).to_be_checked()
    changed = answer(page, "3")
    expect(page.get_by_role("heading", level=1)).to_have_text("Question 2 of 3")
    assert stored_pictures(session) == [changed]
    assert Response.objects.filter(session=session).count() == 2


@pytest.mark.parametrize("javascript", [True, False])
def test_stopping_here_asks_first_and_keeps_the_answers(
    browser: Browser, live_server: LiveServer, at_work: Opener, *, javascript: bool
) -> None:
    session = at_work(instances=3)
    with browser.new_context(java_script_enabled=javascript) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/s/{session.token}/")
        page.locator("[data-stage] [data-option='2'] label").click()
        page.get_by_role("button", name="Send").click()
        page.locator("[data-answered]", has_text="1").wait_for()
        page.get_by_role("link", name="Help").click()
        page.get_by_role("link", name="Stop here").click()
        page.get_by_role("button", name="Stop here").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("You have stopped")
    session.refresh_from_db()
    assert session.state == SessionState.GIVEN_UP
    assert len(stored_pictures(session)) == 1
