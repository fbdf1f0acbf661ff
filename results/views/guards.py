"""Who may see what: members of a project see all of it, superusers everything, others do not learn that it exists."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from results.tables.overview import visible_projects
from studies.models import Project, Study

P = ParamSpec("P")
Response = HttpResponse | HttpResponseBase


def project_view(
    view: Callable[Concatenate[HttpRequest, Project, P], Response],
) -> Callable[..., Response]:
    """Give the view the project whose slug stands in the address, if the person may see it; otherwise 404."""

    @never_cache
    @login_required
    @wraps(view)
    def with_project(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> Response:
        project = get_object_or_404(visible_projects(request.user), slug=slug)
        return view(request, project, *args, **kwargs)

    return with_project


def study_view(
    view: Callable[Concatenate[HttpRequest, Study, P], Response],
) -> Callable[..., Response]:
    """Give the view the study whose slug stands in the address, if the person may see its project; otherwise 404."""

    @never_cache
    @login_required
    @wraps(view)
    def with_study(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> Response:
        studies = Study.objects.select_related("project").filter(project__in=visible_projects(request.user))
        return view(request, get_object_or_404(studies, slug=slug), *args, **kwargs)

    return with_study
