"""Images from real workers: asked for, lost on the way, sent again, and stored once."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from background.job_runner import run
from background.tasks import send
from making.actions import batches
from making.actions.batches import LOST_AFTER, open_batches, send_due, stalled
from making.actions.pipelines import request_pipeline
from making.filters import FILTERS
from making.makers import MAKERS
from making.messages import JUDGE, MAKE
from making.models import Candidate, Pipeline
from studies.models import InstanceImage, Project
from tests import waiting
from tests.factories import make_instance, make_project
from tests.making.painter import BROKEN
from tests.predictions.model_worker import MISSING, model_worker
from tests.predictions.test_worker import EMBEDDED_BROKER, python, said_by_the_worker, sending_to
from tests.workers import BROKERS, celery_worker

pytestmark = pytest.mark.django_db(transaction=True)
WAIT_SECONDS = 60
PAINTER = "tests.making.with_painter"
INSTANCES = 12
FILE = """name: four
start: {role: caption}
stages: [{name: pictures, make: "paint:plain", count: 4}]
instances: {of: start, captions: {caption: start}, images: {candidate: pictures}}
"""


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(MAKERS, "paint", "tests.making.painter.Paint")
    project = make_project("birds")
    for number in range(INSTANCES):
        text = {"caption": f"A dog, number {number}."}
        make_instance(project, f"row-{number}", candidates=0, captions=text, original_captions=text)
    return project


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Send to a broker that nobody else listens to; return its address."""
    address = EMBEDDED_BROKER
    if request.param == "redis":
        address = f"{str(request.getfixturevalue('redis_server')).rpartition('/')[0]}/1"
    with sending_to(address, tmp_path):
        yield address


@contextmanager
def painters(folder: Path, broker: str, **environment: str) -> Iterator[Any]:
    with model_worker(folder=folder, broker_url=broker, include=PAINTER, **environment) as worker:
        yield worker


def wait_until(is_so: Callable[[], bool], folder: Path) -> None:
    def why() -> str:
        logs = [path.read_text(encoding="utf-8")[-3000:] for path in folder.glob("*.log")]
        return f"{list(Pipeline.objects.values())}: {logs}"

    waiting.wait_until(is_so, seconds=WAIT_SECONDS, why=why)


def ask(project: Project, source: str = FILE) -> Pipeline:
    pipeline, job = request_pipeline(project=project, source=source, by="test", now=timezone.now())
    assert job is not None
    send(job)
    return pipeline


def is_finished(pipeline: Pipeline) -> bool:
    pipeline.refresh_from_db()
    return pipeline.finished_at is not None


def test_a_worker_that_is_killed_and_messages_that_come_twice_make_each_image_once(
    project: Project, broker: str, tmp_path: Path
) -> None:
    with celery_worker(folder=tmp_path, broker_url=broker, include=[PAINTER]):
        pipeline = ask(project)
        with painters(tmp_path, broker, PAINT_GATE=str(tmp_path)) as worker:
            wait_until(lambda: (tmp_path / "reached").exists() and open_batches(pipeline).count() == 2, tmp_path)
            # As when a machine loses its power.
            worker.kill()
            worker.wait()
        with painters(tmp_path, broker):
            # What it had taken is lost with it: the batch it was at, and the next one.
            assert open_batches(pipeline).count() == 2
            later = timezone.now() + LOST_AFTER + timedelta(seconds=1)
            assert pipeline in stalled(now=later)
            send_due(pipeline.pk, later)
            send_due(pipeline.pk, later + LOST_AFTER + timedelta(seconds=1))
            wait_until(lambda: is_finished(pipeline), tmp_path)
    assert Candidate.objects.filter(stage="pictures", state="kept").count() == 4 * INSTANCES
    assert project.instances.filter(tags__name="four").count() == INSTANCES
    assert InstanceImage.objects.filter(role="candidate", image__isnull=False).count() == 4 * INSTANCES


JUDGED = """name: swaps
start: {role: caption}
stages: [{name: swapped, make: "words:swap-nouns", filters: [filter: critic]}]
instances: {of: swapped, captions: {caption: start, negative_caption: swapped}}
"""


def test_a_worker_that_is_killed_and_messages_that_come_twice_judge_each_candidate_once(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FILTERS, "critic", "tests.making.critic.Critic")
    monkeypatch.setattr(batches, "JUDGED_PER_BATCH", 4)
    project = make_project("birds")
    for number in range(INSTANCES):
        text = {"caption": f"A dog is on {'bad ' if number < 5 else ''}table {number}."}
        make_instance(project, f"row-{number}", candidates=0, captions=text, original_captions=text)
    # The job runs here, where batches are small; workers of the site store the answers.
    pipeline, job = request_pipeline(project=project, source=JUDGED, by="test", now=timezone.now())
    assert job is not None
    run(job_id=job.pk, message="", now=timezone.now)
    with celery_worker(folder=tmp_path, broker_url=broker, include=[PAINTER]):
        with painters(tmp_path, broker, PAINT_GATE=str(tmp_path)) as worker:
            wait_until(lambda: (tmp_path / "reached").exists() and open_batches(pipeline).count() == 2, tmp_path)
            # As when a machine loses its power.
            worker.kill()
            worker.wait()
        assert pipeline.candidates.filter(stage="swapped", state="waits").exists()
        assert not pipeline.candidates.filter(stage="swapped", state="kept").exists()
        with painters(tmp_path, broker):
            # What it was at, and what it had taken to do next, is lost with it.
            later = timezone.now() + LOST_AFTER + timedelta(seconds=1)
            assert pipeline in stalled(now=later)
            send_due(pipeline.pk, later)
            send_due(pipeline.pk, later + LOST_AFTER + timedelta(seconds=1))
            wait_until(lambda: is_finished(pipeline), tmp_path)
    states = list(pipeline.candidates.filter(stage="swapped").values_list("state", flat=True))
    assert (states.count("kept"), states.count("rejected")) == (INSTANCES - 5, 5)
    assert project.instances.filter(tags__name="swaps").count() == INSTANCES - 5


@said_by_the_worker
def test_a_filter_whose_model_cannot_be_loaded_is_told_in_words(project: Project, tmp_path: Path) -> None:
    with (
        sending_to(EMBEDDED_BROKER, tmp_path),
        painters(tmp_path, EMBEDDED_BROKER),
        celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, include=[PAINTER]),
    ):
        # The filter of a shipped file, on a machine without transformers.
        model = "{filter: grammar, model: 'classifier:some'}"
        pipeline = ask(project, JUDGED.replace("filter: critic", model).replace("swap-nouns", "swap"))
        wait_until(lambda: Pipeline.objects.get(pk=pipeline.pk).error != "", tmp_path)
    pipeline.refresh_from_db()
    assert pipeline.problem.startswith("Hugging Face's transformers cannot be used on the worker")
    assert pipeline.problem.endswith("Install requirements-gpu.txt there.")


@said_by_the_worker
def test_a_model_that_cannot_be_loaded_is_told_in_words(project: Project, tmp_path: Path) -> None:
    with (
        sending_to(EMBEDDED_BROKER, tmp_path),
        painters(tmp_path, EMBEDDED_BROKER),
        celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, include=[PAINTER]),
    ):
        pipeline = ask(project, FILE.replace("paint:plain", "paint:broken"))
        wait_until(lambda: Pipeline.objects.get(pk=pipeline.pk).error != "", tmp_path)
    pipeline.refresh_from_db()
    assert (pipeline.problem, pipeline.can_go_on) == (BROKEN, True)


@said_by_the_worker
def test_the_worker_that_makes_also_scores_and_needs_no_django_and_no_models_to_start(tmp_path: Path) -> None:
    program = (
        "import making.worker, sys; from making.worker import app; "
        "print([sorted({name.partition('.')[0] for name in sys.modules}), sorted(app.tasks)])"
    )
    done = python(program, tmp_path, DJANGO_SETTINGS_MODULE="config.settings")
    assert done.returncode == 0, done.stderr
    modules, tasks = ast.literal_eval(done.stdout)
    assert not {*MISSING, "sqlite3"} & set(modules)
    assert {MAKE, JUDGE, "predictions.score", "predictions.load"} <= set(tasks)
