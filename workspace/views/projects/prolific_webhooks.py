"""The section Webhooks of the page Settings, Prolific."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from annotation.actions.recruiting import webhooks
from annotation.models import ProlificAccount
from annotation.recruitment.prolific.connection import ProlificError
from results.views.guards import project_view, signed_in_user
from studies.models import Project
from studies.permissions import Verb


def webhooks_section(account: ProlificAccount | None) -> dict[str, Any]:
    """Return what the section shows."""
    return {"webhooks_obstacle": webhooks.obstacle(account) if account else ""}


@project_view(Verb.MANAGE_PROLIFIC)
@require_POST
@sensitive_variables()
def connect_webhooks(request: HttpRequest, project: Project) -> HttpResponse:
    """Subscribe now, with a new key if webhooks were connected before."""
    account = get_object_or_404(ProlificAccount.objects.select_related("project"), project=project)
    now = timezone.now()
    try:
        is_again = account.webhooks_confirmed_at is not None
        webhooks.subscribe_account(account=account, now=now, renews_key=is_again)
    except ProlificError as error:
        messages.error(request, error.sentence)
    else:
        webhooks.note_confirmed(account=account, by=signed_in_user(request), now=now)
        messages.success(request, "Prolific has confirmed that it sends webhooks here.")
    return redirect("prolific_account", project.slug)
