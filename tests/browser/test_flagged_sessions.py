"""Flagged sessions in a real browser: walked through by keyboard alone, accessible, as wide as the window."""

import time

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Removal, Session, SessionFlag
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Project
from tests.browser.stage import assert_no_wider_than_the_window, draw_all, set_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import NOON, make_person
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through

LIST = "/projects/vases/flags/"
FLAGGED = 6
# What 50 sessions in five minutes leave for each, with a reader's time.
MOST_SECONDS = 6.0


@pytest.fixture
def desk(page: Page, live_server: LiveServer) -> Page:
    """The list of six flagged sessions of four answers each, signed in."""
    ana = make_person("ana")
    study = open_study(project_of(ana), STEP_3 | {"answers": FLAGGED + 1})
    draw_all()
    for number in range(FLAGGED):
        key = f"candidate-{number % 4}"
        session = sit_through(study, f"person-{number}", by_key(vase_0=key, vase_1=key, vase_2=key, vase_3="none"))
        SessionFlag.objects.create(
            session=session, rule="hidden_tab", evidence={"hidden": 5, "measured": 6}, found_at=NOON
        )
    Session.objects.filter(annotator=1).update(comment="My phone rang, sorry.")
    name_annotators(project=study.project)
    sign_in(page, live_server.url, ana).goto(f"{live_server.url}{LIST}")
    return page


def here(page: Page) -> str:
    """Return the pseudonym of the session on the page."""
    return page.locator("h1 .pseudonym").inner_text()


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait until it stands there."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_flagged_sessions_are_walked_through_by_keyboard(desk: Page) -> None:
    page = desk
    press(page, "r")
    expect(page.get_by_role("heading", name="Evidence")).to_be_visible()
    names = [here(page)]
    # N and P only look.
    press(page, "n")
    names.append(here(page))
    press(page, "p")
    assert here(page) == names[0]
    # A note, then dismissed: the note belongs to the flag.
    page.keyboard.press("w")
    page.keyboard.type("used a screen reader")
    page.keyboard.press("Escape")
    press(page, "d")
    assert here(page) == names[1]
    flag = SessionFlag.objects.exclude(verdict="").get()
    assert flag.reviewed_by is not None
    assert (flag.verdict, flag.note, flag.reviewed_by.get_username()) == ("dismissed", "used a screen reader", "ana")
    # Undone: it stands there again.
    press(page, "z")
    assert here(page) == names[0]
    assert not SessionFlag.objects.exclude(verdict="").exists()
    # Excluding asks once; Enter confirms, as its button has the focus.
    press(page, "e")
    expect(page.get_by_role("button", name="Exclude and replace")).to_be_focused()
    assert not Removal.objects.exists()
    press(page, "Enter")
    assert here(page) == names[1]
    assert Removal.objects.get().slots_opened_at is not None
    press(page, "u")
    assert SessionFlag.objects.filter(verdict="upheld").count() == 2
    page.keyboard.press("?")
    expect(page.locator("#flag-keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#flag-keys")).to_be_hidden()


def test_many_flagged_sessions_take_little_time_each(desk: Page) -> None:
    page = desk
    page.get_by_role("link", name="Review one by one").press("Enter")
    begun = time.monotonic()
    for number in range(FLAGGED):
        expect(page.get_by_role("heading", name="Evidence")).to_be_visible()
        press(page, "ud"[number % 2])
    taken = (time.monotonic() - begun) / FLAGGED
    expect(page.get_by_text("No sessions to review.")).to_be_visible()
    assert SessionFlag.objects.filter(verdict="").count() == 0
    assert taken < MOST_SECONDS


def test_the_pages_of_flags_are_accessible_at_every_width(desk: Page, live_server: LiveServer) -> None:
    page = desk
    first = SessionFlag.objects.order_by("session")[0].session
    person = Pseudonym.objects.get(project=Project.objects.get(), annotator=first.annotator_id).name
    review = f"{LIST}{first.pk}/"
    for width, height in ((1366, 768), (390, 844)):
        set_window(page, width, height)
        for address in (
            *(LIST, review, f"{review}exclude/", f"{LIST}?show=reviewed", "/studies/vases/step-3/flags/"),
            f"/projects/vases/people/{person}/",
        ):
            page.goto(f"{live_server.url}{address}")
            assert_no_wider_than_the_window(page)
            assert_accessible(page)
