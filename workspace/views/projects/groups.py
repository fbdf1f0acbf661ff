"""Groups of people in a project, which studies may require."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from annotation.actions.arriving.groups import LONGEST_NAME, set_group
from annotation.recruitment import invite
from annotation.recruitment.people_lists import parse_ids
from annotation.recruitment.prolific.entry import PROVIDER as PROLIFIC
from results.queries.people.groups import group_lines, people_in_group
from results.views.form_values import read_field
from results.views.guards import project_view, signed_in_user
from studies.errors import StudyError
from studies.models import Project
from studies.permissions import Verb

WHOSE = {
    PROLIFIC: "Ids of people on Prolific",
    invite.PROVIDER: "Names of invited people",
}


@sensitive_post_parameters("people")
@project_view(Verb.IDENTIFY_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def groups(request: HttpRequest, project: Project) -> HttpResponse:
    """List the groups with their sizes, and create one. Members of an existing group are never shown."""
    if request.method != "POST":
        return _page(request, project, {"group": read_field(request.GET, "group"), "provider": PROLIFIC, "people": ""})
    group, provider = read_field(request.POST, "group"), read_field(request.POST, "provider")
    given = {"group": group, "provider": provider, "people": request.POST.get("people", "")}
    try:
        people = parse_ids(given["people"], provider=provider)
        there = people_in_group(project, group)
        # Ask again if the size changed since the confirmation: somebody else may have replaced the group.
        if there and request.POST.get("instead_of") != _replaced_group(group, there):
            foreseen = {"there": there, "listed": len(set(people)), "instead_of": _replaced_group(group, there)}
            return _page(request, project, given, status=409, foreseen=foreseen)
        by, now = signed_in_user(request), timezone.now()
        many = set_group(project=project, group=group, provider=provider, people=people, by=by, now=now)
    except StudyError as error:
        return _page(request, project, given, status=409, problems=error.problems)
    how_many = f"{many:,} {'person' if many == 1 else 'people'}" if many else "nobody"
    messages.success(request, f"The group {group} now has {how_many}.")
    return redirect("project_groups", project.slug)


def _replaced_group(group: str, there: int) -> str:
    """Return the form value that confirms the replacement of `there` people of this group."""
    return f"{there} in {group}"


def _page(
    request: HttpRequest, project: Project, given: Mapping[str, str], *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "project": project,
        "groups": group_lines(project),
        "given": given,
        "whose": WHOSE.items(),
        "longest": LONGEST_NAME,
    }
    return render(request, "workspace/groups.html", context | more, status=status)
