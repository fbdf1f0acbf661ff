"""Webhooks and pushes to the Hub by script."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from results.models import Release
from studies.models import Membership, Study
from tests.factories import NOON
from tests.workspace.api.asking import BIRDS, Script, script_of
from workspace.models import Delivery, HubPush, KeptAnswer, Webhook, WebhookKey
from workspace.signatures import key_text

pytestmark = pytest.mark.django_db
# Nothing is looked up for an address in numbers.
WANTED = {"url": "https://93.184.215.14/", "topics": ["release.made"]}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
PUSH = {"release": "v1", "repository": "lab/birds", "token": "hf_secret"}


@pytest.fixture
def script(study: Study, researcher: User) -> Script:
    Membership.objects.update(role="owner")
    return script_of(researcher)


def test_a_webhook_is_made_once_and_its_key_is_in_no_answer_that_is_kept(script: Script) -> None:
    made = script.post(f"{BIRDS}webhooks/", WANTED, Idempotency_Key="one")
    again = script.post(f"{BIRDS}webhooks/", WANTED, Idempotency_Key="one")
    assert (made.status_code, again.json(), Webhook.objects.count()) == (201, made.json(), 1)
    key = script.post(f"{made['Location']}key/", {"hours": 0}).json()["key"]
    assert key == key_text(WebhookKey.objects.get().salt)
    assert "whsec_" not in str(list(KeptAnswer.objects.values()))
    refused = script.post(f"{BIRDS}webhooks/", {**WANTED, "url": "https://localhost/"}).json()
    assert (refused["status"], refused["type"]) == (409, "urn:lineup:problem:not-now")
    assert "private network" in refused["detail"]


def test_a_webhook_is_tried_what_it_was_sent_is_read_and_sent_again(script: Script) -> None:
    address = script.post(f"{BIRDS}webhooks/", WANTED)["Location"]
    tried = script.post(f"{address}try/")
    assert (tried.status_code, tried.json()["state"], tried.json()["topic"]) == (202, "waiting", "webhook.tried")
    Delivery.objects.update(state="failed", attempts=1, status=500, answer="oops", problem="The answer was 500.")
    (told,) = script.get(f"{address}deliveries/").json()["results"]
    assert (told["status"], told["answer"], told["due_at"]) == (500, "oops", None)
    assert told["name"] == str(Delivery.objects.get().name)
    assert script.post(f"{BIRDS}deliveries/{told['id']}/repeat/").json()["state"] == "waiting"
    assert script.ask("DELETE", address).status_code == 204
    assert script.get(address).status_code == 404


def test_a_push_is_asked_for_watched_and_cancelled_and_tells_no_token(script: Script, study: Study) -> None:
    assert script.post(f"{BIRDS}hub-pushes/", PUSH).json()["detail"].endswith("has no release called v1.")
    file = default_storage.save("releases/rows.jsonl", ContentFile(b""))
    frozen: dict[str, Any] = {"file": file, "sha256": EMPTY, "made_at": NOON}
    Release.objects.create(project=study.project, study=study, name="v1", **frozen)
    asked = script.post(f"{BIRDS}hub-pushes/", PUSH, Idempotency_Key="one")
    assert asked.status_code == 202
    assert (asked.json()["state"], asked.json()["url"]) == ("waiting", None)
    assert HubPush.objects.get().private
    assert "hf_secret" not in f"{asked.content!r} {list(KeptAnswer.objects.values())}"
    assert script.post(f"{asked['Location']}cancel/").json()["error"] == "It was cancelled."
    (told,) = script.get(f"{BIRDS}hub-pushes/").json()["results"]
    assert told == script.get(asked["Location"]).json()
    assert told["state"] == "failed"
