"""Scores from real workers: asked for, lost on the way, sent again, and stored once."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import pytest
import redis
from celery import current_app
from django.core.files.storage import default_storage
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings

from background.broker import transport_options
from config.celery import app
from predictions.actions import runs
from predictions.actions.runs import LOST_AFTER, WINDOW, request_run
from predictions.messages import BEGUN, GPU, LOADED, SCORE, STORE
from predictions.models import Model, Prediction, Run
from predictions.queries.progress import progress_of
from predictions.tasks import send_due, send_to_worker
from studies.actions.images import original_name
from studies.models import Project
from tests import waiting
from tests.factories import TESTS, draw_image, draw_instance, make_project
from tests.predictions.model_worker import MISSING, model_worker, worker_environment
from tests.predictions.plain_scorer import BROKEN, digest_score
from tests.receivers import Request, answer_with, receiving
from tests.workers import BROKERS, celery_worker

WAIT_SECONDS = 60
# Messages that a worker takes at once: one is computed, the images of the other are read.
AT_ONCE = 2
said_by_the_worker = pytest.mark.once(
    on="sqlite", because="what the worker says has no database in it; what is stored of it is tried on both by others"
)
SPEC, TOKEN = "plain:w1", "a long random text"
EMBEDDED_BROKER = "filesystem://localhost"
INSTANCES = 40
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for number in range(1, INSTANCES + 1):
        draw_instance(project, number, candidates=2)
    return project


@pytest.fixture(params=BROKERS, scope="module")
def broker_url(request: pytest.FixtureRequest) -> str:
    return EMBEDDED_BROKER if request.param == "files" else str(request.getfixturevalue("redis_server"))


@contextmanager
def sending_to(broker_url: str, folder: Path) -> Iterator[None]:
    """Let this process send where the workers of the test listen."""
    assert current_app.main == app.main, "Another test made its own Celery app the current one."
    options = transport_options(broker_url, folder / "broker")
    with app.connection_for_write(broker_url, transport_options=options) as connection:
        sent = app.send_task

        def send(name: str, *content: Any, **options: Any) -> Any:
            return sent(name, *content, **{**options, "connection": connection})

        with mock.patch.object(app, "send_task", send):
            yield


@pytest.fixture(scope="module")
def at_work(broker_url: str, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a worker of the site and one with models, for all tests that leave them alive; yield their folder."""
    folder = tmp_path_factory.mktemp("at_work")
    with (
        override_settings(MEDIA_ROOT=folder / "media"),
        celery_worker(folder=folder, broker_url=broker_url),
        model_worker(folder=folder, broker_url=broker_url),
    ):
        yield folder


@pytest.fixture
def workers(at_work: Path, broker_url: str, settings: Settings) -> Iterator[Path]:
    """Send to those at work, with pictures where they look for them; return their folder."""
    settings.MEDIA_ROOT = at_work / "media"
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
    with sending_to(broker_url, at_work):
        yield at_work


@pytest.fixture
def own_broker(broker_url: str, tmp_path: Path) -> Iterator[str]:
    """Send to a broker that nobody else listens to; return its address."""
    address = EMBEDDED_BROKER if broker_url == EMBEDDED_BROKER else f"{broker_url.rpartition('/')[0]}/1"
    with sending_to(address, tmp_path):
        yield address


def wait_until(is_so: Callable[[], bool], folder: Path) -> None:
    def why() -> str:
        logs = [path.read_text(encoding="utf-8")[-3000:] for path in folder.glob("*.log")]
        return f"{list(Run.objects.values())}: {logs}"

    waiting.wait_until(is_so, seconds=WAIT_SECONDS, why=why)


def state(run: Run) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def ask(project: Project, spec: str) -> Run:
    run = request_run(project=project, spec=spec, kind="best_of_n", by=TESTS, now=timezone.now())
    send_to_worker(run)
    return run


def assert_everything_is_there_once(run: Run) -> None:
    run.refresh_from_db()
    assert (run.state, run.error, run.stored, run.wrong, run.total) == (Run.State.DONE, "", INSTANCES, 0, INSTANCES)
    assert list(Model.objects.values_list("name", "version", "weights")) == [("plain", "1", "w1")]
    assert Prediction.objects.count() == INSTANCES
    for prediction in Prediction.objects.select_related("instance", "conditions"):
        number = int(prediction.instance.key.removeprefix("row-"))
        # Three pictures to an instance, numbered on: the original and two candidates.
        pictures = [draw_image(3 * number + 1 + at).sha256 for at in range(2)]
        text = f"A bird under {number} roofs."
        assert prediction.scores == {
            f"candidate-{at}": digest_score("w1", text, sha) for at, sha in enumerate(pictures)
        }
        assert prediction.conditions is not None
        assert prediction.conditions.details == {"dtype": "none", "batch": 1}


def send_again(run: Run) -> None:
    """What the clock does ten minutes later."""
    later = timezone.now() + LOST_AFTER + timedelta(seconds=1)
    assert run in runs.overdue_runs(now=later)
    send_due(run.pk, now=later)


def test_a_worker_that_is_killed_in_mid_chunk_loses_nothing_and_repeats_nothing(
    project: Project, own_broker: str, tmp_path: Path
) -> None:
    run = ask(project, SPEC)
    with celery_worker(folder=tmp_path, broker_url=own_broker):
        with model_worker(folder=tmp_path, broker_url=own_broker, PLAIN_GATE=str(tmp_path)) as worker:
            wait_until(lambda: (tmp_path / "reached").exists() and run.chunks.filter(stored=5).count() == 2, tmp_path)
            # As when a machine loses its power.
            worker.kill()
            worker.wait()
        with model_worker(folder=tmp_path, broker_url=own_broker):
            # What it had taken is lost with it: the one it was at, and the next. All others are scored.
            wait_until(lambda: run.chunks.filter(stored_at=None).count() == AT_ONCE, tmp_path)
            assert state(run) == Run.State.RUNNING
            send_again(run)
            wait_until(lambda: state(run) == Run.State.DONE, tmp_path)
    assert_everything_is_there_once(run)


def test_messages_that_come_twice_are_stored_once(workers: Path, project: Project) -> None:
    # What the tests before left behind is over.
    wait_until(lambda: answers(workers, "succeeded") == answers(workers, "received"), workers)
    before = answers(workers, "succeeded")
    run = ask(project, SPEC)
    wait_until(lambda: state(run) != Run.State.LOADING, workers)
    for chunk in run.chunks.all():
        items = runs.items_of(chunk=chunk)
        app.send_task(SCORE, kwargs={"run": run.pk, "chunk": chunk.pk, "spec": SPEC, "items": items}, queue=GPU)
    wait_until(lambda: state(run) == Run.State.DONE, workers)
    # The last of the second messages has been answered too.
    wait_until(lambda: answers(workers, "succeeded") >= before + 2 * run.chunks.count(), workers)
    assert_everything_is_there_once(run)


def answers(folder: Path, what: str) -> int:
    """Return how many scored chunks the site's worker has taken in: `received`, or `succeeded` too."""
    log = (folder / "worker.log").read_text(encoding="utf-8")
    return len(re.findall(rf"Task predictions\.store\[\S+\] {what}", log))


@pytest.mark.once(on="postgresql", because="Redis goes with it; a worker that is killed, and sent to again, is on both")
def test_a_broker_that_loses_all_its_messages_loses_no_run(project: Project, redis_server: str, tmp_path: Path) -> None:
    address = f"{redis_server.rpartition('/')[0]}/1"
    with sending_to(address, tmp_path), celery_worker(folder=tmp_path, broker_url=address):
        run = ask(project, SPEC)
        with model_worker(folder=tmp_path, broker_url=address, PLAIN_GATE=str(tmp_path)):
            wait_until(lambda: (tmp_path / "reached").exists() and run.chunks.filter(stored=5).count() == 2, tmp_path)
            with redis.Redis.from_url(address) as broker:
                # What is stored is there a moment before the message about the chunk that takes its turn.
                wait_until(lambda: broker.llen(GPU) == WINDOW - AT_ONCE, tmp_path)
                broker.flushdb()
            (tmp_path / "open").touch()
            # Those that waited in the broker are lost; those that are sent from now on are not.
            wait_until(lambda: run.chunks.filter(stored_at=None).count() == WINDOW - AT_ONCE, tmp_path)
            assert state(run) == Run.State.RUNNING
            send_again(run)
            wait_until(lambda: state(run) == Run.State.DONE, tmp_path)
    assert_everything_is_there_once(run)


def test_what_a_worker_cannot_do_is_told_in_words(workers: Path, project: Project) -> None:
    lost = draw_image(10).sha256
    default_storage.delete(original_name(lost))
    broken, run = ask(project, "plain:broken"), ask(project, SPEC)
    wait_until(lambda: {state(broken), state(run)} == {Run.State.FAILED, Run.State.DONE}, workers)
    broken.refresh_from_db()
    run.refresh_from_db()
    assert broken.error == BROKEN
    assert (run.stored, run.wrong) == (INSTANCES - 1, 1)
    ((sentence, count),) = progress_of(run, now=timezone.now()).problems
    assert sentence.startswith(f"row-3: The image {lost[:12]} cannot be read on the worker (No such file or directory")
    assert count == 1


@said_by_the_worker
def test_a_web_server_that_is_away_in_the_middle_of_a_run_costs_no_question(project: Project, tmp_path: Path) -> None:
    away = Event()

    def give(handler: BaseHTTPRequestHandler, request: Request) -> None:
        # As the site answers (tests/predictions/views/test_pictures.py).
        root, _, name = request.path.rpartition("/")
        if away.is_set() or (root, request.headers["authorization"]) != ("/worker/images", f"Bearer {TOKEN}"):
            return answer_with(503)(handler, request)
        with default_storage.open(original_name(name)) as file:
            return answer_with(200, file.read())(handler, request)

    with (
        receiving(give) as web,
        sending_to(EMBEDDED_BROKER, tmp_path),
        celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER),
    ):
        run = ask(project, SPEC)
        address = f"http://127.0.0.1:{web.port}"
        place = {"LINEUP_IMAGES": address, "LINEUP_WORKER_TOKEN": TOKEN, "PLAIN_GATE": str(tmp_path)}
        with model_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **place):
            wait_until(lambda: (tmp_path / "reached").exists(), tmp_path)
            away.set()
            (tmp_path / "open").touch()
            wait_until(lambda: Run.objects.get(pk=run.pk).unreachable_since is not None, tmp_path)
            run.refresh_from_db()
            assert run.unreachable.startswith(f"{address} answered 503")
            away.clear()
            wait_until(lambda: state(run) == Run.State.DONE, tmp_path)
    assert_everything_is_there_once(run)


def python(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=worker_environment(folder, EMBEDDED_BROKER, **environment),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )


@said_by_the_worker
def test_the_worker_needs_no_django_no_settings_and_no_library_of_models_to_start(tmp_path: Path) -> None:
    """Not even where the environment names settings of Django's, by accident."""
    program = "import predictions.worker, sys; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    done = python(program, tmp_path, DJANGO_SETTINGS_MODULE="config.settings")
    assert done.returncode == 0, done.stderr
    found = set(ast.literal_eval(done.stdout))
    assert {"celery", "PIL", "predictions"} <= found
    assert not {*MISSING, "sqlite3"} & found


SCORES = """
import json
from predictions import worker
scorer, _ = worker._loaded.get("onnx:demo")
pairs = [("A red car on a meadow.", NAME), ("A blue fish.", NAME)]
scores = scorer.score(pairs, worker.open_picture)
print(json.dumps([score if isinstance(score, float) else str(score) for score in scores]))
"""


@said_by_the_worker
def test_a_second_worker_takes_vectors_from_the_folder_and_opens_no_picture(tmp_path: Path) -> None:
    name, folder = draw_image(1).sha256, {"LINEUP_VECTORS": str(tmp_path / "vectors")}
    program = SCORES.replace("NAME", repr(name))
    first = python(program, tmp_path, **folder)
    assert first.returncode == 0, first.stderr
    scores = ast.literal_eval(first.stdout)
    assert all(isinstance(score, float) for score in scores)
    nowhere = {"LINEUP_IMAGES": str(tmp_path / "no-pictures")}
    assert ast.literal_eval(python(program, tmp_path, **folder, **nowhere).stdout) == scores
    # Without the folder it has to look.
    assert "The worker cannot read the folder" in python(program, tmp_path, **nowhere).stderr


READS_AHEAD = """
import json, time
from threading import Thread
from predictions import worker
opened, answers = [], []
def open_picture(name):
    opened.append(name)
    return pictures(name)
pictures, worker.open_picture = worker.open_picture, open_picture
worker._answer = lambda task, **_: answers.append(task)
worker._loaded.get("onnx:demo")
matches = {"a": ("A red car.", NAME), "b": ("A blue fish.", NAME)}
told = {"run": 1, "chunk": 1, "spec": "onnx:demo", "items": [{"content": "1", "matches": matches}]}
with worker.device:
    load = {"run": 2, "spec": "onnx:demo"}
    threads = [Thread(target=worker.score, kwargs=told), Thread(target=worker.load, kwargs=load)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    while not opened and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    before = [list(opened), list(answers)]
for thread in threads:
    thread.join(30)
print(json.dumps([before, [opened, sorted(answers)]]))
"""


@said_by_the_worker
def test_images_of_the_next_chunk_are_read_while_another_message_has_the_device(tmp_path: Path) -> None:
    name = draw_image(1).sha256
    done = python(READS_AHEAD.replace("NAME", repr(name)), tmp_path)
    assert done.returncode == 0, done.stderr
    before, after = ast.literal_eval(done.stdout)
    # It is read, and neither the chunk nor a model to be loaded is begun.
    assert before == [[name], []]
    assert after == [[name], sorted([BEGUN, STORE, BEGUN, LOADED])]


EXPIRES = """
import json
from datetime import UTC, datetime, timedelta
from celery.app.trace import build_tracer
from making.worker import app
from predictions import worker
sent = []
app.send_task = lambda name, **_: sent.append(name)
told = {
    "predictions.load": {"run": 1, "spec": "none"},
    "predictions.score": {"run": 1, "chunk": 1, "spec": "none", "items": []},
    "predictions.embed": {"run": 1, "chunk": 1, "spec": "none", "pictures": []},
    "making.make": {"batch": 1, "maker": "none:none", "options": {}, "requests": []},
    "making.judge": {"batch": 1, "filter": "none", "options": {}, "candidates": []},
}
for minutes in (-1, 1):
    until = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    for name, content in told.items():
        build_tracer(name, app.tasks[name], app=app)("1", (), content, {"id": "1", "expires": until})
    print(json.dumps(sent))
"""


@said_by_the_worker
def test_a_message_that_expires_while_it_waits_for_the_device_is_dropped(tmp_path: Path) -> None:
    done = python(EXPIRES, tmp_path)
    assert done.returncode == 0, done.stderr
    late, early = map(ast.literal_eval, done.stdout.splitlines())
    # Each that is not late is begun, and answered with what is wrong with it.
    assert (late, len(early)) == ([], 2 * 5)


@said_by_the_worker
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("LINEUP_IMAGES", "https://lineup.example", "LINEUP_IMAGES is the address of a site, which requires a token. "),
        ("AWS_ENDPOINT_URL", "storage.example", "AWS_ENDPOINT_URL is 'storage.example'. Write an address, such as"),
        ("IMAGE_MAX_PIXELS", "many", "IMAGE_MAX_PIXELS is 'many'. Write a whole number, 1 or more."),
        ("LINEUP_VECTORS_MB", "0", "LINEUP_VECTORS_MB is '0'. Write a whole number, 1 or more."),
        ("LINEUP_VECTORS", "/dev/null/a", "Vectors cannot be stored in /dev/null/a (Not a directory). Choose another"),
        ("LINEUP_PRECISION", "half", "LINEUP_PRECISION is 'half'. Write one of auto, float32, float16, bfloat16."),
        ("LINEUP_WORKER_TOKEN_FILE", "/no/such/file", "LINEUP_WORKER_TOKEN_FILE names /no/such/file, which cannot be"),
    ],
)
def test_a_setting_that_cannot_be_meant_stops_the_worker_with_a_sentence(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    done = python("import predictions.worker", tmp_path, **{name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
