"""Scores from real workers: asked for, lost on the way, sent again, and stored once."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from background.broker import transport_options
from config.celery import app
from predictions.actions.runs import request_run
from predictions.models import Model, Prediction, Run
from predictions.tasks import send_to_worker
from studies.models import Project
from tests.factories import TESTS, draw_image, draw_instance, make_project
from tests.predictions.model_worker import model_worker
from tests.predictions.plain_scorer import digest_score
from tests.workers import celery_worker

WAIT_SECONDS = 60
EMBEDDED_BROKER = "filesystem://localhost"
INSTANCES = 40
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for number in range(1, INSTANCES + 1):
        draw_instance(project, number, candidates=2)
    return project


@pytest.fixture(params=["files", "redis"])
def broker_url(request: pytest.FixtureRequest) -> str:
    return EMBEDDED_BROKER if request.param == "files" else str(request.getfixturevalue("redis_server"))


@pytest.fixture
def _sends_there(broker_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process send where the workers of the test listen."""
    options = transport_options(broker_url, tmp_path / "broker")
    with app.connection_for_write(broker_url, transport_options=options) as connection:
        sent = app.send_task

        def send(name: str, **kwargs: Any) -> Any:
            return sent(name, **{**kwargs, "connection": connection})

        monkeypatch.setattr(app, "send_task", send)
        yield


def wait_until(is_so: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if is_so():
            return
        time.sleep(0.1)
    logs = [path.read_text(encoding="utf-8")[-3000:] for path in folder.glob("*.log")]
    pytest.fail(f"{list(Run.objects.values())}: {logs}")


def state(run: Run) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def ask(project: Project, spec: str) -> Run:
    run = request_run(project=project, spec=spec, kind="best_of_n", by=TESTS, now=timezone.now())
    send_to_worker(run)
    return run


@pytest.mark.usefixtures("_sends_there")
def test_a_worker_without_database_scores_what_people_are_asked(
    project: Project, broker_url: str, tmp_path: Path
) -> None:
    run = ask(project, "plain:w1")
    with celery_worker(folder=tmp_path, broker_url=broker_url), model_worker(folder=tmp_path, broker_url=broker_url):
        wait_until(lambda: state(run) != Run.State.LOADING, tmp_path)
        wait_until(lambda: state(run) != Run.State.RUNNING, tmp_path)
    run.refresh_from_db()
    assert (run.state, run.error, run.stored, run.wrong, run.total) == (Run.State.DONE, "", INSTANCES, 0, INSTANCES)
    assert [(model.name, model.version, model.weights) for model in Model.objects.all()] == [("plain", "1", "w1")]
    third = Prediction.objects.get(instance__key="row-3")
    # Three pictures to an instance, numbered on: the original and two candidates.
    candidates = [draw_image(number).sha256 for number in (10, 11)]
    text = "A bird under 3 roofs."
    assert third.scores == {f"candidate-{at}": digest_score("w1", text, sha) for at, sha in enumerate(candidates)}
    assert third.conditions is not None
    assert third.conditions.details == {"dtype": "none", "batch": 1}
