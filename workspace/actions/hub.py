"""Push releases to the Hugging Face Hub, as jobs. The Hub token is stored encrypted until the push ends."""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import transaction

from background.errors import Failed
from background.hub_commits import HubRefused, Target, is_repository
from background.jobs import cancel, request_job
from background.models import Job
from background.sealed_secrets import CannotUnseal, seal, unseal
from background.work import RunningJob, Work
from results.actions.releases import check_frozen, check_offered, write_release
from results.errors import CannotExport
from results.models import Release
from studies.actions.events import COMMAND_LINE, What, record
from studies.models import Project
from workspace.hub_repository import push_folder
from workspace.models import HubPush, ModelPush

KIND = "workspace.hub"
# The layout that the Hub shows as a dataset.
FORMAT = "hf"
# A job that has waited longer is not started: nobody expects it any more.
TOKEN_KEPT = timedelta(days=1)
LONGEST_TOKEN = 500
CANCELLED = "It was cancelled."
Push = TypeVar("Push", HubPush, ModelPush)


class PushRefused(Exception):
    """The push cannot be requested or cancelled; the message is a sentence for the user."""


@transaction.atomic
def request_push(*, release: Release, repository: str, private: bool, token: str, by: User, now: datetime) -> HubPush:
    """Record that `by` wants to push a frozen release; its job does so. Raises PushRefused.

    The token is deleted when the job ends, however it ends.
    """
    check_target(repository, token)
    try:
        check_offered(release)
        check_frozen(release)
    except CannotExport as error:
        raise PushRefused(str(error)) from error
    target = Target(repository, token, private, release.name)
    push = start_push(HubPush, KIND, "release", target, project=release.project, by=by, now=now, release=release)
    _record(push, What.HUB_PUSH_REQUESTED, by=by, now=now)
    return push


def start_push(
    model: type[Push],
    kind: str,
    thing: str,
    target: Target,
    *,
    project: Project,
    by: User,
    now: datetime,
    **details: Any,
) -> Push:
    """Store a push with its job of `kind`. Raises PushRefused if such a `thing` is being pushed to the repository.

    Two at a time would commit into each other. The Hub ignores case in names.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if model.objects.filter(project=project, repository__iexact=target.repository, finished_at=None).exists():
        raise PushRefused(f"A {thing} is already being pushed to {target.repository}. Wait until that push has ended.")
    push = model.objects.create(
        project=project,
        repository=target.repository,
        private=target.private,
        sealed_token=seal(target.token),
        requested_by=by,
        requested_at=now,
        **details,
    )
    push.job, _ = request_job(kind=kind, arguments={"push": push.pk}, by=by, now=now, key=str(push.pk))
    push.save(update_fields=["job"])
    return push


def check_target(repository: str, token: str) -> None:
    """Raise PushRefused if a repository cannot have this name, or a token this form."""
    if not is_repository(repository):
        raise PushRefused("Write the repository as OWNER/NAME, as the Hub has it: my-lab/captions, for instance.")
    if not token or len(token) > LONGEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise PushRefused("Give a token of the Hub that may write to the repository. It begins with hf_.")


def _record(push: HubPush, what: What, *, by: User | str, now: datetime) -> None:
    told = {"release": push.release.name, "repository": push.repository}
    record(project=push.project, study=push.release.study, what=what, by=by, now=now, **told)


@transaction.atomic
def cancel_push(*, push: HubPush, by: User, now: datetime) -> None:
    """Cancel a push: at once if it waits, else before its next file. Raises PushRefused."""
    if push.job is None or not HubPush.objects.filter(pk=push.pk, finished_at=None).exists():
        raise PushRefused("This push has already ended, so there was nothing to cancel.")
    _record(push, What.HUB_PUSH_CANCELLED, by=by, now=now)
    cancel(job=push.job, now=now)


def _push(job: RunningJob) -> None:
    """Write the release of the job and push it, without files that the Hub already has."""
    found = HubPush.objects.filter(pk=job.arguments["push"], finished_at=None)
    push = found.select_related("project", "release__study__project", "requested_by").first()
    if push is None:
        return
    token = token_for_job(push)

    def progress(done: int, total: int) -> None:
        job.advance(done=done, total=total)
        if done == total:
            # Last check before anything becomes public.
            job.check()

    target = Target(push.repository, token, push.private, push.release.name)
    try:
        with tempfile.TemporaryDirectory() as folder:
            written = write_release(
                release=push.release, format=FORMAT, folder=Path(folder), report=lambda done, total: job.advance()
            )
            # Somebody may have withdrawn while the files were written.
            check_offered(push.release)
            url = push_folder(written.path, target, progress)
    except (CannotExport, HubRefused) as error:
        raise Failed(str(error)) from error
    # Record the push even if somebody cancelled it in the meantime: it is on the Hub, and they must know where.
    with transaction.atomic():
        if found.update(finished_at=job.now(), url=url, sealed_token=""):
            _record(push, What.RELEASE_PUSHED, by=push.requested_by or COMMAND_LINE, now=job.now())


def token_for_job(push: HubPush | ModelPush) -> str:
    """Return the token of a push for its job. Raises Failed if it is lost, or the project archived."""
    token = token_of(push)
    if token is None:
        raise Failed("The stored token has expired, or the site's secret has changed. Enter the token again.")
    if push.project.archived_at is not None:
        raise Failed("The project was archived in the meantime. Ask an owner to restore it.")
    return token


def token_of(push: HubPush | ModelPush) -> str | None:
    """Return the token of a push; None if it was stored long ago, or under a lost key."""
    try:
        return unseal(push.sealed_token, within=TOKEN_KEPT)
    except CannotUnseal:
        return None


def _record_failure(job: Job) -> None:
    """Record why a push failed or was cancelled, and delete its token."""
    found = HubPush.objects.filter(pk=job.arguments["push"], finished_at=None)
    found.update(finished_at=job.finished_at, error=job.error or CANCELLED, sealed_token="")


PUSH = Work(
    run=_push,
    unit="bytes",
    trouble="The server could not push this release. Try again.",
    minutes=110,
    ended=_record_failure,
)
