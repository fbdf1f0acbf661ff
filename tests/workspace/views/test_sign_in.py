from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import MD5PasswordHasher
from django.http import HttpRequest
from django.test import Client

from tests.factories import NOON, PASSWORD, make_person
from tests.pages import signed_in
from tests.together import at_once
from throttle.models import Count
from workspace.actions import sign_in as attempts
from workspace.actions.sign_in import FEW, MOST_EVERYWHERE, MOST_FROM_NETWORK, MOST_HERE, Attempt

pytestmark = pytest.mark.django_db

WRONG = "Check both and try again"
TOO_MANY = "There were too many attempts to sign in."
HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"
# The letters of "researcher" as compatible forms: full width, and the first one circled.
IN_FULL_WIDTH = "".join(chr(ord(letter) + 0xFEE0) for letter in "researcher")
CIRCLED = "\N{CIRCLED LATIN SMALL LETTER R}esearcher"


@pytest.fixture(name="tried")
def _tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names under which a password was looked at."""
    names: list[str] = []
    authenticate = ModelBackend.authenticate

    def noted(self: ModelBackend, request: HttpRequest, username: str, password: str) -> object:
        names.append(username)
        return authenticate(self, request, username=username, password=password)

    monkeypatch.setattr(ModelBackend, "authenticate", noted)
    return names


@pytest.fixture(name="clock", autouse=True)
def _clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def sign_in(name: str, password: str, *, network: str = HOME, client: Client | None = None, **form: str) -> str:
    """Return where a sign-in leads, or its status and page."""
    client = client or Client()
    response = client.post("/sign-in/", {"username": name, "password": password, **form}, REMOTE_ADDR=network)
    return response.headers.get("Location", "") or f"{response.status_code} {response.content.decode()}"


def test_a_researcher_signs_in_and_goes_home() -> None:
    make_person("researcher")
    assert sign_in("researcher", PASSWORD) == "/"


def test_one_goes_on_where_one_wanted_to_go() -> None:
    make_person("researcher")
    assert sign_in("researcher", PASSWORD, next="/studies/birds/") == "/studies/birds/"


def test_no_link_leads_through_the_sign_in_to_another_site() -> None:
    make_person("researcher")
    assert sign_in("researcher", PASSWORD, next="https://evil.example.org/") == "/"


def test_a_wrong_password_is_told_without_saying_what_is_wrong() -> None:
    make_person("researcher")
    for_known, for_unknown = sign_in("researcher", "wrong"), sign_in("nobody", "wrong")
    assert WRONG in for_known
    assert WRONG in for_unknown


def fail(name: str = "researcher", *, times: int = MOST_HERE, network: str = HOME) -> None:
    for _ in range(times):
        assert WRONG in sign_in(name, "wrong", network=network)


def test_after_ten_failures_the_right_password_does_not_help_for_a_quarter_of_an_hour(
    clock: time_machine.Traveller,
) -> None:
    make_person("researcher")
    fail()
    assert sign_in("researcher", PASSWORD).startswith("429")
    clock.shift(timedelta(minutes=14, seconds=59))
    assert sign_in(" researcher ", PASSWORD).startswith("429")
    clock.shift(timedelta(seconds=1))
    assert sign_in("researcher", PASSWORD) == "/"


def test_who_is_refused_is_told_how_long_to_wait(clock: time_machine.Traveller) -> None:
    fail()
    clock.shift(timedelta(minutes=3, seconds=30))
    refused = Client().post("/sign-in/", {"username": "researcher", "password": "x"}, REMOTE_ADDR=HOME)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "690")
    assert f"{TOO_MANY} Wait 12 minutes, then try again." in refused.content.decode()
    clock.shift(timedelta(minutes=10, seconds=45))
    assert "Wait 1 minute, then try again." in sign_in("researcher", PASSWORD)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_forty_guesses_at_once_no_more_than_the_limit_are_looked_at(tried: list[str]) -> None:
    make_person("researcher")
    answers = at_once(*[lambda number=number: sign_in("researcher", f"guess {number}") for number in range(40)])
    assert sum(WRONG in answer for answer in answers) == MOST_HERE
    assert sum(TOO_MANY in answer for answer in answers) == 40 - MOST_HERE
    assert len(tried) == MOST_HERE


@pytest.mark.both
@pytest.mark.parametrize("spelling", [IN_FULL_WIDTH, f" {IN_FULL_WIDTH} ", CIRCLED])
def test_another_spelling_of_the_same_name_gets_no_more_guesses(spelling: str, tried: list[str]) -> None:
    make_person("researcher")
    fail()
    assert TOO_MANY in sign_in(spelling, PASSWORD)
    assert set(tried) == {"researcher"}
    assert len(tried) == MOST_HERE


def test_a_name_in_capitals_is_another_name_as_it_is_for_django(tried: list[str]) -> None:
    make_person("researcher")
    fail("RESEARCHER")
    assert sign_in("researcher", PASSWORD) == "/"


def test_the_admin_has_no_door_of_its_own(tried: list[str]) -> None:
    make_person("operator", superuser=True)
    form = {"username": "operator", "password": PASSWORD, "next": "/admin/"}
    response = Client().post("/admin/login/?next=/admin/", form)
    assert (response.status_code, response.headers["Location"]) == (302, "/sign-in/?next=/admin/")
    assert tried == []


def test_an_operator_who_wants_a_page_of_the_admin_gets_there_through_the_one_door() -> None:
    make_person("operator", superuser=True)
    client = Client()
    asked = client.get("/admin/studies/project/", follow=True)
    assert asked.redirect_chain[-1] == ("/sign-in/?next=/admin/studies/project/", 302)
    assert sign_in("operator", PASSWORD, client=client, next="/admin/studies/project/") == "/admin/studies/project/"
    assert client.get("/admin/studies/project/").status_code == 200
    assert client.get("/admin/login/", follow=True).redirect_chain[-1] == ("/admin/", 302)


def test_a_researcher_who_is_no_operator_is_told_so_and_not_sent_in_circles(caplog: pytest.LogCaptureFixture) -> None:
    client = signed_in(make_person("researcher"))
    assert client.get("/admin/", follow=True).status_code == 403
    # What somebody may not do is no mistake of the site: one line of the log, without a trace.
    assert [record.exc_info for record in caplog.records if record.name == "django.request"] == [None]


def test_no_link_leads_through_the_admin_to_another_site() -> None:
    make_person("operator", superuser=True)
    client = Client()
    door = client.get("/admin/login/?next=https://evil.example.org/").headers["Location"]
    response = client.post(door, {"username": "operator", "password": PASSWORD})
    assert response.headers["Location"] == "/"


def test_a_stranger_elsewhere_does_not_lock_a_researcher_out() -> None:
    make_person("researcher")
    fail(network=ELSEWHERE)
    assert TOO_MANY in sign_in("researcher", "wrong", network=ELSEWHERE)
    assert sign_in("researcher", PASSWORD) == "/"


def test_strangers_in_many_networks_get_fewer_guesses_and_do_not_lock_a_researcher_out(tried: list[str]) -> None:
    make_person("researcher")
    for number in range(8):
        for _ in range(MOST_HERE):
            sign_in("researcher", "wrong", network=f"198.51.100.{number}")
    # Five networks used up what all have together; the other three had a few guesses each.
    assert len(tried) == MOST_EVERYWHERE + 3 * FEW
    assert sign_in("researcher", PASSWORD) == "/"


def test_a_browser_that_signed_in_before_is_not_locked_out_by_a_stranger_beside_it() -> None:
    make_person("researcher")
    browser = Client()
    sign_in("researcher", PASSWORD, client=browser)
    browser.post("/sign-out/")
    fail()
    fail_with_many_names()
    assert TOO_MANY in sign_in("researcher", PASSWORD)
    assert sign_in("researcher", PASSWORD, client=browser) == "/"


def test_a_browser_that_signed_in_before_has_no_more_guesses_than_others(tried: list[str]) -> None:
    make_person("researcher")
    browser = Client()
    sign_in("researcher", PASSWORD, client=browser)
    browser.post("/sign-out/")
    tried.clear()
    answers = [sign_in("researcher", "wrong", client=browser, network=f"192.0.2.{number}") for number in range(30)]
    assert sum(TOO_MANY in answer for answer in answers) == 30 - MOST_HERE
    assert len(tried) == MOST_HERE


def test_the_mark_of_a_browser_opens_no_other_name() -> None:
    make_person("researcher")
    make_person("intruder")
    browser = Client()
    sign_in("intruder", PASSWORD, client=browser)
    mark = next(cookie for name, cookie in browser.cookies.items() if name.startswith("known-"))
    sign_in("researcher", PASSWORD, client=(other := Client()))
    wanted = next(name for name in other.cookies if name.startswith("known-"))
    fail()
    forged = Client()
    forged.cookies[wanted] = mark.value
    assert TOO_MANY in sign_in("researcher", PASSWORD, client=forged)


def fail_with_many_names(*, network: str = HOME) -> None:
    for number in range(MOST_FROM_NETWORK):
        sign_in(f"invented {number}", "wrong", network=network)


def test_one_network_cannot_try_one_password_under_every_name(tried: list[str]) -> None:
    make_person("researcher")
    fail_with_many_names(network=ELSEWHERE)
    assert TOO_MANY in sign_in("researcher", PASSWORD, network=ELSEWHERE)
    assert len(tried) == MOST_FROM_NETWORK
    assert sign_in("researcher", PASSWORD) == "/"


def test_an_office_that_signs_in_rightly_is_never_too_many() -> None:
    make_person("researcher")
    assert {sign_in("researcher", PASSWORD) for _ in range(MOST_FROM_NETWORK + 1)} == {"/"}


def test_ten_thousand_invented_names_leave_few_rows() -> None:
    for number in range(10_000):
        attempts.begin(Attempt(name=f"invented {number}", network=HOME, device=""), now=NOON)
    # One of the network, and two of each name that was looked at.
    assert Count.objects.count() == 1 + 2 * MOST_FROM_NETWORK


def test_an_unknown_name_takes_a_password_hash_as_a_known_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    def noted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return "md5$none$none"

    monkeypatch.setattr(MD5PasswordHasher, "encode", noted)
    sign_in("nobody", "wrong")
    assert hashed == ["wrong"]


def test_failures_under_one_name_do_not_lock_another_out() -> None:
    make_person("researcher")
    fail("somebody")
    assert sign_in("researcher", PASSWORD) == "/"


def test_signing_in_forgets_the_failures_before() -> None:
    make_person("researcher")
    fail(times=MOST_HERE - 1)
    assert sign_in("researcher", PASSWORD) == "/"
    fail(times=MOST_HERE - 1)
    assert sign_in("researcher", PASSWORD) == "/"


def test_neither_what_was_typed_nor_where_is_kept() -> None:
    sign_in("my-password-by-mistake", "wrong")
    kept = " ".join(Count.objects.values_list("digest", flat=True))
    assert len(kept) == 3 * 64 + 2
    assert "password" not in kept
    assert HOME not in kept


def test_a_password_is_changed_and_the_new_one_works() -> None:
    client = signed_in(make_person("researcher"))
    new = "quite another password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    response = client.post("/password/", form, follow=True)
    assert "Your password was changed." in response.content.decode()
    assert sign_in("researcher", new) == "/"


def test_a_short_password_is_refused_with_the_reason() -> None:
    client = signed_in(make_person("researcher"))
    form = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
    response = client.post("/password/", form)
    assert "It must contain at least 12 characters." in response.content.decode()
    assert sign_in("researcher", PASSWORD) == "/"
