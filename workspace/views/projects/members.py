"""Members of a project: invite, change roles, remove."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.views.guards import may_do, project_view, refusal, signed_in_user
from studies.actions.projects import membership as actions
from studies.actions.projects.members import owners_of
from studies.errors import StudyError
from studies.models import Invitation, Membership, Project
from studies.permissions import ALLOWED, WORDS, Role, Verb, find_role, with_article
from workspace.mail import can_send, invitation_link, send_invitation
from workspace.sent_forms import may_show, new_key, secret_of

ROLES = [role.value for role in Role]
DAYS = 7


def _members(project: Project) -> QuerySet[Membership]:
    return project.memberships.select_related("user").order_by("user__username")


def _page(request: HttpRequest, project: Project, *, status: int = 200, **more: Any) -> HttpResponse:
    members = list(_members(project))
    for member in members:
        # The row may hold a former name of the role.
        member.role = find_role(member.role) or member.role
    context = {
        "project": project,
        "may": may_do(request, project),
        "members": members,
        "invitations": Invitation.objects.open(timezone.now()).filter(project=project).select_related("made_by"),
        "roles": [(role.value, [WORDS[verb] for verb in Verb if verb in ALLOWED[role]]) for role in Role],
        "days": actions.DAYS,
        "given": {"role": Role.EDITOR.value, "days": DAYS, "whom": "", "mail": ""},
        "can_send": can_send(),
        "form_key": new_key(),
    }
    return render(request, "workspace/members/list.html", context | more, status=status)


@project_view(Verb.VIEW)
@require_safe
def members(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


@project_view(Verb.MANAGE_MEMBERS)
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, project: Project) -> HttpResponse:
    """Create an invitation and show its link once. A GET redirects to the list of members."""
    if request.method != "POST":
        return redirect("project_members", project.slug)
    given = {name: request.POST.get(name, "").strip() for name in ("role", "days", "whom", "mail")}
    days = int(given["days"]) if given["days"].isdecimal() and len(given["days"]) < 4 else 0
    by, now = signed_in_user(request), timezone.now()
    whom = given["whom"] or given["mail"]
    try:
        if given["mail"]:
            _check_address(given["mail"])
        told: dict[str, Any] = {"role": given["role"], "days": days, "whom": whom, "secret": secret_of(request)}
        invitation, secret = actions.invite(project=project, **told, by=by, now=now)
    except StudyError as error:
        return _page(request, project, status=409, problems=error.problems, given=given)
    is_over = invitation.used_at or invitation.cancelled_at
    if is_over or not may_show(made_at=invitation.made_at, now=now):
        messages.info(request, "You already sent this form. It created an invitation, whose link was shown only then.")
        return _page(request, project)
    made = {
        "invitation": invitation,
        "role": with_article(Role(invitation.role)),
        "link": invitation_link(secret),
        "mail": given["mail"],
        "is_repeat": invitation.made_at != now,
    }
    if not made["is_repeat"]:
        made["is_sent"] = send_invitation(invitation, secret, to=given["mail"])
    return _page(request, project, made=made)


def _check_address(mail: str) -> None:
    """Raise StudyError for an address that cannot receive mail, before a link is created that nobody would see."""
    try:
        validate_email(mail)
    except ValidationError as error:
        sentence = (
            f"{mail[:100]!r} is not an e-mail address. Correct it, or leave it out and pass on the link yourself."
        )
        raise StudyError(sentence) from error


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def cancel_invitation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation, project=project, pk=pk)
    try:
        actions.cancel_invitation(invitation=invitation, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The invitation was cancelled. Its link no longer works.")
    return redirect("project_members", project.slug)


@project_view(Verb.MANAGE_MEMBERS)
@require_POST
def change_role(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    membership = get_object_or_404(_members(project), pk=pk)
    role = request.POST.get("role", "")
    try:
        actions.change_role(membership=membership, role=role, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{membership.user.get_username()} is {with_article(Role(role))} now.")
    return redirect("project_members", project.slug)


@project_view(Verb.VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Show what removing a member means, and remove them on confirmation. Everybody may remove themselves."""
    membership = get_object_or_404(_members(project), pk=pk)
    own = membership.user == signed_in_user(request)
    if not own and (refused := refusal(request, project, Verb.MANAGE_MEMBERS)):
        return refused
    problems: tuple[str, ...] = ()
    if request.method == "POST":
        try:
            actions.remove_member(membership=membership, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            problems = error.problems
        else:
            if own:
                messages.success(request, f"You are no longer a member of {project.name}.")
                return redirect("home")
            messages.success(request, f"{membership.user.get_username()} is no longer a member.")
            return redirect("project_members", project.slug)
    others = [owner for owner in owners_of(project) if owner != membership.user]
    context = {"project": project, "membership": membership, "own": own, "owners": others, "problems": problems}
    return render(request, "workspace/members/remove.html", context, status=409 if problems else 200)
