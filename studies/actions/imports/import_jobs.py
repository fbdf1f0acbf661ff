"""Background imports, and changes of their mapping: all rows, or none and a list of all problems."""

import json
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, NoReturn

from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, transaction

from background.errors import Failed
from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from studies.actions.events import Actor, What, name_of, person, record
from studies.actions.imports.change_mapping import MappingChange, change_mapping, refuse_fixed_mapping
from studies.actions.imports.import_state import ImportContext, ImportRefused, ImportSummary
from studies.actions.imports.importer import DISK_FULL, digest_of, import_files, open_file, refuse_unknown
from studies.actions.imports.uploads import IMAGES, ROWS, discard, folder_of, unpack
from studies.actions.projects.projects import save_project
from studies.actions.stored_files import save_whole
from studies.batches import Progress
from studies.errors import StudyError
from studies.importing import RowProblem
from studies.models import Import, Project, Upload
from studies.wording import format_count

logger = logging.getLogger(__name__)

KIND = "studies.import"
CANCELLED = "It was cancelled. Nothing was imported."
CHANGE_CANCELLED = "It was cancelled. Nothing was changed."
# Stores the result of an import.
Note = Callable[[list[ImportSummary]], None]
# Further problems can be downloaded only.
MOST_SHOWN = 10
ASKED_WITH = (
    *("project", "files", "format", "mapping", "images_dir"),
    *("caption_rule", "images_later", "upload", "dry_run", "changes"),
)


def request_import(
    *,
    project: Project,
    files: Sequence[Path],
    format: str,
    by: Actor,
    now: datetime,
    mapping: Mapping[str, str] | None = None,
    images_dir: Path | None = None,
    caption_rule: str = "as-is-v1",
    images_later: bool = False,
    owner: User | None = None,
    upload: Upload | None = None,
    dry_run: bool = False,
) -> Import:
    """Queue an import of files on this machine, with their current content.

    `mapping`: what each column is, for the format `table`. `upload`: the upload that brought the files. `dry_run`: only
    check them. An equal unfinished import is returned instead of a new one. An unsaved project is saved here, because
    its pages show the import, and `owner` becomes its owner. Raises ImportRefused.
    """
    refuse_unknown(format=format, mapping=mapping, caption_rule=caption_rule, images_dir=images_dir)
    wanted = Import(
        project=project,
        files=[_file_identity(file) for file in files],
        format=format,
        # Sorted, so that two equal requests are stored alike.
        mapping=dict(sorted((mapping or {}).items())),
        images_dir="" if images_dir is None else str(images_dir.absolute()),
        caption_rule=caption_rule,
        images_later=images_later,
        upload=upload,
        dry_run=dry_run,
    )
    with transaction.atomic():
        if project.pk is None:
            save_project(project, owner=owner, by=by, now=now)
        return _request(wanted, by=by, now=now)


def _file_identity(file: Path) -> dict[str, str]:
    with open_file(file) as stream:
        return {"path": str(file.absolute()), "sha256": digest_of(stream)}


def _request(wanted: Import, *, by: Actor, now: datetime) -> Import:
    same = Import.objects.unfinished().filter(**_request_fields(wanted))
    if (found := same.first()) is not None:
        return found
    wanted.requested_by, wanted.by_name, wanted.requested_at = person(by), name_of(by), now
    wanted.save()
    wanted.job, _ = request_job(kind=KIND, arguments={"import": wanted.pk}, by=person(by), now=now, key=str(wanted.pk))
    wanted.save(update_fields=["job"])
    what = What.MAPPING_CHANGE_REQUESTED if wanted.changes else What.IMPORT_REQUESTED
    record(project=wanted.project, what=what, by=by, now=now, **_told(wanted))
    return wanted


def _told(wanted: Import) -> dict[str, Any]:
    """Return what events tell about an import. is_check: a dry run, which adds nothing."""
    return {"files": ", ".join(wanted.names)} | ({"is_check": True} if wanted.dry_run else {})


@transaction.atomic
def request_mapping_change(*, wanted: Import, mapping: Mapping[str, str], by: User, now: datetime) -> Import:
    """Queue a change of the mapping of an import; return it as an import that adds nothing. Raises MappingRefused.

    An equal unfinished change is returned instead of a new one. Of several different ones the last counts.
    """
    refuse_fixed_mapping(wanted)
    change = MappingChange(wanted, mapping)
    asked = _request_fields(wanted) | {"mapping": dict(sorted(change.new.items())), "upload": None, "changes": wanted}
    return _request(Import(**asked), by=by, now=now)


@transaction.atomic
def request_again(*, wanted: Import, by: User, now: datetime, images_later: bool | None = None) -> Import:
    """Queue a failed or cancelled import again, or the real import after a dry run, with the same files.

    Images that were added to its upload meanwhile are used. `images_later`: None for as before. Raises StudyError.
    """
    if wanted.is_unfinished or not (wanted.error or wanted.dry_run):
        raise StudyError("This import did not fail, so there is nothing to try again.")
    asked = _request_fields(wanted) | {"dry_run": wanted.dry_run and bool(wanted.error)}
    if images_later is not None:
        asked["images_later"] = images_later
    if wanted.upload is not None and (images := folder_of(wanted.upload, IMAGES)).is_dir():
        asked["images_dir"] = str(images)
    return _request(Import(**asked), by=by, now=now)


def _request_fields(wanted: Import) -> dict[str, Any]:
    """Return the fields by which two imports are equal: everything except who asked and when."""
    return {name: getattr(wanted, name) for name in ASKED_WITH}


@transaction.atomic
def cancel_import(*, wanted: Import, by: User, now: datetime) -> None:
    """Cancel an import: at once if it waits, else before it changes anything. Raises StudyError."""
    if wanted.job is None or not Import.objects.unfinished().filter(pk=wanted.pk).exists():
        raise StudyError("This import has already ended, so there was nothing to cancel.")
    what = What.MAPPING_CHANGE_CANCELLED if wanted.changes_id else What.IMPORT_CANCELLED
    record(project=wanted.project, what=what, by=by, now=now, **_told(wanted))
    cancel(job=wanted.job, now=now)


def _import(job: RunningJob) -> None:
    """Run the import of a job. After a lost worker it starts from the beginning.

    The result is stored in the transaction of the import, so that the import happens once.
    """
    found = Import.objects.unfinished().filter(pk=job.arguments["import"])
    wanted = found.select_related("project", "requested_by", "upload", "changes__project").first()
    if wanted is None:
        return
    begun_before = bool(wanted.stage)

    def progress(stage: str, done: int, total: int) -> None:
        if stage == wanted.stage:
            # No progress while saving: an update in this transaction would lock the job's row and block a cancellation.
            if stage != Import.Stage.SAVING:
                job.advance(done=done, total=total)
            return
        wanted.stage = stage
        job.advance(done=done, total=total)
        job.check()
        found.update(stage=stage)

    def note(summaries: list[ImportSummary]) -> None:
        job.check()
        told = [asdict(one) | {"sentence": _sentence(wanted, one)} for one in summaries]
        found.update(summaries=told, finished_at=job.now())

    if wanted.changes is not None:
        if wanted.project.archived_at is not None:
            raise Failed("The project was archived before the mapping was changed. Nothing was changed.")
        _change_mapping(job, wanted, wanted.changes, progress, note)
    else:
        _import_rows(job, wanted, progress, note, begun_before=begun_before)


def _import_rows(job: RunningJob, wanted: Import, progress: Progress, note: Note, *, begun_before: bool) -> None:
    if wanted.upload is not None:
        _unpack(wanted.upload, progress)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as out:
        problems = _Problems(out, name_files=len(wanted.files) > 1)
        try:
            summaries = import_files(
                project=wanted.project,
                files=[Path(file["path"]) for file in wanted.files],
                format=wanted.format,
                mapping=wanted.mapping,
                by=wanted.requested_by or wanted.by_name,
                now=job.now(),
                rows_dir=folder_of(wanted.upload, ROWS) if wanted.upload else None,
                images_dir=Path(wanted.images_dir) if wanted.images_dir else None,
                caption_rule=wanted.caption_rule,
                images_later=wanted.images_later,
                dry_run=wanted.dry_run,
                progress=progress,
                context=ImportContext(
                    digests=[file["sha256"] for file in wanted.files],
                    begun_before=begun_before,
                    on_problem=problems.add,
                    on_saved=note,
                ),
            )
        except ImportRefused as error:
            _fail(job, wanted, problems, error)
    if wanted.dry_run:
        note(summaries)
    elif wanted.upload is not None:
        discard(wanted.upload)


def _sentence(wanted: Import, done: ImportSummary) -> str:
    return f"The mapping of {format_count(done.records, 'instance')} was changed." if wanted.changes else str(done)


def _change_mapping(job: RunningJob, wanted: Import, one: Import, progress: Progress, note: Note) -> None:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as out:
        problems = _Problems(out, name_files=len(wanted.files) > 1, nothing="Nothing was changed")
        try:
            change_mapping(
                one=one,
                mapping=wanted.mapping,
                by=wanted.requested_by or wanted.by_name,
                now=job.now(),
                progress=progress,
                on_problem=problems.add,
                on_saved=note,
            )
        except ImportRefused as error:
            _fail(job, wanted, problems, error)
        except StudyError as error:
            raise Failed(" ".join(error.problems)) from error


def _fail(job: RunningJob, wanted: Import, problems: "_Problems", error: ImportRefused) -> NoReturn:
    """Raise why the import fails, or the error of a database that was away, after which it is tried again."""
    if away := _database_away(error):
        raise away from None
    if error.file:
        _keep_problems(job, wanted, problems, lacks_images=error.lacks_images)
        raise Failed(problems.sentence()) from error
    raise Failed(error.problems[0].reason) from error


def _unpack(upload: Upload, progress: Progress) -> None:
    """Unpack the upload of an import; overwrite files that a lost worker unpacked."""
    try:
        unpack(upload, lambda done, total: progress(Import.Stage.UNPACKING, done, total))
    except StudyError as error:
        raise Failed(f"{error} Nothing was imported.") from error


def _database_away(error: ImportRefused) -> OperationalError | InterfaceError | None:
    """Return the database error if a later try may succeed, because nothing is wrong with the import itself."""
    cause = error.__cause__
    full = error.problems[0].reason == DISK_FULL
    return cause if isinstance(cause, OperationalError | InterfaceError) and not full else None


class _Problems:
    """All problems of an import in order, one line of JSON each; only the first are kept in memory."""

    def __init__(self, out: IO[str], *, name_files: bool, nothing: str = "Nothing was imported") -> None:
        self.out = out
        self.nothing = nothing
        self.name_files = name_files
        self.count = 0
        self.first: list[str] = []

    def add(self, file: str, problem: RowProblem) -> None:
        line = {"file": file, "record": problem.row, "field": problem.field, "reason": problem.reason}
        self.out.write(json.dumps(line, ensure_ascii=False) + "\n")
        if self.count < MOST_SHOWN:
            self.first.append(f"{file}: {problem}" if self.name_files else str(problem))
        self.count += 1

    def sentence(self) -> str:
        found = "1 problem was found" if self.count == 1 else f"{self.count:,} problems were found"
        return f"{self.nothing}: {found}."


def _keep_problems(job: RunningJob, wanted: Import, problems: _Problems, *, lacks_images: bool) -> None:
    kept = 0
    name = _store(wanted, problems)
    try:
        with transaction.atomic():
            job.check()
            found = {"problem_count": problems.count, "first_problems": problems.first, "problems_file": name}
            found["is_without_images"] = lacks_images
            kept = Import.objects.unfinished().filter(pk=wanted.pk).update(**found)
    finally:
        if name and not kept:
            default_storage.delete(name)


def _store(wanted: Import, problems: _Problems) -> str:
    """Store all problems and return the file name; "" if the disk is full (the first problems are still shown)."""
    problems.out.flush()
    try:
        with Path(problems.out.name).open("rb") as lines:
            return save_whole(f"imports/{wanted.pk}/problems.jsonl", File(lines))
    except OSError:
        logger.exception("the problems of import %s could not be stored", wanted.pk)
        return ""


def _note_failure(job: Job) -> None:
    """Store on an import why its job failed or was cancelled."""
    found = Import.objects.unfinished().filter(pk=job.arguments["import"])
    for cancelled, rows in (
        (CANCELLED, found.filter(changes=None)),
        (CHANGE_CANCELLED, found.exclude(changes=None)),
    ):
        rows.update(error=job.error or cancelled, finished_at=job.finished_at)


IMPORT = Work(
    run=_import,
    unit="rows",
    trouble="The server failed. Nothing was imported or changed; try again.",
    minutes=110,
    # No progress only while saving: seconds for thousands of rows.
    patience=timedelta(minutes=15),
    ended=_note_failure,
)
