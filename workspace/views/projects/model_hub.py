"""Push a trained model to the Hugging Face Hub: request, progress, and what its worker reads from the site."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from background.tasks import send
from results.views.guards import Response, refusal, signed_in_user, visible_projects
from studies.permissions import Verb
from training.models import TrainingRun
from workspace.actions.hub import PushRefused
from workspace.actions.model_push import (
    LONGEST_LICENCE,
    cancel_model_push,
    contents_for_worker,
    request_model_push,
)
from workspace.models import ModelPush
from workspace.views.projects.hub import push_view, render_progress

STOP = "This push has ended, or another worker does it."


@sensitive_post_parameters("token")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pushes(request: HttpRequest, pk: int) -> Response:
    """List the pushes of a trained model, and request more."""
    found = TrainingRun.objects.select_related("project").filter(project__in=visible_projects(request))
    run = get_object_or_404(found, pk=pk)
    if (refused := refusal(request, run.project, Verb.EXPORT)) is not None:
        return refused
    # An archived project shows its pushes, but starts none.
    refused = refusal(request, run.project, Verb.PUBLISH)
    if request.method == "POST" and refused is not None:
        return refused
    given: dict[str, Any] = {"repository": "", "licence": "", "private": True, "with_weights": True}
    problem = ""
    if request.method == "POST":
        texts = {name: request.POST.get(name, "").strip() for name in ("repository", "licence")}
        given = texts | {name: name in request.POST for name in ("private", "with_weights")}
        try:
            push = _ask(request, run, given)
        except PushRefused as error:
            problem = str(error)
        else:
            if push.job:
                send(push.job)
            return redirect("model_pushes", run.pk)
    context = {
        "project": run.project,
        "run": run,
        "pushes": ModelPush.objects.filter(run=run).select_related("job", "requested_by"),
        "hub": settings.HUB_URL,
        "given": given,
        "problem": problem,
        "longest_licence": LONGEST_LICENCE,
        "may_push": refused is None,
    }
    return render(request, "workspace/training/hub.html", context, status=409 if problem else 200)


@sensitive_variables()
def _ask(request: HttpRequest, run: TrainingRun, given: dict[str, Any]) -> ModelPush:
    token = request.POST.get("token", "").strip()
    return request_model_push(run=run, **given, token=token, by=signed_in_user(request), now=timezone.now())


one_push = push_view(ModelPush.objects.select_related("run", "project", "job", "requested_by"))


@one_push
@require_safe
def status(request: HttpRequest, push: ModelPush) -> HttpResponse:
    return render_progress(request, push, "model_push")


@one_push
@require_POST
def cancel(request: HttpRequest, push: ModelPush) -> HttpResponse:
    try:
        cancel_model_push(push=push, by=signed_in_user(request), now=timezone.now())
    except PushRefused as error:
        messages.error(request, str(error))
    return redirect("model_pushes", push.run_id)


@sensitive_variables()
@never_cache
@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    """Tell a worker what the key of its request opens, with the Hub token; 410 if it is to stop."""
    told = contents_for_worker(request.headers.get("Authorization", "").removeprefix("Bearer "))
    return HttpResponse(STOP, status=410, content_type="text/plain") if told is None else JsonResponse(told)
