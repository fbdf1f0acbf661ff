"""Training runs on the site, and a worker that trains in this process without torch."""

import ast
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client

from predictions.scorers import ModelIdentity
from results.exporting.rows import AcceptedInstance, ExportedImage
from studies.models import Project
from tests.factories import NOON
from tests.results.pipelines import STEP_3, STEP_4, by_key, open_study, project_of, sit_through
from training import tasks
from training.actions.examples import count_events
from training.actions.orders import note_trained
from training.actions.runs import ExamplesFile, Wanted, note_prepared, request_run
from training.messages import BEAT, PROGRESS, TRAINED, TRAINING, Order, Outcome, to_plain
from training.models import TrainingRun
from training.plan import CurvePoint, Plan, Progress, Result

WEIGHTS = "5" * 64
BASE_WEIGHTS = "b" * 64
PLAN = Wanted(name="small-clip", recipe="negclip", base="open_clip:ViT-B-32/openai", options={"epochs": 2})
ORDERS = "training.actions.orders.current_app"
TASKS: dict[str, Callable[..., None]] = {
    BEAT: tasks.note_beat,
    PROGRESS: tasks.note_progress,
    TRAINED: tasks.note_trained,
}


def accept_vases(member: Any) -> Project:
    """Return a project whose dataset is the instance vase-0."""
    project = project_of(member)
    step_3 = open_study(project, STEP_3)
    sit_through(step_3, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    step_4 = open_study(project, STEP_4)
    sit_through(step_4, "ben", by_key(vase_0="original", vase_1="both"))
    return project


def waiting_run(project: Project, **changes: Any) -> TrainingRun:
    """Return a run whose examples are prepared, so that it waits for a worker."""
    run, _ = request_run(project=project, wanted=replace(PLAN, **changes), by="test", now=NOON)
    name = default_storage.save(f"training/{run.pk}/four.jsonl", ContentFile(b"{}\n" * 4))
    file = ExamplesFile(name, "0" * 64, 4)
    note_prepared(run=run, files={TRAINING: file}, leaks={}, events=count_events(project), now=NOON)
    run.refresh_from_db()
    return run


@contextmanager
def sent_orders() -> Iterator[list[Order]]:
    """Collect the orders that are sent to workers in the block, as they come out of the broker."""
    orders: list[Order] = []

    def send(name: str, *, kwargs: dict[str, Any], **_: Any) -> None:
        orders.append(ast.literal_eval(repr(kwargs["order"])))

    with mock.patch(ORDERS, SimpleNamespace(send_task=send)):
        yield orders


def progress(step: int, **changes: Any) -> Progress:
    fields: dict[str, Any] = {
        "step": step,
        "steps": 4,
        "losses": {"loss": 1.0 / step, "contrastive": 1.0 / step},
        "score": None,
        "best": None,
        "seconds_left": 4.0 - step,
        "peak_memory": 1000 * step,
        "batch": 4,
        "parts": 1,
    }
    return Progress(**fields | changes)


def result(path: str, **changes: Any) -> Result:
    fields: dict[str, Any] = {
        "path": path,
        "spec": f"open_clip:ViT-B-32-quickgelu/{path}",
        "weights": WEIGHTS,
        "score": 0.75,
        "best_step": 4,
        "steps": 4,
        # The score of a step may be a point of its own.
        "curve": [*(CurvePoint(step, {"loss": 1.0 / step}) for step in (1, 2, 3, 4)), CurvePoint(2, score=0.5)],
        "recipe_version": "1",
        "options": {"epochs": 2},
        "libraries": {"torch": "2.9"},
        "hardware": "CPU",
        "seed": 0,
        "base_weights": BASE_WEIGHTS,
    }
    return Result(**fields | changes)


def finish(run: TrainingRun) -> None:
    """Let a worker report that the run's model is trained."""
    spec = f"open_clip:ViT-B-32-quickgelu/trained:{run.folder}/small-clip.pt"
    identity = ModelIdentity("OpenCLIP ViT-B-32-quickgelu", "small-clip.pt", WEIGHTS)
    outcome = Outcome(result("small-clip.pt", spec=spec), identity, 90.0)
    note_trained(run_id=run.pk, attempt=run.attempt, answer=to_plain(outcome), now=NOON)
    run.refresh_from_db()


def train_four_steps(
    plan: Plan,
    examples: Sequence[Any],
    validation: Sequence[Any],
    open_picture: Any,
    folder: Any,
    report: Callable[[Progress], None],
    is_cancelled: Callable[[], bool],
) -> Result:
    """Stand in for `training.loop.train`: report four steps, and write a file."""
    for step in (1, 2, 3, 4):
        report(progress(step, score=0.5 if step == 2 else None))
    path = folder / f"{plan.name}.pt"
    path.write_bytes(b"weights")
    return result(str(path))


class SameThread(Executor):
    """Does what it is asked at once, in the thread that asks."""

    def __init__(self, *_: Any) -> None:
        pass

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*args, **kwargs))
        return done


@contextmanager
def worker_here(client: Client, train: Callable[..., Result] = train_four_steps) -> Iterator[Any]:
    """Let the worker's module train in this process: it reaches the site through `client`, which runs its answers."""
    from training import worker

    def get(order: Order, address: str, **_: Any) -> Any:
        answer = client.get(address.removeprefix(order["site"]), headers={"authorization": f"Bearer {order['key']}"})
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
        return SimpleNamespace(status=answer.status_code, stream=lambda _: [body], release_conn=lambda: None)

    def answer(task: str, *, kwargs: dict[str, Any], **_: Any) -> None:
        TASKS[task](**ast.literal_eval(repr(kwargs)))

    identity = ModelIdentity("OpenCLIP ViT-B-32-quickgelu", "small-clip.pt", WEIGHTS)
    with (
        mock.patch("training.site_client._get", get),
        # Another thread would not see the rows of a test.
        mock.patch.object(worker, "ThreadPoolExecutor", SameThread),
        mock.patch.object(worker.app, "send_task", answer),
        mock.patch.object(worker, "train_model", train),
        mock.patch.object(worker, "scorer_of", return_value=SimpleNamespace(identity=identity)),
    ):
        yield worker


def accepted_row(key: str, *, split: str = "", caption: str = "", images: int = 1, item: str = "") -> AcceptedInstance:
    """Return an accepted pair whose captions and images are its own."""
    roles = ("image", "negative_image")[:images]
    caption = caption or f"A small {key} stands on the left of a large red table."
    return AcceptedInstance(
        task=key,
        key=key,
        type="swap",
        subtype="obj",
        split=split,
        captions={"caption": caption, "negative_caption": f"A red table stands on the left of a small {key}."},
        original_captions={},
        caption_rule="as-is-v1",
        images=[ExportedImage(role, 0, f"{key}.png", f"{key}-{role}".ljust(64, "0")) for role in roles],
        study="step-4",
        kind="ambiguity",
        decision="accepted",
        rule="chosen-v1",
        winner="",
        settled=False,
        answers=1,
        votes={},
        source_file="vases.csv",
        source_row=1,
        item=item,
    )
