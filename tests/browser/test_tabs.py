"""One session in two tabs and in two browsers: which answer stands, and what the pages say of the other one."""

from typing import Any

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response
from tests.browser.stage import Opener, answer, go_offline, open_study, question_number, stored_pictures
from tests.factories import arrive_at_work

ANSWERS = "**/answer/"
SENT_AGAIN = "You answered question {} more than once. Your last answer counts."
TWO_BROWSERS = "You answered question {} in two browsers. The answer that arrived last counts."
ELSEWHERE = "You sent an answer to this question from another tab."
THE_END = "All saved. Thank you!"
ON_THEIR_WAY = """() => Object.entries(localStorage)
  .filter(([key]) => key.startsWith("lineup:answer:"))
  .map(([, answer]) => JSON.parse(answer))"""


def notices(page: Page) -> Any:
    return page.locator("[data-notices] li")


def another_tab(page: Page, context: BrowserContext) -> Page:
    tab = context.new_page()
    tab.goto(page.url)
    question_number(tab)
    return tab


def all_arrived(page: Page) -> None:
    expect(page.locator("body:not([data-unsent])")).to_have_count(1)


def at_question(page: Page, number: int) -> None:
    expect(page.locator("[data-stage] [data-heading]")).to_contain_text(f"Question {number} of")
    assert question_number(page) == number


def test_two_tabs_on_the_last_question_keep_the_answer_sent_last_and_say_so(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=2)
    answer(page, "1")
    at_question(page, 2)
    all_arrived(page)
    other = another_tab(page, context)
    first = answer(page, "2")
    expect(page.get_by_role("heading", level=1)).to_have_text(THE_END)
    assert stored_pictures(session)[1] == first
    expect(other.get_by_text(ELSEWHERE)).to_be_visible()
    last = answer(other, "n")
    expect(other.get_by_role("heading", level=1)).to_have_text(THE_END)
    told = f"{SENT_AGAIN.format(2)} Kept: “None of these”. Not kept: “Image B”."
    expect(notices(other)).to_have_text([told])
    assert stored_pictures(session)[1] == last
    # The other tab knows it as well, and what was seen in one is seen in both.
    page.reload()
    expect(notices(page)).to_have_text([told])
    expect(page.locator("[data-countdown]")).to_be_hidden()
    page.locator("[data-notices]").get_by_role("button", name="OK").click()
    expect(notices(page)).to_have_count(0)
    expect(notices(other)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(THE_END)
    expect(notices(page)).to_have_count(0)


def test_three_answers_from_a_tab_that_is_behind_are_three_named(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=6)
    other = another_tab(page, context)
    for key in ("1", "2", "3"):
        answer(page, key)
    all_arrived(page)
    go_offline(page, other)
    clicked = [answer(other, key) for key in ("4", "4", "4")]
    context.set_offline(False)
    expect(notices(other)).to_have_text(
        [f"{SENT_AGAIN.format(number)} Kept: “Image D”. Not kept: “Image {letter}”. Change it"
         for number, letter in enumerate("ABC", start=1)]
    )  # fmt: skip
    at_question(other, 4)
    assert stored_pictures(session) == clicked
    # They stay while other questions are answered.
    answer(other, "1")
    at_question(other, 5)
    expect(notices(other)).to_have_count(3)


def test_the_answer_sent_last_stands_even_if_it_arrives_first(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=3)
    other = another_tab(page, context)
    for tab in (page, other):
        tab.route(ANSWERS, lambda route: route.abort())
    answer(page, "1")
    last = answer(other, "2")
    on_its_way = max(page.evaluate(ON_THEIR_WAY), key=lambda kept: kept["at"])
    # A detour brings it before the other one.
    headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    assert httpx.post(on_its_way["action"], content=on_its_way["body"], headers=headers).json()["saved"]
    # The line comes back after the reload: a page whose answers arrive loads the next question by itself.
    page.reload()
    for tab in (page, other):
        tab.unroute_all()
    all_arrived(page)
    expect(notices(page)).to_contain_text(["Kept: “Image B”. Not kept: “Image A”."])
    assert stored_pictures(session) == [last]
    assert Response.objects.filter(session=session).count() == 1


def test_two_browsers_keep_the_answer_that_arrives_last(browser: Browser, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=4), now=timezone.now())
    laptop, phone = browser.new_context(), browser.new_context()
    try:
        pages = [device.new_page() for device in (laptop, phone)]
        for page in pages:
            page.goto(f"{live_server.url}/s/{session.token}/")
            question_number(page)
        answer(pages[0], "1")
        at_question(pages[0], 2)
        all_arrived(pages[0])
        last = answer(pages[1], "2")
        told = f"{TWO_BROWSERS.format(1)} Kept: “Image B”. Not kept: “Image A”. Change it"
        expect(notices(pages[1])).to_have_text([told])
        assert stored_pictures(session) == [last]
        # The laptop's page goes on by itself, and learns it with its next answer.
        expect(notices(pages[0])).to_have_count(0)
        answer(pages[0], "3")
        expect(notices(pages[0])).to_have_text([told])
        at_question(pages[0], 3)
    finally:
        laptop.close()
        phone.close()


def test_a_tab_that_was_closed_before_sending_leaves_its_answer_to_the_other(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=3)
    other = another_tab(page, context)
    other.route(ANSWERS, lambda route: route.abort())
    clicked = answer(other, "3")
    expect(other.locator("[data-saved]")).to_contain_text("your answer is kept here")
    other.close()
    page.reload()
    at_question(page, 2)
    all_arrived(page)
    assert stored_pictures(session) == [clicked]
    expect(notices(page)).to_have_count(0)


CLOCK_PUT_BACK = "const now = Date.now; Date.now = () => now() - 86400000;"


def test_a_clock_that_is_put_back_changes_no_order(page: Page, context: BrowserContext, at_work: Opener) -> None:
    session = at_work(instances=3)
    context.add_init_script(CLOCK_PUT_BACK)
    other = another_tab(page, context)
    answer(page, "1")
    at_question(page, 2)
    all_arrived(page)
    last = answer(other, "2")
    expect(notices(other)).to_contain_text(["Kept: “Image B”. Not kept: “Image A”."])
    assert stored_pictures(session) == [last]


def test_both_tabs_without_a_line_keep_what_was_sent_last(page: Page, context: BrowserContext, at_work: Opener) -> None:
    session = at_work(instances=3)
    other = another_tab(page, context)
    go_offline(page, other)
    answer(other, "1")
    last = answer(page, "2")
    context.set_offline(False)
    all_arrived(page)
    all_arrived(other)
    page.goto(page.url)
    at_question(page, 2)
    expect(notices(page)).to_contain_text(["Kept: “Image B”. Not kept: “Image A”."])
    assert stored_pictures(session) == [last]


NO_STORAGE = """
Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } });
Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("denied", "SecurityError"); } });
Object.defineProperty(window, "indexedDB", { get() { throw new DOMException("denied", "SecurityError"); } });
"""


def test_a_browser_that_stores_nothing_is_told_as_well(page: Page, context: BrowserContext, at_work: Opener) -> None:
    context.add_init_script(NO_STORAGE)
    session = at_work(instances=3)
    other = another_tab(page, context)
    answer(page, "1")
    at_question(page, 2)
    all_arrived(page)
    last = answer(other, "2")
    # No tab knows that the other one is in the same browser.
    expect(notices(other)).to_contain_text([TWO_BROWSERS.format(1)])
    assert stored_pictures(session) == [last]


@pytest.mark.browser_context_args(java_script_enabled=False)
def test_without_scripts_the_first_answer_stands_and_the_page_says_so(
    page: Page, context: BrowserContext, live_server: LiveServer
) -> None:
    session = arrive_at_work(open_study(instances=3), now=timezone.now())
    tabs = [page, context.new_page()]
    for tab in tabs:
        tab.goto(f"{live_server.url}/s/{session.token}/")
    for tab, value in zip(tabs, "12", strict=True):
        tab.locator(f"[data-stage] [name=choice][value='{value}']").check(force=True)
        tab.locator("[data-stage] [data-send]").click()
    first = "You had already answered question 1. Your first answer counts. Kept: “Image A”. Not kept: “Image B”."
    expect(notices(tabs[1])).to_contain_text([first])
    tabs[1].locator("[data-notices]").get_by_role("button", name="OK").click()
    expect(notices(tabs[1])).to_have_count(0)
    assert Response.objects.filter(session=session).count() == 1
