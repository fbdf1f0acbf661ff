"""Links to the page of a panel, mailed over SMTP by a real server, which at times is away or refuses."""

import email
import email.policy
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
import time_machine
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP
from django.conf import settings as site_settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.actions.recruiting.link_requests import KEPT_FOR, RETRY, request_link
from annotation.models import LinkRequest, PanelMember
from tests.factories import launch_study, make_project, member_of_panel
from tests.pages import words_of
from tests.servers import spare_port
from workspace.tasks import mail_panel_links

pytestmark = pytest.mark.django_db
ANN, EVE = "ann@example.org", "eve@example.org"
LATER = RETRY + timedelta(seconds=1)
DELAYED = "The mail server does not answer at the moment."


@dataclass
class Mailbox:
    """Handles what the server receives. refusal: its answer to a recipient, "" if it takes the mail."""

    refusal: str = ""
    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: list[str]) -> str:
        if not self.refusal:
            envelope.rcpt_tos.append(address)
        return self.refusal or "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        return "250 OK"

    def link(self) -> str:
        """The path of the link in the last mail."""
        found = re.search(
            r"^http://127\.0\.0\.1:8000(/panel/sign-in/\S+)\s*$", self.mails[-1].get_content(), re.MULTILINE
        )
        assert found is not None
        return found[1]


class MailServer(Controller):
    """Closes connections that a client has closed, as its start does to see whether it listens."""

    def factory(self) -> SMTP:
        return ClosingSMTP(self.handler, hostname="mail.example.org")


class ClosingSMTP(SMTP):
    def eof_received(self) -> bool:
        super().eof_received()
        return False


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def server(mailbox: Mailbox, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Controller]:
    """A mail server that the site is set to, not started yet."""
    port = spare_port()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.MAIL_FROM = "127.0.0.1", port, "lineup@example.org"
    monkeypatch.setattr("workspace.tasks.mail_panel_links.delay_on_commit", mail_panel_links)
    logging.getLogger("mail.log").setLevel(logging.WARNING)
    controller = MailServer(mailbox, hostname="127.0.0.1", port=port)
    yield controller
    if controller.loop.is_running():
        controller.stop()


@pytest.fixture
def member(db: None) -> PanelMember:
    return member_of_panel(ANN)


def ask(address: str = ANN, **headers: str) -> str:
    page = Client().post("/panel/link/", {"address": address}, headers=headers)
    assert page.status_code == 200
    return words_of(page)


def test_a_scanner_that_opens_the_link_first_does_not_use_it_up(server: Controller, mailbox: Mailbox) -> None:
    study = launch_study(make_project("birds"))
    member_of_panel(ANN, project=study.project)
    server.start()
    ask(**{"accept-language": "eu"})
    [mail] = mailbox.mails
    assert (mail["Subject"], mail["To"], mail["From"]) == ("Zure azterlanak", ANN, "lineup@example.org")
    assert "Behin bakarrik balio du, 30 minutuz:" in mail.get_content()

    scanner, phone, laptop = Client(), Client(), Client()
    for _ in range(2):
        assert scanner.head(mailbox.link()).status_code == scanner.get(mailbox.link()).status_code == 200
    assert site_settings.SITE_URL + "/panel/" in mail.get_content()
    # On another device than the one that asked.
    assert phone.post(mailbox.link())["Location"] == "/panel/"
    assert study.title in words_of(phone.get("/panel/"))
    assert laptop.get(mailbox.link()).status_code == laptop.post(mailbox.link()).status_code == 410
    assert study.title not in words_of(laptop.get("/panel/"))
    assert not LinkRequest.objects.exists()


def test_a_request_outlives_a_server_that_is_away(server: Controller, mailbox: Mailbox, member: PanelMember) -> None:
    first = ask()
    assert ask(EVE) == first
    assert DELAYED not in first
    with time_machine.travel(timezone.now() + LATER, tick=False):
        mail_panel_links()
        assert DELAYED in words_of(Client().get("/panel/"))
        assert DELAYED in ask()
        assert ANN not in str(LinkRequest.objects.values_list())
        server.start()
        mail_panel_links()
        mail_panel_links()
        # One mail for both requests of hers, and none to somebody in no panel.
        assert [mail["To"] for mail in mailbox.mails] == [ANN]
        assert not LinkRequest.objects.exists()
        assert DELAYED not in words_of(Client().get("/panel/"))
        assert Client().post(mailbox.link()).status_code == 302


@pytest.mark.parametrize(("refusal", "left"), [("451 Try again later", 1), ("550 No such user", 0)])
def test_only_a_final_refusal_ends_a_request(
    refusal: str, left: int, server: Controller, mailbox: Mailbox, member: PanelMember
) -> None:
    server.start()
    mailbox.refusal = refusal
    ask()
    assert LinkRequest.objects.count() == left
    mailbox.refusal = ""
    with time_machine.travel(timezone.now() + LATER, tick=False):
        mail_panel_links()
        mail_panel_links()
    assert len(mailbox.mails) == left


def test_a_request_that_waited_for_a_day_is_deleted(server: Controller, mailbox: Mailbox, member: PanelMember) -> None:
    request_link(address=ANN, language="en", now=timezone.now() - KEPT_FOR - timedelta(seconds=1))
    server.start()
    mail_panel_links()
    assert not LinkRequest.objects.exists()
    assert not mailbox.mails
