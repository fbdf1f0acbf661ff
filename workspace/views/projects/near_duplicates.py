"""Near-duplicate images, side by side."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from predictions.actions.duplicates import below
from predictions.queries.duplicates import near_duplicates_of, pairs_of, search_job
from results.views.guards import project_view, visible_projects
from studies.models import Project
from studies.permissions import Verb

PAIRS_PER_PAGE = 20


@project_view(Verb.VIEW)
@require_safe
def near_duplicates(request: HttpRequest, project: Project) -> HttpResponse:
    """List near duplicates. For projects that the user may not see, only that there is one."""
    page = Paginator(near_duplicates_of(project), PAIRS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "page": page,
        "pairs": pairs_of(page.object_list, project, visible_projects(request)),
        "below": below(),
        "looking": search_job(project),
    }
    return render(request, "workspace/near_duplicates.html", context)
