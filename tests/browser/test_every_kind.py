"""Every kind of question, made-up ones too, in a browser: nothing is sent before it is answered; all can read it."""

import random
import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.actions.answering import practice, responses
from annotation.models import Response, Session, SessionState
from studies.kinds import get_kind
from tests.browser.reading import assert_focus_is_never_hidden, assert_wide_spacing_loses_nothing
from tests.browser.stage import question_number
from tests.browser.test_accessibility import assert_accessible
from tests.browser.test_bar import PAY, TIME
from tests.contracts.conftest import put_in
from tests.contracts.stage import NAMES, launched, practice_of, secret_ask
from tests.factories import arrive_at_work


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in(monkeypatch)


def fill_in(page: Page, session: Session) -> None:
    """Answer the question shown as its kind makes an answer up."""
    if session.state == SessionState.PRACTICE:
        asked = practice.next_question(session=session)
        assert asked is not None
        kind_name, content = asked.kind, asked.content
        order = practice.order_for(session=session, question=asked)
    else:
        (slot,) = responses.open_slots(session=session, limit=1)
        kind_name, content = slot.question.kind, slot.question.content
        order = responses.order_for(session=session, question=slot.question)
    for name, value in get_kind(kind_name).simulate(content, order, dice=random.Random(3)).items():
        field = page.locator(f"[data-stage] [name='{name}']")
        if field.first.get_attribute("type") in ("radio", "checkbox"):
            page.locator(f"[data-stage] [name='{name}'][value='{value}']").check(force=True)
        else:
            field.fill(value)


def go_through_the_practice(page: Page, session: Session) -> None:
    """See that what is said of an answer is accessible; its question is the same as after the practice."""
    session.refresh_from_db()
    assert session.state == SessionState.PRACTICE
    fill_in(page, session)
    page.locator("[data-stage] [data-send]").click()
    page.locator("[data-verdict-panel]").wait_for()
    assert_accessible(page)
    Session.objects.filter(pk=session.pk).update(state=SessionState.WORKING)
    session.refresh_from_db()


# In one sitting, since each looks at the same page, which takes longer to come than to be looked at.
@pytest.mark.parametrize("name", NAMES)
def test_it_is_accessible_and_sent_with_its_measures_once_it_is_answered(
    page: Page, live_server: LiveServer, name: str
) -> None:
    kind = get_kind(name)
    practised = {"practice": practice_of(kind, secret_ask(kind))} if kind.has_one_label else {}
    session = arrive_at_work(launched(name, pay=PAY, time=TIME, **practised), now=timezone.now())
    page.goto(f"{live_server.url}/s/{session.token}/")
    question_number(page)
    if practised:
        go_through_the_practice(page, session)
        page.goto(f"{live_server.url}/s/{session.token}/")
        question_number(page)
    send = page.locator("[data-stage] [data-send]")
    # What is written says itself what is missing.
    expect(page.locator("[data-stage] [data-hint]")).to_have_text(re.compile(r"^(Choose|Write) .*\.$"))
    expect(send).to_be_disabled()
    keys = page.locator("[data-stage] [data-digit]").evaluate_all(
        "all => all.map((option) => `${option.dataset.digit} ${option.querySelector('input').name}`)"
    )
    assert len(keys) == len(set(keys)), "Two answers to the same have the same key."
    assert_focus_is_never_hidden_even_when_an_answer_is_refused(page)
    fill_in(page, session)
    expect(send).to_be_enabled()
    assert_accessible(page)
    send.click()
    expect(page.locator("[data-saved][data-state=saved]")).to_be_visible()
    stored = Response.objects.get(session=session)
    assert stored.send_ms is not None
    assert stored.first_choice_ms is not None
    assert stored.changes_of_mind == 0
    question_number(page)
    assert_wide_spacing_loses_nothing(page)


def assert_focus_is_never_hidden_even_when_an_answer_is_refused(page: Page) -> None:
    window, error = page.viewport_size, page.locator("[data-stage] [data-error]")
    assert window is not None
    # What is said of an answer takes room too.
    error.evaluate("(error) => (error.textContent = 'Not like that. '.repeat(8))")
    assert_focus_is_never_hidden(page)
    error.evaluate("(error) => (error.textContent = '')")
    page.set_viewport_size(window)
