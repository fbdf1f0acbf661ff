"""How webhooks are made."""

import json

from tests.lineup_client.site import Site, answer


def test_a_webhook_is_made_and_its_key_asked_for() -> None:
    site = Site(answer({"id": 7}, 201), answer({"key": "whsec_x"}))
    assert site.client().project("birds").webhooks.make("https://a.example/", ["release.made"]) == (
        {"id": 7},
        "whsec_x",
    )
    assert site.asked[1].url.path == "/api/v1/projects/birds/webhooks/7/key/"
    assert json.loads(site.asked[1].content) == {"hours": 0}
