"""Descriptions written in a browser on a line that drops every third reply: what was sent last is stored, once."""

from typing import Any

from playwright.sync_api import Page, Route, expect

from annotation.models import Draft, Response
from tests.browser.stage import Opener, question_number
from tests.factories import make_instance, make_project

DROPPED_EVERY = 3
QUESTIONS = 6
PATIENCE_MS = 30_000


class DroppingLine:
    """Lets every request reach the server, and drops every third reply."""

    def __init__(self, page: Page) -> None:
        self.requests = self.dropped = 0
        for address in ("**/answer/", "**/draft/"):
            page.route(address, self._pass_on)

    def _pass_on(self, route: Route) -> None:
        self.requests += 1
        reply = route.fetch(max_redirects=0)
        if self.requests % DROPPED_EVERY:
            route.fulfill(response=reply)
        else:
            self.dropped += 1
            route.abort()


def type_and_send(page: Page, text: str) -> None:
    page.keyboard.press("t")
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")


def all_arrived(page: Page) -> None:
    # A locator waits through a change of pages too, while the new one has no body yet.
    expect(page.locator("body:not([data-unsent])")).to_have_count(1, timeout=PATIENCE_MS)


def test_texts_refusals_and_changes_arrive_once_though_every_third_reply_is_dropped(
    page: Page, at_work: Opener
) -> None:
    project = make_project()
    for number in range(2):
        make_instance(project, f"set-{number}", candidates=10, type="static")
    asked: dict[str, Any] = {"kind": "describe", "ask": {"images": "candidate"}, "consent": "We keep your texts."}
    session = at_work(project=project, instances=2, **asked)
    line = DroppingLine(page)
    expected: list[dict[str, Any]] = []
    for number in range(1, QUESTIONS + 1):
        expect(page.locator("[data-stage] [data-heading]")).to_contain_text(f"Question {number} of")
        assert question_number(page) == number
        text = f"The lid of thing {number} is open a little."
        if number == 2:
            type_and_send(page, "The third image from the left.")
            expect(page.locator("[data-stage] [data-error]")).to_contain_text(
                "says where an image", timeout=PATIENCE_MS
            )
        if number == 4:
            page.keyboard.press("n")
            page.keyboard.press("Enter")
            expected.append({"not_possible": True})
        else:
            type_and_send(page, text)
            expected.append({"text": text})
        all_arrived(page)
        if number == 4:
            # Something tells it apart after all.
            page.keyboard.press("u")
            page.locator("[data-stage] [name=replaces]").wait_for(state="attached")
            page.locator("[data-stage] [name=not_possible]").uncheck()
            type_and_send(page, "After all its lid is open a little.")
            expected[-1] = {"text": "After all its lid is open a little."}
            all_arrived(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!", timeout=PATIENCE_MS)
    assert line.dropped > 2
    stored = Response.objects.filter(session=session, is_current=True).order_by("slot__position")
    assert [response.answer for response in stored] == expected
    assert Response.objects.filter(session=session).count() == QUESTIONS + 1
    assert not Draft.objects.exists()
