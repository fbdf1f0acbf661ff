import hashlib
import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from studies.models import Study
from tests.factories import NOON, make_person, make_project
from tests.workspace.api.asking import API, BIRDS, Script, script_of, token_of
from workspace.actions.tokens import MOST_TOKENS, TokenRefused, make_token
from workspace.api.framework.authentication import FAILURES
from workspace.models import Scope, Token

pytestmark = pytest.mark.django_db

ME = f"{API}me/"
PAGE = "/tokens/"
FORM = {"name": "notebook", "scope": "read", "days": "30", "project": ""}


def test_a_token_is_shown_once_and_only_its_digest_is_kept(client: Client, researcher: User) -> None:
    page = client.post(PAGE, FORM).content.decode()
    (text,) = re.findall(r"lineup_[0-9a-f]{64}", page)
    token = Token.objects.get()
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert (token.owner, token.name, token.scope, token.ending) == (researcher, "notebook", "read", text[-4:])
    assert text not in client.get(PAGE).content.decode()
    assert Script(text).get(ME).json()["username"] == "researcher"


def test_a_token_may_be_for_one_project_of_ones_own(client: Client, study: Study) -> None:
    make_project("vases")
    client.post(PAGE, FORM | {"project": "birds"})
    assert Token.objects.get().project == study.project
    refused = client.post(PAGE, FORM | {"project": "vases"})
    assert (refused.status_code, Token.objects.count()) == (409, 1)
    assert "There is no such project among yours." in refused.content.decode()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"name": " "}, "Write what the token is for"),
        ({"name": "a" * 101}, "The name has 101 characters; at most 100 fit."),
        ({"name": "a\nb"}, "The name cannot be used."),
        ({"scope": "all"}, "Choose what the token may do"),
        ({"days": "1000"}, "A token lasts 7, 30, 90 or 365 days."),
        ({"days": "x"}, "A token lasts 7, 30, 90 or 365 days."),
    ],
)
def test_a_form_that_says_something_else_is_shown_again(client: Client, changed: dict[str, str], sentence: str) -> None:
    answer = client.post(PAGE, FORM | changed)
    assert (answer.status_code, Token.objects.exists()) == (409, False)
    assert sentence in answer.content.decode()


def test_who_has_many_tokens_is_asked_to_revoke_one(researcher: User) -> None:
    told: dict[str, Any] = {"owner": researcher, "name": "one", "scope": Scope.READ, "days": 7}
    for _ in range(MOST_TOKENS):
        make_token(**told, now=NOON)
    with pytest.raises(TokenRefused, match="Revoke one"):
        make_token(**told, now=NOON)
    # Those that are over hold nobody up.
    make_token(**told, now=NOON + timedelta(days=8))


def test_a_revoked_token_opens_nothing_from_that_moment(client: Client, researcher: User) -> None:
    script = script_of(researcher)
    assert script.get(ME).status_code == 200
    client.post(f"/tokens/{Token.objects.get().pk}/revoke/")
    refused = script.get(ME)
    assert (refused.status_code, refused.json()["type"]) == (401, "urn:lineup:problem:no-token")
    assert "misspelled, expired or revoked" in refused.json()["detail"]
    assert Token.objects.get().revoked_at is not None


def test_nobody_revokes_what_is_somebody_elses(client: Client) -> None:
    script_of(make_person("ann"))
    assert client.post(f"/tokens/{Token.objects.get().pk}/revoke/").status_code == 404
    assert Token.objects.get().revoked_at is None


def test_a_token_ends_on_its_day(researcher: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        script = script_of(researcher)
        clock.shift(timedelta(days=7) - timedelta(seconds=1))
        assert script.get(ME).status_code == 200
        clock.shift(1)
        assert script.get(ME).status_code == 401


def test_its_last_use_is_noted_at_most_once_a_minute(researcher: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        script = script_of(researcher)
        for seconds, noted in ((0, 0), (59, 0), (1, 60)):
            clock.shift(seconds)
            script.get(ME)
            assert Token.objects.get().last_used_at == NOON + timedelta(seconds=noted)


def test_who_shows_many_wrong_tokens_is_asked_to_wait_and_a_right_one_still_opens(researcher: User) -> None:
    wrong = Script(f"lineup_{'0' * 64}")
    assert {wrong.get(ME).status_code for _ in range(FAILURES)} == {401}
    refused = wrong.get(ME)
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert 0 < int(refused["Retry-After"]) <= 900
    assert script_of(researcher).get(ME).status_code == 200


def test_a_token_may_ask_so_often_in_a_minute(researcher: User, settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2
    script = script_of(researcher)
    assert [script.get(ME).status_code for _ in range(3)] == [200, 200, 429]
    assert script_of(researcher).get(ME).status_code == 200


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic bGluZXVw", "Bearer lineup_", "Bearer \xe9\xff"])
def test_what_is_no_token_opens_nothing(researcher: User, header: str) -> None:
    answer = Client(headers={"Authorization": header}).get(ME)
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")


def test_a_cookie_of_the_pages_opens_nothing(client: Client, study: Study) -> None:
    assert client.get(BIRDS).status_code == 401


def test_the_page_asks_no_more_with_more_tokens(
    client: Client, researcher: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    token_of(researcher)
    with django_assert_num_queries(4) as few:
        client.get(PAGE)
    for _ in range(5):
        token_of(researcher)
    with django_assert_num_queries(len(few)):
        client.get(PAGE)
