"""Images are seen before an answer can be sent, come again when they fail, and can be enlarged and flipped."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, CDPSession, Page, Route, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response
from tests.browser.stage import Opener, answer, open_study, picture_at, picture_of, question_number
from tests.factories import arrive_at_work, make_instance, make_project

IMAGES = re.compile(r"/images/[\w-]{70}/(card|view)")
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
DESKTOP: ViewportSize = {"width": 2560, "height": 1440}


def zoomed_picture(page: Page) -> str:
    address = page.locator("#zoom [data-current] img").get_attribute("src") or ""
    return picture_at(address)


@contextmanager
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        yield context.new_page()


def touch(fingers: CDPSession, what: str, *points: tuple[float, float]) -> None:
    at = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    fingers.send("Input.dispatchTouchEvent", {"type": f"touch{what}", "touchPoints": at})


def wait_for_the_next(page: Page) -> None:
    following = page.locator("[data-ahead] [data-question]").first
    expect(following.locator("img")).to_have_count(4)
    expect(following.locator("[data-loading]")).to_have_count(0)


def test_an_answer_cannot_be_sent_before_its_images_are_seen(page: Page, at_work: Opener) -> None:
    held: list[Route] = []
    page.route(IMAGES, lambda route: held.append(route))
    at_work(instances=2, is_seen=False)
    expect(page.locator("[data-stage] [data-loading]")).to_have_count(4)
    page.keyboard.press("1")
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    expect(send).to_have_accessible_description("The images are still loading.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="The images are still loading.")).to_be_visible()
    for route in held[1:4]:
        route.continue_()
    expect(page.locator("[data-stage] [data-loading]")).to_have_count(1)
    expect(send).to_be_disabled()
    held[0].continue_()
    expect(send).to_be_enabled()


def test_images_that_fail_are_tried_again_and_the_failures_recorded(page: Page, at_work: Opener) -> None:
    failed: set[str] = set()

    def fail_once(route: Route) -> None:
        picture = route.request.url.split("/")[-2]
        if picture in failed:
            route.continue_()
        else:
            failed.add(picture)
            route.fulfill(status=503, body="busy")

    page.route(IMAGES, fail_once)
    session = at_work(instances=2)
    for number in (1, 2):
        question_number(page)
        answer(page, "1")
        expect(page.locator("[data-answered]" if number == 1 else "h1")).to_contain_text(("1", "All saved")[number - 1])
    for response in Response.objects.filter(session=session):
        assert [image["failed_loads"] for image in response.images_seen] == [1, 1, 1, 1]
        assert [image["natural"] for image in response.images_seen] == [[512, 512]] * 4


def test_nothing_is_sent_before_it_is_chosen_and_the_next_question_is_loaded_before_it_is_shown(
    page: Page, at_work: Opener
) -> None:
    at_work(instances=3)
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    expect(send).to_have_accessible_description("Choose an answer first.")
    wait_for_the_next(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    second = page.locator("[data-ahead] img").first.get_attribute("src") or "no picture"
    answer(page, "1")
    assert question_number(page) == 2
    assert page.locator("[data-stage] img").first.get_attribute("src") == second
    assert not any(second in address for address in asked)


def test_the_following_questions_wait_until_the_one_shown_is_seen_and_then_come_in_their_order(
    page: Page, at_work: Opener
) -> None:
    held: list[Route] = []
    asked: list[str] = []

    def watch(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 4:
            held.append(route)
        else:
            route.continue_()

    page.route(IMAGES, watch)
    at_work(instances=6, is_seen=False)
    expect(page.locator("[data-stage] [data-loading]")).to_have_count(1)
    expect(page.locator("[data-ahead] [data-question]")).to_have_count(3)
    assert len(asked) == 4
    held[0].continue_()
    question_number(page)
    expect(page.locator("[data-ahead] [data-loading]")).to_have_count(0)
    following = [image.get_attribute("src") or "" for image in page.locator("[data-ahead] img").all()]
    assert len(following) == 12
    assert [address.split("/")[-2] for address in asked[4:]] == [src.split("/")[-2] for src in following]


@pytest.mark.parametrize(("window", "size", "pixels"), [(LAPTOP, "card", 400), (DESKTOP, "view", 512)])
def test_no_more_of_an_image_is_fetched_than_the_window_can_show(
    page: Page, at_work: Opener, window: ViewportSize, size: str, pixels: int
) -> None:
    page.set_viewport_size(window)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    at_work(instances=2)
    wait_for_the_next(page)
    assert {address.split("/")[-1] for address in asked if "/images/" in address} == {size}
    answer(page, "1")
    expect(page.locator("[data-answered]")).to_have_text("1")
    seen = Response.objects.get().images_seen
    assert all(image["natural"] == [pixels, pixels] for image in seen)
    # It has a pixel for each of those that it is painted with, or all that there are.
    assert all(image["shown"][0] <= pixels or pixels == 512 for image in seen)


def test_where_one_size_cannot_be_had_another_is_shown(page: Page, at_work: Opener) -> None:
    page.set_viewport_size(LAPTOP)
    page.route("**/images/*/card*", lambda route: route.abort())
    at_work(instances=2)
    for image in page.locator("[data-stage] img").all():
        assert str(image.evaluate("image => image.currentSrc")).endswith("/view")


def test_what_is_wrong_with_an_image_is_said_once(page: Page, at_work: Opener) -> None:
    page.route(IMAGES, lambda route: route.abort())
    at_work(instances=1, is_seen=False)
    sentence = page.get_by_text("An image could not be loaded.")
    expect(sentence).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="An image could not be loaded.")).to_be_visible()
    expect(sentence).to_have_count(1)


def assert_flipped_through_and_one_chosen(page: Page, pictures: list[str]) -> None:
    assert zoomed_picture(page) == pictures[0]
    index = page.locator("#zoom [data-current] img").bounding_box()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Image B")).to_be_visible()
    assert zoomed_picture(page) == pictures[1]
    assert page.locator("#zoom [data-current] img").bounding_box() == index
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert zoomed_picture(page) == pictures[3]
    page.keyboard.press("3")
    assert zoomed_picture(page) == pictures[2]
    expect(page.get_by_role("button", name="Chosen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#zoom")).to_be_hidden()
    expect(page.get_by_role("radio", name="Image C")).to_be_checked()
    assert picture_of(page, "3") == pictures[2]


def test_an_image_can_be_enlarged_and_the_others_flipped_through_in_its_place(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    pictures = [picture_of(page, value) for value in "1234"]
    zoom = page.get_by_role("dialog", name="Image A")
    page.keyboard.press("z")
    expect(zoom).to_be_visible()
    assert_flipped_through_and_one_chosen(page, pictures)
    page.keyboard.press("4")
    page.get_by_role("link", name="Image A (enlarge)").click()
    expect(zoom).to_be_visible()
    assert_flipped_through_and_one_chosen(page, pictures)


def test_z_enlarges_what_the_mouse_is_over_and_afterwards_enter_sends(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    page.locator("[data-stage] [data-option='4'] img").hover()
    page.keyboard.press("z")
    expect(page.get_by_role("dialog", name="Image D")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#zoom")).to_be_hidden()
    page.keyboard.press("2")
    page.get_by_role("link", name="Image A (enlarge)").click()
    page.keyboard.press("z")
    # Back where the choice is, which the browser does a moment after it has closed what was open.
    expect(page.get_by_role("radio", name="Image B")).to_be_focused()
    page.keyboard.press("Enter")
    assert question_number(page) == 2


def test_the_whole_card_chooses_and_without_scripts_too(page: Page, browser: Browser, at_work: Opener) -> None:
    at_work(instances=2)
    page.locator("[data-stage] [data-option='3'] img").click()
    expect(page.get_by_role("radio", name="Image C")).to_be_checked()
    expect(page.locator("#zoom")).to_be_hidden()
    with browser.new_context(java_script_enabled=False) as context:
        plain = context.new_page()
        plain.goto(page.url)
        plain.locator("[data-stage] [data-option='2'] img").click()
        expect(plain.get_by_role("radio", name="Image B")).to_be_checked()
        plain.get_by_role("link", name="Image B (enlarge)").click()
        expect(plain).to_have_url(re.compile(r"/images/[\w-]{70}/full$"))


def test_enlarged_the_whole_caption_stands_above_and_enter_sends_to_the_next(page: Page, at_work: Opener) -> None:
    captions = {"caption": "x", "negative_caption": "A long way round the harbour, past boats and nets. " * 9}
    for key in ("one", "two", "three"):
        make_instance(make_project(), key, captions=captions)
    at_work(instances=3)
    page.keyboard.press("z")
    expect(page.locator("[data-zoom-caption]")).to_have_text(captions["negative_caption"].strip())
    assert page.evaluate(WHOLE_CAPTION)
    page.keyboard.press("Enter")
    expect(page.locator("#zoom").get_by_role("status")).to_have_text("Choose an answer first.")
    page.keyboard.press("0")
    expect(page.locator("#zoom").get_by_role("status")).to_have_text("✓ None of these")
    page.keyboard.press("Enter")
    assert question_number(page) == 2
    expect(page.locator("#zoom")).to_be_hidden()
    page.keyboard.press("z")
    page.get_by_label("Open the next enlarged").check()
    page.get_by_role("button", name="Image B", exact=True).click()
    page.get_by_role("button", name="Choose this image").click()
    page.keyboard.press("Enter")
    assert question_number(page) == 3
    expect(page.get_by_role("dialog", name="Image A")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog", name="Image A")).to_be_visible()


def test_a_region_looked_at_closely_stays_while_flipping(page: Page, at_work: Opener) -> None:
    at_work(instances=2)
    page.keyboard.press("z")
    stage = page.locator("[data-zoom-stage]").bounding_box()
    assert stage is not None
    middle = (stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2)
    page.keyboard.press("+")
    expect(page.locator("[data-zoom-percent]")).to_have_text("150 %")
    page.mouse.move(*middle)
    page.mouse.wheel(0, -400)
    expect(page.locator("[data-zoom-percent]")).not_to_have_text("150 %")
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 40)
    page.mouse.up()
    page.keyboard.press("Shift+ArrowDown")
    place = page.locator("#zoom [data-current] img").bounding_box()
    assert place is not None
    # By 60 to the right with the mouse, and by a fifth of the stage up with the key, as far as the picture goes.
    assert round(place["x"] + place["width"] / 2 - middle[0]) == 60
    assert place["y"] + place["height"] / 2 < middle[1]
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Image B")).to_be_visible()
    assert page.locator("#zoom [data-current] img").bounding_box() == place
    page.mouse.dblclick(*middle)
    expect(page.locator("[data-zoom-percent]")).to_have_text("100 %")


def test_a_finger_enlarges_by_resting_flips_by_swiping_and_pinches(browser: Browser, live_server: LiveServer) -> None:
    with phone(browser) as page:
        page.goto(f"{live_server.url}/s/{arrive_at_work(open_study(instances=2)).token}/")
        question_number(page)
        card = page.locator("[data-stage] [data-option='2'] img")
        card.tap()
        expect(page.get_by_role("radio", name="Image B")).to_be_checked()
        box = card.bounding_box()
        assert box is not None
        fingers = page.context.new_cdp_session(page)
        at = (box["x"] + 50, box["y"] + 50)
        touch(fingers, "Start", at)
        expect(page.get_by_role("dialog", name="Image B")).to_be_visible()
        touch(fingers, "End")
        touch(fingers, "Start", (300, 400))
        touch(fingers, "Move", (200, 400))
        touch(fingers, "Move", (100, 400))
        touch(fingers, "End")
        expect(page.get_by_role("dialog", name="Image C")).to_be_visible()
        touch(fingers, "Start", (180, 400), (210, 400))
        touch(fingers, "Move", (150, 400), (240, 400))
        touch(fingers, "End")
        expect(page.locator("[data-zoom-percent]")).to_have_text("300 %")


def test_the_next_question_is_painted_at_once_on_a_slow_line(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=6))
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    latency = 1000
    conditions = {"offline": False, "latency": latency, "downloadThroughput": 1_250_000, "uploadThroughput": 1_250_000}
    line.send("Network.emulateNetworkConditions", conditions)
    page.goto(f"{live_server.url}/s/{session.token}/")
    took = []
    for number in range(1, 4):
        assert question_number(page) == number
        wait_for_the_next(page)
        page.keyboard.press("1")
        took.append(page.evaluate(CLICK_TO_PAINT))
    # Sooner than anything can come over the line. How soon, benchmarks/page.py measures.
    assert sorted(took)[1] < latency


WHOLE_CAPTION = (
    "(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.querySelector('.zoom-caption'))"
)
CLICK_TO_PAINT = """async () => {
  const start = performance.now();
  document.querySelector("[data-stage] [data-send]").click();
  const images = [...document.querySelectorAll("[data-stage] img")];
  if (images.length !== 4 || !images.every((image) => image.complete)) throw new Error("not there");
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - start;
}"""
