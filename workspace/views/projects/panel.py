"""The panel of a project: list, add and remove people."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.recruiting import link_requests
from annotation.actions.recruiting.panel import add_to_panel, address_of, remove_from_panel
from annotation.models import PanelMember
from annotation.recruitment.people_lists import parse_addresses
from results.views.guards import project_view, signed_in_user
from studies.errors import StudyError
from studies.models import Project
from studies.permissions import Verb
from workspace.mail import can_send
from workspace.tasks import mail_panel_links


@sensitive_post_parameters("addresses")
@project_view(Verb.IDENTIFY_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def project_panel(request: HttpRequest, project: Project) -> HttpResponse:
    """List the panel, and add people: each gets a mail with a link to sign in."""
    if request.method != "POST":
        return _page(request, project)
    typed = request.POST.get("addresses", "")
    try:
        addresses = parse_addresses(typed)
        if not addresses:
            raise StudyError("Enter at least one email address.")
    except StudyError as error:
        return _page(request, project, status=409, problems=error.problems, addresses=typed)
    added = add_to_panel(project=project, addresses=addresses, by=signed_in_user(request), now=timezone.now())
    if can_send() and added:
        language = link_requests.language_of(project)
        for member in added:
            link_requests.request_link(address=address_of(member), language=language, now=timezone.now())
        mail_panel_links.delay_on_commit()
    known = len(addresses) - len(added)
    already = f" {known:,} {'was' if known == 1 else 'were'} already in it." if known else ""
    messages.success(request, f"Added to the panel: {len(added):,} of {len(addresses):,}.{already}")
    return redirect("project_panel", project.slug)


@project_view(Verb.IDENTIFY_PEOPLE)
@require_POST
def remove(request: HttpRequest, project: Project, member: int) -> HttpResponse:
    found = get_object_or_404(PanelMember.objects.select_related("project"), project=project, pk=member)
    remove_from_panel(member=found, by=signed_in_user(request), now=timezone.now())
    messages.success(request, "The person is no longer in the panel. Answers and pay stay.")
    return redirect("project_panel", project.slug)


def _page(request: HttpRequest, project: Project, *, status: int = 200, **more: Any) -> HttpResponse:
    members = [(member, address_of(member)) for member in project.panel.all()]
    context = {"project": project, "members": members, "can_send": can_send()}
    context |= {"is_delayed": link_requests.are_delayed(now=timezone.now()), **more}
    return render(request, "workspace/project_panel.html", context, status=status)
