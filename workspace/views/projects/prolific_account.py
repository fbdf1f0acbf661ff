"""The account at Prolific that a project recruits with."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.recruiting.prolific_account import (
    Owner,
    choose_workspace,
    clock_difference,
    connect,
    find_owner,
    left_behind,
    note_clock,
    remove_account,
    save_account,
    try_token,
)
from annotation.models import ProlificAccount
from annotation.recruitment.prolific.connection import ProlificError
from annotation.tasks import connect_webhooks
from results.views.guards import project_view, signed_in_user
from studies.models import Project
from studies.permissions import Verb
from workspace.views.projects.prolific_webhooks import webhooks_section


@sensitive_post_parameters("token")
@project_view(Verb.MANAGE_PROLIFIC)
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def prolific_account(request: HttpRequest, project: Project) -> HttpResponse:
    """Show whose account it is, and save a token that works. It is never shown."""
    if request.method != "POST":
        return _page(request, project)
    token = request.POST.get("token", "").strip()
    try:
        owner = try_token(token)
    except ProlificError as error:
        return _page(request, project, status=409, problem=error.sentence)
    before = _payer(project)
    account = save_account(project=project, token=token, owner=owner, by=signed_in_user(request), now=timezone.now())
    connect_webhooks.delay_on_commit(account.pk)
    messages.success(request, f"The token works and is saved. {_describe(owner)}")
    _warn(request, project, before)
    is_chosen = account.workspace_id or not owner.wallets
    return redirect("prolific_account" if is_chosen else "prolific_workspace", project.slug)


@project_view(Verb.MANAGE_PROLIFIC)
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def workspace(request: HttpRequest, project: Project) -> HttpResponse:
    """Choose which of the account's workspaces pays."""
    account = get_object_or_404(ProlificAccount.objects.select_related("project"), project=project)
    try:
        wallets = find_owner(connect(account)).wallets
    except ProlificError as error:
        messages.error(request, error.sentence)
        return redirect("prolific_account", project.slug)
    if request.method == "POST":
        chosen = next((wallet for wallet in wallets if wallet.id == request.POST.get("workspace")), None)
        if chosen is None:
            return _page(request, project, status=409, wallets=wallets, unchosen="Choose one of the workspaces.")
        before = _payer(project)
        choose_workspace(
            account=account, workspace=chosen.id, title=chosen.title, by=signed_in_user(request), now=timezone.now()
        )
        connect_webhooks.delay_on_commit(account.pk)
        messages.success(request, f"{chosen.title} pays from now on.")
        _warn(request, project, before)
        return redirect("prolific_account", project.slug)
    return _page(request, project, wallets=wallets)


@project_view(Verb.MANAGE_PROLIFIC)
@require_POST
@sensitive_variables()
def try_out(request: HttpRequest, project: Project) -> HttpResponse:
    """Ask Prolific whether the saved token still works."""
    account = get_object_or_404(ProlificAccount, project=project)
    try:
        client = connect(account)
        owner = find_owner(client)
    except ProlificError as error:
        messages.error(request, error.sentence)
    else:
        note_clock(project=project, client=client)
        messages.success(request, f"The token works. {_describe(owner)}")
    return redirect("prolific_account", project.slug)


@project_view(Verb.MANAGE_PROLIFIC)
@require_POST
def remove(request: HttpRequest, project: Project) -> HttpResponse:
    account = get_object_or_404(ProlificAccount.objects.select_related("project"), project=project)
    remove_account(account=account, by=signed_in_user(request), now=timezone.now())
    messages.success(request, "The token is deleted here. Delete it on Prolific too if nothing else uses it.")
    return redirect("prolific_account", project.slug)


def _payer(project: Project) -> str:
    """Return the workspace that pays, "" if there is none."""
    found = ProlificAccount.objects.filter(project=project)
    return found.values_list("workspace_id", flat=True).first() or ""


def _warn(request: HttpRequest, project: Project, before: str) -> None:
    """Tell what stays with the workspace that paid `before`, if it is another one now."""
    if before != _payer(project) and (sentence := left_behind(project)):
        messages.warning(request, sentence)


def _page(request: HttpRequest, project: Project, *, status: int = 200, **more: Any) -> HttpResponse:
    account = ProlificAccount.objects.filter(project=project).select_related("saved_by").first()
    clock = clock_difference(account) if account else ""
    context = {"project": project, "account": account, "clock": clock, **webhooks_section(account), **more}
    return render(request, "workspace/prolific_account.html", context, status=status)


def _describe(owner: Owner) -> str:
    """Return whose token it is and what they may spend, in words."""
    wallets = ", ".join(
        f"{wallet.title} with {wallet.currency} {wallet.available / 100:,.2f} available" for wallet in owner.wallets
    )
    return f"It belongs to {owner.name or owner.user_id}. Workspaces: {wallets or 'none'}."
