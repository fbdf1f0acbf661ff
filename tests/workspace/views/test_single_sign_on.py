"""Signing in with an account elsewhere, against a real provider in a process of its own."""

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from studies.actions.projects.membership import invite
from studies.models import Membership
from studies.permissions import Role
from tests.factories import PASSWORD, make_member, make_person, make_project
from tests.pages import signed_in
from tests.workspace.identity_provider import identity_provider, sign_in_there, tell_of
from workspace import single_sign_on
from workspace.actions import sign_in as attempts
from workspace.actions.linked_accounts import find_account
from workspace.actions.own_account import confirm_mail, is_confirmed
from workspace.models import BrowserSession

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once(
        on="sqlite",
        because="what is said to the provider is the same on both, and what is stored are rows of accounts",
    ),
]
ADDRESS = "anna@example.org"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with identity_provider(tmp_path_factory.mktemp("provider") / "log") as found:
        yield found


@pytest.fixture(autouse=True)
def _configured(issuer: str, settings: Settings) -> None:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = issuer, "lineup", "a secret"
    settings.OIDC_NAME, settings.OIDC_SIGN_UP = "Example University", False


def begin(browser: Client, *, next: str = "", address: str = "/sign-in/elsewhere/", **form: str) -> str:
    """Press the button; return the address at the provider that the page leads to."""
    page = browser.post(address, {"next": next} | form).content.decode()
    (found,) = re.findall(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', page)
    return html.unescape(found)


def come_back(browser: Client, sub: str = "anna", *, next: str = "") -> tuple[str, str]:
    """Sign in at the provider; return where that leads, and what is said there."""
    return led(browser, sign_in_there(begin(browser, next=next), sub))


def led(browser: Client, back: str) -> tuple[str, str]:
    answer = browser.get(back)
    page = browser.get(answer["Location"], follow=True).content.decode()
    said = re.findall(r'<li class="notice [a-z]+">(.+?)</li>', page)
    return answer["Location"], html.unescape(" ".join(said))


def told(issuer: str, sub: str = "anna", *, verified: Any = True, email: str = ADDRESS, **more: str) -> None:
    tell_of(issuer, sub, email=email, email_verified=verified, **more)


def somebody(name: str = "anna", *, confirmed: bool = True, superuser: bool = False) -> User:
    person = make_person(name, superuser=superuser)
    person.email = ADDRESS
    person.save()
    if confirmed:
        confirm_mail(user=person, now=timezone.now())
    return person


def who(browser: Client) -> str:
    found = browser.get("/account/")
    return str(found.context["user"].get_username()) if found.status_code == 200 else ""


def test_an_address_that_both_sides_have_confirmed_connects_once_and_for_all(issuer: str, settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    somebody()
    told(issuer)
    browser = Client()
    assert come_back(browser, next="/tokens/") == ("/tokens/", "")
    assert who(browser) == "anna"
    assert (mail.outbox[0].to, "Example University" in str(mail.outbox[0].body)) == ([ADDRESS], True)
    # From now on by who they are there, whatever address they have.
    told(issuer, email="moved@example.org", verified=False)
    again = Client()
    assert come_back(again)[0] == "/"
    assert who(again) == "anna"
    assert (SocialAccount.objects.count(), len(mail.outbox)) == (1, 1)
    assert BrowserSession.objects.filter(user__username="anna").count() == 2


def test_whoever_is_given_the_address_later_does_not_get_the_account(issuer: str) -> None:
    """Universities hand the addresses of people who left to others."""
    somebody()
    told(issuer)
    come_back(Client())
    told(issuer, "successor")
    browser = Client()
    assert come_back(browser, "successor")[0] == "/sign-in/"
    assert (who(browser), SocialAccount.objects.count()) == ("", 1)


def test_no_second_account_gets_in_beside_the_first_from_an_open_browser(issuer: str, settings: Settings) -> None:
    """Of somebody without a password, too, of whom it cannot be asked."""
    settings.MAIL_URL = "smtp://mail.example.org"
    person = somebody()
    told(issuer)
    browser = Client()
    come_back(browser)
    person.set_unusable_password()
    person.save()
    browser.force_login(person)
    page = browser.post("/account/elsewhere/connect/")
    assert page.status_code == 409
    assert "Your account is already connected." in page.content.decode()
    assert SocialAccount.objects.count() == 1


@pytest.mark.parametrize("verified", [False, "false", None])
def test_an_address_that_the_provider_has_not_verified_opens_nothing(verified: Any, issuer: str) -> None:
    somebody()
    told(issuer, "forger", verified=verified)
    browser = Client()
    assert come_back(browser, "forger") == ("/sign-in/", single_sign_on.NOBODY)
    assert (who(browser), SocialAccount.objects.count()) == ("", 0)


def test_an_address_that_was_only_typed_here_catches_nobodys_sign_in(issuer: str) -> None:
    """Whoever writes another's address into their account does not get that person's account elsewhere into it."""
    somebody("thief", confirmed=False)
    told(issuer)
    browser = Client()
    assert come_back(browser) == ("/sign-in/", single_sign_on.UNCONFIRMED)
    assert (who(browser), SocialAccount.objects.count()) == ("", 0)


def test_no_address_opens_an_operators_account(issuer: str) -> None:
    somebody(superuser=True)
    told(issuer)
    browser = Client()
    assert come_back(browser)[0] == "/sign-in/"
    assert who(browser) == ""


def test_two_accounts_with_one_address_are_opened_by_neither() -> None:
    somebody()
    assert find_account(ADDRESS.upper(), provider="oidc") is not None
    somebody("another")
    assert find_account(ADDRESS, provider="oidc") is None


def test_an_address_that_looks_alike_in_capitals_is_another_one() -> None:
    person = somebody()
    # The sign for kelvin is k in small letters.
    User.objects.filter(pk=person.pk).update(email="k@example.org")
    person.refresh_from_db()
    confirm_mail(user=person, now=timezone.now())
    assert find_account("k@example.org", provider="oidc") == person
    assert find_account("\N{KELVIN SIGN}@example.org", provider="oidc") is None


def test_a_deactivated_account_stays_closed(issuer: str) -> None:
    somebody()
    told(issuer)
    come_back(Client())
    User.objects.update(is_active=False)
    browser = Client()
    assert come_back(browser) == ("/sign-in/", single_sign_on.INACTIVE)
    assert who(browser) == ""


def test_nobody_makes_an_account_without_an_invitation(issuer: str) -> None:
    told(issuer)
    assert come_back(Client()) == ("/sign-in/", single_sign_on.NOBODY)
    assert come_back(Client(), next="/invitations/invented/") == ("/sign-in/", single_sign_on.NOBODY)
    assert User.objects.count() == 0


def test_an_invitation_makes_an_account_and_a_member_once(issuer: str) -> None:
    project = make_project()
    owner = make_member(project, "owner")
    _, secret = invite(project=project, role=Role.VIEWER, days=7, whom="", by=owner, now=timezone.now())
    link = f"/invitations/{secret}/"
    told(issuer, preferred_username="owner", name="Anna Etxeberria")
    browser = Client()
    assert "Sign in with Example University" in browser.get(link).content.decode()
    assert come_back(browser, next=link) == ("/projects/vases/", "You are a member of Vases now.")
    anna = Membership.objects.exclude(user=owner).get().user
    assert (anna.get_full_name(), anna.email, is_confirmed(anna)) == ("Anna Etxeberria", ADDRESS, True)
    assert (anna.has_usable_password(), anna.is_staff, anna.username == "owner") == (False, False, False)
    told(issuer, "second", email="second@example.org")
    assert come_back(Client(), "second", next=link)[0] == "/sign-in/"
    assert User.objects.count() == 2


def test_everybody_gets_an_account_where_the_site_says_so_but_no_unverified_address(
    issuer: str, settings: Settings
) -> None:
    settings.OIDC_SIGN_UP = True
    told(issuer, preferred_username="anna", verified=False)
    browser = Client()
    assert come_back(browser)[0] == "/"
    anna = User.objects.get()
    assert (who(browser), anna.email, is_confirmed(anna)) == ("anna", "", False)


def test_nothing_that_the_provider_tells_is_kept_but_who_it_is(issuer: str) -> None:
    somebody()
    told(issuer, picture="https://example.org/anna.png")
    come_back(Client())
    account = SocialAccount.objects.get()
    assert (account.uid, account.extra_data) == ("anna", {})
    assert not SocialToken.objects.exists()


def connect(browser: Client, sub: str = "anna", password: str = PASSWORD) -> tuple[str, str]:
    there = begin(browser, address="/account/elsewhere/connect/", password=password)
    return led(browser, sign_in_there(there, sub))


def test_an_account_is_connected_by_hand_with_the_password_and_disconnected(issuer: str) -> None:
    somebody(confirmed=False)
    told(issuer, verified=False)
    browser = Client()
    browser.post("/sign-in/", {"username": "anna", "password": PASSWORD})
    refused = browser.post("/account/elsewhere/connect/", {"password": "a guess"})
    assert (refused.status_code, "This is not your password." in refused.content.decode()) == (409, True)
    assert connect(browser) == ("/account/", single_sign_on.CONNECTED)
    elsewhere = Client()
    come_back(elsewhere)
    assert who(elsewhere) == "anna"
    browser.post("/account/elsewhere/disconnect/")
    assert come_back(Client())[0] == "/sign-in/"


def test_who_has_no_password_does_not_lock_themselves_out(issuer: str, settings: Settings) -> None:
    settings.OIDC_SIGN_UP = True
    told(issuer)
    browser = Client()
    come_back(browser)
    assert browser.post("/account/elsewhere/disconnect/").status_code == 409
    assert SocialAccount.objects.count() == 1


def test_an_account_elsewhere_that_opens_somebody_elses_is_not_connected(issuer: str) -> None:
    somebody()
    told(issuer)
    come_back(Client())
    other = signed_in(make_person("other"))
    assert connect(other) == ("/account/", single_sign_on.SOMEBODY_ELSES)
    assert SocialAccount.objects.get().user.username == "anna"


def test_the_request_has_a_challenge_that_only_this_site_can_meet(issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PKCE with S256, a state, a nonce, and an address to come back to that no request has named."""
    sent: list[dict[str, str]] = []
    request = requests.Session.request

    def noted(self: requests.Session, *args: Any, **kwargs: Any) -> requests.Response:
        sent.append(kwargs.get("data") or {})
        return request(self, *args, **kwargs)

    monkeypatch.setattr(requests.Session, "request", noted)
    somebody()
    told(issuer)
    browser = Client()
    there = begin(browser)
    asked = dict(parse_qsl(urlsplit(there).query))
    assert asked["redirect_uri"] == "http://127.0.0.1:8000/sign-in/elsewhere/back/"
    assert {"state", "nonce"} <= asked.keys()
    browser.get(sign_in_there(there, "anna"))
    (verifier,) = [each["code_verifier"] for each in sent if "code_verifier" in each]
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert (asked["code_challenge_method"], asked["code_challenge"]) == ("S256", digest)


def test_what_one_browser_began_another_cannot_end(issuer: str) -> None:
    """A link with a stranger's code signs nobody in as the stranger."""
    somebody()
    told(issuer)
    back = sign_in_there(begin(Client()), "anna")
    victim = Client()
    begin(victim)
    assert led(victim, back) == ("/sign-in/", single_sign_on.FAILED)
    assert who(victim) == ""


def test_the_answer_to_another_request_is_refused(issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody()
    told(issuer)
    browser = Client()
    there = begin(browser)
    assert (
        led(browser, sign_in_there(re.sub(r"nonce=[^&]+", "nonce=another", there), "anna"))[1] == single_sign_on.FAILED
    )
    assert who(browser) == ""


def test_a_provider_that_says_it_is_another_one_is_not_believed(issuer: str, settings: Settings) -> None:
    # It is found under this address, and calls itself otherwise.
    settings.OIDC_ISSUER = f"{issuer}/.well-known/openid-configuration"
    assert Client().post("/sign-in/elsewhere/")["Location"] == "/sign-in/"


def test_a_provider_that_is_down_is_said_to_be(settings: Settings, issuer: str) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    answer = Client().post("/sign-in/elsewhere/", follow=True)
    assert html.escape(single_sign_on.FAILED) in answer.content.decode()


def test_another_provider_does_not_get_the_people_of_the_one_before(issuer: str, settings: Settings) -> None:
    before = single_sign_on.provider_id()
    settings.OIDC_ISSUER = "https://login.example"
    assert single_sign_on.provider_id() != before


def test_who_goes_back_without_signing_in_is_told(issuer: str) -> None:
    browser = Client()
    asked = dict(parse_qsl(urlsplit(begin(browser)).query))
    back = f"/sign-in/elsewhere/back/?error=access_denied&state={asked['state']}"
    assert led(browser, back) == ("/sign-in/", single_sign_on.CANCELLED)


def test_no_link_leads_through_it_to_another_site(issuer: str) -> None:
    somebody()
    told(issuer)
    assert come_back(Client(), next="https://evil.example/")[0] == "/"


def test_a_link_begins_nothing() -> None:
    assert Client().get("/sign-in/elsewhere/").status_code == 405


def test_a_network_begins_only_so_often_and_who_gets_in_counts_for_nothing(
    issuer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_FROM_NETWORK", 2)
    somebody()
    told(issuer)
    for _ in range(3):
        assert come_back(Client())[0] == "/"
    strangers = [Client().post("/sign-in/elsewhere/") for _ in range(3)]
    assert [answer.status_code for answer in strangers] == [200, 200, 429]
    assert 0 < int(strangers[-1]["Retry-After"]) <= attempts.WINDOW.total_seconds()


def test_without_a_provider_there_is_nothing_of_it(settings: Settings, issuer: str) -> None:
    settings.OIDC_ISSUER = ""
    SocialApp.objects.create(provider="openid_connect", provider_id="x", name="X", client_id="x")
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
    browser = signed_in(make_person("anna"))
    assert "Connect it" not in browser.get("/account/").content.decode()
    addresses = ("/sign-in/elsewhere/", "/account/elsewhere/connect/", "/account/elsewhere/disconnect/")
    assert {browser.post(address).status_code for address in addresses} == {404}
    assert browser.get("/sign-in/elsewhere/back/").status_code == 404
