"""An image that can never be shown: the page tries for a while, then offers a way on."""

import time

from django.core.files.storage import default_storage
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.actions.answering import responses
from annotation.models import Response, Session, Skip, Slot
from studies.actions.images import rendition_name
from studies.picture_handles import handle_of
from tests.annotation.test_responses import next_slot
from tests.browser.stage import answer, open_study, question_number
from tests.browser.test_accessibility import assert_accessible
from tests.factories import arrive_at_work

OFFER_MS = 20_000


def lose_an_image(session: Session, slot: Slot | None = None) -> str:
    """Delete the files of one image of `slot`, or of the next question; return the image."""
    image: str = (slot or next_slot(session)).question.content["options"][1]["image"]
    for size in ("card", "view", "full"):
        default_storage.delete(rendition_name(image, size))
    return image


def open_hurried(page: Page, live_server: LiveServer, session: Session) -> None:
    """Open the page of `session` with a clock that `wait_for_the_offer` can move."""
    page.clock.install()
    page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")


def wait_for_the_offer(page: Page, *, is_there: bool = True) -> Locator:
    """Return the button that leads on, once it is there, or gone, hurrying through the pauses between the page's
    attempts."""
    way_on = page.locator("[data-stage] [data-skip]")
    deadline = time.monotonic() + OFFER_MS / 1000
    while way_on.is_visible() != is_there and time.monotonic() < deadline:
        page.clock.fast_forward(1000)
        page.wait_for_timeout(50)
    expect(way_on).to_be_visible(visible=is_there)
    return way_on


def test_a_question_whose_file_is_gone_is_left_out_by_keyboard(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=2))
    image = lose_an_image(session)
    open_hurried(page, live_server, session)
    expect(page.locator("[data-stage] [data-failed]")).to_have_count(1)
    expect(page.locator("[data-stage] [data-skip]")).to_be_hidden()
    wait_for_the_offer(page)
    expect(page.get_by_role("status").filter(has_text="a few such questions do not affect your pay")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    assert_accessible(page)
    for width, height in ((390, 844), (1366, 650)):
        page.set_viewport_size({"width": width, "height": height})
        whole = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert whole == [width, height]
    for _ in range(20):
        if page.evaluate("document.activeElement.matches('[data-skip]')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You skipped that question.")).to_be_visible()
    assert question_number(page) == 1
    expect(page.locator("[data-stage] [data-heading]")).to_have_text("Question 1 of 1")
    answer(page, "1")
    page.get_by_role("heading", name="All saved. Thank you!").wait_for()
    skipped = Skip.objects.get()
    assert [(failed["image"], failed["missing"]) for failed in skipped.images] == [(image, True)]
    assert skipped.images[0]["failed_loads"] >= 5
    assert Response.objects.count() == 1


def test_the_offer_goes_when_the_image_comes_after_all(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=1))
    lost = handle_of(next_slot(session).question.content["options"][0]["image"], study=session.study_id)
    page.route(f"**/images/{lost}/*", lambda route: route.abort())
    open_hurried(page, live_server, session)
    wait_for_the_offer(page)
    page.unroute(f"**/images/{lost}/*")
    wait_for_the_offer(page, is_there=False)
    answer(page, "1")
    page.get_by_role("heading", name="All saved. Thank you!").wait_for()
    assert Skip.objects.count() == 0


def test_without_a_connection_the_button_says_so_and_can_be_pressed_again(page: Page, live_server: LiveServer) -> None:
    session = arrive_at_work(open_study(instances=1))
    lose_an_image(session)
    open_hurried(page, live_server, session)
    way_on = wait_for_the_offer(page)
    page.route("**/skip/", lambda route: route.abort())
    way_on.click()
    expect(page.get_by_role("alert").filter(has_text="There is no connection at the moment.")).to_be_visible()
    page.unroute("**/skip/")
    way_on.click()
    page.get_by_role("heading", name="This session ends here").wait_for()
    assert Skip.objects.count() == 1


def test_answers_on_their_way_arrive_before_a_question_is_left_out_even_without_a_storage(
    page: Page, live_server: LiveServer
) -> None:
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('No storage here.'); };")
    session = arrive_at_work(open_study(instances=3))
    lose_an_image(session, responses.open_slots(session=session, limit=2)[1])
    open_hurried(page, live_server, session)
    page.route("**/answer/", lambda route: route.abort())
    answer(page, "1")
    way_on = wait_for_the_offer(page)
    way_on.click()
    expect(way_on).to_be_disabled()
    page.unroute("**/answer/")
    expect(page.get_by_text("You skipped that question.")).to_be_visible(timeout=OFFER_MS)
    expect(page.locator("[data-stage] [data-heading]")).to_have_text("Question 2 of 2")
    assert (Response.objects.count(), Skip.objects.count()) == (1, 1)


def test_without_javascript_the_way_on_is_always_there(browser: Browser, live_server: LiveServer) -> None:
    context: BrowserContext = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    session = arrive_at_work(open_study(instances=2))
    image = lose_an_image(session)
    page.goto(f"{live_server.url}/s/{session.token}/")
    page.get_by_role("button", name="Skip this question").click()
    expect(page.get_by_text("You skipped that question.")).to_be_visible()
    page.get_by_role("button", name="Skip this question").click()
    expect(page.get_by_role("alert")).to_contain_text("All images of this question are available")
    assert [failed["image"] for failed in Skip.objects.get().images] == [image]
    context.close()
