"""All of the page's scripts run, or none: then it works as without them, and the answer says why it has no measures."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response, Session
from annotation.views.offline import SHELL
from tests.browser.stage import answer, open_study, picture_of, question_number, stored_pictures
from tests.factories import arrive_at_work

ANSWERS = "**/answer/"
ROOT = Path(__file__).parents[2]
IMPORTED = re.compile(r'^import (?:.* from )?"\./(\w+)\.js";$', re.MULTILINE)


def needed_by(name: str) -> set[str]:
    """Return what a module of the page imports, and what those do."""
    found = set(IMPORTED.findall((ROOT / f"static/js/{name}.js").read_text(encoding="utf-8")))
    return found.union(*(needed_by(each) for each in found))


@pytest.mark.parametrize(("template", "entry"), [("work", "work"), ("practice", "practising"), ("end", "ending")])
def test_what_an_entry_needs_is_asked_for_with_the_page(template: str, entry: str) -> None:
    text = (ROOT / f"templates/annotation/{template}.html").read_text(encoding="utf-8")
    if "_question_scripts" in text:
        text += (ROOT / "templates/annotation/_question_scripts.html").read_text(encoding="utf-8")
    preloaded = set(re.findall(r"""modulepreload" href="{% static 'js/(\w+)\.js' %}""", text))
    assert preloaded == needed_by(entry)


def test_the_browser_keeps_all_that_the_page_of_questions_needs() -> None:
    modules = {f"js/{name}.js" for name in needed_by("work") | {"work", "gate", "early"}}
    assert set(SHELL) == modules | {"favicon.svg", "css/app.css"}


@pytest.mark.parametrize("lost", ["outbox", "images"])
def test_where_one_script_does_not_come_the_page_works_as_without_any(
    page: Page, at_work: Callable[..., Session], lost: str
) -> None:
    page.route(f"**/js/{lost}.js", lambda route: route.abort())
    session = at_work(instances=2)
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_enabled()
    clicked = []
    for number in (1, 2):
        expect(page.locator(".stage [data-heading]")).to_have_text(f"Question {number} of 2")
        clicked.append(picture_of(page, "3"))
        page.locator("[data-stage] [data-option='3'] label").click()
        expect(send).to_be_enabled()
        send.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert stored_pictures(session) == clicked
    assert set(Response.objects.values_list("unmeasured", "send_ms")) == {("scripts_lost", None)}


def test_nothing_is_sent_before_the_scripts_run_and_the_images_are_seen(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=2))
    held: list[Route] = []
    asked: list[str] = []
    page.route("**/js/work.js", lambda route: held.append(route))
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
