"""Import a dataset by its name on the Hugging Face Hub: request, progress, and on to the mapping page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from background.tasks import send
from results.views.guards import project_view, signed_in_user, visible_projects
from studies.models import Project
from studies.permissions import Verb
from workspace.actions.hub_datasets import DownloadRefused, cancel_download, request_download
from workspace.models import HubDownload
from workspace.views.projects.imports import hub_name, new_import_page

FIELDS = ("repository", "revision", "folder")


@sensitive_post_parameters("token")
@sensitive_variables("token")
@project_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Request a download. A GET (for example after signing in again) leads to the form."""
    if request.method != "POST":
        return redirect("new_import", project.slug)
    given = {name: request.POST.get(name, "").replace("\0", "").strip() for name in FIELDS}
    token = request.POST.get("token", "").strip()
    try:
        by, now = signed_in_user(request), timezone.now()
        download = request_download(project=project, **given, token=token, by=by, now=now)
    except DownloadRefused as error:
        return new_import_page(request, project, hub={**given, "problem": str(error)}, status=409)
    if download.job is not None:
        send(download.job)
    return redirect("hub_download", download.pk)


@never_cache
@login_required
@require_safe
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """Progress fragment of the user's download, polls; at the end it links to the mapping of its tables."""
    found = _own_download(request, pk)
    if found.finished_at is None and request.headers.get("HX-Request"):
        return render(request, "workspace/imports/hub_download.html#progress", {"download": found})
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    if found.finished_at is not None and not found.error:
        return redirect("upload_mapping", found.upload_id)
    context = {"download": found, "project": found.upload.project, "hub_name": hub_name()}
    return render(request, "workspace/imports/hub_download.html", context)


@never_cache
@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = _own_download(request, pk)
    cancel_download(found, now=timezone.now())
    return redirect("hub_download", found.pk)


def _own_download(request: HttpRequest, pk: int) -> HubDownload:
    own = HubDownload.objects.select_related("upload__project", "job").filter(requested_by=signed_in_user(request))
    return get_object_or_404(own, upload__project__in=visible_projects(request), pk=pk)
