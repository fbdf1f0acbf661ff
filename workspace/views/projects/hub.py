"""Push a release to the Hugging Face Hub: request and progress."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from background.tasks import send
from results.models import Release
from results.queries.exports.available_exports import find_removals
from results.views.guards import Guarded, Response, refusal, row_view, signed_in_user, visible_projects
from results.views.releases import RELEASES
from studies.permissions import Verb
from workspace.actions.hub import Push, PushRefused, cancel_push, request_push
from workspace.models import HubPush, ModelPush


@sensitive_post_parameters("token")
@row_view(RELEASES, Verb.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def pushes(request: HttpRequest, release: Release) -> HttpResponse:
    """List the pushes of a release, and request more."""
    given: dict[str, Any] = {"repository": "", "private": True}
    problem = ""
    # An archived project shows its pushes, but starts none.
    refused = refusal(request, release.project, Verb.PUBLISH)
    if request.method == "POST" and refused is not None:
        return refused
    if request.method == "POST":
        given = {"repository": request.POST.get("repository", "").strip(), "private": "private" in request.POST}
        try:
            push = _ask(request, release, given)
        except PushRefused as error:
            problem = str(error)
        else:
            if push.job:
                send(push.job)
            return redirect("hub_pushes", release.pk)
    context = {
        "release": release,
        "since": find_removals(releases=[release]).of_release(release),
        "pushes": HubPush.objects.filter(release=release).select_related("job", "requested_by"),
        "hub": settings.HUB_URL,
        "given": given,
        "problem": problem,
        "may_push": refused is None,
    }
    return render(request, "workspace/hub/list.html", context, status=409 if problem else 200)


@sensitive_variables()
def _ask(request: HttpRequest, release: Release, given: dict[str, Any]) -> HubPush:
    token = request.POST.get("token", "").strip()
    return request_push(release=release, **given, token=token, by=signed_in_user(request), now=timezone.now())


def push_view(pushes: QuerySet[Push]) -> Callable[[Callable[[HttpRequest, Push], Response]], Guarded]:
    """Give a view the one of `pushes` that its address names, if the person may see it."""

    def guard(view: Callable[[HttpRequest, Push], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_push(request: HttpRequest, pk: int) -> Response:
            push = get_object_or_404(pushes, project__in=visible_projects(request), pk=pk)
            return refusal(request, push.project, Verb.EXPORT) or view(request, push)

        return with_push

    return guard


def render_progress(request: HttpRequest, push: HubPush | ModelPush, page: str) -> HttpResponse:
    """Return the progress of a push, which polls until done, then its whole line. `page`: the name of its address."""
    context = {"push": push, "page": page}
    if push.finished_at is None:
        return render(request, "workspace/hub/_push.html#progress", context)
    return reswap(retarget(render(request, "workspace/hub/_push.html", context), f"#push-{push.pk}"), "outerHTML")


one_push = push_view(HubPush.objects.select_related("release", "project", "job", "requested_by"))


@one_push
@require_safe
def status(request: HttpRequest, push: HubPush) -> HttpResponse:
    return render_progress(request, push, "hub_push")


@one_push
@require_POST
def cancel(request: HttpRequest, push: HubPush) -> HttpResponse:
    try:
        cancel_push(push=push, by=signed_in_user(request), now=timezone.now())
    except PushRefused as error:
        messages.error(request, str(error))
    return redirect("hub_pushes", push.release_id)
