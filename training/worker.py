"""The worker with models, which also trains: a separate Celery application without a database.

    celery -A predictions.worker worker

It extends `predictions.worker`, and has the same settings and one more:

LINEUP_TRAINED  a folder for what it trains, on a disk of this machine; DATA_DIR/trained unless it is set

A worker that is lost goes on from the last checkpoint in this folder, when the site asks again.
"""

import errno
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

from predictions.messages import DEFAULT
from predictions.pictures import SourceUnavailable
from predictions.scorers import ModelIdentity, OutOfMemory, scorer_of
from predictions.trained_models import PREFIX, folder_of
from predictions.worker import app, in_words, memory, open_picture
from training.errors import CannotTrain, TrainingCancelled
from training.examples import ExampleFile
from training.loop import train as train_model
from training.messages import BEAT, PROGRESS, TRAIN, TRAINED, TRAINING, VALIDATION, Order, Outcome, Report, to_plain
from training.plan import Plan, Progress, Result
from training.site_client import CannotFetch, Stopped, fetch_examples, is_wanted

__all__ = ["app"]

logger = logging.getLogger(__name__)

BEAT_SECONDS = 60.0
# Between two questions to the site whether to go on.
LOOK_SECONDS = 10.0
# Before training goes on after the source of images was down; after the last one it fails.
PAUSES_SECONDS = (10, 30, 60, 120, 300)
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


@app.task(name=TRAIN)
def train(*, order: Order) -> None:
    """Train a model, or go on with it; report progress, and answer with the model or with a sentence for people."""
    memory.take(lambda: None)
    with _beating(order):
        try:
            answer = in_words(lambda: _outcome(order))
        except SourceUnavailable as error:
            answer = {"error": f"{error} Then resume."}
    if answer:
        _answer(TRAINED, order, answer=answer)


def _outcome(order: Order) -> Mapping[str, Any]:
    """Return what to answer; nothing where the site no longer waits for this worker."""
    began = time.monotonic()
    try:
        return to_plain(_train(order, lambda: time.monotonic() - began))
    except (CannotTrain, CannotFetch) as error:
        return {"error": str(error)}
    except (TrainingCancelled, Stopped):
        logger.info("training run %s is stopped", order["run"])
        return {}
    except OutOfMemory:
        return {
            "error": "The device is out of memory, even for the smallest part of a batch. Use a larger device or a "
            "smaller base model, and resume."
        }
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        return {
            "error": f"The disk of the worker is full ({error.strerror}). Make room in its LINEUP_TRAINED, and resume: "
            "the last checkpoint is kept."
        }


def _train(order: Order, seconds: Callable[[], float]) -> Outcome:
    folder = folder_of(order["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    plan, reports = Plan(**order["plan"]), _Reports(order, seconds)
    with _examples(order, folder) as examples:

        def go_on() -> Result:
            return train_model(
                plan,
                examples[TRAINING],
                examples.get(VALIDATION, ()),
                open_picture,
                folder,
                reports.report,
                reports.is_cancelled,
            )

        result = _while_images_come_back(order, go_on)
    spec = _spec_of(result, order["folder"])
    return Outcome(replace(result, spec=spec), _identity(spec, result), seconds())


def _while_images_come_back(order: Order, go_on: Callable[[], Result]) -> Result:
    """Train, and again from the last checkpoint after pauses while the source of images is down."""
    for pause in PAUSES_SECONDS:
        try:
            return go_on()
        except SourceUnavailable as error:
            logger.warning("training run %s waits for its images: %s", order["run"], error)
            time.sleep(pause)
            if not is_wanted(order):
                raise Stopped from error
    return go_on()


@contextmanager
def _examples(order: Order, folder: Path) -> Iterator[Mapping[str, ExampleFile]]:
    """Fetch the examples for the block, by part. Afterwards their files are deleted: they hold what people wrote."""
    files = {part: folder / f"{part}.jsonl" for part in order["sha256"]}
    try:
        for part, file in files.items():
            fetch_examples(order, part, file)
        yield {part: ExampleFile(file) for part, file in files.items()}
    finally:
        for file in files.values():
            file.unlink(missing_ok=True)


class _Reports:
    """What the site is told while a model trains, and whether it wants more."""

    def __init__(self, order: Order, seconds: Callable[[], float]) -> None:
        self._order, self._seconds = order, seconds
        self._looked_at, self._is_cancelled = 0.0, False

    def report(self, progress: Progress) -> None:
        _answer(PROGRESS, self._order, report=to_plain(Report(progress, self._seconds())))

    def is_cancelled(self) -> bool:
        now = self._seconds()
        if not self._is_cancelled and now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self._is_cancelled = not is_wanted(self._order)
        return self._is_cancelled


def _spec_of(result: Result, folder: str) -> str:
    """Return the spec that names a trained model without the path of its file on this machine."""
    return result.spec.replace(result.path, f"{PREFIX}{folder}/{Path(result.path).name}")


def _identity(spec: str, result: Result) -> ModelIdentity:
    """Return the identity of a trained model as predictions will load it. Raises CannotLoad and CannotTrain."""
    found = scorer_of(spec).identity
    if found.weights != result.weights:
        raise CannotTrain("The trained model has other weights in its file than in memory. Train it again.")
    return found


@contextmanager
def _beating(order: Order) -> Iterator[None]:
    """Tell the site that this worker is there, at once and every minute in the block."""
    is_over = Event()

    def beat() -> None:
        while not is_over.wait(BEAT_SECONDS):
            _answer(BEAT, order)

    _answer(BEAT, order)
    thread = Thread(target=beat, daemon=True, name="training-beat")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _answer(task: str, order: Order, **content: Any) -> None:
    app.send_task(task, kwargs={"run": order["run"], "attempt": order["attempt"], **content}, queue=DEFAULT)
