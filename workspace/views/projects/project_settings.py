"""Create, rename and archive a project."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from results.views.guards import project_view, signed_in
from studies.actions.projects import projects as actions
from studies.actions.projects.members import may_make_projects
from studies.errors import StudyError
from studies.models import Project
from studies.names import LONGEST_SLUG
from studies.permissions import Verb


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask for a project's name, and create it."""
    if not may_make_projects(signed_in(request)):
        raise PermissionDenied
    given = {name: request.POST.get(name, "").strip() for name in ("slug", "name")}
    # A name without Latin letters gives an empty slug: then the form asks for one.
    given["slug"] = given["slug"] or slugify(given["name"])[:LONGEST_SLUG].strip("-")
    problems: tuple[str, ...] = ()
    if request.method == "POST":
        try:
            project = actions.make_project(**given, by=signed_in(request), now=timezone.now())
        except StudyError as error:
            problems = error.problems
        else:
            messages.success(request, "The project is there, and you are its owner.")
            return redirect("project", project.slug)
    context = {"given": given, "problems": problems}
    return render(request, "workspace/new_project.html", context, status=409 if problems else 200)


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def rename(request: HttpRequest, project: Project) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    try:
        actions.rename_project(project=project, name=name, by=signed_in(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The project is called {name}.")
    return redirect("project_members", project.slug)


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def archive(request: HttpRequest, project: Project) -> HttpResponse:
    """Archive the project, or with `reopen` restore it."""
    by, now = signed_in(request), timezone.now()
    try:
        if "reopen" in request.POST:
            actions.reopen_project(project=project, by=by, now=now)
            messages.success(request, "The project is out of the archive.")
        else:
            actions.archive_project(project=project, by=by, now=now)
            messages.success(request, "The project is archived.")
    except StudyError as error:
        messages.error(request, str(error))
    return redirect("project_members", project.slug)
