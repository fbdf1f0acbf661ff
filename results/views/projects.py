from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from predictions.models import Model
from results.models import Export
from results.tables.offered import offered_exports, removed_since
from results.tables.overview import categories, project_counts, study_lines, visible_projects, waiting_images
from results.tables.pipeline import funnel, studies_in_order
from results.tables.simulated import simulated_in_project
from results.views.guards import project_view
from studies.models import Project

EXPORTS_SHOWN = 10


@never_cache
@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "results/home.html", {"projects": project_counts(visible_projects(request.user))})


@project_view
@require_safe
def project(request: HttpRequest, project: Project) -> HttpResponse:
    exports = Export.objects.filter(project=project).select_related("study__project", "requested_by", "release")
    releases = list(project.releases.select_related("study__project").exclude(file=""))
    removed = removed_since(releases=releases)
    context = {
        "project": project,
        "simulated": simulated_in_project(project),
        "studies": study_lines(project),
        "funnel": funnel(project, studies_in_order(project)),
        "categories": categories(project),
        "waiting": waiting_images(project),
        "exports": offered_exports(exports[:EXPORTS_SHOWN]),
        "releases": [(release, removed.of_release(release)) for release in releases],
        "models": Model.objects.about(project),
    }
    return render(request, "results/project.html", context)
