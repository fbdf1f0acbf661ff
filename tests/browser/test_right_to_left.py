"""Enlarged images in a study whose language is read from right to left: what comes after lies to the left."""

from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.stage import SEEN, Opener, open_study, set_window
from tests.browser.test_images import WHOLE_CAPTION, phone, touch
from tests.factories import arrive_at_work, make_instance, make_project

ARABIC: dict[str, Any] = {"language": "ar", "instructions": "انظر إلى الصور."}
CAPTION = "قطة حمراء تنام على كرسي أزرق، وبجانبها كوبان أبيضان وصحن وإبريق شاي صغير. "
LETTERS = ["A", "B", "C", "D"]


def place(part: Locator) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom in the window."""
    box = part.bounding_box()
    assert box is not None
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def expect_enlarged(page: Page, letter: str) -> None:
    """See which image is enlarged, by its thumbnail."""
    expect(page.locator("#zoom[open] [data-zoom-strip] [aria-current] span")).to_have_text(letter)


def test_the_caption_stands_whole_above_and_the_strip_goes_from_right_to_left(page: Page, at_work: Opener) -> None:
    make_instance(make_project(), "one", captions={"caption": "x", "negative_caption": CAPTION * 5})
    at_work(instances=1, **ARABIC)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    page.keyboard.press("z")
    caption, stage, strip = (page.locator(f"[data-zoom-{part}]") for part in ("caption", "stage", "strip"))
    expect(caption).to_have_text((CAPTION * 5).strip())
    for width, height in ((1366, 768), (768, 1024), (390, 844)):
        set_window(page, width, height)
        assert page.evaluate(WHOLE_CAPTION), (width, height)
        assert place(caption)[3] <= place(stage)[1], (width, height)
        assert place(stage)[3] <= place(strip)[1], (width, height)
        for part in (caption, stage, strip):
            left, top, right, bottom = place(part)
            assert 0 <= left < right <= width, (width, height)
            assert 0 <= top < bottom <= height, (width, height)
        thumbs = strip.locator("button").all()
        assert [thumb.inner_text() for thumb in thumbs] == LETTERS
        lefts = [place(thumb)[0] for thumb in thumbs]
        assert lefts == sorted(lefts, reverse=True)


def test_arrows_and_buttons_go_on_to_the_left(page: Page, at_work: Opener) -> None:
    at_work(instances=1, **ARABIC)
    page.keyboard.press("z")
    expect_enlarged(page, "A")
    for key, letter in zip(["ArrowLeft"] * 2 + ["ArrowRight"] * 3, "BCBAD", strict=True):
        page.keyboard.press(key)
        expect_enlarged(page, letter)
    after, before = (page.locator(f"[data-zoom-step='{step}']") for step in ("1", "-1"))
    assert place(after)[2] <= place(before)[0]
    after.click()
    expect_enlarged(page, "A")
    # Turned round with the reading: the arrow of "after" points away from "before".
    for button in (after, before):
        assert button.locator("span").evaluate("arrow => getComputedStyle(arrow).scale") == "-1 1"


def test_the_arrows_that_flip_images_point_away_from_each_other(page: Page, at_work: Opener) -> None:
    make_instance(make_project(), "set", candidates=10, type="static")
    at_work(instances=1, kind="describe", ask={"images": "candidate"}, consent="نحفظ نصوصك.", **ARABIC)
    after, before = (page.locator(f"[data-stage] [data-frame-step='{step}']") for step in ("1", "-1"))
    assert place(after)[2] <= place(before)[0]
    for button in (after, before):
        assert button.locator("span").evaluate("arrow => getComputedStyle(arrow).scale") == "-1 1"


def test_a_swipe_to_the_right_brings_what_comes_after(browser: Browser, live_server: LiveServer) -> None:
    with phone(browser) as page:
        page.goto(f"{live_server.url}/s/{arrive_at_work(open_study(instances=1, **ARABIC)).token}/")
        page.locator(SEEN).wait_for()
        page.locator("[data-stage] [data-enlarge]").first.tap()
        fingers = page.context.new_cdp_session(page)
        expect_enlarged(page, "A")
        for letter, path in (("B", (100, 200, 300)), ("A", (300, 200, 100))):
            touch(fingers, "Start", (path[0], 400))
            for across in path[1:]:
                touch(fingers, "Move", (across, 400))
            touch(fingers, "End")
            expect_enlarged(page, letter)
