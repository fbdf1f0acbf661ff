"""Download datasets from the Hugging Face Hub into uploads, as jobs; the mapping page follows."""

import re
import tempfile
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from background.errors import Failed
from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from studies.actions.events import What, record
from studies.actions.imports.uploads import IMAGES, ROWS, Misplaced, begin_upload, receive, received
from studies.errors import StudyError
from studies.importing.archives import problem_with_path
from studies.models import Project
from workspace.actions.hub import CANCELLED, LONGEST_TOKEN, TOKEN_KEPT
from workspace.hub_repository import HubFile, HubRefused, Source, download_file, is_repository, list_files
from workspace.models import HubDownload
from workspace.sealed_secrets import CannotUnseal, seal, unseal

KIND = "workspace.hub_download"
# A branch, a tag or a commit, as Git has it.
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


class DownloadRefused(Exception):
    """A download was not requested; the message is a sentence for the user."""


@transaction.atomic
def request_download(
    *, project: Project, repository: str, revision: str, folder: str, token: str, by: User, now: datetime
) -> HubDownload:
    """Record that `by` wants a dataset of the Hub in `project`; its job downloads it. Raises DownloadRefused.

    revision: a branch, tag or commit, "" for the latest. folder: "" for all files. token: "" for a public dataset; it
    is deleted when the job ends, however it ends.
    """
    if not is_repository(repository):
        raise DownloadRefused("Write the dataset as OWNER/NAME, as the Hub has it: imirandam/BiVLC, for instance.")
    if revision and not _REVISION.fullmatch(revision):
        raise DownloadRefused("The revision must be a branch, a tag or a commit of the dataset.")
    folder = folder.strip("/")
    if folder and (len(folder) > 500 or problem_with_path(folder)):
        raise DownloadRefused("Write the folder as the Hub has it, such as data/en.")
    if len(token) > LONGEST_TOKEN or not token.isascii() or " " in token or (token and not token.isprintable()):
        raise DownloadRefused("The token is no token of the Hub. It begins with hf_. Public datasets need none.")
    download = HubDownload.objects.create(
        upload=begin_upload(project, by, now),
        repository=repository,
        revision=revision,
        folder=folder,
        sealed_token=seal(token) if token else "",
        requested_by=by,
        requested_at=now,
    )
    download.job, _ = request_job(kind=KIND, arguments={"download": download.pk}, by=by, now=now, key=str(download.pk))
    download.save(update_fields=["job"])
    record(project=project, what=What.DATASET_DOWNLOAD_REQUESTED, by=by, now=now, repository=repository)
    return download


def cancel_download(download: HubDownload, *, now: datetime) -> None:
    """Cancel a download: at once if it waits, else before its next file."""
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
        raise Failed("The token was kept for too long, or the site has another secret by now. Ask again.") from error
    source = Source(download.repository, download.commit or download.revision, download.folder, token)
    try:
        commit, files = list_files(source)
        # A later worker goes on with the same commit.
        found.update(commit=commit)
        _receive_all(job, download, source, commit, files)
    except (HubRefused, StudyError) as error:
        raise Failed(str(error)) from error
    except Misplaced as error:
        raise Failed("Two downloads of this dataset met. Ask for it again.") from error
    with transaction.atomic():
        job.check()
        found.update(finished_at=job.now(), sealed_token="")


def _receive_all(job: RunningJob, download: HubDownload, source: Source, commit: str, files: list[HubFile]) -> None:
    total = sum(file.size for file in files)
    if total > settings.UPLOAD_MAX_BYTES:
        raise HubRefused(
            f"The dataset has {total:,} bytes; at most {settings.UPLOAD_MAX_BYTES:,} are taken at once. Name a folder, "
            "or import it on the server."
        )
    have = {part: received(download.upload, part) for part in (ROWS, IMAGES)}
    done = 0
    for file in files:
        job.advance(done=done, total=total)
        is_table = not file.name.lower().endswith((".jpg", ".jpeg", ".png", ".webp", ".gif", ".zip"))
        part = ROWS if is_table else IMAGES
        there = have[part].get(file.name, 0)
        if there < file.size:
            with tempfile.TemporaryDirectory() as folder:
                path = download_file(source, commit, file.name, Path(folder))
                with path.open("rb") as stream:
                    stream.seek(there)
                    receive(download.upload, part, file.name, stream, offset=there, most=file.size - there)
        done += file.size
    job.advance(done=total, total=total)


def _record_failure(job: Job) -> None:
    """Record why a download failed or was cancelled, and delete its token."""
    found = HubDownload.objects.filter(pk=job.arguments["download"], finished_at=None)
    found.update(finished_at=job.finished_at, error=job.error or CANCELLED, sealed_token="")


DOWNLOAD = Work(
    run=_download,
    unit="bytes",
    trouble="The server could not download this dataset. Ask for it again.",
    minutes=110,
    ended=_record_failure,
)
