"""The one address by which workers get pictures from the site."""

import pytest
from django.test import Client
from pytest_django import Settings

from tests.factories import draw_image, make_person
from tests.pages import signed_in

pytestmark = pytest.mark.django_db
TOKEN = "a long random text"


@pytest.fixture(autouse=True)
def _token(settings: Settings) -> None:
    settings.WORKER_TOKEN = TOKEN


def get(name: str, authorization: str = f"Bearer {TOKEN}", client: Client | None = None) -> tuple[int, bytes]:
    response = (client or Client()).get(f"/worker/images/{name}", headers={"Authorization": authorization})
    return response.status_code, response.content


def test_a_worker_gets_the_bytes_that_were_imported_and_changes_nothing() -> None:
    image = draw_image(1)
    status, content = get(image.sha256)
    assert status == 200
    assert content.startswith(b"\x89PNG")
    address = f"/worker/images/{image.sha256}"
    assert Client().post(address, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 405


@pytest.mark.parametrize(
    "authorization", [TOKEN, "Bearer ", "Bearer another text", f"Bearer {TOKEN} ", f"bearer {TOKEN}", "Bearer ü"]
)
def test_whoever_has_another_token_learns_only_that(authorization: str) -> None:
    there, not_there = get(draw_image(1).sha256, authorization), get("a" * 64, authorization)
    assert there == not_there == (403, b"The worker token is wrong.")


def test_whoever_has_no_token_learns_nothing_and_without_one_of_the_site_nobody_has_it(settings: Settings) -> None:
    image = draw_image(1)
    researcher = signed_in(make_person("root", superuser=True))
    nothing = (404, b"There is no such image.")
    assert get(image.sha256, "") == get("a" * 64, "") == get(image.sha256, "", researcher) == nothing
    settings.WORKER_TOKEN = ""
    assert [get(image.sha256, sent)[0] for sent in ("", "Bearer ", "Bearer", f"Bearer {TOKEN}")] == [404, 403, 403, 403]


@pytest.mark.parametrize("name", ["a" * 64, "A" * 64, "x", "..%2F..%2Fdb.sqlite3"])
def test_there_is_nothing_but_pictures(name: str) -> None:
    assert get(name)[0] == 404
