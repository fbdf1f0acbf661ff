"""Exports, requested on a page or the command line; files are complete or absent."""

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from annotation.models import Removal
from background.errors import Failed
from background.job_runner import run
from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from results.actions.atomic_files import pack, stored_bytes, why_not, write_atomically
from results.actions.dataset_documents import DESCRIPTION, add_papers, describe_files
from results.actions.pseudonyms import name_annotators
from results.actions.releases import check_fits, check_format, check_held, check_offered, freeze_release, write_release
from results.actions.row_progress import Report, WrittenFile, write_rows
from results.errors import CannotExport
from results.exporting import FORMATS, Writer, get_writer
from results.exporting.dataset_card import About, DatasetCard
from results.models import Export, Release
from results.queries.exports.available_exports import find_removals
from results.queries.exports.dataset_cards import exports_card, studies_card
from results.queries.exports.descriptions import descriptions_of_project
from results.queries.exports.export_rows import count_rows, exported_rows
from results.replica import read_all
from studies.actions.events import Actor, What, record
from studies.actions.lookup import find_study_of
from studies.actions.stored_files import save_whole
from studies.errors import StudyError
from studies.models import Project, Study, StudyState

logger = logging.getLogger(__name__)

KIND = "results.export"
CHOSEN_AT_ONCE = 5_000
OF_CHOSEN = "It contains only instances that a researcher selected. The counts below are of the whole study."
NOTHING = "There is nothing to export: {} yet."
CANCELLED = "It was cancelled."
# After this long, an export of an older version counts as lost, whether waiting or running.
WAITING_AT_MOST = timedelta(minutes=2)
RUNNING_AT_MOST = timedelta(minutes=15)


def launched_studies(project: Project) -> list[Study]:
    """Return the studies of `project` with something to export, in order of their launches."""
    return list(project.studies.exclude(state=StudyState.DRAFT).order_by("launched_at", "id"))


def exportable_studies(*, project: Project) -> list[Study]:
    """Return the launched studies of `project`, at least one. Raises CannotExport."""
    if not (launched := launched_studies(project)):
        raise CannotExport(NOTHING.format(f"no study of {project.slug} has been launched"))
    return launched


def exportable_study(*, project: Project, name: str) -> Study:
    """Return the launched study of `project` called `name`. Raises CannotExport."""
    try:
        study = find_study_of(project, name)
    except StudyError as error:
        raise CannotExport(str(error)) from error
    if study.state == StudyState.DRAFT:
        raise CannotExport(NOTHING.format(f"{name} has not been launched"))
    return study


def write_export(
    *, study: Study, format: str, folder: Path, report: Report, selection: Export | None = None
) -> WrittenFile:
    """Write the export of `study` into `folder`, replacing a file of the same name.

    The file appears only when it is complete. selection: export only these chosen instances, under a separate name.
    `report` is called now and then with the rows done and the total. Raises CannotExport when the folder or the disk
    does not allow it.
    """
    writer = get_writer(format)
    name_annotators(project=study.project)
    among = None if selection is None else selection.instances.values("pk")
    return read_all(
        lambda: _write_whole(
            folder / _file_name(study, writer, selection),
            writer,
            exported_rows(writer.rows, study, among),
            count_rows(writer.rows, study, among),
            lambda: studies_card([study], About(description="" if among is None else OF_CHOSEN)),
            report,
        )
    )


def write_export_of_project(*, project: Project, format: str, folder: Path, report: Report) -> WrittenFile:
    """Write the export of all of `project`, launched or not, as `write_export` does for a study.

    Only formats that need instances alone allow this (`is_of_project`). Raises CannotExport.
    """
    writer = get_writer(format)
    return read_all(
        lambda: _write_whole(
            folder / f"{project.slug}-{writer.filename}",
            writer,
            descriptions_of_project(project),
            sum(1 for _ in descriptions_of_project(project)),
            lambda: exports_card(project),
            report,
        )
    )


def is_of_project(format: str) -> bool:
    """Whether an export without a study covers the whole project instead of making one file per study."""
    return get_writer(format).rows == "descriptions"


def _write_whole(
    path: Path, writer: Writer, rows: Iterator[Any], total: int, card: Callable[[], DatasetCard], report: Report
) -> WrittenFile:
    try:
        with write_atomically(path) as unfinished:
            with writer.open(unfinished, stored_bytes) as write:
                done = write_rows(write, rows, total, report)
            check_held(writer, done, total)
            if writer.is_folder:
                add_papers(unfinished, writer, card())
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    report(done, done)
    return WrittenFile(path, done)


def describe_exports(*, project: Project, written: Sequence[Path]) -> Path | None:
    """Describe the tables in the folder of `written` in croissant.json: these and those of earlier exports.

    Skips folders, which contain their own description. Raises CannotExport.
    """
    tables = [path for path in written if path.is_file()]
    if not tables:
        return None
    path = tables[0].parent / DESCRIPTION
    try:
        with write_atomically(path) as unfinished:
            text = describe_files(
                path.parent,
                written={table.name for table in tables},
                ours=_tables_of(project),
                card=exports_card(project),
            )
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    return path


def _tables_of(project: Project) -> dict[str, tuple[Writer, str]]:
    """Return file names of the tables exported from `project` -> writer, and what the records are."""
    writers = [writer for writer in map(get_writer, FORMATS) if not writer.is_folder]
    return {
        _file_name(study, writer): (writer, f"{writer.title}, of the study {study.slug} of {project.name}.")
        for study in project.studies.all()
        for writer in writers
    }


def _file_name(study: Study, writer: Writer, selection: Export | None = None) -> str:
    # Exports of the whole study and of two selections are separate files.
    of = "" if selection is None else f"selection-{selection.pk}-"
    return f"{study.slug}-{of}{writer.filename}"


def export_into(*, study: Study, format: str, folder: Path, report: Report, by: Actor, now: datetime) -> WrittenFile:
    """Write the export of `study` into `folder` for a command; see `write_export`."""
    written = write_export(study=study, format=format, folder=folder, report=report)
    with transaction.atomic():
        made = {"format": format, "rows": written.rows}
        record(project=study.project, study=study, what=What.EXPORT_WRITTEN, by=by, now=now, **made)
    return written


def export_project_into(
    *, project: Project, format: str, folder: Path, report: Report, by: Actor, now: datetime
) -> WrittenFile:
    """Write the export of `project` into `folder` for a command; see `write_export_of_project`."""
    written = write_export_of_project(project=project, format=format, folder=folder, report=report)
    with transaction.atomic():
        record(project=project, what=What.EXPORT_WRITTEN, by=by, now=now, format=format, rows=written.rows)
    return written


@transaction.atomic
def request_export(
    *,
    study: Study,
    format: str,
    by: User,
    now: datetime,
    release: Release | None = None,
    instances: Sequence[int] | None = None,
) -> Export:
    """Create an export of `study`, or of its `release`, for `by`; its job writes it. Raises CannotExport.

    instances: ids of the project's instances to include, as chosen at this moment; None for all.
    """
    if format not in FORMATS:
        raise CannotExport(f"There is no export format called {format}. Choose one of {', '.join(FORMATS)}.")
    if release is not None:
        check_format(format)
        check_offered(release)
    if study.state == StudyState.DRAFT:
        raise CannotExport("There is nothing to export yet: the study has not been launched.")
    if instances is not None and not instances:
        raise CannotExport("No instance is selected.")
    if instances is None:
        check_fits([study] if release is None else release.studies(), format, release)
    what = What.EXPORT_REQUESTED if release is None else What.RELEASE_REQUESTED
    wanted: dict[str, Any] = {"format": format} if release is None else {"format": format, "release": release.name}
    wanted |= {} if instances is None else {"instances": len(instances)}
    record(project=study.project, study=study, what=what, by=by, now=now, **wanted)
    export = Export.objects.create(
        project=study.project,
        study=study,
        release=release,
        format=format,
        chosen=None if instances is None else len(instances),
        requested_by=by,
        requested_at=now,
    )
    through = Export.instances.through
    through.objects.bulk_create(
        (through(export_id=export.pk, instance_id=pk) for pk in instances or ()), batch_size=CHOSEN_AT_ONCE
    )
    job_of(export=export)
    return export


def make_export(*, export: Export, now: Callable[[], datetime]) -> None:
    """Write the file of `export` now, unless a worker has it or it has ended."""
    run(job_id=job_of(export=export).pk, message="", now=now)


def job_of(*, export: Export) -> Job:
    """Return the job of `export`; an export requested by an older version gets its job here."""
    if export.job is None:
        export.job, _ = request_job(
            kind=KIND,
            arguments={"export": export.pk},
            by=export.requested_by,
            now=export.requested_at,
            key=str(export.pk),
        )
        export.save(update_fields=["job"])
    return export.job


def _make(job: RunningJob) -> None:
    """Write the file of a job's export, from the start again after a lost worker.

    Each attempt writes its own file; only the file of the worker that still holds the job is kept.
    """
    unmade = Export.objects.unfinished().filter(pk=job.arguments["export"])
    export = unmade.select_related("study__project", "release__study__project").first()
    if export is None:
        return
    unmade.update(state=Export.State.RUNNING)

    def report(done: int, total: int) -> None:
        job.advance(done=done, total=total)

    try:
        with tempfile.TemporaryDirectory() as folder:
            written = _write(export, Path(folder), report, now=job.now())
            name = _store(export, written.path)
    except CannotExport as error:
        raise Failed(str(error)) from error
    except OSError as error:
        logger.exception("export %s could not be stored", export.pk)
        raise Failed(why_not(error, Path(f"{export.study.slug} export"))) from error
    _keep(job, export, name, written.rows)


def _keep(job: RunningJob, export: Export, name: str, rows: int) -> None:
    """Store the file called `name` as the result of `export`, or delete it when it is no longer wanted."""
    kept = 0
    try:
        with transaction.atomic():
            job.check()
            made = {"file": name, "rows_done": rows, "rows_total": rows, "finished_at": job.now()}
            kept = Export.objects.unfinished().filter(pk=export.pk).update(state=Export.State.READY, **made)
    finally:
        if not kept:
            default_storage.delete(name)


def _note_failure(job: Job) -> None:
    """Note on an export why it has no file, when its job failed or was cancelled."""
    Export.objects.unfinished().filter(pk=job.arguments["export"]).update(
        state=Export.State.FAILED, error=job.error or CANCELLED, finished_at=job.finished_at
    )


EXPORT = Work(run=_make, unit="rows", trouble="The server could not write this export. Try again.", ended=_note_failure)


@transaction.atomic
def cancel_export(*, export: Export, by: User, now: datetime) -> None:
    """Cancel `export`: at once if it waits, within about a second if it is running. Raises CannotExport."""
    if not Export.objects.unfinished().filter(pk=export.pk).exists():
        raise CannotExport("This export has already ended, so there was nothing to cancel.")
    details = {"format": export.format}
    record(project=export.project, study=export.study, what=What.EXPORT_CANCELLED, by=by, now=now, **details)
    cancel(job=job_of(export=export), now=now)


def _write(export: Export, folder: Path, report: Report, *, now: datetime) -> WrittenFile:
    if export.release is None:
        selection = _selection(export)
        return write_export(study=export.study, format=export.format, folder=folder, report=report, selection=selection)
    freeze_release(release=export.release, now=now)
    return write_release(release=export.release, format=export.format, folder=folder, report=report)


def _selection(export: Export) -> Export | None:
    return None if export.chosen is None else export


def _store(export: Export, path: Path) -> str:
    """Store the result, a folder as one ZIP file; return its name in the storage."""
    whole = path
    if path.is_dir():
        whole = path.with_name(f"{path.name}.zip")
        pack(path, whole)
    with whole.open("rb") as made:
        return save_whole(f"exports/{export.pk}/{whole.name}", File(made))


def discard_files() -> int:
    """Delete the files that hold answers of somebody who withdrew; return how many.

    Their exports stay listed and say why there is no file.
    """
    found = Export.objects.filter(project__removals__why=Removal.Why.WITHDRAWN)
    made = list(found.exclude(file="").select_related("study__project", "release").order_by("pk").distinct())
    removed = find_removals(exports=made)
    discarded = [export for export in made if removed.of_export(export).withdrawn_at is not None]
    for export in discarded:
        # Note first, then delete: a file lost in between belongs to nobody.
        Export.objects.filter(pk=export.pk).update(file="")
        default_storage.delete(export.file)
    return len(discarded)


def download_name(export: Export) -> str:
    """Return the file name under which `export` is downloaded: what it holds, then its format."""
    if export.release:
        return f"{export.release.file_name}-{export.format}.zip"
    writer = get_writer(export.format)
    return f"{_file_name(export.study, writer, _selection(export))}{'.zip' if writer.is_folder else ''}"


def adopt_exports(*, now: datetime) -> int:
    """Give a job to each unfinished export that an older version requested; return how many.

    Skips one whose worker may still be running. The jobs count as requested when the exports were and are sent at the
    next run of `background.tasks.resume_jobs`.
    """
    lost = Q(state=Export.State.WAITING, requested_at__lt=now - WAITING_AT_MOST) | Q(
        state=Export.State.RUNNING, requested_at__lt=now - RUNNING_AT_MOST
    )
    found = list(Export.objects.unfinished().filter(lost, job=None).select_related("requested_by").order_by("pk"))
    for export in found:
        job_of(export=export)
    return len(found)
