"""Finding one of ten images by its description: all of them in sight on a laptop, and a key for each."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Response, Session
from studies.descriptions import TARGETS, role_of
from tests.browser.stage import Opener, question_number, set_window
from tests.browser.test_layout import BOXES, overlaps
from tests.factories import make_instance, make_project

SHORT = "The cat looks up and its left paw is not on the table yet."
LONG = " ".join([SHORT, "Nobody stands behind it, and the light in the window is on.", "The cup is nearly empty."])
# On the desk of most people, the least that their browser leaves of it, and a tablet held upright.
WINDOWS = ((1366, 768), (1366, 650), (768, 1024))
# The window of a laptop that is enlarged to 133 percent.
SMALLER = ((1024, 768),)
# Phones held either way, and windows of tablets and laptops enlarged to twice their size: images stand in pages.
PHONES = ((390, 844), (360, 640), (844, 390))
PAGED = (*PHONES, (384, 512), (512, 384), (640, 360), (683, 384))
BEYOND = """() => [".option", "[data-caption]", ".send .button"]
  .flatMap((part) => [...document.querySelectorAll(`[data-stage] ${part}`)])
  .map((part) => part.getBoundingClientRect())
  .filter((box) => box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth).length"""

# How wide the images of the page in sight are painted.
IN_SIGHT = """() => [...document.querySelectorAll("[data-stage] .option")].flatMap((option) => {
  const box = option.getBoundingClientRect();
  if (box.left < 0 || box.right > innerWidth) return [];
  const image = option.querySelector("img");
  const [width, height] = ["width", "height"].map((name) => Number(image.getAttribute(name)));
  return [Math.round(width * Math.min(image.clientWidth / width, image.clientHeight / height))];
})"""
OVER = """() => ["[data-caption]", ".send .button", ".option"].flatMap((part) => {
  const boxes = [...document.querySelectorAll(`[data-stage] ${part}`)].map((each) => each.getBoundingClientRect());
  return boxes.filter((box) => box.top < 0 || box.bottom > innerHeight).map(() => part);
})"""

# A press on the middle of a card chooses it, however small it is.
CHOOSES = """() => [...document.querySelectorAll("[data-stage] .card-choice")].every((card) => {
  const { left, top, width, height } = card.getBoundingClientRect();
  return card.contains(document.elementFromPoint(left + width / 2, top + height / 2));
})"""


# Of some keys the image that they choose.
PLACES = {"1": 1, "9": 9, "0": 10, "a": 1, "f": 6, "i": 9, "j": 10}
RETRIEVE = {"kind": "retrieve", "ask": {"images": "candidate"}}


def make_ten(key: str, text: str) -> None:
    """Make a video of ten images, of which `text` is said."""
    about = {"captions": {role_of(1): text}, "reference": {TARGETS: [6]}}
    make_instance(make_project(), key, candidates=10, type="video", **about)


@pytest.fixture
def ten_images(at_work: Opener) -> Session:
    for number, text in enumerate((SHORT, LONG), start=1):
        make_ten(f"set-{number}", text)
    return at_work(instances=2, **RETRIEVE)


@pytest.mark.usefixtures("ten_images")
def test_description_ten_images_and_send_are_in_sight_at_once(page: Page) -> None:
    for number in (1, 2):
        assert question_number(page) == number
        for width, height in WINDOWS:
            set_window(page, width, height)
            assert page.evaluate(BEYOND) == 0, (width, height)
        for width, height in SMALLER if number == 1 else ():
            set_window(page, width, height)
            assert page.evaluate(BEYOND) == 0, (width, height)
            assert not overlaps(page.evaluate(BOXES)["apart"]), (width, height)
            assert page.evaluate(CHOOSES), (width, height)
        set_window(page, 390, 844)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)
        page.keyboard.press("1")
        page.keyboard.press("Enter")


def test_on_a_phone_images_stand_in_pages_and_are_large(page: Page, at_work: Opener) -> None:
    make_ten("set-1", SHORT)
    # As most videos and photos are.
    at_work(instances=1, size=(640, 480), **RETRIEVE)
    shown, after = page.locator("[data-stage] [data-page]"), page.get_by_role("button", name="After", exact=True)
    for width, height in PAGED:
        set_window(page, width, height)
        expect(shown).to_have_text(re.compile("^\u2066?1(\N{EN DASH}[2-4]\u2069)? of 10$"))
        assert page.evaluate(OVER) == [], (width, height)
        sizes = page.evaluate(IN_SIGHT)
        assert 1 <= len(sizes) <= 4, (width, height)
        assert min(sizes) >= (200 if (width, height) in PHONES else 120), (width, height, sizes)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)
    set_window(page, 390, 844)
    for first in (1, 3, 5, 7, 9):
        expect(shown).to_have_text(f"\u2066{first}\N{EN DASH}{first + 1}\u2069 of 10")
        if first < 9:
            after.click()
    expect(after).to_be_disabled()
    expect(page.locator("[data-stage] [data-option='10']")).to_be_in_viewport(ratio=1)
    # What a key chooses comes into sight.
    page.keyboard.press("1")
    expect(shown).to_have_text("\u20661\N{EN DASH}2\u2069 of 10")
    set_window(page, 1366, 768)
    expect(shown).to_be_hidden()


def test_a_long_description_leaves_large_images_on_a_small_phone(page: Page, at_work: Opener) -> None:
    make_ten("set-1", " ".join([LONG] * 3))
    at_work(instances=1, size=(640, 480), **RETRIEVE)
    set_window(page, 360, 640)
    assert page.evaluate(OVER) == []
    assert min(page.evaluate(IN_SIGHT)) >= 200


@pytest.mark.usefixtures("ten_images")
def test_without_scripts_all_images_stand_on_one_page_of_a_phone(page: Page, browser: Browser) -> None:
    for width, height in PHONES:
        with browser.new_context(java_script_enabled=False, viewport={"width": width, "height": height}) as context:
            plain = context.new_page()
            plain.goto(page.url)
            expect(plain.get_by_role("button", name="After", exact=True)).to_have_count(0)
            tenth = plain.get_by_role("radio", name="Image J")
            tenth.scroll_into_view_if_needed()
            place = plain.locator("[data-stage] [data-option='10']").bounding_box()
            assert place is not None
            assert 0 <= place["x"] <= place["x"] + place["width"] <= width
            assert place["width"] >= 200
            assert plain.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.usefixtures("ten_images")
def test_send_stands_on_the_chosen_image_too(page: Page) -> None:
    question_number(page)
    set_window(page, 1366, 768)
    card, here = page.locator("[data-stage] [data-option='7']"), page.locator("[data-stage] .send-here")
    expect(here).to_have_count(0)
    card.click()
    expect(card.locator(".send-here")).to_have_text("Send")
    # Screen readers and keys have one Send.
    expect(page.get_by_role("button", name="Send")).to_have_count(1)
    page.keyboard.press("2")
    expect(page.locator("[data-stage] [data-option='2'] .send-here")).to_be_visible()
    # The second click chooses nothing in the next question, whose picture is under the mouse.
    here.dblclick()
    assert question_number(page) == 2
    expect(page.locator("[data-stage] [name=choice]:checked")).to_have_count(0)
    expect(page.locator("[data-answered]")).to_have_text("1")
    assert Response.objects.get().choice == "image_2"


@pytest.mark.usefixtures("ten_images")
def test_all_ten_are_enlarged_alone_or_side_by_side_and_the_keys_choose_there_too(page: Page) -> None:
    question_number(page)
    page.keyboard.press("z")
    expect(page.locator("#zoom[open] [data-zoom-strip] > *")).to_have_count(10)
    page.keyboard.press("s")
    expect(page.get_by_role("dialog", name="Image A | Image B")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("dialog", name="Image A | Image C")).to_be_visible()
    boxes = [page.locator(f"#zoom [data-{which}]").bounding_box() for which in ("kept", "current")]
    assert all(boxes)
    (left, right) = boxes
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    assert left["width"] > 500
    # The way back goes on around the one that stays.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("dialog", name="Image A | Image J")).to_be_visible()
    page.get_by_role("button", name="Choose this image").click()
    expect(page.locator("[data-stage] [name=choice][value='10']")).to_be_checked()
    page.keyboard.press("s")
    expect(page.get_by_role("dialog", name="Image J", exact=True)).to_be_visible()
    page.keyboard.press("9")
    expect(page.locator("[data-stage] input[value='9']")).to_be_checked()
    # Here too it is the tenth image, not the size of the whole one.
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(page.locator("[data-stage] input[value='10']")).to_be_checked()


def test_every_image_has_a_digit_and_a_letter(page: Page, at_work: Opener) -> None:
    for number in range(1, len(PLACES) + 1):
        make_ten(f"set-{number}", SHORT)
    session = at_work(instances=len(PLACES), **RETRIEVE)
    for number, (key, place) in enumerate(PLACES.items(), start=1):
        assert question_number(page) == number
        page.keyboard.press(key)
        expect(page.locator(f"[data-stage] [name=choice][value='{place}']")).to_be_checked()
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("All saved. Thank you!")
    # In a video the place is the one in time.
    stored = Response.objects.filter(session=session).order_by("slot__position").values_list("choice", flat=True)
    assert list(stored) == [f"image_{place}" for place in PLACES.values()]
