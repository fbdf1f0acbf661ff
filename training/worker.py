"""The worker with models, which also trains: a separate Celery application without a database.

    celery -A predictions.worker worker

It extends `predictions.worker`, and has the same settings and one more:

LINEUP_TRAINED  a folder for what it trains, on a disk of this machine; DATA_DIR/trained unless it is set

A worker that is lost goes on from the last checkpoint in this folder, when the site asks again.
"""

import fcntl
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

from background.hub_commits import HubRefused
from predictions.messages import DEFAULT
from predictions.pictures import SourceUnavailable
from predictions.scorers import ModelIdentity, OutOfMemory, scorer_of
from predictions.trained_models import PREFIX, folder_of
from predictions.worker import app, in_words, memory, open_picture
from training.errors import NO_ROOM, CannotTrain, TrainingCancelled
from training.examples import ExampleFile
from training.loop import train as train_model
from training.messages import (
    BEAT,
    DISCARD,
    DISCARDED,
    PROGRESS,
    PUSH,
    PUSHED,
    TRAIN,
    TRAINED,
    TRAINING,
    VALIDATION,
    Order,
    Outcome,
    PushOrder,
    Report,
    to_plain,
)
from training.plan import Plan, Progress, Result
from training.push import CannotPush, push_weights
from training.site_client import CannotFetch, Stopped, fetch_examples, is_wanted

__all__ = ["app"]

logger = logging.getLogger(__name__)

BEAT_SECONDS = 60.0
# Between two questions to the site whether to go on.
LOOK_SECONDS = 10.0
# Before training goes on after the source of images was down; after the last one it fails.
PAUSES_SECONDS = (10, 30, 60, 120, 300)
# A worker that was thought to be lost stops after its step, or after it has validated.
WAIT_FOR_OTHER_SECONDS = 600.0


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


@app.task(name=DISCARD)
def discard(*, folder: str) -> None:
    """Delete the folder of a deleted run, if it is here and nobody trains in it; the site asks again otherwise."""
    path = folder_of(folder)
    if not path.is_dir():
        return
    with (path / "lock").open("w") as file:
        if not _locks(file):
            return
        shutil.rmtree(path)
    app.send_task(DISCARDED, kwargs={"folder": folder}, queue=DEFAULT)


@app.task(name=PUSH)
def push(*, order: PushOrder) -> None:
    """Push the weights of a model to the Hub; answer with the commit, or with a sentence for people."""
    answer = in_words(lambda: _pushed(order))
    if answer:
        about = {"push": order["push"], "attempt": order["attempt"]}
        app.send_task(PUSHED, kwargs={**about, "url": "", "error": "", **answer}, queue=DEFAULT)


def _pushed(order: PushOrder) -> Mapping[str, Any]:
    """Return what to answer; nothing where the site no longer waits for this push."""
    try:
        return {"url": push_weights(order)}
    except (CannotPush, CannotFetch, HubRefused) as error:
        return {"error": str(error)}
    except Stopped:
        logger.info("push %s is stopped", order["push"])
        return {}


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
    except (OutOfMemory, MemoryError):
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
    _make(folder)
    plan, reports = Plan(**order["plan"]), _Reports(order, seconds)
    with _alone_in(folder, order), _examples(order, folder) as examples, closing(reports):

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


def _make(folder: Path) -> None:
    """Make the folder of a run. Raises CannotTrain, and OSError for a full disk."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "lock").touch()
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        raise CannotTrain(
            f"The worker cannot write to {folder} ({error.strerror}). Let it write there, or set its LINEUP_TRAINED to "
            "another folder. Then resume."
        ) from error


def _while_images_come_back(order: Order, go_on: Callable[[], Result]) -> Result:
    """Train, and again from the last checkpoint after pauses while the source of images is down."""
    for pause in PAUSES_SECONDS:
        try:
            return go_on()
        except SourceUnavailable as error:
            logger.warning("training run %s waits for its images: %s", order["run"], error)
            _pause(order, pause)
    return go_on()


def _pause(order: Order, seconds: float) -> None:
    """Wait, and raise Stopped soon after the site no longer wants this worker."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, LOOK_SECONDS))
        if not is_wanted(order):
            raise Stopped


@contextmanager
def _alone_in(folder: Path, order: Order) -> Iterator[None]:
    """Keep other workers that share the folder out of it in the block. Raises CannotTrain and Stopped.

    A worker that was thought to be lost may still be there, until it asks the site whether to go on.
    """
    with (folder / "lock").open("w") as file:
        until = time.monotonic() + WAIT_FOR_OTHER_SECONDS
        while not _locks(file):
            if not is_wanted(order):
                raise Stopped
            if time.monotonic() > until:
                raise CannotTrain(
                    "Another worker has not stopped training this model. End that worker, and resume the run."
                )
            time.sleep(1)
        yield


def _locks(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


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
    """What the site is told while a model trains, and whether it wants more.

    A thread asks the site, so that training never waits for one that is slow to answer.
    """

    def __init__(self, order: Order, seconds: Callable[[], float]) -> None:
        self._order, self._seconds = order, seconds
        self._looked_at, self._is_cancelled = 0.0, False
        self._thread = ThreadPoolExecutor(1, "training-look")
        self._look: Future[bool] | None = None

    def report(self, progress: Progress) -> None:
        _answer(PROGRESS, self._order, report=to_plain(Report(progress, self._seconds())))

    def is_cancelled(self) -> bool:
        now = self._seconds()
        if self._look is None and now - self._looked_at >= LOOK_SECONDS:
            self._looked_at, self._look = now, self._thread.submit(is_wanted, self._order)
        if self._look is not None and self._look.done():
            self._is_cancelled = self._is_cancelled or not self._look.result()
            self._look = None
        return self._is_cancelled

    def close(self) -> None:
        self._thread.shutdown(wait=False)


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
