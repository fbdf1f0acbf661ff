"""What readers may set by themselves cuts nothing off, and what has the focus is seen: WCAG 2.2, 1.4.12 and 2.4.11."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.browser.stage import question_number
from tests.contracts.conftest import put_in
from tests.contracts.stage import NAMES, launched
from tests.factories import arrive_at_work

PHONE, PHONE_ACROSS, LAPTOP, LAPTOP_AT_200 = (390, 844), (844, 390), (1366, 768), (683, 384)
# WCAG's own, of 1.4.10.
NARROWEST = (320, 256)
PAY = {"currency": "USD", "per_session": "2.00", "per_answer": "0.20"}
SPACED = """() => document.querySelectorAll("body *").forEach(({ style, localName }) => {
  style.setProperty("line-height", "1.5", "important");
  style.setProperty("letter-spacing", "0.12em", "important");
  style.setProperty("word-spacing", "0.16em", "important");
  if (localName === "p") style.setProperty("margin-bottom", "2em", "important");
})"""
# Texts wider or higher than the box that cuts them, where it cannot be scrolled; and texts over each other.
LOST = """() => {
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isHeard = (one) => getComputedStyle(one).clipPath !== "none";
  const texts = [...document.querySelectorAll("header *, main *")].filter(
    (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && isSeen(one) && !isHeard(one)
  );
  const written = texts.filter((one) => one.localName !== "textarea" && !one.closest(".visually-hidden, [inert]"));
  const boxes = written.map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [one, range.getBoundingClientRect()];
  });
  const cut = boxes.filter(([one, box]) => {
    for (let around = one; around !== document.body; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around);
      const edge = around.getBoundingClientRect();
      const isBeside = box.left < edge.left - 1 || box.right > edge.right + 1;
      const isBeyond = box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
      if ((overflowX !== "visible" && isBeside) || (["hidden", "clip"].includes(overflowY) && isBeyond)) return true;
    }
    return box.left < -1 || box.right > innerWidth + 1;
  });
  return cut.map(([one]) => one.outerHTML.slice(0, 200));
}"""
# The element that has the focus, where none of it is seen.
OBSCURED = """() => {
  const focused = document.activeElement;
  const shown = focused.closest("label") ?? focused;
  const { left, right, top, bottom } = shown.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const points = [[x, y], [left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]];
  const hits = points.map(([x, y]) => document.elementFromPoint(x, y)).filter(Boolean);
  return hits.some((hit) => shown.contains(hit)) ? null : focused.outerHTML;
}"""
WHERE = "document.activeElement === document.body ? '' : document.activeElement.outerHTML"
MOST_STOPS = 80


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in(monkeypatch)


def at_work(page: Page, live_server: LiveServer, kind: str) -> None:
    time = {"estimated_minutes": 20, "limit_minutes": 60, "more_minutes": 15}
    session = arrive_at_work(launched(kind, pay=PAY, time=time), now=timezone.now())
    page.goto(f"{live_server.url}/s/{session.token}/")
    question_number(page)


@pytest.mark.parametrize("kind", NAMES)
def test_wide_spacing_of_text_loses_nothing(page: Page, live_server: LiveServer, kind: str) -> None:
    at_work(page, live_server, kind)
    page.evaluate(SPACED)
    for width, height in (PHONE, PHONE_ACROSS, LAPTOP, LAPTOP_AT_200, NARROWEST):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(LOST) == [], (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, height)


@pytest.mark.parametrize("kind", NAMES)
def test_what_has_the_focus_is_never_hidden(page: Page, live_server: LiveServer, kind: str) -> None:
    at_work(page, live_server, kind)
    # What is said of an answer takes room too.
    page.locator("[data-stage] [data-error]").evaluate("(error) => (error.textContent = 'Not like that. '.repeat(8))")
    for width, height in (PHONE, LAPTOP_AT_200, NARROWEST):
        page.set_viewport_size({"width": width, "height": height})
        for key in ("Tab", "Shift+Tab"):
            page.evaluate("document.activeElement.blur()")
            stops = 0
            while stops < MOST_STOPS:
                page.keyboard.press(key)
                if not page.evaluate(WHERE):
                    break
                assert page.evaluate(OBSCURED) is None, (key, width, height)
                stops += 1
            assert stops >= 3, (key, width, height)
