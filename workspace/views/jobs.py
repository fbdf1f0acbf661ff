"""What the signed-in person asked for and is still being made: bars on every page, and a notice at the end."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.actions.launching.extend_study import EXTENSION_JOB
from background.live_progress import show_in
from background.models import UNFINISHED, Job, JobState
from making.models import Pipeline
from predictions.models import Run
from results.exporting import get_writer
from results.models import Export
from results.views.guards import signed_in_user, visible_projects
from simulation.actions import demo_project
from studies.actions.drafts import LAUNCH_JOB
from studies.kinds import get_kind
from studies.models import Import, Project, Study
from workspace.models import HubDownload, HubPush, ModelPush

# Time up to which this browser was notified of ended jobs.
COOKIE = "jobs_told"
MOST_SHOWN = 5
# Notices sent at once; the script of the page shows the latest and folds the others.
MOST_ENDED = 50
STUDY_JOBS = {LAUNCH_JOB: "Launch", EXTENSION_JOB: "Extension"}


@dataclass(frozen=True)
class OwnJob:
    """A job of the person who looks.

    `key`: an id, unique among all jobs. `address`: of the list that has it. `state` as of a `Job`. `done_words`: what
    its notice says when it is done. `project`: that it belongs to; None if its title says so.
    """

    key: str
    title: str
    address: str
    state: str
    done: int
    total: int
    unit: str
    error: str
    is_cancelling: bool = False
    done_words: str = "is done."
    stage: str = ""
    project: Project | None = None

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED


@never_cache
@login_required
@require_safe
def own_jobs(request: HttpRequest) -> HttpResponse:
    """Fragment of every page: unfinished jobs, which poll, and notices of those that ended since the last time.

    Jobs of the list that the page itself shows are left out.
    """
    now = timezone.now()
    told = _read_cookie(request) or now
    here = urlsplit(request.headers.get("HX-Current-URL", "")).path
    # Pages of a project and of its studies: /projects/SLUG/..., /studies/SLUG/...
    slug = next(iter(here.split("/")[2:3]), "")
    jobs = [
        replace(job, project=None) if job.project is not None and job.project.slug == slug else job
        for job in _own_jobs(request, told)
        if urlsplit(job.address).path != here
    ]
    context = {
        "unfinished": [job for job in jobs if job.is_unfinished][:MOST_SHOWN],
        "ended": [job for job in jobs if not job.is_unfinished][:MOST_ENDED],
    }
    response = render(request, "workspace/jobs.html", context)
    response.set_cookie(COOKIE, now.isoformat(), httponly=True, samesite="Lax", secure=request.is_secure())
    return response


def _read_cookie(request: HttpRequest) -> datetime | None:
    try:
        told = parse_datetime(request.COOKIES.get(COOKIE, ""))
    except ValueError:
        return None
    return told if told is None or told.tzinfo else told.replace(tzinfo=UTC)


def _own_jobs(request: HttpRequest, told: datetime) -> Iterator[OwnJob]:
    mine = {"requested_by": signed_in_user(request)}
    runs = Run.objects.filter(Q(state__in=Run.UNFINISHED) | Q(finished_at__gt=told), **mine)
    news = Job.objects.filter(Q(state__in=UNFINISHED) | Q(finished_at__gt=told), **mine)
    jobs: dict[int | None, Job] = {job.pk: job for job in news}
    here = {"project__in": visible_projects(request)}
    for run in runs.filter(**here).select_related("project", "study"):
        address = reverse("project_models", args=[run.project.slug])
        state = JobState.RUNNING if run.is_unfinished else run.state
        counts = (run.stored + run.wrong, run.total, "questions")
        about = run.study.title if run.study else get_kind(run.kind).title
        title = f"Model run of {run.spec} on {about}"
        yield OwnJob(f"run-{run.pk}", title, f"{address}#run-{run.pk}", state, *counts, run.error, project=run.project)
    if not jobs:
        return
    of_jobs = here | {"job__in": list(jobs)}
    of_studies = [job for job in jobs.values() if job.kind in STUDY_JOBS]
    studies = (
        Study.objects.filter(**here).select_related("project").in_bulk([job.arguments["study"] for job in of_studies])
    )
    for job in of_studies:
        if study := studies.get(job.arguments["study"]):
            address = reverse("study", args=[study.project.slug, study.slug])
            stage = show_in(job)
            title = f"{STUDY_JOBS[job.kind]} of {study.title}"
            yield _make_own_job(title, f"{address}#study-job", job, stage=stage, project=study.project)
    of_projects = {job.arguments["project"]: job for job in jobs.values() if job.kind == demo_project.KIND}
    for project in Project.objects.filter(pk__in=of_projects):
        yield _make_own_job(project.name, f"{reverse('home')}#start", of_projects[project.pk])
    for export in Export.objects.filter(**of_jobs).select_related("study", "project", "release"):
        names = [export.project.slug, export.study.slug]
        address = reverse("study_releases" if export.release else "study_exports", args=names)
        title = f"Export of {export.study.title} ({get_writer(export.format).title})"
        yield _make_own_job(title, f"{address}#export-{export.pk}", jobs[export.job_id], project=export.project)
    for wanted in Import.objects.filter(**of_jobs).select_related("project"):
        address = reverse("project_imports", args=[wanted.project.slug])
        job, done = jobs[wanted.job_id], "is checked." if wanted.dry_run else "is done."
        what = "Change of the mapping" if wanted.changes_id else "Import"
        title, place = f"{what} of {', '.join(wanted.names)}", f"{address}#import-{wanted.pk}"
        yield _make_own_job(title, place, job, done_words=done, project=wanted.project)
    for pipeline in Pipeline.objects.filter(**of_jobs):
        title = f"{'Trial' if pipeline.is_trial else 'Pipeline'} {pipeline.name}"
        yield _pipeline_job(title, pipeline, jobs[pipeline.job_id])
    own_downloads = HubDownload.objects.filter(upload__project__in=visible_projects(request), job__in=list(jobs))
    for download in own_downloads:
        address = reverse("hub_download", args=[download.pk])
        yield _make_own_job(f"Download of {download.repository}", address, jobs[download.job_id])
    for push in HubPush.objects.filter(**of_jobs):
        address = reverse("hub_pushes", args=[push.release_id])
        yield _make_own_job(f"Push to {push.repository}", f"{address}#push-{push.pk}", jobs[push.job_id])
    for card in ModelPush.objects.filter(**of_jobs).select_related("run"):
        address = reverse("model_pushes", args=[card.run_id])
        words = "is continued by a worker with models." if card.finished_at is None else "is done."
        title = f"Push of {card.run.name} to {card.repository}"
        yield _make_own_job(title, f"{address}#push-{card.pk}", jobs[card.job_id], done_words=words)


def _pipeline_job(title: str, pipeline: Pipeline, job: Job) -> OwnJob:
    """Return the job of a pipeline, which is done when workers with models or people have to continue."""
    words = "is done."
    if pipeline.stopped_at is not None:
        words = "was cancelled."
    elif pipeline.finished_at is None:
        words = "is continued by workers with models." if pipeline.waits_for else "waits for people."
    own = _make_own_job(title, reverse("pipeline", args=[pipeline.pk]), job, done_words=words)
    return replace(own, state=JobState.FAILED, error=pipeline.error) if pipeline.error else own


def _make_own_job(
    title: str,
    address: str,
    job: Job,
    *,
    done_words: str = "is done.",
    stage: str = "",
    project: Project | None = None,
) -> OwnJob:
    return OwnJob(
        f"job-{job.pk}",
        title,
        address,
        job.state,
        job.done,
        job.total,
        job.unit,
        job.error,
        is_cancelling=job.cancel_asked_at is not None,
        done_words=done_words,
        stage=stage,
        project=project,
    )
