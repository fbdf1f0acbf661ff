"""Colours, contrast and text size, as the device asks or as chosen on it; and what helps to read breaks nothing."""

from playwright.sync_api import Page, Route, expect

from tests.browser.stage import Opener, question_number, set_window
from tests.browser.test_accessibility import assert_accessible
from tests.browser.test_layout import BOXES, overlaps

GROUND = "getComputedStyle(document.body).backgroundColor"
TEXT = "getComputedStyle(document.documentElement).fontSize"
WHITE, BLACK, LIGHT, DARK = "rgb(255, 255, 255)", "rgb(0, 0, 0)", "rgb(250, 248, 244)", "rgb(25, 24, 22)"
# WCAG 2.2, 1.4.12: what readers may set by themselves.
SPACING = """() => document.querySelectorAll("[data-stage] *").forEach(({ style }) => {
  style.setProperty("line-height", "1.5", "important");
  style.setProperty("letter-spacing", "0.12em", "important");
  style.setProperty("word-spacing", "0.16em", "important");
})"""
OUTLINED = """() => {
  const card = document.querySelector("[data-stage] .card-choice:has(:checked)");
  const parts = [card.querySelector(".frame"), card.querySelector(".choice")];
  return parts.map((part) => getComputedStyle(part).borderTopWidth);
}"""
# The names of all movements that are going on.
MOVING = """() => [...new Set(document.getAnimations().map((one) => one.animationName ?? one.transitionProperty))]"""
SIGN = "getComputedStyle(document.querySelector('[data-stage] .choice:has(:checked)'), '::before').content"


def wish(page: Page, **settings: str) -> None:
    """Come back to the page on a device that remembers `settings`."""
    page.evaluate("(wished) => localStorage.setItem('lineup:comfort', JSON.stringify(wished))", settings)
    page.reload()
    question_number(page)


def test_the_page_looks_as_wished_on_this_device(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(GROUND) == LIGHT
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(GROUND) == DARK
    page.emulate_media(color_scheme="dark", contrast="more")
    assert page.evaluate(GROUND) == BLACK
    page.emulate_media(color_scheme="dark", contrast="no-preference")
    # What is chosen has a sign and a border besides its colour.
    page.keyboard.press("2")
    assert "✓" in page.evaluate(SIGN)
    page.emulate_media(forced_colors="active")
    assert page.evaluate(OUTLINED) == ["4px", "4px"]
    page.emulate_media(forced_colors="none")
    wish(page, theme="light", contrast="more", text="150")
    assert page.evaluate(GROUND) == WHITE
    assert page.evaluate(TEXT) == "24px"
    assert_accessible(page)
    page.emulate_media(color_scheme="light")
    wish(page, theme="dark", contrast="more")
    assert page.evaluate(GROUND) == BLACK
    assert_accessible(page)


def test_what_is_clicked_under_comfort_is_seen_at_once_and_kept(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    page.emulate_media(color_scheme="light")
    page.get_by_role("link", name="Help").click()
    comfort = page.get_by_role("group", name="Comfort")
    for legend, name in (("Colours", "Dark"), ("Contrast", "High"), ("Text size", "150 %")):
        comfort.get_by_role("group", name=legend).get_by_role("radio", name=name, exact=True).click()
    assert (page.evaluate(GROUND), page.evaluate(TEXT)) == (BLACK, "24px")
    page.reload()
    question_number(page)
    assert (page.evaluate(GROUND), page.evaluate(TEXT)) == (BLACK, "24px")
    page.get_by_role("link", name="Help").click()
    for name in ("Dark", "High", "150 %"):
        expect(comfort.get_by_role("radio", name=name)).to_be_checked()
    # Back to what the device asks for, which is kept as well.
    for legend, name in (("Colours", "As on this device"), ("Contrast", "As on this device"), ("Text size", "100 %")):
        comfort.get_by_role("group", name=legend).get_by_role("radio", name=name, exact=True).click()
    assert (page.evaluate(GROUND), page.evaluate(TEXT)) == (LIGHT, "16px")
    page.reload()
    question_number(page)
    assert (page.evaluate(GROUND), page.evaluate(TEXT)) == (LIGHT, "16px")


def test_nothing_moves_where_the_device_asks_for_less_motion(page: Page, at_work: Opener) -> None:
    held: list[Route] = []
    page.route("**/images/*/*", lambda route: held.append(route))
    at_work(instances=2, is_seen=False)
    page.locator("[data-stage] [data-loading]").first.wait_for()
    assert page.evaluate(MOVING) == ["turn"]
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == []


def test_large_text_and_wide_spacing_cut_nothing_off(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    wish(page, text="150")
    for width, height in ((360, 640), (640, 360), (1366, 650)):
        set_window(page, width, height)
        seen = page.evaluate(BOXES)
        assert seen["wide"] == width
        assert not seen["tooWide"]
        assert not overlaps(seen["apart"])
        page.locator("[data-stage] [data-send]").scroll_into_view_if_needed()
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)
    wish(page)
    page.evaluate(SPACING)
    for width, height in ((360, 640), (1366, 650)):
        set_window(page, width, height)
        seen = page.evaluate(BOXES)
        assert not seen["tooWide"]
        assert not overlaps(seen["apart"])
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)


def test_send_is_readable_under_the_pointer_while_it_is_disabled(page: Page, at_work: Opener) -> None:
    """Its soft text on the strong green of the hover had a contrast of 1.6 to 1."""
    at_work(instances=1)
    send = page.locator("[data-stage] [data-send]")
    send.evaluate("(button) => { button.disabled = true; }")
    send.hover(force=True)
    expect(send).to_have_css("background-color", "rgba(0, 0, 0, 0)")
