"""The user's own API tokens: create, show once, revoke."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from results.views.form_values import read_field
from results.views.guards import signed_in_user, visible_projects
from studies.models import Project
from workspace.actions.tokens import DAYS, NewToken, TokenRefused, make_token, revoke_token
from workspace.models import Scope, Token
from workspace.sent_forms import may_show, new_key, secret_of

USUAL_DAYS = 90


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List the user's tokens and create more. The text of a token is shown only in the response that creates it."""
    if request.method != "POST":
        return _page(request, {"scope": Scope.READ, "days": str(USUAL_DAYS)})
    given = {name: read_field(request.POST, name) for name in ("name", "scope", "days", "project")}
    empty = {"scope": Scope.READ, "days": str(USUAL_DAYS)}
    try:
        made = _make(request, given)
    except TokenRefused as error:
        return _page(request, given, problem=str(error))
    if made.token.revoked_at is None and may_show(made_at=made.token.made_at, now=timezone.now()):
        return _page(request, empty, made=made)
    messages.info(
        request, f"You already sent this form. It created the token “{made.token.name}”, which was shown only then."
    )
    return _page(request, empty)


@sensitive_variables()
def _make(request: HttpRequest, given: Mapping[str, str]) -> NewToken:
    project: Project | None = None
    if given["project"]:
        project = visible_projects(request).filter(slug=given["project"]).first()
        if project is None:
            raise TokenRefused("There is no such project among yours. Choose one of the list.")
    days = int(given["days"]) if given["days"].isdecimal() and len(given["days"]) < 5 else 0
    told: dict[str, Any] = {"name": given["name"], "scope": given["scope"], "days": days, "project": project}
    told["secret"] = secret_of(request)
    return make_token(owner=signed_in_user(request), now=timezone.now(), **told)


def _page(
    request: HttpRequest, given: Mapping[str, str], *, made: NewToken | None = None, problem: str = ""
) -> HttpResponse:
    now = timezone.now()
    context: dict[str, Any] = {
        "tokens": Token.objects.revocable().filter(owner=signed_in_user(request)).select_related("project"),
        "now": now,
        "projects": visible_projects(request),
        "scopes": Scope.choices,
        "days": DAYS,
        "given": given,
        "made": made,
        "problem": problem,
        "form_key": new_key(),
    }
    return render(request, "workspace/tokens.html", context, status=409 if problem else 200)


@never_cache
@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of the user's own tokens."""
    token = get_object_or_404(Token.objects.filter(owner=signed_in_user(request)), pk=pk)
    if revoke_token(token=token, now=timezone.now()):
        messages.success(request, f"The token “{token.name}” was revoked. Scripts can no longer use it.")
    return redirect("tokens")
