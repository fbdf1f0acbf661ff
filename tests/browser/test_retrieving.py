"""Finding one of ten images by its description: all of them in sight on a laptop, and a key for each."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Response, Session
from studies.descriptions import TARGETS, role_of
from tests.browser.stage import question_number
from tests.browser.test_layout import BOXES, overlaps
from tests.factories import make_instance, make_project

SHORT = "The cat looks up and its left paw is not on the table yet."
LONG = " ".join([SHORT, "Nobody stands behind it, and the light in the window is on.", "The cup is nearly empty."])
# On the desk of most people, the least that their browser leaves of it, and a tablet held upright.
WINDOWS = ((1366, 768), (1366, 650), (768, 1024))
# Phones held either way, and the windows of tablets and laptops enlarged to twice their size.
SMALLER = ((390, 844), (360, 640), (844, 390), (1024, 768), (384, 512), (512, 384), (640, 360), (683, 384))
BEYOND = """() => [".option", "[data-caption]", ".send .button"]
  .flatMap((part) => [...document.querySelectorAll(`[data-stage] ${part}`)])
  .map((part) => part.getBoundingClientRect())
  .filter((box) => box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth).length"""

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
def ten_images(at_work: Callable[..., Session]) -> Session:
    for number, text in enumerate((SHORT, LONG), start=1):
        make_ten(f"set-{number}", text)
    return at_work(instances=2, **RETRIEVE)


@pytest.mark.usefixtures("ten_images")
def test_description_ten_images_and_send_are_in_sight_at_once(page: Page) -> None:
    for number in (1, 2):
        assert question_number(page) == number
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(BEYOND) == 0, (width, height)
        for width, height in SMALLER if number == 1 else ():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(BEYOND) == 0, (width, height)
            assert not overlaps(page.evaluate(BOXES)["apart"]), (width, height)
            assert page.evaluate(CHOOSES), (width, height)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        expect(page.locator("[data-stage] [data-send]")).to_be_in_viewport(ratio=1)
        page.keyboard.press("1")
        page.keyboard.press("Enter")


def test_every_image_has_a_digit_and_a_letter(page: Page, at_work: Callable[..., Session]) -> None:
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


@pytest.mark.usefixtures("ten_images")
def test_enlarged_all_ten_stand_beside_each_other_and_the_keys_choose_there_too(page: Page) -> None:
    question_number(page)
    page.keyboard.press("z")
    expect(page.locator("#zoom[open] [data-zoom-strip] > *")).to_have_count(10)
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(page.locator("[data-stage] input[value='10']")).to_be_checked()
