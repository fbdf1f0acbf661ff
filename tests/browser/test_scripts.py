"""All of the page's scripts run, or none: then it works as without them, and the answer says why it has no measures."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response
from annotation.views.offline import SHELL
from tests.browser.stage import Opener, answer, open_study, picture_of, question_number, stored_pictures
from tests.factories import arrive_at_work

ANSWERS = "**/answer/"
ROOT = Path(__file__).parents[2]
ENTRY = "**/js/whole/work.js"
# Instead of the page's file of scripts: no connection, a proxy's error, a portal's page, half of it.
LOSSES: dict[str, Callable[[Route], None]] = {
    "refused": lambda route: route.abort(),
    "busy": lambda route: route.fulfill(status=502, body="Bad gateway", content_type="text/html"),
    "portal": lambda route: route.fulfill(status=200, body="<h1>Welcome</h1>", content_type="text/html"),
    "cut": lambda route: route.fulfill(body=half_of_it(), content_type="text/javascript"),
}


def half_of_it() -> str:
    text = (ROOT / "static/js/whole/work.js").read_text(encoding="utf-8")
    return text[: len(text) // 2]


def asked_for(template: str) -> set[str]:
    """Return the scripts and styles that a page asks for, by the templates that it is made of."""
    texts = [(ROOT / f"templates/{name}.html").read_text(encoding="utf-8") for name in ("base", template)]
    return {name for text in texts for name in re.findall(r"""{% static '([^']+)' %}""", text)}


def test_the_browser_keeps_all_that_the_page_of_questions_needs() -> None:
    # Each page of a sitting sets the colours wished for before it is painted.
    assert set(SHELL) == asked_for("annotation/work") | {"js/early.js"}


def test_where_the_scripts_do_not_come_the_page_works_as_without_any(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=len(LOSSES)))
    address = f"{live_server.url}/s/{session.token}/"
    send = page.get_by_role("button", name="Send")
    clicked = []
    for number, (loss, lose) in enumerate(LOSSES.items(), start=1):
        page.unroute_all()
        page.route(ENTRY, lose)
        page.goto(address, wait_until="domcontentloaded")
        expect(page.locator("html"), loss).to_have_attribute("data-scripts", "lost")
        expect(send, loss).to_be_enabled()
        expect(page.locator(".stage [data-heading]"), loss).to_have_text(f"Question {number} of {len(LOSSES)}")
        clicked.append(picture_of(page, "3"))
        page.locator("[data-stage] [data-option='3'] label").click()
        expect(send, loss).to_be_enabled()
        send.click()
        # The page that answers is as good as the first.
        if number < len(LOSSES):
            expect(page.locator(".stage [data-heading]"), loss).to_have_text(f"Question {number + 1} of {len(LOSSES)}")
            expect(send, loss).to_be_enabled()
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert stored_pictures(session) == clicked
    assert set(Response.objects.values_list("unmeasured", "send_ms")) == {("scripts_lost", None)}


def test_nothing_is_sent_before_the_scripts_run_and_the_images_are_seen(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=2))
    held: list[Route] = []
    asked: list[str] = []
    page.route(ENTRY, lambda route: held.append(route))
    page.on("request", lambda request: asked.append(request.method))
    page.goto(f"{live_server.url}/s/{session.token}/", wait_until="commit")
    page.locator("[data-stage] [data-option='none'] label").click()
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    expect(send).to_have_accessible_description("The page is still loading.")
    page.locator("[data-stage] [name=choice][value=none]").press("Enter")
    page.evaluate("document.querySelector('[data-stage] form, form[data-question]').requestSubmit()")
    assert "POST" not in asked
    held[0].continue_()
    assert question_number(page) == 1
    answer(page, "0")
    expect(page.locator("[data-answered]")).to_have_text("1")
    stored = Response.objects.get()
    assert (stored.choice, stored.unmeasured) == ("none", "")
    assert stored.send_ms is not None


# The worker would bring the scripts past what loses them.
@pytest.mark.browser_context_args(service_workers="block")
def test_a_change_without_scripts_comes_after_what_the_same_browser_changed_before(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=2)
    answer(page, "1")
    expect(page.locator("[data-answered]")).to_have_text("1")
    plain = context.new_page()
    plain.route(ENTRY, LOSSES["refused"])
    plain.goto(f"{page.url}change/")
    expect(plain.locator("html")).to_have_attribute("data-scripts", "lost")
    # Meanwhile, in the tab that has its scripts.
    page.get_by_role("link", name="Change my last answer").click()
    expect(page.get_by_text("You are changing")).to_be_visible()
    answer(page, "2")
    expect(page.locator("[data-stage] [data-heading]")).to_have_text("Question 2 of 2")
    last = picture_of(plain, "3")
    plain.locator("[data-stage] [data-option='3'] label").click()
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator("[data-stage] [data-heading]")).to_have_text("Question 2 of 2")
    assert stored_pictures(session) == [last]
    assert Response.objects.filter(session=session).count() == 3


# The worker would bring the scripts past what loses them.
@pytest.mark.browser_context_args(service_workers="block")
def test_an_answer_without_scripts_comes_after_what_was_on_its_way_when_its_page_was_asked_for(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=2)
    held: list[Route] = []
    page.route(ANSWERS, lambda route: held.append(route))
    answer(page, "1")
    assert question_number(page) == 2
    plain = context.new_page()
    plain.route(ENTRY, LOSSES["refused"])
    plain.goto(page.url)
    expect(plain.locator("html")).to_have_attribute("data-scripts", "lost")
    expect(plain.locator(".stage [data-heading]")).to_have_text("Question 1 of 2")
    held[0].continue_()
    expect(page.locator("[data-answered]")).to_have_text("1")
    last = picture_of(plain, "3")
    plain.locator("[data-stage] [data-option='3'] label").click()
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator("[data-stage] [data-heading]")).to_have_text("Question 2 of 2")
    assert stored_pictures(session) == [last]
    assert list(Response.objects.order_by("version").values_list("version", flat=True)) == [1, 2]


@pytest.mark.browser_context_args(service_workers="block")
def test_of_three_tabs_the_last_send_stands_whether_its_scripts_came_or_not(
    page: Page, context: BrowserContext, at_work: Opener
) -> None:
    session = at_work(instances=2)
    behind, plain = context.new_page(), context.new_page()
    plain.route(ENTRY, LOSSES["refused"])
    for tab in (behind, plain):
        tab.goto(page.url)
        expect(tab.locator("[data-stage] [data-heading]")).to_have_text("Question 1 of 2")
    expect(plain.locator("html")).to_have_attribute("data-scripts", "lost")
    answer(page, "1")
    expect(page.locator("[data-answered]")).to_have_text("1")
    answer(behind, "2")
    expect(behind.locator("[data-notices] li")).to_contain_text(["Kept: “Image B”. Not kept: “Image A”."])
    last = picture_of(plain, "3")
    plain.locator("[data-stage] [data-option='3'] label").click()
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator("[data-notices] li")).to_contain_text(["Not kept: “Image A”.", "Not kept: “Image B”."])
    assert stored_pictures(session) == [last]
