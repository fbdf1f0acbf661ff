"""Who may see what: members of a project see all of it, superusers everything, others do not learn that it exists."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import resolve, reverse
from django.utils.encoding import iri_to_uri
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
    """Give the view the study that the address names, `project` and `slug`, if the person may see it.

    Otherwise the address may be an old one, without the project, which leads on; if it is not, 404.
    """

    @never_cache
    @login_required
    @wraps(view)
    def with_study(request: HttpRequest, project: str, slug: str, *args: P.args, **kwargs: P.kwargs) -> Response:
        studies = with_answers_sent(visible_studies(request), study="study")
        study = studies.filter(project__slug=project, slug=slug).first()
        if study is None:
            return lead_on(request)
        return view(request, study, *args, **kwargs)

    return with_study


def signed_in(request: HttpRequest) -> User:
    """Return who asks; nobody who has not signed in gets past these guards."""
    return cast(User, request.user)


def visible_studies(request: HttpRequest) -> QuerySet[Study]:
    return Study.objects.select_related("project").filter(project__in=visible_projects(request.user))


def lead_on(request: HttpRequest) -> HttpResponse:
    """Lead from an address without a project, `/studies/<slug>/...`, to the page that is meant.

    Only where the person may see exactly one study of that name, and the rest of the address is one of its pages;
    otherwise 404, which does not tell whether the study exists.
    """
    _, _, slug, tail = request.path_info.split("/", 3)
    found = list(visible_studies(request).filter(slug=slug)[:2])
    if len(found) != 1:
        raise Http404
    names = {"project": found[0].project.slug, "slug": slug}
    address = f"{reverse('study', kwargs=names)}{tail}"
    if not names.items() <= resolve(address).kwargs.items():
        raise Http404
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(
        iri_to_uri(f"{address}?{query}" if query else address), preserve_request=request.method == "POST"
    )
