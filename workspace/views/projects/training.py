"""Models that are trained on a project: request one, follow its curves, cancel, resume, delete."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from background.tasks import send
from results.actions.model_cards import write_model_card
from results.actions.training_data import check_trainable, find_training_data
from results.reports.training_curves import curve_charts
from results.views.cached_statistics import results_for
from results.views.charts import stored_charts
from results.views.form_values import read_field
from results.views.guards import Guarded, Response, may_do, project_view, refusal, signed_in_user, visible_projects
from studies.markdown import render_headed
from studies.models import Project
from studies.permissions import Verb
from studies.wording import format_duration, format_time_left
from training.actions.deletion import delete_run, models_of, why_not_deleted
from training.actions.runs import Wanted, cancel_run, offered_bases, read_price, request_offered_run, resume_run
from training.errors import CannotTrain
from training.leaks import LeakReport
from training.messages import TRAINING, VALIDATION
from training.models import TrainingRun
from training.option_fields import option_fields, read_options
from training.recipes import RECIPES, get_recipe
from training.tasks import ask_to_discard, send_order

RUNS_PER_PAGE = 20
# Of a number in a form; larger ones are refused anyway.
MOST_DIGITS = 18
FIRST_RECIPE = next(iter(RECIPES))


@project_view(Verb.VIEW, post=Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def training_runs(request: HttpRequest, project: Project) -> HttpResponse:
    """List the training runs, with a form for a new one."""
    problem = ""
    if request.method == "POST":
        try:
            wanted = _read_form(request, project)
            check_trainable(project, wanted)
            run, job = request_offered_run(
                project=project, wanted=wanted, by=signed_in_user(request), now=timezone.now()
            )
        except CannotTrain as error:
            problem = str(error)
        else:
            send(job)
            return redirect("training_run", run.pk)
    posted = {name: read_field(request.POST, name) for name in request.POST}
    named = posted.get("recipe") or read_field(request.GET, "recipe")
    recipe = get_recipe(named if named in RECIPES else FIRST_RECIPE)
    context = {
        "project": project,
        "page": Paginator(project.training_runs.all(), RUNS_PER_PAGE).get_page(request.GET.get("page")),
        "may": may_do(request, project),
        "recipes": [get_recipe(name) for name in RECIPES],
        "recipe": recipe,
        "fields": option_fields(recipe, posted),
        "bases": [spec for spec in offered_bases(project) if spec.partition(":")[0] in recipe.families],
        "releases": project.releases.exclude(file="").order_by("-made_at"),
        "given": posted,
        "problem": problem,
    }
    return render(request, "workspace/training/list.html", context, status=409 if problem else 200)


def _read_form(request: HttpRequest, project: Project) -> Wanted:
    """Return what the form asks for. Raises CannotTrain."""
    posted = {name: read_field(request.POST, name) for name in request.POST}
    recipe = posted.get("recipe", "")
    return Wanted(
        name=posted.get("name", "").strip(),
        recipe=recipe,
        base=posted.get("base", ""),
        options=read_options(get_recipe(recipe), posted) if recipe in RECIPES else {},
        data=find_training_data(project, posted.get("release", "")),
        seed=_read_number(posted.get("seed", ""), "seed"),
        hour_price=read_price(posted.get("hour_price", "")),
        currency=posted.get("currency", ""),
    )


def _read_number(written: str, name: str) -> int:
    if written.strip() and not (written.strip().isdecimal() and len(written.strip()) <= MOST_DIGITS):
        raise CannotTrain(f"The {name} is {written[:40]!r}. Write a whole number.")
    return int(written.strip() or 0)


def _run_view(verb: Verb) -> Callable[[Callable[[HttpRequest, TrainingRun], Response]], Guarded]:
    """Pass the training run that an address names to the view, if the person may do `verb` in its project."""

    def guard(view: Callable[[HttpRequest, TrainingRun], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_run(request: HttpRequest, pk: int) -> Response:
            found = TrainingRun.objects.select_related("project", "job")
            run = get_object_or_404(found, project__in=visible_projects(request), pk=pk)
            return refusal(request, run.project, verb) or view(request, run)

        return with_run

    return guard


@_run_view(Verb.VIEW)
@require_safe
def training_run(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """One training run with its curves; while it is unfinished, a fragment that polls."""
    left = format_time_left(run.left) if run.left is not None else ""
    if request.headers.get("HX-Request"):
        if not run.is_unfinished:
            return HttpResponseClientRefresh()
        return render(request, "workspace/training/run.html#progress", {"run": run, "left": left})
    points = list(run.curve.all())
    charts = [chart for chart in curve_charts(run.name, run.pk, points) if chart.has_points]
    rows = stored_charts(run.project, charts)
    context = {
        "project": run.project,
        "run": run,
        "left": left,
        "took": format_duration(run.seconds),
        "recipe": get_recipe(run.recipe) if run.recipe in RECIPES else None,
        "training": run.count(TRAINING),
        "validation": run.count(VALIDATION),
        "leaks": [(part, LeakReport.from_plain(report)) for part, report in run.leaks.items()],
        "charts": [(chart, rows[chart.name]) for chart in charts if chart.name in rows],
        "scores": [point for point in points if point.score is not None],
        "may": may_do(request, run.project),
    }
    return render(request, "workspace/training/run.html", context)


@_run_view(Verb.VIEW)
@require_safe
def card(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """Show the model card of a trained model, with the scores of its project's results as stored."""
    if run.state != TrainingRun.State.DONE:
        return _without_card(request, run)
    kept = results_for(run.project)
    context: dict[str, Any] = {"project": run.project, "run": run, "kept": kept if kept.in_background else None}
    if kept.as_of is not None:
        _, metadata, body = write_model_card(run=run, results=kept).split("---\n", 2)
        context |= {"metadata": metadata, "card": render_headed(body.strip())}
    return render(request, "workspace/training/card.html", context)


@_run_view(Verb.VIEW)
@require_safe
def card_file(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """Download the model card of a trained model."""
    if run.state != TrainingRun.State.DONE:
        return _without_card(request, run)
    kept = results_for(run.project)
    if kept.as_of is None:
        return redirect("training_card", run.pk)
    text = write_model_card(run=run, results=kept)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{run.name}-README.md"'
    return response


def _without_card(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    messages.error(request, f"{run.name} is not trained yet, so it has no model card. Wait until its training is done.")
    return redirect("training_run", run.pk)


@_run_view(Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """Cancel a training run. A GET (for example after signing in again) redirects to its page."""
    if request.method == "POST":
        try:
            cancel_run(run=run, by=signed_in_user(request), now=timezone.now())
        except CannotTrain as error:
            messages.error(request, str(error))
    return redirect("training_run", run.pk)


@_run_view(Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """Resume a training run from its last checkpoint. A GET redirects to its page."""
    if request.method == "POST":
        try:
            job = resume_run(run=run, by=signed_in_user(request), now=timezone.now())
        except CannotTrain as error:
            messages.error(request, str(error))
        else:
            if job is None:
                send_order.delay_on_commit(run.pk)
            else:
                send(job)
    return redirect("training_run", run.pk)


@_run_view(Verb.MANAGE_MODELS)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, run: TrainingRun) -> HttpResponse:
    """Show what is deleted with a training run, and delete it on confirmation."""
    problem = ""
    if request.method == "POST":
        try:
            delete_run(run=run, by=signed_in_user(request), now=timezone.now())
        except CannotTrain as error:
            problem = str(error)
        else:
            ask_to_discard.delay_on_commit()
            messages.success(request, f"The training of {run.name} was deleted. Its worker deletes the weights.")
            return redirect("project_training", run.project.slug)
    context = {
        "project": run.project,
        "run": run,
        "models": models_of(run),
        "problem": problem or why_not_deleted(run),
    }
    return render(request, "workspace/training/delete.html", context, status=409 if problem else 200)
