"""Request, prepare, cancel and resume training runs. Pass the time in."""

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from django.db import transaction

from background.jobs import cancel, request_job
from background.models import Job
from predictions.actions.runs import models_offered
from predictions.scorers import problem_with_spec
from studies.actions.events import Actor, What, name_of, person, record
from studies.models import Project
from training.actions.examples import EventCounts, are_lost, delete_examples, discard_folder, is_outdated
from training.errors import CannotTrain
from training.loop import recipe_of
from training.models import LONGEST_NAME, TrainingRun
from training.plan import Plan
from training.recipes import Recipe

# Families of models that recipes can train.
BASES = ("open_clip", "hf")
# The work of the room above, which knows where a project's examples are.
PREPARATION = "results.training_data"
LOST = "The storage had lost the examples, so they were read again."
READ_AGAIN = "The data changed since it began, so it was trained from the start."
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
CURRENCY = re.compile(r"[A-Z]{3}")
MOST_PRICE = 1_000_000
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class TrainingData:
    """The data to train on: the accepted items of the project or, with its name and hash, one of its releases."""

    release_id: int | None = None
    release_name: str = ""
    release_sha256: str = ""


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to train. `hour_price`: of the device; None if unknown."""

    name: str
    recipe: str
    base: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    data: TrainingData = TrainingData()
    seed: int = 0
    hour_price: Decimal | None = None
    currency: str = ""


@transaction.atomic
def request_run(*, project: Project, wanted: Wanted, by: Actor, now: datetime) -> tuple[TrainingRun, Job]:
    """Store a training run and queue the job that prepares its examples. Raises CannotTrain."""
    recipe = check(wanted)
    data = wanted.data
    run, is_new = TrainingRun.objects.get_or_create(
        project=project,
        name=wanted.name,
        defaults={
            "folder": _new_folder(project, wanted.name),
            "recipe": wanted.recipe,
            "recipe_version": recipe.version,
            "options": recipe.model_dump(mode="json"),
            "base": wanted.base,
            "seed": wanted.seed,
            "source": TrainingRun.Source.PROJECT if data.release_id is None else TrainingRun.Source.RELEASE,
            "release_id": data.release_id,
            "release_name": data.release_name,
            "release_sha256": data.release_sha256,
            "hour_price": wanted.hour_price,
            "currency": wanted.currency if wanted.hour_price is not None else "",
            "requested_by": person(by),
            "by_name": name_of(by),
            "requested_at": now,
        },
    )
    if not is_new:
        how = " Resume it, or choose another name." if run.can_resume else " Choose another name."
        state = run.get_state_display().lower()
        raise CannotTrain(f"{project.slug} already has a training run called {run.name} ({state}).{how}")
    record(project=project, what=What.TRAINING_REQUESTED, by=by, now=now, **_event_details(run))
    return run, _queue(run, by, now)


def check(wanted: Wanted) -> Recipe:
    """Return the recipe of `wanted` with its options. Raises CannotTrain."""
    if not NAME.fullmatch(wanted.name) or len(wanted.name) > LONGEST_NAME:
        raise CannotTrain(
            f"{wanted.name[:LONGEST_NAME]!r} cannot name a model. Use up to {LONGEST_NAME} lower-case letters, digits "
            "and hyphens; clip-trohn, for instance."
        )
    if problem := problem_with_spec(wanted.base):
        raise CannotTrain(problem)
    if not 0 <= wanted.seed <= MOST_SEED:
        raise CannotTrain(f"The seed is {wanted.seed}. Use a number from 0 to {MOST_SEED}.")
    if wanted.hour_price is not None and not CURRENCY.fullmatch(wanted.currency):
        raise CannotTrain(f"The currency is {wanted.currency!r}. Write three capital letters, such as USD.")
    recipe = recipe_of(Plan(wanted.recipe, wanted.base, wanted.name, wanted.options, wanted.seed))
    if (family := wanted.base.partition(":")[0]) not in recipe.families:
        raise CannotTrain(
            f"{recipe.title} cannot train a model of the family {family!r}. Use one of {', '.join(recipe.families)}."
        )
    return recipe


def read_price(written: str) -> Decimal | None:
    """Return a price of an hour as somebody wrote it; None for an empty text. Raises CannotTrain."""
    if not written.strip():
        return None
    with suppress(InvalidOperation):
        price = Decimal(written.strip())
        if price.is_finite() and 0 <= price <= MOST_PRICE:
            return price
    raise CannotTrain(f"The price of an hour is {written!r}. Write an amount up to {MOST_PRICE}, such as 2.50.")


def request_offered_run(*, project: Project, wanted: Wanted, by: Actor, now: datetime) -> tuple[TrainingRun, Job]:
    """Call `request_run` for pages, with a base model that this site offers. Raises CannotTrain."""
    if wanted.base not in offered_bases(project):
        raise CannotTrain(
            f"This site does not offer the model {wanted.base!r}. Your administrator can offer others with "
            "MODELS_OFFERED, or train them on the server with `train`."
        )
    return request_run(project=project, wanted=wanted, by=by, now=now)


def offered_bases(project: Project) -> list[str]:
    """Return the models that pages may train: those of `models_offered` that have towers to train."""
    return [spec for spec in models_offered(project) if spec.partition(":")[0] in BASES]


def _new_folder(project: Project, name: str) -> str:
    # The slug of a project may begin with a hyphen, which the name of a folder may not.
    return f"{name}-{project.slug[:30]}-{secrets.token_hex(4)}"


def _event_details(run: TrainingRun) -> dict[str, Any]:
    return {"model": run.name, "recipe": run.recipe, "base": run.base, "data": run.data}


def _queue(run: TrainingRun, by: Actor, now: datetime) -> Job:
    asked: dict[str, Any] = {"kind": PREPARATION, "arguments": {"run": run.pk}, "by": person(by), "now": now}
    job, is_new = request_job(**asked, key=str(run.pk))
    if not is_new and job.cancel_asked_at is not None:
        # It has not noticed yet that it was cancelled.
        job, _ = request_job(**asked, key=f"{run.pk} after {job.pk}")
    run.job = job
    run.save(update_fields=["job"])
    return job


@dataclass(frozen=True)
class ExamplesFile:
    """A file of examples: its name in the storage, its hash, and how many it has."""

    file: str
    sha256: str
    examples: int


def note_prepared(
    *, run: TrainingRun, files: Mapping[str, ExamplesFile], leaks: Mapping[str, Any], events: EventCounts, now: datetime
) -> bool:
    """Let workers train on examples, by part, if the run still waits for them; return whether it did.

    events: counted before the examples were read.
    """
    waiting = TrainingRun.objects.filter(pk=run.pk, state=TrainingRun.State.PREPARING)
    stored = {part: asdict(file) for part, file in files.items()}
    read = {"files": stored, "leaks": dict(leaks), **events._asdict()}
    if not waiting.update(state=TrainingRun.State.WAITING, **read):
        return False
    if run.files and {part: file["sha256"] for part, file in run.files.items()} != {
        part: file.sha256 for part, file in files.items()
    }:
        _begin_again(run, now=now)
    return True


def _begin_again(run: TrainingRun, *, now: datetime) -> None:
    """Forget how far a run came on other examples; what a worker has of it cannot go on with these, and is deleted."""
    discard_folder(run, now=now)
    run.curve.all().delete()
    measured = {"step": 0, "steps": 0, "losses": {}, "score": None, "best_score": None, "sentences": [READ_AGAIN]}
    TrainingRun.objects.filter(pk=run.pk).update(folder=_new_folder(run.project, run.name), **measured)


def note_unprepared(*, run_id: int, job: Job, error: str, now: datetime) -> None:
    """Record why a job could not prepare the examples of a run that waits for it; "" if somebody cancelled it."""
    state = TrainingRun.State.FAILED if error else TrainingRun.State.CANCELLED
    waiting = TrainingRun.objects.filter(pk=run_id, state=TrainingRun.State.PREPARING, job=job)
    waiting.update(state=state, error=error, finished_at=now)


@transaction.atomic
def cancel_run(*, run: TrainingRun, by: Actor, now: datetime) -> None:
    """Cancel a training run: its worker stops after its current step and keeps its checkpoints. Raises CannotTrain."""
    found = TrainingRun.objects.unfinished().filter(pk=run.pk)
    if not found.update(state=TrainingRun.State.CANCELLED, finished_at=now, seconds_left=None, phase=""):
        raise CannotTrain("This training run has already ended, so there was nothing to cancel.")
    if run.job is not None and run.job.is_unfinished:
        cancel(job=run.job, now=now)
    record(project=run.project, what=What.TRAINING_CANCELLED, by=by, now=now, **_event_details(run))


@transaction.atomic
def resume_run(*, run: TrainingRun, by: Actor, now: datetime) -> Job | None:
    """Let a run that was cancelled or failed go on from its last checkpoint. Raises CannotTrain.

    Returns the job to send if its examples are not prepared yet; otherwise a worker is to be asked.
    """
    stopped = TrainingRun.objects.filter(pk=run.pk, state__in=(TrainingRun.State.FAILED, TrainingRun.State.CANCELLED))
    sentences = run.sentences
    if are_lost(run):
        sentences = [*dict.fromkeys([*sentences, LOST])]
        delete_examples(run)
    elif run.has_examples and is_outdated(run):
        delete_examples(run)
    state = TrainingRun.State.WAITING if run.has_examples else TrainingRun.State.PREPARING
    begun: dict[str, Any] = {"error": "", "finished_at": None, "sent_at": None, "beat_at": None, "fruitless": 0}
    if not stopped.update(state=state, sentences=sentences, **begun):
        raise CannotTrain("There is nothing to resume: the training run has not stopped.")
    record(project=run.project, what=What.TRAINING_RESUMED, by=by, now=now, **_event_details(run))
    run.refresh_from_db()
    return None if run.has_examples else _queue(run, by, now)


def read_again(*, now: datetime) -> list[Job]:
    """Let the examples of runs with workers be read again that are outdated; return the jobs to send."""
    runs = TrainingRun.objects.with_workers().select_related("job", "requested_by")
    found = (_read_again(run, now) for run in runs if is_outdated(run))
    return [job for job in found if job is not None]


@transaction.atomic
def _read_again(run: TrainingRun, now: datetime) -> Job | None:
    stopped = TrainingRun.objects.with_workers().filter(pk=run.pk)
    nothing: dict[str, Any] = {"sent_at": None, "beat_at": None, "seconds_left": None, "phase": ""}
    if not stopped.update(state=TrainingRun.State.PREPARING, **nothing):
        return None
    delete_examples(run)
    return _queue(run, run.requested_by or run.by_name, now)
