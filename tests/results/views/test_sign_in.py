from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from results.actions.sign_in import MOST_FAILURES
from results.models import SignInFailure
from tests.factories import NOON, PASSWORD, make_person

pytestmark = pytest.mark.django_db

WRONG = "Check both and try again"
LOCKED = "There were too many attempts"


def sign_in(name: str, password: str, **form: str) -> str:
    response = Client().post("/sign-in/", {"username": name, "password": password, **form})
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


def test_after_ten_failures_the_right_password_does_not_help_for_a_quarter_of_an_hour() -> None:
    make_person("researcher")
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(MOST_FAILURES):
            assert WRONG in sign_in("researcher", "wrong")
        assert sign_in("researcher", PASSWORD).startswith("429")
        assert LOCKED in sign_in(" RESEARCHER", PASSWORD)
        clock.shift(timedelta(minutes=15, seconds=1))
        assert sign_in("researcher", PASSWORD) == "/"


def test_failures_under_one_name_do_not_lock_another_out() -> None:
    make_person("researcher")
    for _ in range(MOST_FAILURES):
        sign_in("somebody", "wrong")
    assert sign_in("researcher", PASSWORD) == "/"


def test_signing_in_forgets_the_failures_before() -> None:
    make_person("researcher")
    sign_in("researcher", "wrong")
    sign_in("researcher", PASSWORD)
    assert SignInFailure.objects.count() == 0


def test_what_was_typed_is_not_kept() -> None:
    sign_in("my-password-by-mistake", "wrong")
    failure = SignInFailure.objects.get()
    assert "password" not in failure.name_digest


def test_a_password_is_changed_and_the_new_one_works() -> None:
    client = Client()
    client.force_login(make_person("researcher"))
    new = "quite another password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    response = client.post("/password/", form, follow=True)
    assert "Your password is changed." in response.content.decode()
    assert sign_in("researcher", new) == "/"


def test_a_short_password_is_refused_with_the_reason() -> None:
    client = Client()
    client.force_login(make_person("researcher"))
    form = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
    response = client.post("/password/", form)
    assert "It must contain at least 12 characters." in response.content.decode()
    assert sign_in("researcher", PASSWORD) == "/"
