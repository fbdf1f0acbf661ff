"""Exports asked for on a page: made in the background, watched, downloaded. Only who may export gets them."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from results import tasks
from results.actions.exports import download_name, request_export
from results.errors import CannotExport
from results.exporting import get_writer
from results.models import Export
from results.tables.offered import offered_exports
from results.views.guards import Guarded, Response, may_do, refusal, signed_in, study_view, visible_projects
from studies.models import Study
from studies.permissions import Verb


@study_view(Verb.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def request_one(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for an export. Reached by GET (after signing in again, say) it only leads to the place to ask."""
    if request.method == "POST":
        try:
            format = request.POST.get("format", "")
            export = request_export(study=study, format=format, by=signed_in(request), now=timezone.now())
        except CannotExport as error:
            messages.error(request, str(error))
        else:
            tasks.make_export.delay_on_commit(export.pk)
    return redirect(f"{reverse('study', args=[study.project.slug, study.slug])}#exports")


def _export_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Export], Response]], Guarded]:
    def guard(view: Callable[[HttpRequest, Export], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_export(request: HttpRequest, pk: int) -> Response:
            exports = Export.objects.select_related("study", "project", "requested_by", "release")
            export = get_object_or_404(exports, project__in=visible_projects(request), pk=pk)
            return refusal(request, export.project, verb) or view(request, export)

        return with_export

    return guard


@_export_view(Verb.VIEW)
@require_safe
def status(request: HttpRequest, export: Export) -> HttpResponse:
    """One line of the list of exports; while the export is being made it asks for itself again."""
    (line,) = offered_exports([export])
    context = {"export": export, "since": line.since, "may": may_do(request, export.project)}
    return render(request, "results/_export.html", context)


@_export_view(Verb.EXPORT)
@require_safe
def download(request: HttpRequest, export: Export) -> Response:
    if export.state != Export.State.READY:
        raise Http404
    (line,) = offered_exports([export])
    if line.since.withdrawn_at is not None:
        return render(request, "results/no_longer_offered.html", {"export": export, "since": line.since}, status=410)
    if not default_storage.exists(export.file):
        raise Http404
    writer = get_writer(export.format)
    return FileResponse(
        default_storage.open(export.file),
        as_attachment=True,
        filename=download_name(export),
        content_type="application/zip" if export.release or writer.is_folder else writer.content_type,
    )
