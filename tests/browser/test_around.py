"""What is around the questions, as only a browser shows it: practice in place, the time, the report, the last page."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import pages
from annotation.models import Report, Session, SessionState
from tests.browser.stage import Opener, answer, question_number


def test_practice_turns_right_or_wrong_in_place_and_enter_goes_on(page: Page, arrived: Opener) -> None:
    asked = [{"instance": "vase-0", "right": "none", "feedback": "No map."}]
    session = arrived(instances=3, practice={"pass": 1, "rounds": 2, "questions": asked})
    page.get_by_role("button", name="Start the practice").click()
    page.locator("[data-question][data-seen]").wait_for()
    # A right answer does not stand in the page before it is given.
    assert "verdict" not in page.content()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Not quite.")).to_contain_text("No map.")
    own, right = page.locator("[data-option='1']"), page.locator("[data-option=none]")
    expect(own).to_contain_text("✗ Your answer")
    expect(right).to_contain_text("✓ Right answer")
    expect(page.locator("[data-verdict]")).to_have_count(2)
    # A wrong card has none of the green of a chosen one.
    expect(own.locator(".choice")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(own.locator(".card-choice")).to_have_css("box-shadow", "none")
    # A held Enter and other keys do not go on.
    page.keyboard.down("Enter")
    page.keyboard.press("2")
    page.keyboard.up("Enter")
    page.get_by_text("This is round 2 of 2. Last time you got 0 of 1 right; you need 1.").wait_for()
    page.locator("[data-question][data-seen]").wait_for()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Your answers count from now on")).to_be_visible()
    # What a reload shows says the same.
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Right")
    page.keyboard.press("Enter")
    assert question_number(page) == 1
    expect(page.locator("p.notice:not([hidden])")).to_have_text("Practice is over. Your answers count from now on.")
    session.refresh_from_db()
    assert session.state == SessionState.WORKING


def test_the_bar_goes_along_and_a_report_loses_nothing(
    page: Page, at_work: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FEWEST_FOR_A_BREAK", 4)
    time = {"estimated_minutes": 20, "limit_minutes": 60, "more_minutes": 15}
    session = at_work(instances=4, time=time)
    assert question_number(page) == 1
    left, said = page.locator("[data-left]"), page.locator("[data-word]")
    # Twenty minutes for four questions: fifteen for the three that are left.
    expect(left).to_have_text("about 20 min left")
    answer(page, "1")
    expect(left).to_have_text("about 15 min left")
    expect(said).to_be_empty()
    answer(page, "1")
    expect(said).to_contain_text("You are halfway. A break is fine: your place is kept until")
    assert question_number(page) == 3
    page.keyboard.press("2")
    page.keyboard.press("f")
    page.get_by_role("radio", name="It cannot be answered").check()
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_text("Thank you. The researchers will see what you wrote.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name="Image B")).to_be_checked()
    page.keyboard.press("Enter")
    assert question_number(page) == 4
    expect(said).to_be_empty()
    page.keyboard.press("f")
    page.get_by_role("radio", name="It is offensive").check()
    page.get_by_role("checkbox", name="Skip the question").check()
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    reports = Report.objects.filter(session=session).order_by("pk")
    assert list(reports.values_list("reason", "instead_of_answer")) == [("unanswerable", False), ("offensive", True)]


def test_the_end_of_the_time_is_said_and_more_can_be_asked_for(page: Page, at_work: Opener) -> None:
    session = at_work(instances=2, time={"estimated_minutes": 5, "limit_minutes": 60, "more_minutes": 15})
    # The place is kept for ten minutes longer than is said.
    Session.objects.update(lease_until=timezone.now() + timedelta(minutes=12, seconds=30))
    page.clock.install()
    page.reload()
    said = page.locator("[data-word]")
    # As clocks go from 00:00 to 23:59.
    expect(said).to_have_text(re.compile(r"^10 minutes are left: your place is kept until [0-2][0-9]:[0-5][0-9]\.$"))
    page.clock.fast_forward("00:40")
    expect(said).to_contain_text("2 minutes are left: your place is kept until")
    page.get_by_role("button", name="Ask for 15 more minutes").click()
    expect(said).to_contain_text("You now have until")
    session.refresh_from_db()
    assert session.more_time_at is not None


def test_a_short_time_is_not_called_short_at_its_start(page: Page, at_work: Opener) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    at_work(instances=2, time={"estimated_minutes": 2, "limit_minutes": 10})
    page.clock.install()
    Session.objects.update(lease_until=timezone.now() + timedelta(minutes=20))
    page.reload()
    said, progress = page.locator("[data-word]"), page.locator("#progress-text")
    expect(progress).to_be_visible()
    expect(said).to_be_empty()
    page.clock.fast_forward("04:00")
    expect(said).to_be_empty()
    page.clock.fast_forward("01:10")
    expect(said).to_contain_text("5 minutes are left: your place is kept until")
    expect(progress).to_be_in_viewport(ratio=1)


def test_an_open_page_gives_a_sign_every_minute_until_the_first_answer(page: Page, arrived: Opener) -> None:
    session = arrived(instances=3)
    page.clock.install()
    page.reload()
    for heading in ("Instructions", "Question 1"):
        # Before the questions, and at the first.
        page.get_by_role("heading", name=heading).first.wait_for()
        for _ in range(2):
            Session.objects.update(last_seen_at=session.arrived_at)
            with page.expect_response("**/here/") as given:
                page.clock.run_for(61_000)
            assert given.value.json() == {"again": True}
            session.refresh_from_db()
            assert session.last_seen_at > session.arrived_at
        if heading == "Instructions":
            page.get_by_role("button", name="Start").click()
    answer(page, "1")
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    with page.expect_response("**/here/") as given:
        page.clock.run_for(61_000)
    assert given.value.json() == {"again": False}


def test_the_clock_rests_while_the_page_is_hidden(page: Page, at_work: Opener) -> None:
    at_work(instances=4, time={"estimated_minutes": 20, "limit_minutes": 60})
    page.clock.install()
    page.reload()
    assert question_number(page) == 1
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
    hide += " document.dispatchEvent(new Event('visibilitychange')); }"
    left = page.locator("[data-left]")
    page.clock.run_for(60_000)
    expect(left).to_have_text("about 19 min left")
    page.evaluate(hide, True)
    page.clock.run_for(3_600_000)
    page.evaluate(hide, False)
    page.clock.run_for(60_000)
    expect(left).to_have_text("about 18 min left")


def test_the_last_page_leaves_once_and_stays_for_whoever_comes_back(page: Page, at_work: Opener) -> None:
    page.route("https://app.prolific.com/**", lambda route: route.fulfill(body="Prolific"))
    at_work(instances=1)
    page.clock.install()
    answer(page, "1")
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    # It counts from when this browser is found to hold no answer back.
    expect(page.locator("[data-countdown]")).to_be_visible()
    here = page.url
    page.clock.run_for(19_000)
    assert page.url == here
    page.clock.run_for(3_000)
    page.wait_for_url("https://app.prolific.com/**")
    page.goto(here)
    expect(page.get_by_role("link", name="Go back to Prolific")).to_be_visible()
    page.clock.run_for(120_000)
    expect(page.get_by_text("You are taken there in")).to_be_hidden()
    assert page.url == here
