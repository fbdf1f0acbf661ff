"""Who may see what: members of a project see all of it, superusers everything, others do not learn that it exists."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from results.tables.overview import visible_projects, with_answers_sent
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
        projects = with_answers_sent(visible_projects(request.user), study="study__project")
        project = get_object_or_404(projects, slug=slug)
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
        study = get_object_or_404(with_answers_sent(studies, study="study"), slug=slug)
        return view(request, study, *args, **kwargs)

    return with_study
