"""How what is in a project is named and made."""

import json
from typing import Any

import pytest

from tests.lineup_client.site import Site, answer


def test_a_name_with_any_sign_stays_one_part_of_the_address() -> None:
    site = Site(answer({}, 200))
    site.client().project("birds").change_role("ann/../ben", "viewer")
    assert str(site.asked[0].url).endswith("/projects/birds/members/ann%2F..%2Fben/")


@pytest.mark.parametrize(
    ("source", "type"), [({"study": "one"}, "application/json"), ("study: one\n", "application/yaml")]
)
def test_a_study_is_made_from_values_or_from_text(source: Any, type: str) -> None:
    site = Site(answer({"slug": "one"}, 201))
    assert site.client().project("birds").studies.create(source).slug == "one"
    assert site.asked[0].headers["Content-Type"] == type


def test_a_webhook_is_made_and_its_key_asked_for() -> None:
    site = Site(answer({"id": 7}, 201), answer({"key": "whsec_x"}))
    assert site.client().project("birds").webhooks.make("https://a.example/", ["release.made"]) == (
        {"id": 7},
        "whsec_x",
    )
    assert site.asked[1].url.path == "/api/v1/projects/birds/webhooks/7/key/"
    assert json.loads(site.asked[1].content) == {"hours": 0}
