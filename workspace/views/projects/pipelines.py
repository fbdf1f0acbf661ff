"""Pipelines of a project: write a file, try it on a few texts, run it, see what each stage kept and rejected."""

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRefresh

from background.models import Job
from background.tasks import send
from making.actions.deletion import delete_pipeline
from making.actions.pipeline_studies import studies_of
from making.actions.pipelines import cancel_pipeline, request_pipeline, request_trial
from making.filters import FILTERS, BaseFilter, get_filter
from making.makers import MAKERS, get_maker
from making.models import Pipeline
from making.queries.stage_graph import StageGraph, stage_graph
from making.queries.yields import Sample, samples, stage_speeds, stage_yields, started_with, worker_progress
from results.queries.studies.pipeline_costs import pipeline_costs
from results.views.guards import Guarded, Response, may_do, project_view, refusal, signed_in_user, visible_projects
from studies.design import DesignRefused
from studies.design.parser import LARGEST_FILE
from studies.errors import StudyError
from studies.models import Project
from studies.permissions import Verb
from studies.picture_handles import handle_of
from studies.wording import format_count

EXAMPLE_FILE = Path(settings.BASE_DIR) / "making" / "designs" / "word-swaps.yaml"
# On a project's overview.
MOST_DRAWN = 1
NOT_TEXT = "The file is not UTF-8 text. Save the pipeline file as UTF-8, or paste its text."


@project_view(Verb.VIEW, post=Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def pipelines(request: HttpRequest, project: Project) -> HttpResponse:
    """List the pipelines, with a form for a new one. POST runs it, or tries it on a few texts."""
    copied = project.pipelines.filter(pk=request.GET.get("from", "")).first() if _is_id(request) else None
    source = copied.source if copied else _example(project)
    problems: list[str] = []
    if request.method == "POST":
        by, now = signed_in_user(request), timezone.now()
        source = request.POST.get("source", "")
        try:
            source = _read_upload(request) or source
            request_it = request_trial if "trial" in request.POST else request_pipeline
            pipeline, job = request_it(project=project, source=source, by=by, now=now)
        except DesignRefused as error:
            problems = [str(problem) for problem in error.problems]
        except StudyError as error:
            problems = list(error.problems)
        else:
            _send(request, pipeline, job)
            return redirect("pipeline", pipeline.pk)
    context = {
        "project": project,
        "pipelines": project.pipelines.select_related("job").order_by("-requested_at", "-pk"),
        "source": source,
        "problems": problems,
        "makers": [(f"{family}:{policy}", about) for family in MAKERS for policy, about in _policies(family)],
        "filters": [(name, _summary(get_filter(name))) for name in FILTERS],
        "may": may_do(request, project),
    }
    return render(request, "workspace/pipelines/list.html", context, status=409 if problems else 200)


def _example(project: Project) -> str:
    """Return the shipped example with roles that the project has."""
    text = EXAMPLE_FILE.read_text(encoding="utf-8")
    first = project.instances.order_by("pk").first()
    if first is None:
        return text
    captions, images = sorted(first.captions), sorted(set(first.images.values_list("role", flat=True)))
    if captions and "caption" not in captions:
        text = text.replace("role: caption\n", f"role: {captions[0]}\n")
    copied = "".join(f"    {role}: {role}\n" for role in images)
    return text.replace("  images:\n    image: image\n", f"  images:\n{copied}" if copied else "")


def latest_pipelines(project: Project) -> list[tuple[Pipeline, StageGraph, set[str]]]:
    """Return the latest pipelines with their graphs and the names of the studies that they have created."""
    latest = project.pipelines.filter(is_trial=False).select_related("project").order_by("-requested_at", "-pk")
    return [
        (each, stage_graph(each, stage_yields(each)), set(studies_of(each).values_list("slug", flat=True)))
        for each in latest[:MOST_DRAWN]
    ]


def _send(request: HttpRequest, pipeline: Pipeline, job: Job | None) -> None:
    """Send the job of a pipeline, or say that there is nothing left to do."""
    if job is None:
        messages.info(request, f"{pipeline.name} has already run with this file, so it did not run again.")
    else:
        send(job)


def _is_id(request: HttpRequest) -> bool:
    return request.GET.get("from", "").isdecimal() and len(request.GET["from"]) < 18


def _summary(judge: type[BaseFilter]) -> str:
    """Return what a filter does: the first paragraph of its docstring."""
    return cleandoc(judge.__doc__ or "").partition("\n\n")[0]


def _policies(family: str) -> list[tuple[str, str]]:
    return list(get_maker(family).policies.items())


def _read_upload(request: HttpRequest) -> str:
    """Return the text of the chosen file, "" without one. Raises StudyError."""
    file = request.FILES.get("file")
    if file is None:
        return ""
    try:
        # One byte more than fits, so that the reader says that it is too large.
        text: str = file.read(LARGEST_FILE + 1).decode()
        return text
    except UnicodeDecodeError as error:
        raise StudyError(NOT_TEXT) from error


def _pipeline_view(verb: Verb) -> Callable[[Callable[[HttpRequest, Pipeline], Response]], Guarded]:
    """Pass the pipeline that an address names to the view, if the person may do `verb` in its project."""

    def guard(view: Callable[[HttpRequest, Pipeline], Response]) -> Guarded:
        @never_cache
        @login_required
        @wraps(view)
        def with_pipeline(request: HttpRequest, pk: int) -> Response:
            found = Pipeline.objects.select_related("project", "job")
            pipeline = get_object_or_404(found, project__in=visible_projects(request), pk=pk)
            return refusal(request, pipeline.project, verb) or view(request, pipeline)

        return with_pipeline

    return guard


def _with_addresses(sample: Sample) -> tuple[Sample, str, str]:
    """Return a sample with the addresses of its picture and of the one it was made from, "" where there is none."""
    return sample, _address(sample.image), _address(sample.parent_image)


def _address(image: str) -> str:
    # Of no study. Members alone see the page, and a handle cannot be guessed.
    return reverse("image", args=[handle_of(image, study=0), "card"]) if image else ""


@_pipeline_view(Verb.VIEW)
@require_safe
def pipeline(request: HttpRequest, pipeline: Pipeline) -> HttpResponse:
    """What each stage kept and rejected; while it runs, a fragment that polls."""
    if request.headers.get("HX-Request"):
        if not pipeline.is_unfinished:
            return HttpResponseClientRefresh()
        context = {"pipeline": pipeline, "batches": worker_progress(pipeline)}
        return render(request, "workspace/pipelines/pipeline.html#progress", context)
    people, speeds, yields = list(studies_of(pipeline)), stage_speeds(pipeline), stage_yields(pipeline)
    context = {
        "project": pipeline.project,
        "pipeline": pipeline,
        "people": people,
        "graph": stage_graph(pipeline, yields),
        "launched": {study.slug for study in people},
        "start": started_with(pipeline),
        "batches": worker_progress(pipeline),
        "stages": [(each, [*map(_with_addresses, samples(pipeline, each))], speeds.get(each.name)) for each in yields],
        "has_speeds": any(speeds.values()),
        "costs": [] if pipeline.is_trial else pipeline_costs(pipeline, yields),
        "instances": pipeline.instances.count(),
        "may": may_do(request, pipeline.project),
    }
    return render(request, "workspace/pipelines/pipeline.html", context)


@_pipeline_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, pipeline: Pipeline) -> HttpResponse:
    """Cancel a pipeline. A GET (for example after signing in again) redirects to its page."""
    if request.method == "POST":
        try:
            cancel_pipeline(pipeline=pipeline, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            messages.error(request, str(error))
    return redirect("pipeline", pipeline.pk)


@_pipeline_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def go_on(request: HttpRequest, pipeline: Pipeline) -> HttpResponse:
    """Continue a stopped pipeline, or run one that was tried. A GET redirects to its page."""
    if request.method == "POST":
        try:
            pipeline, job = request_pipeline(
                project=pipeline.project, source=pipeline.source, by=signed_in_user(request), now=timezone.now()
            )
        except StudyError as error:
            messages.error(request, str(error))
        else:
            _send(request, pipeline, job)
    return redirect("pipeline", pipeline.pk)


@_pipeline_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pipeline: Pipeline) -> HttpResponse:
    """Delete a pipeline with everything that it made. A GET leads to its page."""
    if request.method != "POST":
        return redirect("pipeline", pipeline.pk)
    try:
        count = delete_pipeline(pipeline=pipeline, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        messages.error(request, str(error))
        return redirect("project_pipelines", pipeline.project.slug)
    messages.success(request, f"The pipeline {pipeline.name} was deleted with {format_count(count, 'instance')}.")
    return redirect("project_pipelines", pipeline.project.slug)
