"""Exports: request, watch, cancel and download. Needs the permission to export."""

from django.contrib import messages
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget

from background.tasks import send
from results.actions.exports import cancel_export, download_name, job_of, request_export
from results.errors import CannotExport
from results.exporting import FORMATS, get_writer
from results.models import Export
from results.queries.exports.available_exports import offered_exports
from results.queries.exports.empty_formats import empty_formats, format_options
from results.views.guards import Response, may_do, row_view, signed_in_user, study_view
from studies.models import Study, StudyState
from studies.permissions import Verb

EXPORTS = Export.objects.select_related("study__project", "project", "requested_by", "release", "job")
EXPORTS_SHOWN = 20


@study_view(Verb.VIEW, post=Verb.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def request_one(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the exports of a study, and request one."""
    if request.method == "POST":
        try:
            format = request.POST.get("format", "")
            export = request_export(study=study, format=format, by=signed_in_user(request), now=timezone.now())
        except CannotExport as error:
            messages.error(request, str(error))
        else:
            send(job_of(export=export))
        return redirect("study_exports", study.project.slug, study.slug)
    may = may_do(request, study.project)
    empty = empty_formats([study]) if may["export"] and study.state != StudyState.DRAFT else ()
    context = {
        "study": study,
        "may": may,
        "formats": format_options(FORMATS, empty),
        "exports": offered_exports(EXPORTS.filter(study=study)[:EXPORTS_SHOWN]),
    }
    return render(request, "results/exports_of_study.html", context)


@row_view(EXPORTS, Verb.VIEW)
@require_safe
def status(request: HttpRequest, export: Export) -> HttpResponse:
    """Progress fragment of an export, which polls until done and then shows its line in the list."""
    (line,) = offered_exports([export])
    context = {"export": export, "since": line.since, "may": may_do(request, export.project)}
    if export.is_unmade and line.since.withdrawn_at is None:
        return render(request, "results/_export.html#progress", context)
    whole = render(request, "results/_export.html", context)
    if export.release:
        # The page of releases says beside the download whether the release is frozen.
        frozen = {
            "release": export.release,
            "out_of_band": True,
            "is_unmade": export.release.exports.unfinished().exists(),
        }
        whole.write(render_to_string("results/releases/_state.html", frozen))
    return reswap(retarget(whole, f"#export-{export.pk}"), "outerHTML")


@row_view(EXPORTS, Verb.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, export: Export) -> HttpResponse:
    """Cancel an export. A GET, such as after signing in again, redirects to the list of exports."""
    if request.method == "POST":
        try:
            cancel_export(export=export, by=signed_in_user(request), now=timezone.now())
        except CannotExport as error:
            messages.error(request, str(error))
    names = [export.study.project.slug, export.study.slug]
    if export.release is not None:
        return redirect(f"{reverse('study_releases', args=names)}#release-{export.release.pk}")
    return redirect("study_exports", *names)


@row_view(EXPORTS, Verb.EXPORT)
@require_safe
def download(request: HttpRequest, export: Export) -> Response:
    if not export.is_ready:
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
