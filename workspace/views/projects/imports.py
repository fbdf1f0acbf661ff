"""Background imports: start, follow, list bad rows, cancel and repeat.

Files come from the browser, or are on the server and named on the command line.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget

from background.tasks import send
from predictions.queries.duplicates import near_duplicates_of
from results.exporting.spreadsheets import csv_lines
from results.queries.studies.overview import waiting_images
from results.views.guards import Guarded, Response, may_do, project_view, refusal, signed_in_user, visible_projects
from studies.actions.imports.image_folder import absent_file
from studies.actions.imports.import_jobs import cancel_import, request_again, request_import
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.importer import open_file
from studies.actions.imports.table_preview import NO_ROWS, sample_of_upload
from studies.actions.imports.uploads import (
    IMAGES,
    PARTS,
    MisplacedPiece,
    begin_upload,
    convert_arrow_files,
    extract_tables,
    folder_of,
    receive,
    received_bytes,
    rows_of,
)
from studies.errors import StudyError
from studies.importing import IMPORTERS, TABLE, describe_format, likely_format, problem_with_format
from studies.importing.base import OR_LATER
from studies.importing.captions import RULE_TITLES
from studies.models import Import, Project, Upload
from studies.permissions import Verb
from studies.wording import name_some
from workspace.views.projects.uploads import own_upload

IMPORTS_PER_PAGE = 20
AS_IS = "as-is-v1"
MOST_LEFT_NAMED = 5
KEPT_IMAGES = "Your images arrived, but there is no file with rows, also not in a zip. Choose the file with your rows."
PROBLEM_COLUMNS = ("file", "record", "field", "reason")


@project_view(Verb.VIEW)
@require_safe
def imports(request: HttpRequest, project: Project) -> HttpResponse:
    # Only of checked imports that are being imported now.
    of_its_files = Import.objects.unfinished().filter(upload=OuterRef("upload"))
    found = Import.objects.filter(project=project).select_related("job", "project").prefetch_related("mapping_changes")
    found = found.annotate(is_under_way=Exists(of_its_files))
    page = Paginator(found, IMPORTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "imports": page,
        "repeated": _repeated(project, list(page)),
        "near_duplicates": near_duplicates_of(project).count(),
        "may": may_do(request, project),
    }
    return render(request, "workspace/imports/list.html", context)


def _repeated(project: Project, shown: Sequence[Import]) -> set[int]:
    """Return the ids of the failed imports whose files were imported or checked again later."""
    failed = [one for one in shown if one.error]
    if not failed:
        return set()
    later = Import.objects.filter(project=project, pk__gt=min(one.pk for one in failed))
    latest = {
        _attempt(files, changes): pk
        for pk, files, changes in later.order_by("pk").values_list("pk", "files", "changes")
    }
    return {one.pk for one in failed if latest.get(_attempt(one.files, one.changes_id), 0) > one.pk}


def _attempt(files: Sequence[Mapping[str, str]], changes: int | None) -> tuple[tuple[str, ...], int | None]:
    """Return what attempts to import the same files, or to change the same mapping, have in common."""
    return tuple(file["sha256"] for file in files), changes


@project_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Upload files to check or import. A script uploads them beforehand; without scripts the form sends them."""
    given: dict[str, Any] = {
        "format": request.POST.get("instead") or request.POST.get("format", ""),
        "caption_rule": request.POST.get("caption_rule", AS_IS),
        "images_later": "images_later" in request.POST,
    }
    problems: tuple[str, ...] = ()
    likely, upload = "", None
    if request.method == "POST":
        try:
            upload = _upload_of(request, project)
            left = [] if rows_of(upload) else extract_tables(upload)
            convert_arrow_files(upload)
            rows = rows_of(upload)
            if not rows:
                raise StudyError(KEPT_IMAGES if received_bytes(upload, IMAGES) else NO_ROWS)
            if left:
                messages.info(request, _say_left(rows, left))
            with open_file(rows[0]) as stream:
                likely = likely_format(stream)
                given["format"] = given["format"] or likely
                if likely == TABLE and sample_of_upload(upload).problem:
                    likely = ""
                _refuse_other_format(stream, rows[0].name, likely, given["format"], tried=request.POST.get("tried", ""))
            _refuse_mixed_formats(rows, given["format"])
            if given["format"] == TABLE:
                if problem := sample_of_upload(upload).problem:
                    raise StudyError(problem)
                # What was left as it was is for the mapping page to fill in.
                kept = {name: value for name, value in given.items() if value and value not in {TABLE, AS_IS}}
                return redirect(reverse("upload_mapping", args=[upload.pk], query=kept))
            return start_import(request, upload, **given)
        except StudyError as error:
            problems = error.problems
        except ImportRefused as error:
            problems = (error.problems[0].reason,)
    if upload is not None and not any(received_bytes(upload, part) for part in PARTS):
        upload = None
    likely = likely if likely != given["format"] else ""
    shown = {"given": given, "problems": problems, "likely": likely, "upload": upload}
    return new_import_page(request, project, **shown, status=409 if problems else 200)


def new_import_page(request: HttpRequest, project: Project, *, status: int = 200, **shown: Any) -> HttpResponse:
    """Return the page with all ways to import. shown: what was given before, and problems with it."""
    upload = shown.get("upload")
    context = {
        "project": project,
        "formats": {name: describe_format(name) for name in IMPORTERS},
        "given": {"caption_rule": AS_IS},
        "caption_rules": RULE_TITLES,
        "received": [list(received_bytes(upload, part)) for part in PARTS] if upload else [],
        "waiting": waiting_images(project),
        "most_bytes": settings.UPLOAD_MAX_BYTES,
        "hub_name": hub_name(),
        **shown,
    }
    return render(request, "workspace/imports/new.html", context, status=status)


def hub_name() -> str:
    """Return the host of the Hub."""
    return urlsplit(settings.HUB_URL).netloc


def _upload_of(request: HttpRequest, project: Project) -> Upload:
    """Return the upload that the form names, or a new one of the files that came with it."""
    if named := request.POST.get("upload", ""):
        try:
            upload = own_upload(request, UUID(named))
        except ValueError as error:
            raise Http404 from error
        if upload.project_id != project.pk:
            raise Http404
    else:
        upload = begin_upload(project, signed_in_user(request), timezone.now())
    _receive(request, upload, PARTS)
    return upload


def _say_left(rows: Sequence[Path], left: Sequence[str]) -> str:
    """Say which tables of an archive are not imported."""
    more = f" and {len(left) - MOST_LEFT_NAMED:,} more" if len(left) > MOST_LEFT_NAMED else ""
    names = ", ".join(file.name for file in rows[:MOST_LEFT_NAMED])
    return (
        f"The zip has several tables. The rows are read from {names}. "
        f"Not read: {', '.join(left[:MOST_LEFT_NAMED])}{more}. To import one of these, choose it as a data file."
    )


def _refuse_other_format(stream: BinaryIO, file: str, likely: str, format: str, *, tried: str) -> None:
    """Raise StudyError if a file has not one good row in a format, unless somebody chose it twice."""
    if format in {likely, tried, TABLE} or format not in IMPORTERS:
        return
    problem = problem_with_format(format, stream)
    if problem is not None:
        raise StudyError(f"{file} does not look like {format}. {problem}")


def _refuse_mixed_formats(files: Sequence[Path], format: str) -> None:
    """Raise StudyError if a file after the first one has not one good row in its format. A table has any columns."""
    for file in files[1:] if format in IMPORTERS and format != TABLE else ():
        with open_file(file) as stream:
            if (problem := problem_with_format(format, stream)) is not None:
                raise StudyError(
                    f"{file.name} does not look like {format}, the format of {files[0].name}. {problem} "
                    "Import files of different formats one after the other."
                )


def start_import(request: HttpRequest, upload: Upload, **wanted: Any) -> HttpResponse:
    """Queue the import of an upload, and lead to where its progress is shown. Raises StudyError, ImportRefused."""
    images = folder_of(upload, IMAGES)
    asked = request_import(
        project=upload.project,
        files=rows_of(upload),
        by=signed_in_user(request),
        now=timezone.now(),
        images_dir=images if images.is_dir() else None,
        upload=upload,
        dry_run="at_once" not in request.POST,
        **wanted,
    )
    if asked.job is not None:
        send(asked.job)
    return redirect("project_imports", upload.project.slug)


def import_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Import], Response]], Guarded]:
    """Pass the import that an address names to the view, if the person may do `verb` in its project."""

    def guard(view: Callable[[HttpRequest, Import], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_import(request: HttpRequest, pk: int) -> Response:
            found = Import.objects.select_related("project", "job")
            one = get_object_or_404(found, project__in=visible_projects(request), pk=pk)
            return refusal(request, one.project, verb) or view(request, one)

        return with_import

    return guard


@import_view(Verb.VIEW)
@require_safe
def status(request: HttpRequest, one: Import) -> HttpResponse:
    """Import progress fragment, polls until done, then its row of the list."""
    context = {"import": one, "may": may_do(request, one.project)}
    if one.is_unfinished:
        return render(request, "workspace/imports/_import.html#progress", context)
    whole = render(request, "workspace/imports/_import.html", context)
    return reswap(retarget(whole, f"#import-{one.pk}"), "outerHTML")


@import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, one: Import) -> HttpResponse:
    """Cancel an import. A GET (for example after signing in again) redirects to the list."""
    if request.method == "POST":
        try:
            cancel_import(wanted=one, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            messages.error(request, str(error))
    return redirect("project_imports", one.project.slug)


@import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def repeat(request: HttpRequest, one: Import) -> HttpResponse:
    """Repeat a failed import, also without its images (`images_later`). A GET redirects to the list."""
    if request.method == "POST":
        try:
            _repeat(request, one)
        except StudyError as error:
            messages.error(request, str(error))
    return redirect("project_imports", one.project.slug)


def _repeat(request: HttpRequest, one: Import) -> None:
    """Queue an import again with what its upload has now. Raises StudyError."""
    later = True if "images_later" in request.POST else None
    asked = request_again(wanted=one, by=signed_in_user(request), now=timezone.now(), images_later=later)
    if asked.job is not None:
        send(asked.job)


@import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def add_images(request: HttpRequest, one: Import) -> HttpResponse:
    """Add images to the files of an import that failed without them, and repeat it. Only for who sent the files."""
    if one.upload_id is None or not one.lacks_images:
        messages.info(request, "This import does not lack images.")
        return redirect("project_imports", one.project.slug)
    upload = own_upload(request, one.upload_id)
    problem = ""
    if request.method == "POST":
        try:
            added = request.POST.get("upload") or _receive(request, upload, (IMAGES,))
            if added or "images_later" in request.POST:
                _repeat(request, one)
                return redirect("project_imports", one.project.slug)
            problem = f"You chose no images. Choose a zip or image files, {OR_LATER}"
        except StudyError as error:
            problem = str(error)
    reasons = [reason for *_, reason in _problem_rows(one)] if _has_problems_file(one) else []
    missing = list(filter(None, dict.fromkeys(map(absent_file, reasons))))
    context = {
        "project": one.project,
        "import": one,
        "upload": upload,
        "problem": problem,
        "missing": len(missing),
        "missing_names": name_some(missing),
    }
    return render(request, "workspace/imports/images.html", context, status=409 if problem else 200)


def _receive(request: HttpRequest, upload: Upload, parts: Sequence[str]) -> int:
    """Add the files of these parts that came with a form to an upload; return how many. Raises StudyError."""
    files = [(part, file) for part in parts for file in request.FILES.getlist(part)]
    for part, file in files:
        try:
            receive(upload, part, file.name or "", file, offset=0, most=file.size or 0)
        except MisplacedPiece as error:
            raise StudyError(f"You sent a file called {file.name} before. Rename it, or leave it out.") from error
    return len(files)


@import_view(Verb.VIEW)
@require_safe
def problems(request: HttpRequest, one: Import) -> Response:
    """Download every problem of an import as CSV."""
    if not _has_problems_file(one):
        raise Http404
    return StreamingHttpResponse(
        csv_lines(PROBLEM_COLUMNS, _problem_rows(one)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{one.project.slug}-import-{one.pk}-problems.csv"'},
    )


def _has_problems_file(one: Import) -> bool:
    return bool(one.problems_file) and default_storage.exists(one.problems_file)


def _problem_rows(one: Import) -> Iterator[list[Any]]:
    with default_storage.open(one.problems_file) as lines:
        for line in lines:
            problem = json.loads(line)
            yield [problem[name] for name in PROBLEM_COLUMNS]
