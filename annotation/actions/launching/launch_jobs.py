"""Launches of large studies, done by a job: still all or nothing."""

import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from annotation.actions.launching.launch import launch
from background.errors import Failed
from background.jobs import request_job
from background.models import Job, JobState
from background.work import RunningJob, Work
from studies.actions.events import What, record
from studies.actions.projects.members import may
from studies.actions.studies import Plan
from studies.errors import StudyError
from studies.models import Study, StudyState
from studies.permissions import Verb

KIND = "annotation.launch"
# Questions and places for answers that a request can create: about two seconds on SQLite.
LAUNCHED_AT_ONCE = 20_000
# A job that no worker has begun after this long may have none.
SOON = timedelta(seconds=20)


@dataclass(frozen=True)
class LaunchProgress:
    """The last launch of a study by a job."""

    job: Job

    @property
    def error(self) -> str:
        return self.job.error if self.job.state == JobState.FAILED else ""

    def lacks_worker(self, now: datetime) -> bool:
        return self.job.state == JobState.WAITING and self.job.asked_at < now - SOON


def is_large(plan: Plan) -> bool:
    """Whether a launch takes too long for a request."""
    return plan.questions + plan.answers > LAUNCHED_AT_ONCE


@transaction.atomic
def request_launch(*, study: Study, by: User, now: datetime) -> tuple[Job, bool]:
    """Return the job that launches `study`, and whether it is new and has to be sent."""
    # Whoever deletes the project finds the job by `project`.
    arguments = {"study": study.pk, "project": study.project_id, "user": by.pk, "file": _checksum(study)}
    job, is_new = request_job(kind=KIND, arguments=arguments, by=by, now=now, key=str(study.pk))
    if is_new:
        record(project=study.project, study=study, what=What.LAUNCH_REQUESTED, by=by, now=now)
    return job, is_new


def launch_progress(study: Study) -> LaunchProgress | None:
    """Return the last launch of the draft `study` by a job, None without one."""
    job = Job.objects.filter(kind=KIND, key=str(study.pk)).order_by("pk").last()
    return LaunchProgress(job) if job else None


def _checksum(study: Study) -> int:
    """Return a number that changes with the study file."""
    return zlib.crc32(study.source.encode())


def _launch(job: RunningJob) -> None:
    study = Study.objects.select_related("project").filter(pk=job.arguments["study"]).first()
    user = User.objects.filter(pk=job.arguments["user"]).first()
    if study is None or user is None:
        raise Failed("The draft was deleted before its launch.")
    if not may(user, Verb.RUN, study.project):
        raise Failed(f"{user.get_username()} may no longer launch studies in this project.")
    try:
        with transaction.atomic():
            # Locked before its file is compared, so that nobody changes it in between.
            locked = Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
            if locked.state != StudyState.DRAFT:
                # An earlier worker was lost after it had launched the study.
                return
            if _checksum(locked) != job.arguments["file"]:
                raise Failed("The draft was changed after its launch was confirmed. Check it and launch it again.")
            launch(study=study, by=user, now=job.now())
            job.check()
    except StudyError as error:
        raise Failed(" ".join(error.problems)) from error


LAUNCH = Work(run=_launch, trouble="The study could not be launched, and nothing was changed.", minutes=30)
