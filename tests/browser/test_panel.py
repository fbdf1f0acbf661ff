"""Somebody of a panel signs in and starts a study, by keyboard, on a phone that reads from right to left."""

import re

import pytest
from django.core import mail
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.models import Session
from tests.browser.stage import open_study
from tests.browser.test_accessibility import assert_accessible
from tests.factories import member_of_panel
from workspace.tasks import mail_panel_links

ANN = "ann@example.org"
WIDTH = 390


@pytest.fixture
def phone(browser: Browser, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Page:
    settings.MAIL_FROM = "lineup@example.org"
    monkeypatch.setattr("workspace.tasks.mail_panel_links.delay_on_commit", mail_panel_links)
    return browser.new_context(locale="ar", viewport={"width": WIDTH, "height": 844}).new_page()


def test_a_study_is_started_by_keyboard(live_server: LiveServer, phone: Page) -> None:
    study = open_study()
    member_of_panel(ANN, project=study.project)

    phone.goto(f"{live_server.url}/panel/")
    assert_fits(phone)
    phone.keyboard.press("Tab")
    phone.keyboard.press("Tab")
    phone.keyboard.type(ANN)
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("heading", level=1)).to_have_text("يُرجى التحقق من بريدك")
    assert_fits(phone)

    [path] = re.findall(r"/panel/sign-in/\S+", str(mail.outbox[-1].body))
    phone.goto(live_server.url + path)
    assert_fits(phone)
    phone.keyboard.press("Tab")
    phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    start = phone.get_by_role("button", name=f"بدء {study.title}")
    expect(start).to_be_visible()
    assert_fits(phone)
    phone.keyboard.press("Tab")
    phone.keyboard.press("Tab")
    expect(start).to_be_focused()
    phone.keyboard.press("Enter")
    phone.wait_for_url("**/s/*/")
    assert Session.objects.get().token in phone.url
    phone.goto(f"{live_server.url}/panel/")
    expect(phone.get_by_role("button", name=f"متابعة {study.title}")).to_be_visible()
    assert_fits(phone)


def assert_fits(page: Page) -> None:
    assert page.evaluate("[document.documentElement.dir, document.documentElement.scrollWidth]") == ["rtl", WIDTH]
    assert_accessible(page)
