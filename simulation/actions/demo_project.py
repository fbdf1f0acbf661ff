"""Create a demo project for one person: drawn scenes, studies, simulated annotators and a model, made by a job."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.actions.launching.launch import launch
from annotation.models import Session, SessionState
from annotation.models.sessions import OPEN_STATES
from background.errors import Failed
from background.jobs import request_job
from background.models import Job, JobState
from background.work import RunningJob, Work
from predictions.actions.runs import request_run
from predictions.models import Run
from predictions.scorers import CannotLoad
from simulation.actions.announcement import announce_simulation
from simulation.actions.local_run import run_in_process
from simulation.actions.session_times import OPEN_BEFORE, backdate_sessions
from simulation.annotators import BrowserInProcess, CannotRead, annotators, take_part
from simulation.demo.manifest import IMAGES, write_manifest
from simulation.demo.scenes import SceneInstance, describe_instances
from simulation.demo.study import (
    BASELINE_SLUG,
    CHECK_SLUG,
    COMPARE_SLUG,
    FILTER_SLUG,
    RATING_SLUG,
    SLUG,
    study_files,
)
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.importer import import_files
from studies.actions.projects.projects import save_project
from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import Membership, Project, Study, StudyState
from studies.permissions import Role

KIND = "simulation.demo_project"
NAME = "Demo: drawn scenes"
SEED = "demo"
PER_CATEGORY = 6
# Study -> number of annotators; each study comes after those that feed it.
STAGES = {SLUG: 5, FILTER_SLUG: 3, BASELINE_SLUG: 4, RATING_SLUG: 4, CHECK_SLUG: 3, COMPARE_SLUG: 5}
LEAVE = 0.2
ACCURACY = 0.9
# Gives both answers right in 94 % of cases, about as in BiVLC (90.40 and 93.00).
ACCURACIES = {BASELINE_SLUG: 0.97}
MODEL = "onnx:demo"
# After this long without a worker, the site may have none.
SOON = timedelta(seconds=20)


@dataclass(frozen=True)
class DemoProgress:
    """How far a demo project is. job: None once it is finished and its job deleted."""

    project: Project
    job: Job | None

    @property
    def is_made(self) -> bool:
        return self.job is None or self.job.state == JobState.DONE

    @property
    def has_failed(self) -> bool:
        return self.job is not None and self.job.state in (JobState.FAILED, JobState.CANCELLED)

    def lacks_worker(self, now: datetime) -> bool:
        """Return whether it has waited so long that there may be no worker."""
        return self.job is not None and self.job.state == JobState.WAITING and self.job.asked_at < now - SOON


def demo_of(user: User) -> DemoProgress | None:
    """Return the demo project that `user` owns, if they have one."""
    memberships = Membership.objects.filter(user=user, role=Role.OWNER)
    owned = Project.objects.filter(is_demo=True, deletion=None, memberships__in=memberships)
    if (project := owned.order_by("pk").first()) is None:
        return None
    return DemoProgress(project, Job.objects.filter(kind=KIND, key=str(project.pk)).order_by("pk").last())


@transaction.atomic
def request_demo(*, by: User, now: datetime) -> tuple[DemoProgress, Job | None]:
    """Return the demo project of `by`, created if there is none, and the job to send, if any."""
    # A second click waits here, and then finds the project of the first.
    User.objects.select_for_update().get(pk=by.pk)
    found = demo_of(by)
    if found is not None and not found.has_failed:
        return found, None
    if found is None:
        project = Project(slug=_free_slug(by), name=NAME, is_demo=True)
        save_project(project, owner=by, by=by, now=now - OPEN_BEFORE)
    else:
        project = found.project
    arguments = {"project": project.pk, "user": by.pk}
    job, _ = request_job(kind=KIND, arguments=arguments, by=by, now=now, key=str(project.pk))
    return DemoProgress(project, job), job


def _free_slug(user: User) -> str:
    slugs = (f"demo-{user.pk}" if number == 1 else f"demo-{user.pk}-{number}" for number in count(1))
    return next(slug for slug in slugs if not Project.objects.filter(slug=slug).exists())


def _make(job: RunningJob) -> None:
    """Create the demo of a job; a later worker continues where the earlier one stopped."""
    project = Project.objects.filter(pk=job.arguments["project"], deletion=None).first()
    user = User.objects.filter(pk=job.arguments["user"]).first()
    if project is None or user is None:
        return
    try:
        _Demo(job, project, user).make()
    except (StudyError, ImportRefused, CannotRead, CannotLoad) as error:
        raise Failed(f"The demo could not be created. {error}") from error


class _Demo:
    """One worker's attempt at a demo project."""

    def __init__(self, job: RunningJob, project: Project, user: User) -> None:
        self.job, self.project, self.user = job, project, user
        self.scenes = list(describe_instances(seed=SEED, per_category=PER_CATEGORY))
        self.finished: list[str] = list(job.step.get("finished", ()))
        self.total = len(self.scenes) + sum(STAGES.values()) + 1

    def make(self) -> None:
        self._import()
        for slug, source in study_files(self.scenes).items():
            if not self.project.studies.filter(slug=slug).exists():
                create_study(project=self.project, source=source, by=self.user, now=self._opening())
        done = len(self.scenes)
        for slug, people in STAGES.items():
            if slug not in self.finished:
                self._play(self.project.studies.get(slug=slug), people, done)
            done += people
        self._ask_model()
        self.job.check()

    def _advance(self, done: int) -> None:
        self.job.advance(done=done, total=self.total)

    def _opening(self) -> datetime:
        """Return the time of what is done before the people come."""
        return self.job.now() - OPEN_BEFORE

    def _import(self) -> None:
        if self.project.instances.exists():
            return
        with tempfile.TemporaryDirectory() as folder:
            manifest = write_manifest(self._draw_scenes(), Path(folder))
            import_files(
                project=self.project,
                files=[manifest],
                format="jsonl",
                images_dir=Path(folder) / IMAGES,
                by=self.user,
                now=self._opening(),
            )
        self.project.instances.update(created_at=self._opening())

    def _draw_scenes(self) -> Iterator[SceneInstance]:
        for number, scene in enumerate(self.scenes):
            self._advance(number)
            yield scene

    def _play(self, study: Study, people: int, done: int) -> None:
        """Launch `study` and let simulated people answer; `done` counts what was done before."""
        if study.state == StudyState.DRAFT:
            launch(study=study, by=self.user, now=self._opening())
        accuracy = ACCURACIES.get(study.slug, ACCURACY)
        if not Session.objects.filter(study=study).exists():
            told: Any = {"annotators": people, "accuracy": accuracy, "seed": SEED}
            announce_simulation(study=study, by=self.user, now=self._opening(), **told)
        # A lapsed session belongs to an interrupted visit and can continue.
        ended = Session.objects.filter(study=study).exclude(state__in=OPEN_STATES | {SessionState.LAPSED})
        over = set(ended.values_list("id_digest", flat=True))
        for person in annotators(count=people, accuracy=accuracy, seed=SEED, leave=LEAVE):
            self._advance(done + person.number)
            if over.isdisjoint(Session.digests_of([person.ids()[1]])):
                take_part(browser=BrowserInProcess(), study=study, person=person)
        with transaction.atomic():
            backdate_sessions(study)
            self.finished.append(study.slug)
            self.job.advance(step={"finished": self.finished}, done=done + people, total=self.total)

    def _ask_model(self) -> None:
        study = self.project.studies.get(slug=BASELINE_SLUG)
        if not Run.objects.filter(study=study, state=Run.State.DONE).exists():
            run_in_process(request_run(project=self.project, study=study, spec=MODEL, by=self.user, now=self.job.now()))


DEMO = Work(run=_make, unit="steps", trouble="The demo could not be created. Request it again.", minutes=15)
