"""Imports done in the background: what becomes of them, every row that cannot be imported, cancel, try again.

They are asked for on the command line, as their files lie on the server.
"""

import csv
import json
from collections.abc import Callable, Iterator
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget

from background.tasks import send
from predictions.queries.duplicates import near_duplicates_of
from results.exporting.spreadsheets import cell
from results.views.guards import Guarded, Response, may_do, project_view, refusal, signed_in, visible_projects
from studies.actions.imports import cancel_import, request_again
from studies.errors import StudyError
from studies.models import Import, Project
from studies.permissions import Verb

IMPORTS_PER_PAGE = 20
PROBLEM_COLUMNS = ("file", "record", "field", "reason")


@project_view(Verb.VIEW)
@require_safe
def imports(request: HttpRequest, project: Project) -> HttpResponse:
    found = Import.objects.filter(project=project).select_related("job")
    page = Paginator(found, IMPORTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "imports": page,
        "near_duplicates": near_duplicates_of(project).count(),
        "may": may_do(request, project),
    }
    return render(request, "workspace/imports/list.html", context)


def _import_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Import], Response]], Guarded]:
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


@_import_view(Verb.VIEW)
@require_safe
def status(request: HttpRequest, one: Import) -> HttpResponse:
    """How far an import is, which asks for itself again; once it is over, its line in the list of imports."""
    context = {"import": one, "may": may_do(request, one.project)}
    if one.is_unfinished:
        return render(request, "workspace/imports/_import.html#progress", context)
    whole = render(request, "workspace/imports/_import.html", context)
    return reswap(retarget(whole, f"#import-{one.pk}"), "outerHTML")


@_import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, one: Import) -> HttpResponse:
    """Give an import up. Reached by GET (after signing in again, say) it only leads to the list of imports."""
    if request.method == "POST":
        try:
            cancel_import(wanted=one, by=signed_in(request), now=timezone.now())
        except StudyError as error:
            messages.error(request, str(error))
    return redirect("project_imports", one.project.slug)


@_import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def again(request: HttpRequest, one: Import) -> HttpResponse:
    """Try one again that came to nothing. Reached by GET it only leads to the list of imports."""
    if request.method == "POST":
        try:
            asked = request_again(wanted=one, by=signed_in(request), now=timezone.now())
        except StudyError as error:
            messages.error(request, str(error))
        else:
            if asked.job is not None:
                send(asked.job)
    return redirect("project_imports", one.project.slug)


@_import_view(Verb.VIEW)
@require_safe
def problems(request: HttpRequest, one: Import) -> Response:
    """Every reason why nothing was imported, as a table for a spreadsheet."""
    if not one.problems_file or not default_storage.exists(one.problems_file):
        raise Http404
    return StreamingHttpResponse(
        _problem_lines(one),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{one.project.slug}-import-{one.pk}-problems.csv"'},
    )


class _Line:
    """What csv writes into: it hands the line back."""

    def write(self, line: str) -> str:
        return line


def _problem_lines(one: Import) -> Iterator[str]:
    table = csv.writer(_Line())
    yield table.writerow(PROBLEM_COLUMNS)
    with default_storage.open(one.problems_file) as lines:
        for line in lines:
            problem = json.loads(line)
            yield table.writerow([cell(problem[name]) for name in PROBLEM_COLUMNS])
