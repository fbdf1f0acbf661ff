"""Describing one of ten similar images in a browser: flipped through and written by keyboard, with nothing lost."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

import PIL.Image
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Draft, Response, Session
from tests.browser.stage import (
    Opener,
    assert_no_wider_than_the_window,
    go_offline,
    picture_at,
    question_number,
    set_window,
)
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_instance, make_project

TEXT = "The man in blue looks at his left hand."
DRAFTS = "**/draft/"
FRAME = "[data-stage] [data-one-frame]"
# Of what can be pressed, what lies under something else, or outside of the window, near its upper or its lower edge.
UNDER_OTHERS = """() => {
  const isUnder = (part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const isSeen = (y) => part.contains(document.elementFromPoint((left + right) / 2, y));
    return ![top + 3, bottom - 3].every(isSeen);
  };
  const pressed = [...document.querySelectorAll("[data-stage] :is(textarea, label, [data-send])")];
  return pressed.filter(isUnder).map((part) => part.outerHTML);
}"""


@pytest.fixture
def describing(at_work: Opener) -> Opener:
    """Return what brings the page to the first description of a set of ten images."""

    def begun(*, type: str = "static", **wanted: Any) -> Session:
        project = make_project()
        make_instance(project, "set", candidates=10, type=type)
        asked = {"kind": "describe", "ask": {"images": "candidate"}, "consent": "We keep your texts."}
        return at_work(project=project, instances=1, **asked | wanted)

    return begun


@contextmanager
def elsewhere(browser: Browser, address: str, **settings: Any) -> Iterator[Page]:
    """Another device at the same address."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, **settings)
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def field(page: Page) -> Locator:
    return page.locator("[data-stage] textarea")


def current(page: Page) -> int:
    """Return the place of the image that is shown, from 1, as all parts of the page agree on it."""
    places = page.locator(FRAME).evaluate_all(
        """(all) => all.map((frame, place) => [place + 1, frame.inert, getComputedStyle(frame).opacity === "1"])
            .filter(([, , isSeen]) => isSeen)"""
    )
    ((place, is_inert, _),) = places
    assert not is_inert
    assert page.locator("[data-stage] [data-frame-slider]").input_value() == str(place)
    assert page.locator("[data-stage] [data-frame-strip] [aria-current]").get_attribute("data-frame-to") == str(
        place - 1
    )
    return int(place)


def marked(page: Page) -> int:
    places = page.locator(FRAME).evaluate_all("(all) => all.findIndex((frame) => 'marked' in frame.dataset) + 1")
    return int(places)


def names(page: Page) -> list[str]:
    """Return the names of the pictures that can be seen."""
    return [
        str(name) for name in page.locator(f"{FRAME}:not([inert]) img").evaluate_all("(all) => all.map((i) => i.alt)")
    ]


@contextmanager
def draft_saved(page: Page, text: str) -> Iterator[None]:
    """Wait until the server has the whole `text`, written in the block: whoever types slowly has a part of it sent
    before. The page is made to send at once what it would send some time later."""

    def is_it(response: Any) -> bool:
        written = parse_qs(response.request.post_data or "").get("text", [""])[0]
        return bool(response.url.endswith("/draft/") and response.ok and written == text)

    with page.expect_response(is_it):
        yield
        page.evaluate("() => { window.dispatchEvent(new Event('online')); }")


def test_an_image_is_described_by_keyboard_alone(page: Page, describing: Opener) -> None:
    session = describing(type="video")
    assert question_number(page) == 1
    target = marked(page)
    assert current(page) == target
    assert names(page) == [f"Image {target}, the target"]
    expect(page.locator(f"{FRAME}[data-marked] figcaption")).to_have_text("★ Target")
    page.keyboard.press("ArrowRight")
    assert current(page) == target % 10 + 1
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    assert current(page) == (target - 2) % 10 + 1
    page.keyboard.press("s")
    beside = (target - 2) % 10 + 1
    assert set(names(page)) == {f"Image {target}, the target", f"Image {beside}"}
    # Past the target, which stands there already.
    page.keyboard.press("ArrowRight")
    assert set(names(page)) == {f"Image {target}, the target", f"Image {target % 10 + 1}"}
    page.keyboard.press("m")
    assert current(page) == target
    send = page.locator("[data-stage] [data-send]")
    expect(page.locator("[data-stage] [data-hint]")).to_have_text(
        "Write a description first, or say that it is not possible."
    )
    page.keyboard.press("t")
    page.keyboard.type("msst1n?")
    # Keys of the page do nothing while one types, and arrows move the caret.
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    assert current(page) == target
    page.keyboard.type("xx")
    expect(field(page)).to_have_value("xxmsst1n?")
    expect(page.locator("[data-stage] [data-hint]")).to_have_text("Characters still missing: 4.")
    expect(send).to_be_disabled()
    page.keyboard.press("Control+a")
    page.keyboard.type(TEXT)
    expect(send).to_be_enabled()
    page.keyboard.press("Escape")
    expect(field(page)).not_to_be_focused()
    page.keyboard.press("ArrowRight")
    assert current(page) == target % 10 + 1
    page.keyboard.press("Enter")
    expect(page.locator("[data-answered]")).to_have_text("1")
    assert question_number(page) == 2
    stored = Response.objects.get(session=session)
    assert stored.answer == {"text": TEXT}
    assert stored.shown_order == [f"candidate-{place}" for place in range(10)]
    assert len(stored.images_seen) == 10
    assert stored.writing is not None
    # Seven, two and the text; keys that move the caret, or choose all, write nothing.
    assert stored.writing["keys"] == 9 + len(TEXT)
    assert (stored.writing["pastes"], stored.writing["pasted"]) == (0, [])
    assert stored.writing["from_first_key_ms"] > 0


def test_not_possible_is_one_key_and_sent_from_the_text_too(page: Page, describing: Opener) -> None:
    session = describing()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator("[data-answered]")).to_have_text("1")
    question_number(page)
    page.keyboard.press("t")
    page.keyboard.type(TEXT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-answered]")).to_have_text("2")
    answers = Response.objects.filter(session=session).order_by("pk").values_list("answer", flat=True)
    assert list(answers) == [{"not_possible": True}, {"text": TEXT}]


def test_images_of_a_static_set_stand_as_they_are_stored_with_the_answer(page: Page, describing: Opener) -> None:
    session = describing()
    shown = [
        picture_at(src)
        for src in page.locator(f"{FRAME} img").evaluate_all("(all) => all.map((image) => image.getAttribute('src'))")
    ]
    field(page).fill(TEXT)
    page.locator("[data-stage] [data-send]").click()
    expect(page.locator("[data-answered]")).to_have_text("1")
    stored = Response.objects.get(session=session)
    pictures = {image["key"]: image["image"] for image in stored.question.content["images"]}
    assert [pictures[key] for key in stored.shown_order] == shown


def test_a_flip_shows_the_next_picture_in_the_frame_that_follows_and_never_none(page: Page, describing: Opener) -> None:
    describing()
    # Every frame that is painted notes which pictures are to be seen in it, and whether they are decoded.
    page.evaluate(
        """() => {
          window.painted = [];
          const look = () => {
            const all = [...document.querySelectorAll("[data-stage] [data-one-frame]")];
            const seen = all.filter((frame) => getComputedStyle(frame).opacity === "1");
            window.painted.push(seen.map((frame) => {
              const image = frame.querySelector("img");
              return [all.indexOf(frame), image.complete && image.naturalWidth > 0 && image.decoding === "sync"];
            }));
            requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }"""
    )
    before = current(page) - 1
    for step in range(1, 26):
        page.keyboard.press("ArrowRight")
        assert current(page) - 1 == (before + step) % 10
    painted = page.evaluate("window.painted")
    assert painted
    assert all(len(seen) == 1 and seen[0][1] for seen in painted)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        assert_painted(page)


def assert_painted(page: Page) -> None:
    """Look at the pixels: the picture that should be seen is, in the two colours that its name spells."""
    frame = page.locator(f"{FRAME}[data-current] .frame")
    source = frame.locator("img").get_attribute("src") or ""
    name = bytes.fromhex(picture_at(source))
    picture = PIL.Image.open(BytesIO(frame.screenshot())).convert("RGB")
    middle = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(middle, tuple)
    # WebP changes colours a little.
    assert all(abs(seen - drawn) < 12 for seen, drawn in zip(middle, name[3:6], strict=True))


def test_slider_thumbnails_a_held_arrow_and_a_finger_that_swipes_lead_through_the_images(
    page: Page, describing: Opener
) -> None:
    describing()
    page.locator("[data-stage] [data-frame-strip] button").nth(6).click()
    assert current(page) == 7
    page.locator("[data-stage] [data-frame-slider]").focus()
    page.keyboard.press("Home")
    assert current(page) == 1
    page.keyboard.press("ArrowRight")
    assert current(page) == 2
    page.locator("[data-stage] [data-heading]").focus()
    for _ in range(4):
        page.keyboard.down("ArrowRight")
    page.keyboard.up("ArrowRight")
    assert current(page) == 6
    page.keyboard.press("z")
    expect(page.locator("#zoom [data-zoom-title]")).to_have_text(re.compile("^Image 6"))
    page.keyboard.press("Escape")
    # A finger that moves down scrolls.
    before = current(page)
    for across, down, steps in ((-120, 10, 1), (120, -10, 0), (-20, 0, 0), (-90, 200, 0)):
        page.locator(f"{FRAME}[data-current] .frame").evaluate(
            """(frame, [across, down]) => {
              const finger = { pointerType: "touch", isPrimary: true, bubbles: true, clientX: 200, clientY: 300 };
              frame.dispatchEvent(new PointerEvent("pointerdown", finger));
              const up = { ...finger, clientX: 200 + across, clientY: 300 + down };
              frame.dispatchEvent(new PointerEvent("pointerup", up));
            }""",
            [across, down],
        )
        assert current(page) == (before + steps - 1) % 10 + 1


def test_on_a_phone_held_across_the_image_has_the_room_of_the_thumbnails(page: Page, describing: Opener) -> None:
    describing()
    set_window(page, 844, 390)
    expect(page.locator("[data-stage] [data-frame-strip]")).to_be_hidden()
    frame = page.locator(f"{FRAME}[data-current]").bounding_box()
    assert frame is not None
    assert frame["height"] >= 240
    set_window(page, 1366, 768)
    expect(page.locator("[data-stage] [data-frame-strip]")).to_be_visible()


def test_a_refused_text_comes_back_with_the_reason_and_can_be_mended(page: Page, describing: Opener) -> None:
    session = describing()
    target = marked(page)
    field(page).fill("The third image from the left.")
    page.locator("[data-stage] [data-send]").click()
    error = page.locator("[data-stage] [data-error]")
    expect(error).to_contain_text("“third image” says where an image is.")
    expect(field(page)).to_have_value("The third image from the left.")
    assert question_number(page) == 1
    assert marked(page) == target
    assert not Response.objects.filter(session=session).exists()
    # One goes on writing where one was.
    expect(field(page)).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(TEXT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-answered]")).to_have_text("1")
    assert Response.objects.get(session=session).answer == {"text": TEXT}


def test_what_is_said_of_a_refused_text_covers_nothing_that_can_be_pressed(page: Page, describing: Opener) -> None:
    describing(pay={"currency": "USD", "per_session": "2.00", "per_answer": "0.20"})
    for width, height in ((390, 844), (360, 640), (768, 1024), (844, 390), (640, 360)):
        set_window(page, width, height)
        # The page comes anew, so that nothing is brought into sight but by what is done here.
        page.reload()
        question_number(page)
        expect(field(page)).to_have_value("")
        assert page.evaluate(UNDER_OTHERS) == [], (width, height)
        field(page).fill("The third image from the left.")
        page.locator("[data-stage] [data-send]").click()
        expect(page.locator("[data-stage] [data-error]")).to_contain_text("says where an image is.")
        expect(field(page)).to_be_focused()
        assert page.evaluate(UNDER_OTHERS) == [], (width, height)
        field(page).fill("")


def test_a_draft_survives_a_reload_another_device_and_goes_with_its_answer(
    page: Page, browser: Browser, live_server: LiveServer, describing: Opener
) -> None:
    session = describing()
    address = f"{live_server.url}/s/{session.token}/"
    page.keyboard.press("t")
    page.keyboard.type("The man in")
    # At once: nothing has been sent yet.
    page.route(DRAFTS, lambda route: route.abort())
    page.reload()
    question_number(page)
    expect(field(page)).to_have_value("The man in")
    page.unroute(DRAFTS)
    page.locator("[data-stage] textarea").press("End")
    with draft_saved(page, "The man in blue"):
        page.keyboard.type(" blue")
    with elsewhere(browser, address) as phone:
        question_number(phone)
        expect(field(phone)).to_have_value("The man in blue")
        with draft_saved(phone, "The man in blue looks at his hand"):
            field(phone).press("End")
            phone.keyboard.type(" looks at his hand")
    page.reload()
    question_number(page)
    # What was written last, wherever that was.
    expect(field(page)).to_have_value("The man in blue looks at his hand")
    field(page).fill(TEXT)
    page.locator("[data-stage] [data-send]").click()
    expect(page.locator("[data-answered]")).to_have_text("1")
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    question_number(page)
    expect(field(page)).to_have_value("")
    page.reload()
    question_number(page)
    expect(field(page)).to_have_value("")
    assert not Draft.objects.filter(slot__answered_at__isnull=False).exists()
    assert Response.objects.get(session=session).answer == {"text": TEXT}
    assert "lineup:draft" not in " ".join(page.evaluate("Object.keys(localStorage)"))


def test_a_draft_written_without_a_line_is_sent_when_it_is_back(
    page: Page, context: BrowserContext, describing: Opener
) -> None:
    session = describing()
    go_offline(page)
    page.keyboard.press("t")
    page.keyboard.type("The man in blue")
    assert not Draft.objects.exists()
    with draft_saved(page, "The man in blue"):
        context.set_offline(False)
    assert Draft.objects.get(session=session).fields == {"text": "The man in blue"}


def test_pastes_are_counted_with_their_lengths_and_the_window_that_is_left(page: Page, describing: Opener) -> None:
    session = describing()
    page.keyboard.press("t")
    page.keyboard.type("So: ")
    field(page).evaluate(
        """(field) => {
          const data = new DataTransfer();
          data.setData("text", "a man in blue who looks");
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
          field.value += "a man in blue who looks";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          window.dispatchEvent(new Event("blur"));
        }"""
    )
    # What was counted before a reload goes on.
    with draft_saved(page, "So: a man in blue who lookss"):
        page.keyboard.type("s")
    page.reload()
    question_number(page)
    page.keyboard.press("t")
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-answered]")).to_have_text("1")
    written = Response.objects.get(session=session).writing
    assert written is not None
    counted = {name: written[name] for name in ("keys", "pastes", "pasted", "focus_losses")}
    assert counted == {"keys": 6, "pastes": 1, "pasted": [23], "focus_losses": 1}


def test_a_study_that_does_not_record_it_is_told_nothing(page: Page, describing: Opener) -> None:
    session = describing(answering={"record_writing": False})
    field(page).press_sequentially(TEXT)
    with page.expect_request("**/answer/") as sent:
        page.locator("[data-stage] [data-send]").click()
    expect(page.locator("[data-answered]")).to_have_text("1")
    assert "writing=" not in (sent.value.post_data or "")
    assert Response.objects.get(session=session).writing is None


def test_without_scripts_all_images_are_listed_and_the_marked_one_is_named(
    page: Page, browser: Browser, live_server: LiveServer, describing: Opener
) -> None:
    session = describing()
    with elsewhere(browser, f"{live_server.url}/s/{session.token}/", java_script_enabled=False) as plain:
        frames = plain.locator("[data-stage] figure")
        expect(frames).to_have_count(10)
        boxes = [frame.bounding_box() for frame in frames.all()]
        tops = {(round(box["x"]), round(box["y"])) for box in boxes if box is not None}
        assert len(tops) == 10
        assert all(box is not None and box["height"] > 100 for box in boxes)
        expect(plain.locator("[data-stage] figure[data-marked] figcaption")).to_have_text("★ Target")
        field(plain).fill("The last image.")
        plain.get_by_role("button", name="Send").click()
        expect(plain.locator("[data-stage] [data-error]")).to_contain_text("“last image” says where an image is.")
        expect(field(plain)).to_have_value("The last image.")
        field(plain).fill(TEXT)
        plain.get_by_role("button", name="Send").click()
        expect(plain.locator("[data-answered]")).to_have_text("1")
    assert Response.objects.get(session=session).answer == {"text": TEXT}


def test_the_page_is_accessible_beside_each_other_too_and_no_wider_than_a_phone(page: Page, describing: Opener) -> None:
    describing()
    page.keyboard.press("s")
    field(page).fill(TEXT)
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
    set_window(page, 390, 844)
    assert_accessible(page)
