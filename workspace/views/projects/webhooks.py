"""Webhooks of a project and their deliveries."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from results.views.guards import project_view, signed_in_user
from studies.models import Project
from studies.permissions import Verb
from workspace import tasks
from workspace.actions import webhooks as actions
from workspace.actions.deliveries import BACKOFF, MOST_ATTEMPTS
from workspace.actions.webhooks import OVERLAPS, WebhookRefused
from workspace.models import Delivery, Topic, Webhook, WebhookKey
from workspace.sent_forms import may_show, new_key, secret_of

DELIVERIES_PER_PAGE = 25
# Characters of a message that are shown: one may name hundreds of instances.
SHOWN = 600


@project_view(Verb.MANAGE_WEBHOOKS)
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest, project: Project) -> HttpResponse:
    """List a project's webhooks and their deliveries, and create more."""
    if request.method != "POST":
        return _page(request, project, {"topics": Topic.values})
    given = {"url": request.POST.get("url", "").strip(), "topics": request.POST.getlist("topics")}
    try:
        key, text = _make(request, project, given)
    except WebhookRefused as error:
        return _page(request, project, given, problem=str(error))
    return _page_with_key(request, project, key, text)


@sensitive_variables()
def _make(request: HttpRequest, project: Project, given: Mapping[str, Any]) -> tuple[WebhookKey, str]:
    actions.check_webhook_url(given["url"])
    by, now = signed_in_user(request), timezone.now()
    return actions.make_webhook(project=project, **given, by=by, now=now, salt=secret_of(request))


@sensitive_variables()
def _page_with_key(
    request: HttpRequest, project: Project, key: WebhookKey, text: str, *, is_changed: bool = False
) -> HttpResponse:
    """Return the page with the text of a new key; a form sent again shows it only shortly afterwards."""
    made = None
    if may_show(made_at=key.made_at, now=timezone.now()):
        made = {"webhook": key.webhook, "key": text, "changed": is_changed}
    else:
        messages.info(
            request, f"You already sent this form. It created a key for {key.webhook.url}, which was shown only then."
        )
    return _page(request, project, {"topics": Topic.values}, made=made)


def _page(
    request: HttpRequest,
    project: Project,
    given: Mapping[str, Any],
    *,
    made: Mapping[str, Any] | None = None,
    problem: str = "",
) -> HttpResponse:
    deliveries = Delivery.objects.filter(webhook__project=project).select_related("webhook").defer("body")
    deliveries = deliveries.annotate(shown=Substr("body", 1, SHOWN))
    context = {
        "project": project,
        "webhooks": Webhook.objects.filter(project=project).select_related("made_by").prefetch_related("keys"),
        "deliveries": Paginator(deliveries, DELIVERIES_PER_PAGE).get_page(request.GET.get("page")),
        "topics": Topic.choices,
        "overlaps": OVERLAPS,
        "most_attempts": MOST_ATTEMPTS,
        "hours_tried": round(sum(pause.total_seconds() for pause in BACKOFF) / 3600),
        "given": given,
        "made": made,
        "problem": problem,
        "form_key": new_key(),
    }
    return render(request, "workspace/webhooks/list.html", context, status=409 if problem else 200)


@project_view(Verb.MANAGE_WEBHOOKS)
@require_POST
@sensitive_variables()
def change_key(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Give a webhook a new key, and show it once."""
    webhook = _webhook_or_404(project, pk)
    hours, newest = request.POST.get("hours", ""), request.POST.get("newest")
    try:
        key, text = actions.change_key(
            webhook=webhook,
            hours=int(hours) if hours.isdecimal() and len(hours) < 5 else -1,
            by=signed_in_user(request),
            now=timezone.now(),
            salt=secret_of(request),
            newest=None if newest is None else int(newest) if newest.isdecimal() and len(newest) < 18 else 0,
        )
    except WebhookRefused as error:
        messages.error(request, str(error))
        return redirect("webhooks", project.slug)
    return _page_with_key(request, project, key, text, is_changed=True)


@project_view(Verb.MANAGE_WEBHOOKS)
@require_POST
def try_out(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    try:
        actions.send_test(webhook=_webhook_or_404(project, pk), by=signed_in_user(request), now=timezone.now())
    except WebhookRefused as error:
        messages.error(request, str(error))
    else:
        tasks.deliver.delay_on_commit()
        messages.success(request, "A test message is being sent. Reload the page to see the result.")
    return redirect("webhooks", project.slug)


@project_view(Verb.MANAGE_WEBHOOKS)
@require_POST
def switch_on(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = _webhook_or_404(project, pk)
    try:
        actions.switch_on(webhook=webhook, by=signed_in_user(request), now=timezone.now())
    except WebhookRefused as error:
        messages.error(request, str(error))
    else:
        tasks.deliver.delay_on_commit()
        messages.success(request, "The webhook was switched on again.")
    return redirect("webhooks", project.slug)


@project_view(Verb.MANAGE_WEBHOOKS)
@require_POST
def delete(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = _webhook_or_404(project, pk)
    actions.delete_webhook(webhook=webhook, by=signed_in_user(request), now=timezone.now())
    messages.success(request, "The webhook was deleted. Nothing more is sent to its URL.")
    return redirect("webhooks", project.slug)


@project_view(Verb.MANAGE_WEBHOOKS)
@require_POST
def repeat(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Send a message again, whatever its state."""
    found = Delivery.objects.filter(webhook__project=project).select_related("webhook__project")
    try:
        actions.send_again(delivery=get_object_or_404(found, pk=pk), by=signed_in_user(request), now=timezone.now())
    except WebhookRefused as error:
        messages.error(request, str(error))
    else:
        tasks.deliver.delay_on_commit()
        messages.success(request, "The message is being sent again. Reload the page to see the result.")
    return redirect("webhooks", project.slug)


def _webhook_or_404(project: Project, pk: int) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("project"), project=project, pk=pk)
