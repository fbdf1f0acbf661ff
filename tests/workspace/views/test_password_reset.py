import re

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from tests.factories import PASSWORD, make_person
from workspace.actions.sign_in import MAILS_TO_ADDRESS, MAILS_TO_NETWORK

pytestmark = pytest.mark.django_db
ANOTHER = "quite another password"


@pytest.fixture(autouse=True)
def _mail(settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    anna = make_person("anna")
    anna.email = "anna@example.org"
    anna.save()


def ask(address: str, *, network: str = "192.0.2.1") -> int:
    return Client().post("/forgotten/", {"email": address}, REMOTE_ADDR=network).status_code


def test_the_link_in_the_mail_leads_to_another_password_once() -> None:
    assert ask("anna@example.org") == 302
    (sent,) = mail.outbox
    assert (sent.to, sent.from_email) == (["anna@example.org"], "lineup@example.org")
    (link,) = re.findall(r"^http://127\.0\.0\.1:8000(/forgotten/\S+)$", str(sent.body), re.MULTILINE)
    browser = Client()
    form = browser.get(link, follow=True)
    page = browser.post(form.redirect_chain[-1][0], {"new_password1": ANOTHER, "new_password2": ANOTHER}, follow=True)
    assert "Your password was changed. Sign in with the new one." in page.content.decode()
    assert browser.login(username="anna", password=ANOTHER)
    assert not browser.login(username="anna", password=PASSWORD)
    assert "This link is no longer valid" in Client().get(link, follow=True).content.decode()


def test_the_page_does_not_tell_who_has_an_account() -> None:
    browser = Client()
    pages = [browser.post("/forgotten/", {"email": email}, follow=True) for email in ("anna@example.org", "x@y.org")]
    assert pages[0].content == pages[1].content
    assert len(mail.outbox) == 1


def test_the_host_that_a_stranger_writes_is_not_in_the_link() -> None:
    Client().post("/forgotten/", {"email": "anna@example.org"}, headers={"host": "localhost"})
    assert "localhost" not in mail.outbox[0].body


def test_nobodys_mailbox_is_filled() -> None:
    networks = [f"192.0.2.{number}" for number in range(MAILS_TO_ADDRESS + 1)]
    assert [ask("anna@example.org", network=network) for network in networks] == [302] * MAILS_TO_ADDRESS + [429]
    # In capitals it is the same address.
    assert ask("ANNA@example.org", network="198.51.100.1") == 429
    assert len(mail.outbox) == MAILS_TO_ADDRESS


def test_nobody_tries_a_list_of_addresses() -> None:
    statuses = [ask(f"person-{number}@example.org") for number in range(MAILS_TO_NETWORK + 1)]
    assert statuses == [302] * MAILS_TO_NETWORK + [429]


def test_without_a_mail_server_nothing_is_offered(settings: Settings) -> None:
    settings.MAIL_FROM = ""
    assert Client().get("/forgotten/")["Location"] == "/sign-in/"
    assert Client().post("/forgotten/", {"email": "anna@example.org"})["Location"] == "/sign-in/"
    assert "/forgotten/" not in Client().get("/sign-in/").content.decode()
    assert mail.outbox == []


def test_signing_in_leads_to_it_where_there_is_mail() -> None:
    assert 'href="/forgotten/"' in Client().get("/sign-in/").content.decode()
