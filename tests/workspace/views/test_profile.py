import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from tests.factories import NOON, PASSWORD, make_person
from workspace.actions.browser_sessions import delete_ended
from workspace.actions.own_account import is_confirmed
from workspace.actions.sign_in import MAILS_TO_ADDRESS, MOST_HERE
from workspace.models import BrowserSession
from workspace.signed_in_browsers import NOTED_EVERY

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
ANOTHER = "quite another password"


@pytest.fixture(name="clock", autouse=True)
def _clock() -> Iterator[time_machine.Traveller]:
    cache.clear()
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture(name="anna")
def _anna() -> User:
    anna = make_person("anna")
    User.objects.filter(pk=anna.pk).update(email="anna@example.org", last_name="Before")
    anna.refresh_from_db()
    return anna


@pytest.fixture
def mailing(settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"


def signed_in(agent: str = FIREFOX, name: str = "anna", password: str = PASSWORD) -> Client:
    browser = Client(headers={"User-Agent": agent})
    browser.post("/sign-in/", {"username": name, "password": password})
    return browser


def is_signed_in(browser: Client) -> bool:
    return browser.get("/account/").status_code == 200


def post(browser: Client, address: str, **form: str) -> tuple[int, str]:
    """Return the status of the answer, and the page that is shown in the end."""
    answer = browser.post(address, form)
    page = browser.get(answer["Location"]) if answer.status_code == 302 else answer
    return answer.status_code, page.content.decode()


def test_the_name_that_colleagues_read_is_changed(anna: User) -> None:
    status, page = post(signed_in(), "/account/name/", name=" Anna Etxeberria ")
    assert (status, "Colleagues now see Anna Etxeberria." in page) == (302, True)
    anna.refresh_from_db()
    assert (anna.get_full_name(), anna.username) == ("Anna Etxeberria", "anna")


def test_a_name_of_two_lines_is_refused_and_stands_in_the_form(anna: User) -> None:
    status, page = post(signed_in(), "/account/name/", name="Anna\nEtxeberria")
    assert status == 409
    assert 'role="alert"' in page
    anna.refresh_from_db()
    assert anna.last_name == "Before"


def ask(browser: Client, address: str = "new@example.org", password: str = PASSWORD) -> tuple[int, str]:
    return post(browser, "/account/mail/", mail=address, password=password)


def link_of(message: mail.EmailMessage) -> str:
    (link,) = re.findall(r"^http://127\.0\.0\.1:8000(/account/mail/\S+)$", str(message.body), re.MULTILINE)
    return str(link)


@pytest.mark.usefixtures("mailing")
def test_a_new_address_counts_once_the_link_that_was_sent_to_it_is_followed(anna: User) -> None:
    assert "A link was sent to new@example.org." in ask(signed_in())[1]
    (sent,) = mail.outbox
    assert sent.to == ["new@example.org"]
    anywhere = Client()
    assert "to new@example.org?" in anywhere.get(link_of(sent)).content.decode()
    anna.refresh_from_db()
    assert (anna.email, is_confirmed(anna)) == ("anna@example.org", False)
    # Whoever has got the link without being the one who asked for it confirms nothing.
    assert anywhere.post(link_of(sent))["Location"].startswith("/sign-in/?next=/account/mail/")
    anna.refresh_from_db()
    assert (anna.email, is_confirmed(anna)) == ("anna@example.org", False)
    anywhere.force_login(anna)
    assert anywhere.post(link_of(sent))["Location"] == "/account/"
    anna.refresh_from_db()
    assert (anna.email, is_confirmed(anna)) == ("new@example.org", True)
    told = mail.outbox[1]
    assert (told.to, "new@example.org" in str(told.body)) == (["anna@example.org"], False)
    assert anywhere.post(link_of(sent)).status_code == 410
    assert len(mail.outbox) == 2


@pytest.mark.usefixtures("mailing")
def test_the_address_that_one_has_is_confirmed_by_a_link_and_nobody_is_told(anna: User) -> None:
    ask(signed_in(), "anna@example.org")
    signed_in().post(link_of(mail.outbox[0]))
    assert is_confirmed(anna)
    assert len(mail.outbox) == 1
    User.objects.update(email="set-by-an-operator@example.org")
    anna.refresh_from_db()
    assert not is_confirmed(anna)


@pytest.mark.usefixtures("mailing")
@pytest.mark.parametrize("what", ["a day", "another password", "another address", "deactivated", "forged"])
def test_a_link_is_good_for_a_day_and_the_account_that_it_was_made_for(
    what: str, anna: User, clock: time_machine.Traveller
) -> None:
    ask(signed_in())
    link = link_of(mail.outbox[0])
    if what == "a day":
        clock.shift(timedelta(hours=24, seconds=1))
    elif what == "another password":
        anna.set_password(ANOTHER)
        anna.save()
    elif what == "forged":
        link = f"{link[:-3]}{'a' if link[-3] != 'a' else 'b'}{link[-2:]}"
    else:
        change = {"email": "other@example.org"} if what == "another address" else {"is_active": False}
        User.objects.update(**change)
    assert Client().post(link).status_code == 410
    assert User.objects.get().email != "new@example.org"


@pytest.mark.usefixtures("mailing")
def test_who_finds_an_open_browser_needs_the_password_and_cannot_guess_it(anna: User) -> None:
    browser = signed_in()
    for _ in range(MOST_HERE):
        status, page = ask(browser, password="a guess")
        assert (status, "This is not your password." in page) == (409, True)
    status, page = ask(browser)
    assert (status, "Wait 15 minutes, then try again." in page) == (429, True)
    assert mail.outbox == []


@pytest.mark.usefixtures("mailing")
def test_nobodys_mailbox_is_filled_from_here_either(anna: User) -> None:
    browser = signed_in()
    assert [ask(browser)[0] for _ in range(MAILS_TO_ADDRESS + 1)] == [302] * MAILS_TO_ADDRESS + [429]
    assert len(mail.outbox) == MAILS_TO_ADDRESS


def test_without_mail_the_password_is_enough(anna: User) -> None:
    browser = signed_in()
    assert ask(browser, password="a guess")[0] == 409
    assert "Your address is new@example.org." in ask(browser)[1]
    anna.refresh_from_db()
    assert (anna.email, is_confirmed(anna)) == ("new@example.org", False)


def test_without_mail_and_without_a_password_an_operator_is_asked(anna: User) -> None:
    anna.set_unusable_password()
    anna.save()
    browser = Client()
    browser.force_login(anna)
    status, page = ask(browser, password="")
    assert (status, "ask your administrator" in page) == (409, True)


def test_what_is_no_address_is_refused(anna: User) -> None:
    assert ask(signed_in(), "anna@@example.org")[0] == 409


def test_browsers_are_listed_with_when_they_began_and_were_seen(anna: User, clock: time_machine.Traveller) -> None:
    signed_in("Mozilla/5.0 (Windows NT 10.0) Edg/142.0")
    clock.shift(timedelta(hours=1))
    browser = signed_in()
    clock.shift(NOTED_EVERY)
    page = browser.get("/account/").content.decode()
    rows = [re.sub(r"<[^>]+>|\s+", " ", row).split() for row in re.findall(r"<tr>.+?</tr>", page, re.DOTALL)[1:]]
    day = f"{NOON:%-d %b %Y}".split()
    noon, later = [*day[:2], f"{day[2]},", "12:00", "UTC"], [*day[:2], f"{day[2]},", "13:00", "UTC"]
    here, there = ["Firefox", "on", "Linux"], ["Edge", "on", "Windows"]
    # Each button names its browser and, of several like it, which one.
    named = ["Sign", "out", *here[:2], "Linux,", "signed", "in", *f"{NOON:%-d %B %Y}, 13:00:00".split()]
    other = ["Sign", "out", *there[:2], "Windows,", "signed", "in", *f"{NOON:%-d %B %Y}, 12:00:00".split()]
    assert rows == [[*here, "this", "one", "now", *later, *named], [*there, *noon, *noon, *other]]
    assert BrowserSession.objects.get(browser="Firefox on Linux").seen_at == NOON + timedelta(hours=1) + NOTED_EVERY


def test_looking_at_pages_writes_nothing_for_five_minutes(anna: User, clock: time_machine.Traveller) -> None:
    browser = signed_in()
    browser.get("/account/")
    clock.shift(NOTED_EVERY - timedelta(seconds=1))
    browser.get("/account/")
    assert BrowserSession.objects.get().seen_at == NOON


def test_a_browser_that_was_signed_in_before_there_was_a_list_comes_into_it(anna: User) -> None:
    browser = signed_in()
    BrowserSession.objects.all().delete()
    cache.clear()
    browser.get("/account/")
    assert BrowserSession.objects.get().session_key == browser.session.session_key


def test_another_browser_is_signed_out_and_nobody_signs_out_somebody_else(anna: User) -> None:
    make_person("stranger")
    here, there, stranger = signed_in(), signed_in("Edg/1 Windows"), signed_in(name="stranger")
    row = BrowserSession.objects.get(browser="Edge on Windows")
    assert stranger.post(f"/account/browsers/{row.pk}/sign-out/").status_code == 404
    assert is_signed_in(there)
    assert "Edge on Windows was signed out." in post(here, f"/account/browsers/{row.pk}/sign-out/")[1]
    assert (is_signed_in(here), is_signed_in(there), is_signed_in(stranger)) == (True, False, True)


def test_all_other_browsers_are_signed_out(anna: User) -> None:
    make_person("stranger")
    here, there, elsewhere, stranger = signed_in(), signed_in(), signed_in(), signed_in(name="stranger")
    assert "2 other browsers were signed out." in post(here, "/account/browsers/sign-out/")[1]
    assert [is_signed_in(each) for each in (here, there, elsewhere, stranger)] == [True, False, False, True]
    assert Session.objects.count() == 2


def test_a_change_of_the_password_signs_out_the_others(anna: User) -> None:
    here, there = signed_in(), signed_in()
    here.post("/password/", {"old_password": PASSWORD, "new_password1": ANOTHER, "new_password2": ANOTHER})
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)
    assert BrowserSession.objects.get().session_key == here.session.session_key


def test_a_password_that_an_operator_sets_leaves_no_browser_in_the_list(anna: User) -> None:
    signed_in()
    anna.set_password(ANOTHER)
    anna.save()
    page = signed_in(password=ANOTHER).get("/account/").content.decode()
    assert page.count('<th scope="row">Firefox on Linux') == 1


def test_what_is_over_is_forgotten(anna: User, clock: time_machine.Traveller) -> None:
    signed_in().post("/sign-out/")
    signed_in()
    clock.shift(timedelta(days=14))
    kept = signed_in()
    delete_ended(now=NOON + timedelta(days=14, seconds=1))
    assert BrowserSession.objects.get().session_key == kept.session.session_key
    assert Session.objects.count() == 1
