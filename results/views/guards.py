"""Permission checks for views: roles and verbs decide.

A member who may see a project but not do this gets 403 with the people who may; a stranger gets 404.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import resolve, reverse
from django.utils.encoding import iri_to_uri
from django.views.decorators.cache import never_cache

from results.models import Export, Release
from results.queries.studies.overview import with_answers_sent
from studies.actions.projects.members import may, owners_of, permitted_projects, rights_in, role_in
from studies.models import Project, Study
from studies.permissions import IN_ARCHIVE, WORDS, Verb, who_may, why_not_in_archive, with_article

P = ParamSpec("P")
Row = TypeVar("Row", Export, Release)
Response: TypeAlias = HttpResponse | HttpResponseBase
Guarded: TypeAlias = Callable[..., Response]


def project_view(
    verb: Verb, *, post: Verb | None = None
) -> Callable[[Callable[Concatenate[HttpRequest, Project, P], Response]], Guarded]:
    """Pass the project named in the address to the view, for people who may do `verb` in it.

    post: the verb of a POST, where it differs.
    """

    def guard(view: Callable[Concatenate[HttpRequest, Project, P], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_project(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> Response:
            projects = with_answers_sent(visible_projects(request), study="study__project")
            project = get_object_or_404(projects, slug=slug)
            asked = request_verb(request, verb, post)
            return refusal(request, project, asked) or view(request, project, *args, **kwargs)

        return with_project

    return guard


def study_view(
    verb: Verb, *, post: Verb | None = None
) -> Callable[[Callable[Concatenate[HttpRequest, Study, P], Response]], Guarded]:
    """Pass the study named in the address (`project` and `slug`) to the view, for people who may do `verb`.

    post: the verb of a POST, where it differs. An address without a visible study may be an old one without the project
    and redirects; otherwise 404.
    """

    def guard(view: Callable[Concatenate[HttpRequest, Study, P], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_study(request: HttpRequest, project: str, slug: str, *args: P.args, **kwargs: P.kwargs) -> Response:
            studies = with_answers_sent(visible_studies(request), study="study")
            study = studies.filter(project__slug=project, slug=slug).first()
            if study is None:
                return redirect_old_address(request)
            asked = request_verb(request, verb, post)
            return refusal(request, study.project, asked) or view(request, study, *args, **kwargs)

        return with_study

    return guard


def row_view(rows: QuerySet[Row], verb: Verb) -> Callable[[Callable[[HttpRequest, Row], Response]], Guarded]:
    """Pass the one of `rows` with the id in the address to the view, for people who may do `verb` in its project."""

    def guard(view: Callable[[HttpRequest, Row], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_row(request: HttpRequest, pk: int) -> Response:
            row = get_object_or_404(rows.filter(project__in=visible_projects(request)), pk=pk)
            return refusal(request, row.project, verb) or view(request, row)

        return with_row

    return guard


def request_verb(request: HttpRequest, verb: Verb, post: Verb | None) -> Verb:
    """Return the verb of the request: `post` if given and the request is not a read."""
    return verb if post is None or request.method in {"GET", "HEAD", "OPTIONS"} else post


def refusal(request: HttpRequest, project: Project, verb: Verb) -> HttpResponse | None:
    """Return the 403 page that names who may do this; None if the person may.

    Seeing needs no second check: the project was found among the visible ones.
    """
    user = signed_in_user(request)
    if verb is Verb.VIEW or may(user, verb, project):
        return None
    role = role_in(user, project)
    context = {
        "project": project,
        "who_may": who_may(verb),
        "words": WORDS[verb],
        "role": with_article(role) if role else "",
        "owners": owners_of(project),
        "archived": why_not_in_archive(project.name, verb) if project.archived_at and verb not in IN_ARCHIVE else "",
    }
    return render(request, "results/not_allowed.html", context, status=403)


def may_do(request: HttpRequest, project: Project) -> dict[str, bool]:
    """Return what the person may do, by verb: templates show only buttons that work."""
    rights = rights_in(signed_in_user(request), project)
    return {verb.value: verb in rights for verb in Verb}


def signed_in_user(request: HttpRequest) -> User:
    """Return the signed-in user; the guards let nobody else pass."""
    return cast(User, request.user)


def visible_projects(request: HttpRequest) -> QuerySet[Project]:
    return permitted_projects(signed_in_user(request), Verb.VIEW)


def visible_studies(request: HttpRequest) -> QuerySet[Study]:
    return Study.objects.select_related("project").filter(project__in=visible_projects(request))


def redirect_old_address(request: HttpRequest) -> HttpResponse:
    """Redirect an address without a project, `/studies/<slug>/...`, to the page with one.

    Only if the person may see exactly one study of that name and the rest of the address is one of its pages; otherwise
    404, which does not reveal whether the study exists.
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
