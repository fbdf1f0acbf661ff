"""Create, rename, archive and delete a project."""

from itertools import chain, count
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from background.tasks import send
from results.queries.studies.overview import project_counts
from results.views.form_values import read_field
from results.views.guards import may_do, project_view, signed_in_user
from simulation.actions.demo_project import request_demo
from studies.actions.projects import projects as actions
from studies.actions.projects.members import may_make_projects
from studies.errors import StudyError
from studies.models import UNDER_WAY, Project, ProjectDeletion, Study
from studies.names import LONGEST_SLUG
from studies.permissions import Role, Verb
from studies.shipped_designs import shipped_designs
from workspace.actions import project_deletion
from workspace.mail import send_deletion_cancelled, send_deletion_planned
from workspace.sent_forms import note_created, with_form_key

NOT_LATIN = (
    "URLs have Latin letters, and this name has few, so this is only a suggestion. Write a short name of your own."
)


def _page_of(pk: int) -> str:
    """Return the address of a project, "" if it was deleted."""
    slug = Project.objects.filter(pk=pk).values_list("slug", flat=True).first()
    return reverse("project", args=[slug]) if slug else ""


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@with_form_key(_page_of)
def new(request: HttpRequest) -> HttpResponse:
    """Ask for a project's name, and create it. `then`: "import" or a protocol's name, to go on with."""
    if not may_make_projects(signed_in_user(request)):
        raise PermissionDenied
    given = {name: request.POST.get(name, "").strip() for name in ("slug", "name")}
    then = request.POST.get("then", request.GET.get("then", ""))
    # A name in another script says little about the slug, which stays for good: it is shown before it is used.
    asks_slug = bool(given["name"]) and not given["slug"] and not _is_latin(given["name"])
    if given["name"]:
        given["slug"] = given["slug"] or _derived_slug(given["name"], signed_in_user(request))
    problems: tuple[str, ...] = ()
    made: Project | None = None
    if request.method == "POST" and not asks_slug:
        try:
            if not given["name"]:
                raise StudyError("Name: It is empty. Write a name, such as Birds and fish.")
            made = actions.make_project(**given, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            problems = error.problems
            # Sent twice: the second press comes before the page that the first one leads to.
            made = _find_empty_project(**given, owner=signed_in_user(request))
        if made is not None:
            note_created(request, made)
            messages.success(request, "The project was created. You are its owner.")
            return redirect(_next_page(made, then))
    context = {
        "given": given,
        "problems": problems,
        "asks_slug": asks_slug,
        "then": then,
        "protocol": shipped_designs().get(then),
    }
    return render(request, "workspace/new_project.html", context, status=409 if problems or asks_slug else 200)


@never_cache
@login_required
@require_safe
def derive_slug(request: HttpRequest) -> JsonResponse:
    """Return the slug that a new project of this name would get, and why it does not follow the name; "" for none."""
    name = read_field(request.GET, "name")
    slug = _derived_slug(name, signed_in_user(request)) if name else ""
    return JsonResponse({"slug": slug, "reason": "" if not name or _is_latin(name) else NOT_LATIN})


def _find_empty_project(*, slug: str, name: str, owner: User) -> Project | None:
    """Return the project of that slug and name if it is still as `owner` created it, without instances and studies."""
    own = Project.objects.filter(memberships__user=owner, memberships__role=Role.OWNER, archived_at=None)
    return own.filter(slug=slug, name=name, instances=None, studies=None).first()


def _derived_slug(name: str, user: User) -> str:
    """Return an unused slug for a project of `user`, "project" if most of `name` is in another script.

    One that their project of the same name has is returned too, so that a form sent twice makes no second project.
    """
    base = slugify(name)[: LONGEST_SLUG - 4].strip("-") if _is_latin(name) else "project"
    slugs = chain([base], (f"{base}-{number}" for number in count(2)))
    of_others = Project.objects.exclude(pk__in=user.projects.filter(name=name))
    return next(slug for slug in slugs if not of_others.filter(slug=slug).exists())


def _is_latin(name: str) -> bool:
    """Whether a slug can keep most letters of `name`."""
    whole = slugify(name, allow_unicode=True).replace("-", "")
    return 2 * len(slugify(name).replace("-", "")) > len(whole)


def _next_page(project: Project, then: str) -> str:
    if then in shipped_designs():
        return f"{reverse('new_study_form', args=[project.slug])}?{urlencode({'from': then})}"
    return reverse("new_import" if then == "import" else "project", args=[project.slug])


@never_cache
@login_required
@require_POST
def make_demo(request: HttpRequest) -> HttpResponse:
    """Have a demo project made for the person; asked for again, it is the same one."""
    user = signed_in_user(request)
    if not may_make_projects(user):
        raise PermissionDenied
    _, job = request_demo(by=user, now=timezone.now())
    if job is not None:
        send(job)
    return redirect("home")


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def rename(request: HttpRequest, project: Project) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    try:
        actions.rename_project(project=project, name=name, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The project was renamed to {name}.")
    return redirect("project_members", project.slug)


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def archive(request: HttpRequest, project: Project) -> HttpResponse:
    """Archive the project, or restore it with `reopen`. `delete`: the request comes from the page to delete it."""
    by, now = signed_in_user(request), timezone.now()
    try:
        if "reopen" in request.POST:
            actions.reopen_project(project=project, by=by, now=now)
            messages.success(request, "The project was restored from the archive.")
        else:
            actions.archive_project(project=project, by=by, now=now)
            messages.success(request, "The project was archived.")
    except StudyError as error:
        messages.error(request, str(error))
    return redirect("delete_project" if "delete" in request.POST else "project_members", project.slug)


@login_required
def delete(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show what is deleted with a project, and ask for it. While it is being deleted, this leads to the home page."""
    if ProjectDeletion.objects.filter(slug=slug, begun_at__isnull=False, owners=signed_in_user(request)).exists():
        return redirect("home")
    return _delete(request, slug)


@project_view(Verb.MANAGE_MEMBERS)
@require_http_methods(["GET", "HEAD", "POST"])
def _delete(request: HttpRequest, project: Project) -> HttpResponse:
    by, now = signed_in_user(request), timezone.now()
    given: dict[str, Any] = {"name": request.POST.get("name", ""), "pay_settled": "pay_settled" in request.POST}
    problems: tuple[str, ...] = ()
    if request.method == "POST":
        asked_before = ProjectDeletion.objects.filter(project=project).exists()
        try:
            deletion = project_deletion.request_deletion(project=project, **given, by=by, now=now)
        except StudyError as error:
            problems = error.problems
        else:
            return _confirm_deletion(request, deletion, is_new=not asked_before)
    at_once = project_deletion.can_delete_immediately(project)
    context = {
        "project": project,
        "may": may_do(request, project),
        "deletion": ProjectDeletion.objects.filter(project=project).first(),
        "at_once": at_once,
        "obstacles": project_deletion.obstacles(project),
        "open_studies": Study.objects.filter(project=project, state__in=UNDER_WAY).order_by("slug"),
        "owed": "" if at_once else project_deletion.list_debts(project),
        "counts": project_counts(Project.objects.filter(pk=project.pk)).get(),
        "releases": project.releases.exclude(file="").count(),
        "day": now + project_deletion.WEEK,
        "given": given,
        "problems": problems,
    }
    return render(request, "workspace/delete_project.html", context, status=409 if problems else 200)


def _confirm_deletion(request: HttpRequest, deletion: ProjectDeletion, *, is_new: bool) -> HttpResponse:
    for job in project_deletion.due_jobs(now=timezone.now()):
        send(job)
    if deletion.begun_at is not None:
        messages.success(request, f"{deletion.name} is being deleted.")
        return redirect("home")
    if is_new:
        send_deletion_planned(deletion)
    messages.success(request, f"{deletion.name} will be deleted on {deletion.due_at:%-d %B %Y}. You can cancel it.")
    return redirect("delete_project", deletion.slug)


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def cancel_deletion(request: HttpRequest, project: Project) -> HttpResponse:
    if project_deletion.cancel_deletion(project=project, by=signed_in_user(request), now=timezone.now()):
        send_deletion_cancelled(project, by=signed_in_user(request))
    messages.success(request, "The project will not be deleted. It is still archived.")
    return redirect("delete_project", project.slug)


@never_cache
@login_required
@require_safe
def deletion_record(request: HttpRequest, pk: int) -> HttpResponse:
    """Download what was deleted with a project, for those who owned it."""
    user = signed_in_user(request)
    found = ProjectDeletion.objects.filter(deleted_at__isnull=False)
    deletion = get_object_or_404(found if user.is_superuser else found.filter(owners=user), pk=pk)
    response = JsonResponse(deletion.record, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{deletion.slug}-deleted.json"'
    return response
