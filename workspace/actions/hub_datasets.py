"""Download datasets from the Hugging Face Hub into uploads, as jobs; the mapping page follows."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from time import sleep
from typing import TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from background.errors import Failed
from background.hub_commits import HubRefused, is_repository
from background.jobs import cancel, request_job
from background.models import Job
from background.sealed_secrets import CannotUnseal, seal, unseal
from background.work import RunningJob, Work
from studies.actions.events import What, record
from studies.actions.imports.uploads import (
    IMAGES,
    ROWS,
    MisplacedPiece,
    begin_upload,
    delete_files,
    folder_of,
    receive,
)
from studies.errors import StudyError
from studies.importing.archives import problem_with_path
from studies.models import Project, Upload
from workspace.actions.hub import CANCELLED, LONGEST_TOKEN, TOKEN_KEPT
from workspace.hub_repository import (
    PICTURES,
    HubFile,
    HubReader,
    HubUnavailable,
    Source,
    open_reader,
)
from workspace.models import HubDownload

KIND = "workspace.hub_download"
# A branch, a tag or a commit, as Git has it.
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
# Seconds between attempts, and the longest that the Hub may ask for.
PAUSES, LONGEST_PAUSE = (1, 4, 16), 60

T = TypeVar("T")


class DownloadRefused(Exception):
    """A download was not requested; the message is a sentence for the user."""


@transaction.atomic
def request_download(
    *, project: Project, repository: str, revision: str, folder: str, token: str, by: User, now: datetime
) -> HubDownload:
    """Record that `by` wants a dataset of the Hub in `project`; its job downloads it. Raises DownloadRefused.

    Returns the download of the same dataset that `by` has under way, if any. revision: a branch, tag or commit, "" for
    the latest. folder: "" for all files. token: "" for a public dataset; it is deleted when the job ends, however it
    ends.
    """
    if not is_repository(repository):
        raise DownloadRefused("Write the dataset as OWNER/NAME, as the Hub has it: imirandam/BiVLC, for instance.")
    if revision and not _REVISION.fullmatch(revision):
        raise DownloadRefused("The revision must be a branch, a tag or a commit of the dataset.")
    folder = folder.strip("/")
    if folder and (len(folder) > 500 or problem_with_path(folder)):
        raise DownloadRefused("Write the folder as the Hub has it, such as data/en.")
    if len(token) > LONGEST_TOKEN or not token.isascii() or " " in token or (token and not token.isprintable()):
        raise DownloadRefused("This is not a token of the Hub: those begin with hf_. Public datasets need none.")
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    wanted = {"repository": repository, "revision": revision, "folder": folder, "requested_by": by}
    if under_way := HubDownload.objects.filter(upload__project=project, finished_at=None, **wanted).first():
        return under_way
    download = HubDownload.objects.create(
        upload=begin_upload(project, by, now),
        sealed_token=seal(token) if token else "",
        requested_at=now,
        **wanted,
    )
    download.job, _ = request_job(kind=KIND, arguments={"download": download.pk}, by=by, now=now, key=str(download.pk))
    download.save(update_fields=["job"])
    record(project=project, what=What.DATASET_DOWNLOAD_REQUESTED, by=by, now=now, repository=repository)
    return download


def cancel_download(download: HubDownload, *, now: datetime) -> None:
    """Cancel a download: at once if it waits, else as soon as its worker hears of it."""
    if download.job is not None and download.finished_at is None:
        cancel(job=download.job, now=now)


def _download(job: RunningJob) -> None:
    """Download the files of the job that are not there yet."""
    found = HubDownload.objects.filter(pk=job.arguments["download"], finished_at=None)
    download = found.select_related("upload__project").first()
    if download is None:
        return
    try:
        token = unseal(download.sealed_token, within=TOKEN_KEPT) if download.sealed_token else ""
    except CannotUnseal as error:
        raise Failed(
            "The stored token has expired, or the site's secret has changed. Enter the token again."
        ) from error
    source = Source(download.repository, download.commit or download.revision, download.folder, token)
    try:
        with open_reader(source) as hub:
            commit, files = _retry(job, lambda: hub.list_files(lambda have: job.advance()))
            # A later worker goes on with the same commit.
            found.update(commit=commit)
            _receive_all(job, download, hub, commit, files)
    except (HubRefused, StudyError) as error:
        raise Failed(str(error)) from error
    except MisplacedPiece as error:
        raise Failed("Another download of this dataset was running. Try again.") from error
    with transaction.atomic():
        job.check()
        found.update(finished_at=job.now(), sealed_token="")


def _retry(job: RunningJob, call: Callable[[], T]) -> T:
    """Return what `call` returns; while the Hub is away, call it again after a pause. Raises HubRefused."""
    for pause in PAUSES:
        try:
            return call()
        except HubUnavailable as error:
            if error.wait > LONGEST_PAUSE:
                raise
            for _ in range(max(pause, error.wait)):
                job.advance()
                sleep(1)
    return call()


def _receive_all(job: RunningJob, download: HubDownload, hub: HubReader, commit: str, files: list[HubFile]) -> None:
    total = sum(file.size for file in files)
    if total > settings.UPLOAD_MAX_BYTES:
        raise HubRefused(
            f"The dataset has {total:,} bytes; at most {settings.UPLOAD_MAX_BYTES:,} are taken at once. Name a folder, "
            "or import it on the server."
        )
    done = 0
    for number, file in enumerate(files, start=1):
        job.advance(done=done, total=total)
        _receive_file(job, download.upload, hub, commit, file, done)
        done += file.size
        # A job that runs out of time goes on from here.
        job.advance(step={"files": number}, done=done, total=total)


def _receive_file(job: RunningJob, upload: Upload, hub: HubReader, commit: str, file: HubFile, done: int) -> None:
    """Receive what is not there yet of a file; `done`: bytes of the files before it."""
    part = IMAGES if file.name.lower().endswith(PICTURES) else ROWS
    path = folder_of(upload, part) / file.name

    def receive_rest() -> None:
        there = path.stat().st_size if path.is_file() else 0
        if there == file.size:
            return
        with hub.open(commit, file.name, there, lambda have: job.advance(done=done + have)) as body:
            have = receive(upload, part, file.name, body, offset=there, most=file.size - there)
            if have < file.size:
                raise HubUnavailable(
                    f"The Hub sent {have:,} of the {file.size:,} bytes of {file.name}. Try again later."
                )
            if body.read(1):
                raise HubRefused(
                    f"The Hub sends more than the {file.size:,} bytes of {file.name} that it lists. Try again later."
                )

    _retry(job, receive_rest)


def _record_failure(job: Job) -> None:
    """Record why a download failed or was cancelled, and delete its token and what came of it."""
    found = HubDownload.objects.filter(pk=job.arguments["download"], finished_at=None)
    for download in found.select_related("upload"):
        delete_files(download.upload)
    found.update(finished_at=job.finished_at, error=job.error or CANCELLED, sealed_token="")


DOWNLOAD = Work(
    run=_download,
    unit="bytes",
    trouble="The server could not download this dataset. Try again.",
    minutes=110,
    # It reports each block that it reads, and each second that it waits.
    patience=timedelta(minutes=10),
    ended=_record_failure,
)
