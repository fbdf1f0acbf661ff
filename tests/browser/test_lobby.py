"""Two people at work on each other: one waits in the lobby and is led on by what the other one sends."""

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation.actions.launching.launch import launch
from annotation.models import Session, SessionState
from studies.models import InstanceImage, Study
from tests.annotation.test_lobby import accept_one, make_roles
from tests.annotation.test_repetitions import say
from tests.browser.stage import (
    answer,
    assert_no_wider_than_the_window,
    come_from_prolific,
    draw_all,
    hurry,
    open_study,
    picture_at,
    question_number,
)
from tests.browser.test_accessibility import assert_accessible
from tests.factories import TESTS, arrive_at_work, create_draft, make_image, make_instance, make_project

# Waiting for the other side takes what people take; the page asks every two seconds.
PATIENCE_MS = 15_000


@pytest.fixture
def live() -> tuple[Study, Study]:
    """A study, and one that asks about what it accepts and lets people wait for that."""
    project = make_project()
    for number in range(2):
        instance = make_instance(project, f"vase-{number}")
        image = make_image(f"original-{number}")
        InstanceImage.objects.create(instance=instance, role="image", filename="o.png", image=image)
    first = open_study(project=project, instances=2)
    feeding = {"from": first.slug}
    second = create_draft(
        project, study="live", kind="ambiguity", selection=feeding, lobby={"minutes": 10, "pay": "0.50"}
    )
    launch(study=second, by=TESTS, now=timezone.now())
    return first, second


@pytest.fixture
def another(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def wait_in_the_lobby(page: Page, live_server: LiveServer, study: Study) -> None:
    hurry(page)
    come_from_prolific(page, live_server.url, study, "ben")
    page.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="You are next").wait_for()


def test_whoever_waits_is_led_on_by_itself_when_the_other_one_sends(
    page: Page, another: Page, live_server: LiveServer, live: tuple[Study, Study]
) -> None:
    first, second = live
    wait_in_the_lobby(page, live_server, second)
    expect(page.get_by_role("status")).to_have_text("You will wait for 10 more minutes at most.")
    writing = arrive_at_work(first, now=timezone.now())
    another.goto(f"{live_server.url}/s/{writing.token}/")
    chosen = answer(another, "1")
    page.locator("[data-stage]").wait_for(timeout=PATIENCE_MS)
    assert question_number(page) == 1
    addresses = [image.get_attribute("src") or "" for image in page.locator("[data-stage] img").all()]
    assert chosen in {picture_at(address) for address in addresses}
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")


def test_whoever_has_answered_all_there_is_may_wait_or_finish(page: Page, live_server: LiveServer) -> None:
    describe, find = make_roles(sets=3)
    draw_all()
    page.set_viewport_size({"width": 390, "height": 844})
    write = arrive_at_work(describe, "ann", now=timezone.now())
    say(write, "The lid of the vase is open.")
    hurry(page)
    come_from_prolific(page, live_server.url, find, "ben")
    page.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")
    answer(page, "1")
    page.get_by_role("heading", name="No more questions are ready at the moment").wait_for(timeout=PATIENCE_MS)
    expect(page.get_by_role("status")).to_have_text("You will wait for 10 more minutes at most.")
    assert_no_wider_than_the_window(page)
    say(arrive_at_work(describe, "cleo", now=timezone.now()), "Both handles are to be seen.")
    page.locator("[data-stage]").wait_for(timeout=PATIENCE_MS)
    assert question_number(page) == 2
    answer(page, "1")
    page.get_by_role("button", name="Finish now").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    session = Session.objects.get(study=find)
    assert (session.state, session.questions_answered) == (SessionState.FINISHED, 2)


def test_a_network_that_drops_replies_only_delays_it(
    page: Page, live_server: LiveServer, live: tuple[Study, Study]
) -> None:
    first, second = live
    asked: list[str] = []

    def drop_the_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    wait_in_the_lobby(page, live_server, second)
    page.route(re.compile("/wait/$"), drop_the_first)
    accept_one(first, now=timezone.now())
    page.locator("[data-stage]").wait_for(timeout=PATIENCE_MS)
    assert len(asked) == 2


def test_the_lobby_and_its_end_are_accessible_and_fit(
    page: Page, live_server: LiveServer, live: tuple[Study, Study]
) -> None:
    _, second = live
    wait_in_the_lobby(page, live_server, second)
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
    Session.objects.update(lease_until=timezone.now())
    page.get_by_role("heading", name="Thank you for waiting").wait_for(timeout=PATIENCE_MS)
    assert Session.objects.get().state == SessionState.WAITED
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
