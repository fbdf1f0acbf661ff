"""Push trained models to the Hugging Face Hub: a job pushes the model card, then a worker the weights that it has.

The Hub token is stored encrypted until the push ends, and never in a message: the worker reads it from the site.
"""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from kombu.exceptions import OperationalError

from background.errors import Failed
from background.hub_commits import MODEL, HubRefused, Target
from background.jobs import cancel
from background.models import Job
from background.work import RunningJob, Work
from predictions.messages import GPU
from results.actions.model_cards import compute_model_card
from studies.actions.events import COMMAND_LINE, What, record
from training.errors import CannotTrain
from training.messages import PUSH, PushOrder
from training.models import TrainingRun
from workspace.actions.hub import (
    CANCELLED,
    TOKEN_KEPT,
    PushRefused,
    check_target,
    start_push,
    token_for_job,
    token_of,
)
from workspace.hub_repository import push_folder
from workspace.models import ModelPush

KIND = "workspace.model_card"
SALT = "workspace.model_push"
LONGEST_LICENCE = 100
# A worker that is silent for this long is lost. What it has sent to the Hub is not sent again.
LOST_AFTER = timedelta(hours=2)
NO_WORKER = (
    "No worker has pushed the weights within a day. Check that a worker with models runs, and push again. The model "
    "card is on the Hub."
)


@transaction.atomic
def request_model_push(
    *,
    run: TrainingRun,
    repository: str,
    private: bool,
    token: str,
    licence: str = "",
    with_weights: bool = True,
    by: User,
    now: datetime,
) -> ModelPush:
    """Record that `by` wants to push a trained model; its job pushes the card first. Raises PushRefused."""
    check_target(repository, token)
    if len(licence) > LONGEST_LICENCE:
        raise PushRefused(f"The licence has more than {LONGEST_LICENCE} characters. Write its name, such as MIT.")
    if run.state != TrainingRun.State.DONE:
        raise PushRefused(f"{run.name} is not trained yet. Wait until its training is done.")
    target = Target(repository, token, private, "", MODEL)
    asked: dict[str, Any] = {"run": run, "licence": licence, "with_weights": with_weights}
    push = start_push(ModelPush, KIND, "model", target, project=run.project, by=by, now=now, **asked)
    _record(push, What.MODEL_PUSH_REQUESTED, by=by, now=now)
    return push


def _record(push: ModelPush, what: What, *, by: User | str, now: datetime) -> None:
    record(project=push.project, what=what, by=by, now=now, model=push.run.name, repository=push.repository)


@transaction.atomic
def cancel_model_push(*, push: ModelPush, by: User, now: datetime) -> None:
    """Cancel a push; its worker stops before its next file. Raises PushRefused."""
    unfinished = ModelPush.objects.filter(pk=push.pk, finished_at=None)
    if push.job is not None and push.job.is_unfinished and unfinished.exists():
        cancel(job=push.job, now=now)
    elif not unfinished.update(finished_at=now, error=CANCELLED, sealed_token=""):
        raise PushRefused("This push has already ended, so there was nothing to cancel.")
    _record(push, What.MODEL_PUSH_CANCELLED, by=by, now=now)


def _push_card(job: RunningJob) -> None:
    """Push the model card of the job, then have a worker push the weights if they were asked for."""
    found = ModelPush.objects.filter(pk=job.arguments["push"], finished_at=None)
    push = found.select_related("project", "run__project", "requested_by").first()
    if push is None:
        return
    token = token_for_job(push)
    target = Target(push.repository, token, push.private, "", MODEL, f"Model card of {push.run.name}")

    def progress(done: int, total: int) -> None:
        job.advance(done=done, total=total)
        job.check()

    try:
        card = compute_model_card(run=push.run, licence=push.licence, now=job.now())
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "README.md").write_text(card, encoding="utf-8")
            url = push_folder(Path(folder), target, progress)
    except (CannotTrain, HubRefused) as error:
        raise Failed(str(error)) from error
    with transaction.atomic():
        if push.with_weights:
            found.update(card_url=url)
        else:
            _finish(push, url, job.now())
    ask_for_weights(now=job.now())


def _finish(push: ModelPush, url: str, now: datetime) -> None:
    found = ModelPush.objects.filter(pk=push.pk, finished_at=None)
    if found.update(finished_at=now, url=url, card_url=push.card_url or url, sealed_token=""):
        _record(push, What.MODEL_PUSHED, by=push.requested_by or COMMAND_LINE, now=now)


def _record_failure(job: Job) -> None:
    """Record why the card was not pushed, or that it was cancelled, and delete the token."""
    found = ModelPush.objects.filter(pk=job.arguments["push"], finished_at=None, card_url="")
    found.update(finished_at=job.finished_at, error=job.error or CANCELLED, sealed_token="")


CARD_PUSH = Work(
    run=_push_card,
    unit="bytes",
    trouble="The server could not push this model card. Try again.",
    minutes=20,
    ended=_record_failure,
)


def ask_for_weights(*, now: datetime) -> None:
    """Ask a worker to push the weights of each push whose card is there, unless one does; end those that wait long."""
    waiting = ModelPush.objects.filter(finished_at=None, with_weights=True).exclude(card_url="")
    late = waiting.filter(requested_at__lt=now - TOKEN_KEPT)
    late.update(finished_at=now, error=NO_WORKER, sealed_token="")
    for push in waiting.order_by("pk"):
        if push.sent_at is not None and push.sent_at >= now - LOST_AFTER:
            continue
        order = PushOrder(
            push=push.pk,
            attempt=push.attempt + 1,
            site=settings.SITE_URL,
            key=signing.dumps([push.pk, push.attempt + 1], salt=SALT),
        )
        same = ModelPush.objects.filter(pk=push.pk, attempt=push.attempt, finished_at=None)
        if not same.update(attempt=push.attempt + 1, sent_at=now):
            continue
        try:
            current_app.send_task(PUSH, kwargs={"order": order}, queue=GPU, expires=LOST_AFTER.total_seconds())
        except OperationalError:
            # It is sent again later.
            ModelPush.objects.filter(pk=push.pk).update(sent_at=None)


def contents_for_worker(key: str) -> dict[str, Any] | None:
    """Return what the key of an order opens: the Hub, the repository, its token, and which weights to push.

    None for a wrong key, and if the worker is to stop.
    """
    push = _push_of_key(key)
    token = token_of(push) if push is not None else None
    if push is None or token is None:
        return None
    return {
        "hub": settings.HUB_URL,
        "repository": push.repository,
        "private": push.private,
        "token": token,
        "spec": push.run.result["spec"],
        "name": push.run.name,
    }


def _push_of_key(key: str) -> ModelPush | None:
    try:
        push_id, attempt = signing.loads(key, salt=SALT, max_age=TOKEN_KEPT)
    except (signing.BadSignature, TypeError, ValueError):
        return None
    found = ModelPush.objects.filter(pk=push_id, attempt=attempt, finished_at=None, project__archived_at=None)
    return found.select_related("run").first()


@transaction.atomic
def note_pushed(*, push_id: int, attempt: int, url: str, error: str, now: datetime) -> None:
    """Record what became of the weights, once. Commits on the Hub count whatever the site heard in the meantime."""
    found = ModelPush.objects.filter(pk=push_id, finished_at=None)
    push = found.select_related("project", "run", "requested_by").first()
    if push is None:
        return
    if url:
        _finish(push, url, now)
    elif attempt == push.attempt:
        found.update(finished_at=now, error=f"{error} The model card is on the Hub.", sealed_token="")
