"""Orders to workers that train, and what they answer. An answer may come twice, late, or after the run has ended."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from celery import current_app
from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Q, QuerySet
from kombu.exceptions import OperationalError

from predictions.messages import GPU
from predictions.models import LONGEST, Model, TrainedWeights
from predictions.trained_models import PREFIX
from studies.actions.events import What, record
from training.actions.examples import is_outdated, somebody_withdrew
from training.messages import TRAIN, TRAINING, BadAnswer, Order, Outcome, to_outcome, to_report
from training.models import LONGEST_PHASE, TrainingPoint, TrainingRun
from training.plan import CurvePoint

# A worker that is silent for this long is lost: it tells every minute that it is there.
LOST_AFTER = timedelta(minutes=10)
MOST_FRUITLESS = 5
LOST_TOO_OFTEN = (
    f"A worker began this {MOST_FRUITLESS} times and was lost each time before it came further. Check its log; its "
    "machine may be short of memory. Then resume."
)
SALT = "training.order"
BATCH = 1000


def send_due(*, run_id: int, now: datetime) -> None:
    """Ask a worker to begin or to go on with a run, if none does or the last one was lost."""
    order = _due(run_id, now)
    if order is None:
        return
    try:
        current_app.send_task(TRAIN, kwargs={"order": order}, queue=GPU, expires=LOST_AFTER.total_seconds())
    except OperationalError:
        # It is sent again later.
        TrainingRun.objects.filter(pk=run_id, attempt=order["attempt"]).update(sent_at=None)


@transaction.atomic
def _due(run_id: int, now: datetime) -> Order | None:
    run = _lock(run_id)
    if run is None or run.state not in TrainingRun.WITH_WORKERS or not _is_silent(run, now) or is_outdated(run):
        return None
    if run.fruitless >= MOST_FRUITLESS:
        _fail(run, LOST_TOO_OFTEN, now)
        return None
    run.attempt, run.sent_at = run.attempt + 1, now
    run.save(update_fields=["attempt", "sent_at"])
    return Order(
        run=run.pk,
        attempt=run.attempt,
        plan={
            "recipe": run.recipe,
            "name": run.name,
            "options": run.options,
            "base": run.base,
            "seed": run.seed,
        },
        folder=run.folder,
        site=settings.SITE_URL,
        key=signing.dumps([run.pk, run.attempt], salt=SALT),
        sha256={part: file["sha256"] for part, file in run.files.items()},
    )


def _is_silent(run: TrainingRun, now: datetime) -> bool:
    last = max((moment for moment in (run.sent_at, run.beat_at) if moment is not None), default=None)
    return last is None or last < now - LOST_AFTER


def silent_runs(*, now: datetime) -> QuerySet[TrainingRun]:
    """Return the runs whose message or worker was lost."""
    before = now - LOST_AFTER
    silent = Q(sent_at=None) | Q(sent_at__lt=before)
    return TrainingRun.objects.with_workers().filter(silent, Q(beat_at=None) | Q(beat_at__lt=before)).order_by("pk")


def run_of_key(key: str) -> TrainingRun | None:
    """Return the run that the key of an order opens; None if its worker is to stop, or for a wrong key."""
    try:
        run_id, attempt = signing.loads(key, salt=SALT)
    except (signing.BadSignature, TypeError, ValueError):
        return None
    found = TrainingRun.objects.with_workers().filter(pk=run_id, attempt=attempt).select_related("job").first()
    return None if found is None or somebody_withdrew(found) else found


@transaction.atomic
def note_beat(*, run_id: int, attempt: int, now: datetime) -> None:
    """Record that a worker is at a run, and whether it has just begun."""
    run = _lock(run_id)
    if run is not None and run.state in TrainingRun.WITH_WORKERS and attempt == run.attempt:
        _note_alive(run, now)
        run.save(update_fields=["state", "beat_at", "begun_attempt", "attempt_seconds", "fruitless"])


def _note_alive(run: TrainingRun, now: datetime) -> None:
    run.beat_at, run.state = now, TrainingRun.State.TRAINING
    if run.begun_attempt < run.attempt:
        run.begun_attempt, run.attempt_seconds = run.attempt, 0
        run.fruitless += 1


@transaction.atomic
def note_progress(*, run_id: int, attempt: int, report: Mapping[str, Any], now: datetime) -> None:
    """Store measurements, each step once, and how far training is. The measurements of lost workers count too."""
    run, told = _lock(run_id), to_report(report)
    if run is None or run.state == TrainingRun.State.DONE:
        return
    progress = told.progress
    # A report repeats the last score, which the points of the curve do not.
    is_new = progress.score is not None and progress.score != run.score
    # The score of a step may follow what is reported between steps, and a step is stored once.
    if not progress.phase:
        _store_points(run, [CurvePoint(progress.step, progress.losses, progress.score if is_new else None)])
    if run.state not in TrainingRun.WITH_WORKERS or attempt != run.attempt:
        return
    _note_alive(run, now)
    if told.seconds >= run.attempt_seconds:
        # Also of a worker that does again what a lost one did after its last checkpoint.
        run.seconds_left = progress.seconds_left
    _add_seconds(run, told.seconds)
    run.sentences = [*dict.fromkeys([*run.sentences, *progress.sentences])]
    run.peak_memory = max(run.peak_memory, progress.peak_memory)
    run.phase = progress.phase[:LONGEST_PHASE]
    if progress.step >= run.step and not progress.phase:
        # The score of a step is told after what is told between steps.
        run.score, run.best_score = progress.score, progress.best
    if progress.step > run.step:
        run.fruitless, run.step = 0, progress.step
        run.steps, run.losses = progress.steps, dict(progress.losses)
    run.save()


def _add_seconds(run: TrainingRun, seconds: float) -> None:
    """Add what the last attempt has taken since it was last told."""
    if seconds > run.attempt_seconds:
        run.seconds += seconds - run.attempt_seconds
        run.attempt_seconds = seconds


def _store_points(run: TrainingRun, points: Iterable[CurvePoint]) -> None:
    """Store the points of a curve that are numbers, each step once."""
    found: dict[int, TrainingPoint] = {}
    for point in points:
        if all(map(isfinite, [*point.losses.values(), point.score or 0])):
            row = found.setdefault(point.step, TrainingPoint(run=run, step=point.step))
            row.losses |= point.losses
            row.score = row.score if point.score is None else point.score
    rows = [row for row in found.values() if row.losses or row.score is not None]
    TrainingPoint.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)


@transaction.atomic
def note_trained(*, run_id: int, attempt: int, answer: Mapping[str, Any], now: datetime) -> None:
    """Store a trained model, or why there is none, once.

    An earlier worker may still finish, but not fail, nor finish with other examples, which are in another folder.
    """
    run = _lock(run_id)
    if run is None or run.state not in TrainingRun.WITH_WORKERS or somebody_withdrew(run):
        return
    outcome, error = _read_answer(answer)
    if outcome is None:
        if attempt == run.attempt:
            _fail(run, error, now)
        return
    if f"{PREFIX}{run.folder}/" not in outcome.result.spec:
        return
    # The whole curve, whatever reports were lost.
    run.curve.all().delete()
    _store_points(run, outcome.result.curve)
    if attempt == run.attempt:
        _add_seconds(run, outcome.seconds)
    _finish(run, outcome, now)


def _read_answer(answer: Mapping[str, Any]) -> tuple[Outcome | None, str]:
    """Return the outcome that a worker answers or, without one, why there is none."""
    if "error" in answer:
        return None, str(answer["error"])
    try:
        return to_outcome(answer), ""
    except BadAnswer as error:
        return None, str(error)


def _finish(run: TrainingRun, outcome: Outcome, now: datetime) -> None:
    result = asdict(replace(outcome.result, curve=()))
    identity = {name: getattr(outcome.identity, name)[:longest] for name, longest in LONGEST.items()}
    run.result = {name: value for name, value in result.items() if name not in {"path", "curve"}}
    run.step, run.steps, run.best_score = outcome.result.steps, outcome.result.steps, outcome.result.score
    scores = [point.score for point in outcome.result.curve if point.score is not None]
    run.score = scores[-1] if scores else None
    run.state, run.finished_at, run.seconds_left, run.phase = TrainingRun.State.DONE, now, None, ""
    run.sentences = [*dict.fromkeys([*run.sentences, *outcome.result.sentences])]
    run.save()
    TrainedWeights.objects.update_or_create(
        project=run.project,
        spec=outcome.result.spec,
        defaults={"weights": identity["weights"], "details": provenance(run), "trained_at": now},
    )
    Model.objects.get_or_create_computed(run.project, now=now, **identity)
    # Those whose predictions came before, from a file.
    Model.objects.filter(project=run.project, weights=identity["weights"]).update(is_trained_here=True)
    by = run.requested_by or run.by_name
    told: dict[str, Any] = {"model": run.name, "recipe": run.recipe, "examples": run.count(TRAINING)}
    record(project=run.project, what=What.MODEL_TRAINED, by=by, now=now, **told)


def provenance(run: TrainingRun) -> dict[str, Any]:
    """Return how the model of a run came to be, as plain JSON: its data, recipe, options, base and seed."""
    return {
        "run": run.name,
        "recipe": run.recipe,
        "recipe_version": run.recipe_version,
        "options": run.options,
        "base": run.base,
        "seed": run.seed,
        "source": run.source,
        "release": run.release_name,
        "release_sha256": run.release_sha256,
        "examples": {
            part: {"sha256": file["sha256"], "examples": file["examples"]} for part, file in run.files.items()
        },
        "leaks": run.leaks,
        "result": run.result,
        "seconds": run.seconds,
        "peak_memory": run.peak_memory,
    }


def _fail(run: TrainingRun, error: str, now: datetime) -> None:
    run.state, run.error, run.finished_at, run.seconds_left = TrainingRun.State.FAILED, error, now, None
    run.phase = ""
    run.save(update_fields=["state", "error", "finished_at", "seconds_left", "phase"])


def _lock(run_id: int) -> TrainingRun | None:
    """Lock a run until the end of the transaction and return it; None if it was deleted."""
    found = TrainingRun.objects.select_for_update(of=("self",)).select_related("project", "requested_by", "job")
    return found.filter(pk=run_id).first()
