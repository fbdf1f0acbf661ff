"""A trained model is pushed to a stand-in of the Hub: its card by a job, its weights by a worker."""

import logging
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.test import Client

from background.models import Job
from studies.models import Event, Project
from tests.factories import NOON, make_person, make_project
from tests.hub import TOKEN, Hub
from tests.jobs import run_now
from tests.receivers import Request
from tests.training.site import finish, waiting_run
from training import worker
from training.messages import PUSHED
from training.models import TrainingRun
from workspace.actions import model_push as actions
from workspace.actions.hub import PushRefused
from workspace.models import ModelPush
from workspace.tasks import note_model_pushed

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")]
WEIGHTS = b"weights" * 500


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainingRun:
    """Return a run whose weights lie in a folder of a worker."""
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))
    run = waiting_run(make_project())
    finish(run)
    (tmp_path / run.folder).mkdir()
    (tmp_path / run.folder / "small-clip.pt").write_bytes(WEIGHTS)
    (tmp_path / run.folder / "checkpoint").write_bytes(b"not for the Hub")
    return run


@pytest.fixture(autouse=True)
def orders(monkeypatch: pytest.MonkeyPatch, client: Client) -> list[Any]:
    """The orders that are sent to workers. The worker's module reaches the site through `client`."""
    sent: list[Any] = []
    send = SimpleNamespace(send_task=lambda name, *, kwargs, **_: sent.append(kwargs["order"]))
    monkeypatch.setattr(actions, "current_app", send)

    def get(order: Any, address: str, **_: Any) -> Any:
        answer = client.get(address.removeprefix(order["site"]), headers={"authorization": f"Bearer {order['key']}"})
        return SimpleNamespace(status=answer.status_code, data=answer.content)

    def answer(task: str, *, kwargs: dict[str, Any], **_: Any) -> None:
        assert task == PUSHED
        assert TOKEN not in repr(kwargs)
        note_model_pushed(**kwargs)

    monkeypatch.setattr("training.site_client._get", get)
    monkeypatch.setattr(worker.app, "send_task", answer)
    return sent


def ask(run: TrainingRun, **changes: Any) -> ModelPush:
    told = {"repository": "lab/small-clip", "private": True, "token": TOKEN, **changes}
    by = User.objects.get_or_create(username="cora")[0]
    return actions.request_model_push(run=run, **told, by=by, now=NOON)


def push_card(push: ModelPush, now: Any = NOON) -> ModelPush:
    assert push.job
    run_now(push.job, now=now)
    push.refresh_from_db()
    return push


def test_the_card_and_then_the_weights_lie_in_the_repository_and_the_token_is_nowhere(
    hub: Hub, run: TrainingRun, orders: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    push = push_card(ask(run, licence="MIT"))
    repository = hub.repositories["lab/small-clip"]
    assert (repository.private, list(repository.files)) == (True, ["README.md"])
    assert b"license: mit" in repository.files["README.md"]
    assert (push.card_url, push.finished_at) == (f"{hub.url}/lab/small-clip/commit/{'0' * 39}1", None)
    (order,) = orders
    models = (ModelPush, Job, Event, Project, TrainingRun)
    stored = "".join(serializers.serialize("json", model._base_manager.all()) for model in models)
    assert TOKEN not in stored + repr(orders)
    worker.push(order=order)
    push.refresh_from_db()
    assert repository.files.keys() == {"README.md", "small-clip.pt"}
    assert repository.files["small-clip.pt"] == WEIGHTS
    assert repository.commits == ["Model card of small-clip", "Weights of small-clip"]
    assert (push.error, push.sealed_token, push.url) == ("", "", f"{hub.url}/lab/small-clip/commit/{'0' * 39}2")
    told = Event.objects.get(what="model pushed to the hub")
    assert (told.by_name, told.details) == ("cora", {"model": "small-clip", "repository": "lab/small-clip"})
    assert TOKEN not in caplog.text


def test_a_card_alone_needs_no_worker(hub: Hub, run: TrainingRun, orders: list[Any]) -> None:
    push = push_card(ask(run, with_weights=False))
    assert orders == []
    assert (push.error, push.url, push.sealed_token) == ("", push.card_url, "")
    assert list(hub.repositories["lab/small-clip"].files) == ["README.md"]


def test_what_the_hub_has_is_sent_no_second_time(hub: Hub, run: TrainingRun, orders: list[Any]) -> None:
    """A worker that was lost after the file was sent, and before the commit."""
    push_card(ask(run))
    commits = 0

    def refuse(request: Request) -> tuple[int, Any] | None:
        nonlocal commits
        commits += "/commit/" in request.path
        return (502, {"error": "Bad gateway"}) if "/commit/" in request.path and commits == 1 else None

    hub.before = refuse
    worker.push(order=orders[0])
    push = ModelPush.objects.get()
    assert push.error == "The Hub answered 502: Bad gateway The model card is on the Hub."
    push_card(ask(run))
    worker.push(order=orders[1])
    assert [line for line in hub.sent if line.startswith("PUT /lfs/")] == [f"PUT /lfs/{oid}" for oid in hub.blobs]
    assert hub.repositories["lab/small-clip"].files["small-clip.pt"] == WEIGHTS


def test_a_lost_worker_is_followed_by_another_and_may_no_longer_ask(
    hub: Hub, run: TrainingRun, orders: list[Any], client: Client
) -> None:
    push_card(ask(run))
    for hours in (0, 1, 3):
        actions.ask_for_weights(now=NOON + timedelta(hours=hours))
    first, second = orders
    assert (first["attempt"], second["attempt"]) == (1, 2)
    worker.push(order=first)
    assert "small-clip.pt" not in hub.repositories["lab/small-clip"].files
    worker.push(order=second)
    worker.push(order=second)
    assert hub.repositories["lab/small-clip"].commits == ["Model card of small-clip", "Weights of small-clip"]
    for key in (second["key"], "none", ""):
        answer = client.get("/worker/models/push", headers={"authorization": f"Bearer {key}"})
        assert (answer.status_code, TOKEN in answer.content.decode()) == (410, False)


def test_weights_that_no_worker_has_are_said(hub: Hub, run: TrainingRun, orders: list[Any], tmp_path: Path) -> None:
    push = push_card(ask(run))
    (tmp_path / run.folder / "small-clip.pt").unlink()
    worker.push(order=orders[0])
    push.refresh_from_db()
    assert push.error == (
        "The worker that was asked does not have these weights. Share the folder LINEUP_TRAINED among workers, and "
        "push again. The model card is on the Hub."
    )
    assert push.sealed_token == ""


def test_a_push_that_nobody_takes_ends_after_a_day(hub: Hub, run: TrainingRun) -> None:
    push = push_card(ask(run))
    actions.ask_for_weights(now=NOON + timedelta(hours=25))
    push.refresh_from_db()
    assert (push.error, push.sealed_token) == (actions.NO_WORKER, "")


def test_a_token_that_the_hub_does_not_know_is_said_and_forgotten(
    hub: Hub, run: TrainingRun, orders: list[Any]
) -> None:
    push = push_card(ask(run, token="hf_another"))
    assert push.error == "The Hub rejected the token: it is unknown or expired. Use a new one."
    assert (push.sealed_token, orders) == ("", [])


def test_a_hub_that_is_away_is_said(run: TrainingRun, settings: Any) -> None:
    settings.HUB_URL = "http://127.0.0.1:9"
    push = push_card(ask(run))
    assert push.error.startswith("http://127.0.0.1:9 cannot be reached")


def test_a_cancelled_push_forgets_its_token_and_stops_its_worker(hub: Hub, run: TrainingRun, orders: list[Any]) -> None:
    waiting = ask(run)
    actions.cancel_model_push(push=waiting, by=make_person("dora"), now=NOON)
    push = push_card(ask(run))
    actions.cancel_model_push(push=push, by=make_person("eva"), now=NOON)
    worker.push(order=orders[0])
    assert list(hub.repositories["lab/small-clip"].files) == ["README.md"]
    assert set(ModelPush.objects.values_list("error", "sealed_token")) == {("It was cancelled.", "")}
    with pytest.raises(PushRefused, match="already ended"):
        actions.cancel_model_push(push=push, by=make_person("fay"), now=NOON)


def test_what_cannot_be_pushed_is_refused(run: TrainingRun) -> None:
    for told, reason in (
        ({"repository": "small-clip"}, "OWNER/NAME"),
        ({"token": "hf token"}, "Give a token"),
        ({"licence": "x" * 101}, "more than 100 characters"),
    ):
        with pytest.raises(PushRefused, match=reason):
            ask(run, **told)
    ask(run)
    with pytest.raises(PushRefused, match="A model is already being pushed to lab/SMALL-clip"):
        ask(run, repository="lab/SMALL-clip")
    TrainingRun.objects.update(state="training", finished_at=None)
    run.refresh_from_db()
    with pytest.raises(PushRefused, match="small-clip is not trained yet"):
        ask(run, repository="lab/other")
