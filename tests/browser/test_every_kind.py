"""Every kind of question, made-up ones too, in a browser: nothing is sent before it is answered, and then it is."""

import random

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.actions import responses
from annotation.models import Response, Session
from studies.kinds import KINDS, get_kind
from tests.browser.stage import question_number
from tests.contracts import made_up
from tests.contracts.conftest import TEMPLATES
from tests.contracts.stage import NAMES, launched
from tests.factories import arrive_at_work


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    for name, path in made_up.KINDS.items():
        monkeypatch.setitem(KINDS, name, path)
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": [*settings.TEMPLATES[0]["DIRS"], TEMPLATES]}]


def fill_in(page: Page, session: Session) -> None:
    """Answer the question shown as its kind makes an answer up."""
    (slot,) = responses.open_slots(session=session, limit=1)
    order = responses.order_for(session=session, question=slot.question)
    kind = get_kind(slot.question.kind)
    for name, value in kind.made_up(slot.question.content, order, dice=random.Random(3)).items():
        field = page.locator(f"[data-stage] [name='{name}']")
        if field.first.get_attribute("type") == "radio":
            page.locator(f"[data-stage] [name='{name}'][value='{value}']").check(force=True)
        else:
            field.fill(value)


@pytest.mark.parametrize("name", NAMES)
def test_send_waits_for_an_answer_and_then_sends_it_with_its_measures(
    page: Page, live_server: LiveServer, name: str
) -> None:
    session = arrive_at_work(launched(name), now=timezone.now())
    page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
    question_number(page)
    send = page.locator("[data-stage] [data-send]")
    expect(page.locator("[data-stage] [data-hint]")).to_have_text("Choose an answer first.")
    expect(send).to_be_disabled()
    keys = page.locator("[data-stage] [data-digit]").evaluate_all(
        "all => all.map((option) => `${option.dataset.digit} ${option.querySelector('input').name}`)"
    )
    assert len(keys) == len(set(keys)), "Two answers to the same have the same key."
    fill_in(page, session)
    expect(send).to_be_enabled()
    send.click()
    expect(page.locator("[data-saved][data-state=saved]")).to_be_visible()
    stored = Response.objects.get(session=session)
    assert stored.send_ms is not None
    assert stored.first_choice_ms is not None
    assert stored.changes_of_mind == 0
