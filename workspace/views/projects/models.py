"""Models of a project and their runs: request, progress, cancel, resume.

The page offers the site's models. Other models run from the command line, because their files are on the workers'
machines.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import reswap, retarget

from predictions.actions.models import count_predictions, delete_model, rename_model
from predictions.actions.runs import cancel_run, models_offered, request_offered_run, resume_run
from predictions.errors import CannotPredict
from predictions.models import LONGEST, Model, Run
from predictions.queries.progress import (
    PredictionCounts,
    has_many_predictions,
    models_of,
    progress_of,
    progress_of_all,
)
from predictions.tasks import send_to_worker
from results.views.cached_statistics import stored_results
from results.views.form_values import read_field
from results.views.guards import Guarded, Response, may_do, project_view, refusal, signed_in_user, visible_projects
from studies.actions.lookup import find_study_of
from studies.errors import StudyError
from studies.kinds import KINDS, get_kind
from studies.models import Project, StudyState
from studies.permissions import Verb

RUNS_PER_PAGE = 20
# Prefixes of the names of studies and kinds in the form.
OF_STUDY, OF_KIND = "study", "kind"


@project_view(Verb.VIEW)
@require_safe
def models(request: HttpRequest, project: Project) -> HttpResponse:
    """List the models of a project and their runs. An address may name the model that the form asks."""
    return _page(request, project, given={"model": read_field(request.GET, "model")})


@project_view(Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, project: Project) -> HttpResponse:
    """Start the chosen run. A GET redirects to the form."""
    if request.method != "POST":
        return redirect(f"{reverse('project_models', args=[project.slug])}#ask")
    spec, about = request.POST.get("model", ""), request.POST.get("about", "")
    what, _, name = about.partition(":")
    try:
        run = request_offered_run(
            project=project,
            spec=spec,
            study=find_study_of(project, name) if what == OF_STUDY else None,
            kind=name if what == OF_KIND else "",
            by=signed_in_user(request),
            now=timezone.now(),
        )
    except (CannotPredict, StudyError) as error:
        return _page(request, project, problem=str(error), given={"model": spec, "about": about}, status=409)
    send_to_worker(run)
    messages.success(request, f"Model run requested: {run.spec} on {run.about}.")
    return redirect("project_models", project.slug)


def _page(
    request: HttpRequest,
    project: Project,
    *,
    problem: str = "",
    given: Mapping[str, str] = MappingProxyType({}),
    status: int = 200,
) -> HttpResponse:
    found = Run.objects.filter(project=project).select_related("study", "model")
    page = Paginator(found, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    kept = stored_results(project)
    shares = kept.numbers["models"] if kept.numbers else {}
    counts = None
    if kept.numbers and has_many_predictions(project):
        counts = {int(pk): PredictionCounts.read(each) for pk, each in kept.numbers["predictions"].items()}
    context = {
        "project": project,
        "models": [(each, shares.get(str(each.model))) for each in models_of(project, counts)],
        "kept": kept,
        "page": page,
        "runs": progress_of_all(list(page), now=timezone.now()),
        "may": may_do(request, project),
        "offered": models_offered(project),
        "abouts": _run_subjects(project),
        "problem": problem,
        "given": given,
    }
    return render(request, "workspace/models/list.html", context, status=status)


def _run_subjects(project: Project) -> Mapping[str, Mapping[str, str]]:
    """Return what models can be asked about: heading -> value of the form -> label."""
    launched = project.studies.exclude(state=StudyState.DRAFT).order_by("launched_at")
    one_label = sorted(name for name in KINDS if get_kind(name).has_one_label)
    return {
        "The questions of a study": {f"{OF_STUDY}:{study.slug}": study.slug for study in launched},
        "The usual questions about all instances": {f"{OF_KIND}:{name}": name for name in one_label},
    }


def _model_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Model, Project], Response]], Guarded]:
    def guard(view: Callable[[HttpRequest, Model, Project], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_model(request: HttpRequest, pk: int) -> Response:
            found = Model.objects.select_related("project")
            model = get_object_or_404(found, project__in=visible_projects(request), pk=pk)
            project = get_object_or_404(visible_projects(request), pk=model.project_id)
            return refusal(request, project, verb) or view(request, model, project)

        return with_model

    return guard


@_model_view(Verb.MANAGE_MODELS)
@require_http_methods(["GET", "HEAD", "POST"])
def rename(request: HttpRequest, model: Model, project: Project) -> HttpResponse:
    """Ask for a model's new name, and rename it."""
    given = {name: request.POST.get(name, getattr(model, name)) for name in ("name", "version")}
    problem, by = "", signed_in_user(request)
    if request.method == "POST":
        try:
            renamed = rename_model(project=project, model=model, **given, by=by, now=timezone.now())
        except CannotPredict as error:
            problem = str(error)
        else:
            messages.success(request, f"The model was renamed to {renamed}.")
            return redirect("project_models", project.slug)
    context = {"project": project, "model": model, "given": given, "problem": problem, "longest": LONGEST}
    return render(request, "workspace/models/rename.html", context, status=409 if problem else 200)


@_model_view(Verb.MANAGE_MODELS)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, model: Model, project: Project) -> HttpResponse:
    """Show what is deleted with the model, and delete it on confirmation."""
    problem = ""
    if request.method == "POST":
        try:
            went = delete_model(project=project, model=model, by=signed_in_user(request), now=timezone.now())
        except CannotPredict as error:
            problem = str(error)
        else:
            messages.success(request, f"{model} was deleted, with {went}.")
            return redirect("project_models", project.slug)
    releases = project.releases.exclude(file="").select_related("study")
    context = {
        "project": project,
        "model": model,
        "goes": count_predictions(model),
        "problem": problem,
        "releases": releases,
    }
    return render(request, "workspace/models/delete.html", context, status=409 if problem else 200)


def _run_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Run], Response]], Guarded]:
    def guard(view: Callable[[HttpRequest, Run], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_run(request: HttpRequest, pk: int) -> Response:
            found = Run.objects.select_related("project", "study", "model")
            run = get_object_or_404(found, project__in=visible_projects(request), pk=pk)
            return refusal(request, run.project, verb) or view(request, run)

        return with_run

    return guard


@_run_view(Verb.VIEW)
@require_safe
def status(request: HttpRequest, run: Run) -> HttpResponse:
    """Run progress fragment, polls until done, then its entry of the list."""
    context = {"progress": progress_of(run, now=timezone.now()), "may": may_do(request, run.project)}
    if run.is_unfinished:
        return render(request, "workspace/models/_run.html#progress", context)
    whole = render(request, "workspace/models/_run.html", context)
    return reswap(retarget(whole, f"#run-{run.pk}"), "outerHTML")


@_run_view(Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, run: Run) -> HttpResponse:
    """Cancel a run. A GET (for example after signing in again) redirects to the list."""
    if request.method == "POST":
        try:
            cancel_run(run=run, by=signed_in_user(request), now=timezone.now())
        except CannotPredict as error:
            messages.error(request, str(error))
    return redirect("project_models", run.project.slug)


@_run_view(Verb.PREDICT)
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, run: Run) -> HttpResponse:
    """Resume a run with its missing questions. A GET redirects to the list."""
    if request.method == "POST":
        try:
            resume_run(run=run, by=signed_in_user(request), now=timezone.now())
        except CannotPredict as error:
            messages.error(request, str(error))
        else:
            send_to_worker(run)
    return redirect("project_models", run.project.slug)
