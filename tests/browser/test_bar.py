"""The bar on top: what it says stands apart in every window, and none of it lies over a question."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.stage import Opener, answer, open_study, question_number, set_window
from tests.browser.test_layout import overlaps
from tests.factories import arrive_at_work

# Phones held either way, a tablet, laptops.
WINDOWS = [(360, 640), (390, 844), (844, 390), (768, 1024), (1024, 768), (1366, 768)]
# More words than most: what is paid for the sitting, and besides for each answer.
PAY = {"currency": "USD", "per_session": "2.00", "per_answer": "0.20"}
TIME = {"estimated_minutes": 20, "limit_minutes": 60, "more_minutes": 15}
# What the bar holds a place for counts too, said yet or not.
PARTS = """() => {
  const parts = [...document.querySelectorAll(".bar p:not(:has(a)), .bar p > span, .bar a, .bar form")];
  const isSaid = (part) => part.textContent.trim() && !part.closest(".visually-hidden");
  const boxes = parts.filter(isSaid).map((part) => [part.textContent.trim(), part.getBoundingClientRect()]);
  const are = boxes.filter(([, { width, height }]) => width > 1 && height > 1);
  return are.map(([said, { left, top, right, bottom }]) => [said, ...[left, top, right, bottom].map(Math.round)]);
}"""
BAR_HEIGHT = "Math.round(document.querySelector('.bar').getBoundingClientRect().height)"


def assert_parts_apart(page: Page, width: int) -> list[Any]:
    parts: list[Any] = page.evaluate(PARTS)
    assert len(parts) >= 4
    assert not overlaps(parts), (width, parts)
    assert all(0 <= left < right <= width for _, left, _, right, _ in parts), (width, parts)
    return parts


@pytest.mark.browser_context_args(has_touch=True, is_mobile=True)
def test_a_long_pay_pushes_nothing_off_the_rows_of_the_bar(page: Page, at_work: Opener) -> None:
    at_work(instances=4, pay=PAY, time=TIME)
    set_window(page, 390, 844)
    assert question_number(page) == 1
    before = page.evaluate(BAR_HEIGHT)
    answer(page, "1")
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    assert page.evaluate(BAR_HEIGHT) == before
    for width, height in WINDOWS:
        set_window(page, width, height)
        parts = {said.split("\n")[0]: box for said, *box in assert_parts_apart(page, width)}
        (changed,) = (box for said, box in parts.items() if said.startswith("Change my last answer"))
        assert abs(sum(parts["Help"][1::2]) - sum(changed[1::2])) <= 4, (width, parts)
        # Two rows to press and to read, on a phone.
        assert page.evaluate(BAR_HEIGHT) <= 96, width


def test_until_when_a_place_is_kept_has_a_place_without_scripts(browser: Browser, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=4, pay=PAY, time=TIME))
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/s/{session.token}/")
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            parts = assert_parts_apart(page, width)
            assert any(said.startswith("Your place is kept until") for said, *_ in parts)


def test_what_was_sent_by_choosing_is_said_over_nothing(page: Page, at_work: Opener) -> None:
    windows = [(360, 640), (844, 390), (768, 1024), (1366, 768), (640, 360)]
    at_work(instances=len(windows) + 1, answering={"one_action": "on"}, pay=PAY, time=TIME)
    assert question_number(page) == 1
    before = {}
    for width, height in windows:
        set_window(page, width, height)
        before[width, height] = page.evaluate(BAR_HEIGHT)
    note = page.locator("[data-sent-note]")
    for number, (width, height) in enumerate(windows, start=1):
        set_window(page, width, height)
        page.keyboard.press("0")
        expect(page.locator("[data-stage] [data-heading]")).to_contain_text(f"Question {number + 1} of")
        expect(note).to_be_visible()
        assert question_number(page) == number + 1
        assert_parts_apart(page, width)
        assert page.evaluate(BAR_HEIGHT) == before[width, height], (width, height)
        box = note.bounding_box()
        assert box is not None
        stage = page.locator("[data-stage]").bounding_box()
        assert stage is not None
        assert box["y"] + box["height"] <= stage["y"] + 1, (width, height)
    page.keyboard.press("u")
    expect(page.get_by_text(f"You are changing your answer to question {len(windows)}.")).to_be_visible()


def test_help_stays_in_the_window_in_type_of_twice_the_size(page: Page, at_work: Opener) -> None:
    at_work(instances=2, pay={"currency": "USD", "per_session": "2.00"}, time={"estimated_minutes": 40})
    assert question_number(page) == 1
    page.locator("html").evaluate('(page) => (page.style.fontSize = "200%")')
    for width, height in ((1366, 768), (1024, 768), (390, 844)):
        set_window(page, width, height)
        expect(page.get_by_role("link", name="Help")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
