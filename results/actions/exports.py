"""Exports: asked for on a page or a command line, written whole or not at all."""

import logging
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from annotation.models import Removal
from results.actions.papers import DESCRIPTION, add_papers, describe_files
from results.actions.places import new_place, pack, stored_bytes, why_not
from results.actions.pseudonyms import name_annotators
from results.actions.releases import check_format, check_offered, freeze_release, write_release
from results.actions.writing import Report, Written, write_rows
from results.errors import CannotExport
from results.exporting import FORMATS, Writer, get_writer
from results.exporting.dossier import About
from results.models import Export, Release
from results.tables.dossiers import exports_dossier, study_dossier
from results.tables.exported import count_rows, exported_rows
from results.tables.offered import removed_since
from studies.actions.events import Actor, What, record
from studies.actions.finding import find_study_of
from studies.errors import StudyError
from studies.models import Project, Study, StudyState

logger = logging.getLogger(__name__)

WAITING_AT_MOST = timedelta(minutes=2)
# Longer than the task is allowed to take.
RUNNING_AT_MOST = timedelta(minutes=15)


def exportable_studies(*, project: Project, study: str = "") -> list[Study]:
    """Return the launched studies of `project`, or only the one called `study`. Raises CannotExport."""
    try:
        studies = [find_study_of(project, study)] if study else project.studies.order_by("launched_at", "id")
    except StudyError as error:
        raise CannotExport(str(error)) from error
    launched = [found for found in studies if found.state != StudyState.DRAFT]
    if not launched:
        nothing = f"{study} has not been launched" if study else f"no study of {project.slug} has been launched"
        raise CannotExport(f"There is nothing to export: {nothing} yet.")
    return launched


def write_export(*, study: Study, format: str, folder: Path, report: Report) -> Written:
    """Write the export of `study` into `folder`, replacing a file of the same name.

    The file appears under its name only when it is whole. `report` is told the rows done and the rows in all, now
    and then. Raises CannotExport when the folder or the disk does not allow it.
    """
    writer = get_writer(format)
    path = folder / _file_name(study, writer)
    name_annotators(project=study.project)
    total = count_rows(writer.rows, study)
    try:
        with new_place(path) as place:
            with writer.open(place, stored_bytes) as write:
                done = write_rows(write, exported_rows(writer.rows, study), total, report)
            if writer.is_folder:
                add_papers(place, writer, study_dossier(study, About()))
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    report(done, done)
    return Written(path, done)


def describe_exports(*, project: Project, written: Sequence[Path]) -> Path | None:
    """Say in croissant.json what the tables in the folder of `written` hold: these, and those of earlier exports.

    Nothing is written for folders, which have a description inside. Raises CannotExport.
    """
    tables = [path for path in written if path.is_file()]
    if not tables:
        return None
    path = tables[0].parent / DESCRIPTION
    try:
        with new_place(path) as place:
            text = describe_files(
                path.parent,
                written={table.name for table in tables},
                ours=_tables_of(project),
                dossier=exports_dossier(project),
            )
            place.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    return path


def _tables_of(project: Project) -> dict[str, tuple[Writer, str]]:
    """Return the names under which the studies of `project` are exported as tables -> writer, what the records are."""
    writers = [writer for writer in map(get_writer, FORMATS) if not writer.is_folder]
    return {
        _file_name(study, writer): (writer, f"{writer.title}, of the study {study.slug} of {project.name}.")
        for study in project.studies.all()
        for writer in writers
    }


def _file_name(study: Study, writer: Writer) -> str:
    return f"{study.slug}-{writer.filename}"


def export_into(*, study: Study, format: str, folder: Path, report: Report, by: Actor, now: datetime) -> Written:
    """Write the export of `study` into `folder` for whoever runs the command; see `write_export`."""
    written = write_export(study=study, format=format, folder=folder, report=report)
    with transaction.atomic():
        made = {"format": format, "rows": written.rows}
        record(project=study.project, study=study, what=What.EXPORT_WRITTEN, by=by, now=now, **made)
    return written


@transaction.atomic
def request_export(*, study: Study, format: str, by: User, now: datetime, release: Release | None = None) -> Export:
    """Note that `by` wants an export of `study`, or of its `release`; a task makes it. Raises CannotExport."""
    if format not in FORMATS:
        raise CannotExport(f"There is no export format called {format}. Choose one of {', '.join(FORMATS)}.")
    if release is not None:
        check_format(format)
        check_offered(release)
    if study.state == StudyState.DRAFT:
        raise CannotExport("There is nothing to export yet: the study has not been launched.")
    what = What.EXPORT_REQUESTED if release is None else What.RELEASE_REQUESTED
    wanted = {"format": format} if release is None else {"format": format, "release": release.name}
    record(project=study.project, study=study, what=what, by=by, now=now, **wanted)
    return Export.objects.create(
        project=study.project, study=study, release=release, format=format, requested_by=by, requested_at=now
    )


def make_export(*, export: Export, now: Callable[[], datetime]) -> None:
    """Make the file of `export`. One that is ready or has failed already is left as it is.

    A second run at the same time, or after a worker was lost half way, does no harm: each writes a file of its
    own, and only the first to end is kept.
    """
    unmade = Export.objects.filter(pk=export.pk, state__in=(Export.State.WAITING, Export.State.RUNNING))
    if not unmade.update(state=Export.State.RUNNING):
        return

    def report(done: int, total: int) -> None:
        unmade.update(rows_done=done, rows_total=total)

    try:
        with tempfile.TemporaryDirectory() as folder:
            written = _write(export, Path(folder), report)
            name = _store(export, written.path)
    except CannotExport as error:
        fail_export(export=export, error=str(error), now=now())
        return
    except OSError as error:
        logger.exception("export %s could not be stored", export.pk)
        fail_export(export=export, error=why_not(error, Path(f"{export.study.slug} export")), now=now())
        return
    except Exception:
        # Whoever waits on the page learns of it; the worker's log gets the trace.
        fail_export(export=export, error="The server could not make this export. Ask for it again.", now=now())
        raise
    if not unmade.update(state=Export.State.READY, file=name, finished_at=now()):
        default_storage.delete(name)


def _write(export: Export, folder: Path, report: Report) -> Written:
    if export.release is None:
        return write_export(study=export.study, format=export.format, folder=folder, report=report)
    freeze_release(release=export.release)
    return write_release(release=export.release, format=export.format, folder=folder, report=report)


def _store(export: Export, path: Path) -> str:
    """Keep what was made, a folder as one ZIP file; return its name in the storage."""
    whole = path
    if path.is_dir():
        whole = path.with_name(f"{path.name}.zip")
        pack(path, whole)
    with whole.open("rb") as made:
        return default_storage.save(f"exports/{export.pk}/{whole.name}", File(made))


def discard_files() -> int:
    """Delete the files that are no longer offered, because somebody whose answers they hold has withdrawn; return how
    many. Their lines stay, and say why there is no file."""
    found = Export.objects.filter(state=Export.State.READY, project__removals__why=Removal.Why.WITHDRAWN)
    made = list(found.exclude(file="").select_related("study__project", "release").order_by("pk").distinct())
    removed = removed_since(exports=made)
    discarded = [export for export in made if removed.of_export(export).withdrawn_at is not None]
    for export in discarded:
        # First noted, then deleted: a file that is lost in between is nobody's.
        Export.objects.filter(pk=export.pk).update(file="")
        default_storage.delete(export.file)
    return len(discarded)


def download_name(export: Export) -> str:
    """Return under what name `export` is downloaded."""
    if export.release:
        return f"{export.study.slug}-{export.release.name}.zip"
    writer = get_writer(export.format)
    return f"{export.study.slug}-{writer.filename}{'.zip' if writer.is_folder else ''}"


def stalled_exports(*, now: datetime) -> list[int]:
    """Return the ids of exports that wait, or are being made, for so long that their task must have been lost."""
    waiting = Q(state=Export.State.WAITING, requested_at__lt=now - WAITING_AT_MOST)
    running = Q(state=Export.State.RUNNING, requested_at__lt=now - RUNNING_AT_MOST)
    return list(Export.objects.filter(waiting | running).order_by("pk").values_list("pk", flat=True))


def fail_export(*, export: Export, error: str, now: datetime) -> None:
    """Note why `export` will not be made, in words for people."""
    unmade = Export.objects.filter(pk=export.pk, state__in=(Export.State.WAITING, Export.State.RUNNING))
    unmade.update(state=Export.State.FAILED, error=error, finished_at=now)
