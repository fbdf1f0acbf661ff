"""Nothing acknowledged twice, nothing lost: bad lines, reloads, second tabs, impatient fingers."""

from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Response, SessionState
from tests.browser.stage import Opener, answer, go_offline, picture_of, question_number, stored_pictures

ANSWERS = "**/answer/"
KEPT = "your answer is kept here, trying again"
OFFLINE = "Offline. Answers saved on this device, to be sent automatically:"
NOTHING_AHEAD = "You are offline. The next question appears when the connection is back."


def wait_for_answered(page: Page, number: int) -> None:
    expect(page.locator("[data-answered]")).to_have_text(str(number))


def unsent(page: Page) -> int:
    return int(page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('lineup:answer:')).length"))


def test_a_double_click_on_send_and_a_held_enter_key_send_one_answer_each(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)
    clicked = picture_of(page, "2")
    page.keyboard.press("2")
    page.get_by_role("button", name="Send").dblclick()
    wait_for_answered(page, 1)
    assert question_number(page) == 2
    assert stored_pictures(session) == [clicked]
    answer(page, "2")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    wait_for_answered(page, 2)
    assert question_number(page) == 3
    assert Response.objects.filter(session=session).count() == 2


def test_the_servers_clock_finds_nothing_against_answers_from_a_spell_without_a_line(
    page: Page, context: BrowserContext, at_work: Opener, settings: LazySettings, time_machine: Any
) -> None:
    settings.CHECK_TIMES = True
    time_machine.move_to(timezone.now())
    session = at_work(instances=6)
    page.clock.install()
    page.reload()
    question_number(page)

    def think(seconds: int) -> None:
        # The clock of the server first: nothing takes longer in the browser.
        time_machine.shift(timedelta(seconds=seconds))
        page.clock.run_for(seconds * 1000)

    go_offline(page)
    for number in range(1, 5):
        assert question_number(page) == number
        think(9)
        answer(page, "1")
    expect(page.locator("[data-saved]")).to_have_text(f"{OFFLINE} 4")
    think(600)
    context.set_offline(False)
    wait_for_answered(page, 4)
    for number in (5, 6):
        assert question_number(page) == number
        think(9)
        answer(page, "1")
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    session.refresh_from_db()
    assert (session.state, session.time_evidence) == (SessionState.FINISHED, None)
    assert set(Response.objects.values_list("possible_ms", flat=True)) == {None}
    assert all((ms or 0) >= 9000 for ms in Response.objects.values_list("send_ms", flat=True))


def test_without_a_connection_the_answer_is_kept_and_later_sent_once(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=6)
    go_offline(page)
    clicked = [answer(page, "1")]
    expect(page.locator("[data-saved]")).to_have_text(f"{OFFLINE} 1")
    expect(page.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
    clicked.extend(answer(page, key) for key in ("3", "2", "0"))
    expect(page.locator("[data-saved]")).to_have_text(f"{OFFLINE} 4")
    expect(page.get_by_role("heading", level=1)).to_have_text(NOTHING_AHEAD)
    assert unsent(page) == 4
    assert not Response.objects.exists()
    context.set_offline(False)
    wait_for_answered(page, 4)
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    assert question_number(page) == 5
    assert unsent(page) == 0
    assert stored_pictures(session) == clicked
    assert Response.objects.count() == 4


def test_a_reload_while_answers_are_on_their_way_loses_and_repeats_nothing(page: Page, at_work: Opener) -> None:
    session = at_work(instances=5)
    page.route(ANSWERS, lambda route: route.abort())
    clicked = [answer(page, "4")]
    expect(page.locator("[data-saved]")).to_contain_text(KEPT)
    page.reload()
    assert question_number(page) == 2
    clicked.append(answer(page, "0"))
    assert unsent(page) == 2
    page.unroute(ANSWERS)
    page.reload()
    wait_for_answered(page, 2)
    assert question_number(page) == 3
    clicked.append(answer(page, "2"))
    wait_for_answered(page, 3)
    assert stored_pictures(session) == clicked
    assert Response.objects.count() == 3


# What the worker fetches for a page cannot be held back here.
@pytest.mark.browser_context_args(service_workers="block")
def test_a_page_that_was_asked_for_before_the_answer_arrived_does_not_ask_again(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    at_work(instances=4)
    other = context.new_page()

    def bring_after_the_answer(route: Route) -> None:
        made_before = route.fetch()
        answer(page, "3")
        wait_for_answered(page, 1)
        route.fulfill(response=made_before)

    other.route(page.url, bring_after_the_answer)
    other.goto(page.url)
    assert question_number(other) == 2
    assert unsent(other) == 0
    other.unroute_all()
    answer(other, "1")
    wait_for_answered(other, 2)
    assert Response.objects.count() == 2


def test_an_answer_whose_receipt_was_lost_is_stored_once(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)
    lost: list[int] = []

    def lose_the_first_receipt(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    page.route(ANSWERS, lose_the_first_receipt)
    clicked = [answer(page, "1")]
    wait_for_answered(page, 1)
    clicked.append(answer(page, "2"))
    wait_for_answered(page, 2)
    assert lost == [200]
    assert stored_pictures(session) == clicked
    assert Response.objects.count() == 2


def test_a_server_error_keeps_the_answer_until_it_is_taken(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)
    clicked = []
    tellings: list[dict[str, Any]] = [
        {"body": "busy"},
        # As the site itself says that its database is away.
        {"json": {"error": "Everything you saved is safe."}, "headers": {"Retry-After": "10"}},
    ]
    for number, told in enumerate(tellings, start=1):
        page.route(ANSWERS, partial(Route.fulfill, status=503, **told), times=2)
        clicked.append(answer(page, "1"))
        for _ in range(2):
            expect(page.locator("[data-saved]")).to_contain_text(KEPT)
            page.evaluate("() => { window.dispatchEvent(new Event('online')); }")
        wait_for_answered(page, number)
        assert stored_pictures(session) == clicked


def test_what_answers_in_the_servers_place_is_not_believed(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)
    impostors: list[dict[str, Any]] = [
        {"status": 200, "json": {"status": "login required"}},
        {"status": 403, "json": {"error": "Blocked."}},
    ]

    def answer_in_its_place(route: Route) -> None:
        if impostors:
            route.fulfill(**impostors.pop())
        else:
            route.continue_()

    page.route(ANSWERS, answer_in_its_place)
    clicked = answer(page, "1")
    for _ in range(2):
        expect(page.locator("[data-saved]")).to_contain_text(KEPT)
        page.evaluate("() => { window.dispatchEvent(new Event('online')); }")
    wait_for_answered(page, 1)
    assert not impostors
    assert stored_pictures(session) == [clicked]


def test_an_answer_the_server_cannot_take_comes_back_with_the_reason(page: Page, at_work: Opener) -> None:
    session = at_work(instances=4)

    def refuse(route: Route) -> None:
        [submission] = parse_qs(route.request.post_data or "")["submission"]
        route.fulfill(status=422, json={"submission": submission, "error": "Choose again."})

    page.route(ANSWERS, refuse, times=1)
    answer(page, "1")
    expect(page.get_by_role("alert").filter(has_text="Choose again.")).to_be_visible()
    assert question_number(page) == 1
    clicked = [answer(page, "2"), answer(page, "3")]
    wait_for_answered(page, 2)
    assert stored_pictures(session) == clicked


# The worker would bring the page back past what is refused here.
@pytest.mark.browser_context_args(service_workers="block")
def test_every_refusal_of_a_question_that_has_left_the_page_is_named_until_it_is_dismissed(
    page: Page, at_work: Opener
) -> None:
    at_work(instances=4)
    page.route(ANSWERS, lambda route: route.abort())
    answer(page, "1")
    answer(page, "2")
    assert question_number(page) == 3
    page.unroute_all()

    def refuse(route: Route) -> None:
        [submission] = parse_qs(route.request.post_data or "")["submission"]
        route.fulfill(status=422, json={"submission": submission, "error": "Choose again."})

    page.route(ANSWERS, refuse)
    page.reload()
    told = page.locator("[data-refused] li")
    expect(told).to_have_text(["Question 1 of 4: Choose again.", "Question 2 of 4: Choose again."])
    assert question_number(page) == 1
    page.locator("[data-refused]").get_by_role("button", name="OK").click()
    expect(told).to_have_count(0)
    page.reload()
    assert question_number(page) == 1
    expect(told).to_have_count(0)


def test_the_last_answer_given_without_a_connection_still_ends_the_survey(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=1)
    context.set_offline(True)
    answer(page, "1")
    expect(page.locator("[data-saved]")).to_have_text(f"{OFFLINE} 1")
    context.set_offline(False)
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    session.refresh_from_db()
    assert session.state == SessionState.FINISHED


def test_the_back_button_shows_where_the_session_is(page: Page, arrived: Opener) -> None:
    session = arrived(instances=2)
    page.get_by_role("button", name="Start").click()
    clicked = [answer(page, "1")]
    wait_for_answered(page, 1)
    page.go_back()
    assert question_number(page) == 2
    clicked.append(answer(page, "2"))
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert stored_pictures(session) == clicked


def test_stopping_waits_for_the_answers_on_their_way(page: Page, context: BrowserContext, at_work: Opener) -> None:
    session = at_work(instances=4)
    go_offline(page)
    clicked = answer(page, "2")
    page.get_by_role("link", name="Help").click()
    page.get_by_role("link", name="Stop here").click()
    page.get_by_role("button", name="Stop here").click()
    context.set_offline(False)
    expect(page.get_by_role("heading", level=1)).to_have_text("You have stopped")
    assert stored_pictures(session) == [clicked]
    session.refresh_from_db()
    assert (session.state, session.questions_answered) == (SessionState.GIVEN_UP, 1)


def test_the_way_to_change_the_last_answer_waits_until_it_has_arrived(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=4)
    answer(page, "1")
    wait_for_answered(page, 1)
    question_number(page)
    go_offline(page)
    answer(page, "2")
    page.get_by_role("link", name="Change my last answer").click()
    context.set_offline(False)
    expect(page.get_by_text("You are changing your answer to question 2.")).to_be_visible()
    assert Response.objects.filter(session=session).count() == 2
