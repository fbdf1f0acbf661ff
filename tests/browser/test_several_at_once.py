"""Questions that ask several things at once: answered by keyboard alone; pictures and Send in sight in any window."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response, Session
from tests.browser.stage import question_number, set_window
from tests.browser.test_accessibility import assert_accessible
from tests.contracts.stage import launched
from tests.factories import arrive_at_work

# Laptop, phones held either way, tablet.
WINDOWS = [(1366, 768), (390, 844), (360, 640), (844, 390), (768, 1024)]
STATEMENTS = [f"There are {number} things or more." for number in range(2, 10)]
CHECK = {"image": "zqxjkv_image", "captions": ["zqxjkv_caption"], "statements": STATEMENTS}
CRITERIA = ["Fits the description best", "Is nicest to look at", "Looks most like a photo"]
COMPARE = {"caption": "zqxjkv_caption", "images": ["zqxjkv_image", "zqxjkv_negative_image"], "criteria": CRITERIA}
PLACES = """() => {
  const box = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom].map(Math.round);
  };
  const all = (names) => [...document.querySelectorAll(`[data-stage] ${names}`)];
  return {
    send: box(all("[data-send]")[0]),
    frames: all(".frame").map(box),
    groups: box(all(".groups")[0]),
    scrolls: all(".groups")[0].scrollHeight > all(".groups")[0].clientHeight,
    wide: document.documentElement.scrollWidth,
    small: all("label").filter((label) => label.clientHeight < 40 || label.scrollWidth > label.clientWidth + 1).length,
  };
}"""


def at_work(page: Page, live_server: LiveServer, kind: str, ask: dict[str, Any]) -> Session:
    session = arrive_at_work(launched(kind, ask=ask), now=timezone.now())
    page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
    question_number(page)
    return session


def assert_all_in_sight(page: Page) -> None:
    """See that pictures, the groups' place and Send lie apart in every window, inside of it."""
    for width, height in WINDOWS:
        set_window(page, width, height)
        found = page.evaluate(PLACES)
        window = f"{width} x {height}: {found}"
        assert found["wide"] <= width, window
        assert not found["small"], window
        boxes = [found["send"], found["groups"], *found["frames"]]
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= width, window
            assert 0 <= top < bottom <= height, window
        for place, one in enumerate(boxes):
            for other in boxes[place + 1 :]:
                beside = one[2] <= other[0] or other[2] <= one[0]
                assert beside or one[3] <= other[1] or other[3] <= one[1], window
        # Enough to see something, and to read a statement with its answers.
        assert all(right - left >= 80 and bottom - top >= 80 for left, top, right, bottom in found["frames"]), window
        assert not found["scrolls"] or found["groups"][3] - found["groups"][1] >= 90, window


@pytest.mark.django_db(transaction=True)
def test_nine_statements_are_checked_by_keyboard_alone_and_fit_any_window(page: Page, live_server: LiveServer) -> None:
    session = at_work(page, live_server, "check", CHECK)
    assert_all_in_sight(page)
    assert_accessible(page)
    groups = page.locator("[data-stage] [data-group]")
    expect(groups).to_have_count(9)
    for digit in "123123123":
        # Digits answer the first statement without an answer, which comes into sight.
        page.keyboard.press(digit)
    expect(groups.last).to_be_in_viewport()
    # The answer to the second is another one after all: Tab goes to it, and a digit answers what has the focus.
    groups.nth(1).get_by_role("radio", checked=True).focus()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved][data-state=saved]")).to_be_visible()
    said = Response.objects.get(session=session).answer
    assert list(said.values()).count("true") == 4
    assert [said[statement] for statement in STATEMENTS] == [
        *("true", "cannot tell", "true", "false", "cannot tell", "true", "false", "cannot tell"),
    ]
    assert said["zqxjkv_caption"] == "true"


@pytest.mark.django_db(transaction=True)
def test_images_are_compared_by_letters_and_digits_and_fit_any_window(page: Page, live_server: LiveServer) -> None:
    session = at_work(page, live_server, "compare", COMPARE)
    assert_all_in_sight(page)
    assert_accessible(page)
    for key in ("a", "2", "0"):
        page.keyboard.press(key)
    page.keyboard.press("z")
    expect(page.get_by_role("dialog", name="Image A")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved][data-state=saved]")).to_be_visible()
    stored = Response.objects.get(session=session)
    first, second, same = stored.shown_order
    assert stored.answer == dict(zip(CRITERIA, (first, second, same), strict=True))
    assert {image["value"] for image in stored.images_seen} == {"1", "2"}
