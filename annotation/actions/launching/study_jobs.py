"""Launches and extensions of large studies, done by a job.

All or nothing, except that new instances are added survey by survey.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from annotation.actions.launching.extend_study import (
    EXTENSION_JOB,
    ExtensionKind,
    ExtensionPlan,
    ExtensionResult,
    add_instances,
    extend,
)
from annotation.actions.launching.launch import launch
from background.errors import Failed
from background.jobs import cancel, request_job
from background.live_progress import show_in
from background.models import Job, JobState
from background.work import RunningJob, Work
from studies.actions.drafts import LAUNCH_JOB
from studies.actions.events import TIMETABLE, What, record
from studies.actions.projects.members import may
from studies.actions.studies import Plan
from studies.errors import StudyError
from studies.models import Event, Study, StudyState
from studies.permissions import Verb

# Questions and places for answers that a request can create: about two seconds on SQLite.
DONE_AT_ONCE = 20_000
EXTENDED = (What.MORE_ANSWERS_WANTED, What.MOST_ANSWERS_RAISED, What.INSTANCES_TAKEN_UP)
# A job that no worker has begun after this long may have none.
SOON = timedelta(seconds=20)


@dataclass(frozen=True)
class StudyJob:
    """The last launch of a draft, or the last extension of a launched study, by a job."""

    job: Job
    stage: str = ""
    """What it does now, if it has said."""

    @property
    def is_launch(self) -> bool:
        return self.job.kind == LAUNCH_JOB

    @property
    def error(self) -> str:
        return self.job.error if self.job.state == JobState.FAILED else ""

    @property
    def added(self) -> int:
        """Return how many questions an extension had added before it failed or was cancelled."""
        ended_early = self.job.state in {JobState.FAILED, JobState.CANCELLED}
        return _added(self.job).questions if ended_early else 0

    def lacks_worker(self, now: datetime) -> bool:
        return self.job.state == JobState.WAITING and self.job.asked_at < now - SOON


def is_large(plan: Plan | ExtensionPlan) -> bool:
    """Whether a launch or an extension takes too long for a request."""
    return plan.questions + plan.answers > DONE_AT_ONCE


@transaction.atomic
def request_launch(*, study: Study, by: User, now: datetime) -> tuple[Job, bool]:
    """Return the job that launches `study`, and whether it is new and has to be sent."""
    return _request(LAUNCH_JOB, What.LAUNCH_REQUESTED, study, {"file": _checksum(study)}, by, now)


def refuse_second_job(study: Study, arguments: Mapping[str, int] | None = None) -> None:
    """Raise StudyError if a launch or an extension of `study` waits or runs, except one with these `arguments`."""
    found = last_study_job(study)
    if found is None or not found.job.is_unfinished:
        return
    if arguments is None or not arguments.items() <= found.job.arguments.items():
        doing = "launched" if found.is_launch else "extended"
        raise StudyError(f"The study is being {doing}. Wait until that is done, or cancel it.")


@transaction.atomic
def request_extension(
    *, study: Study, way: ExtensionKind, number: int, by: User, now: datetime, beyond: int | None = None
) -> tuple[Job, bool]:
    """Return the job that extends `study`, and whether it is new and has to be sent. `number`, `beyond`: see `extend`.

    A study has one at a time.
    """
    wanted = {way.value: number} | ({} if beyond is None else {"beyond": beyond})
    return _request(EXTENSION_JOB, What.EXTENSION_REQUESTED, study, wanted, by, now)


def _request(kind: str, what: What, study: Study, wanted: dict[str, int], by: User, now: datetime) -> tuple[Job, bool]:
    # Whoever deletes the project finds the job by `project`.
    arguments = {"study": study.pk, "project": study.project_id, "user": by.pk, **wanted}
    job, is_new = request_job(kind=kind, arguments=arguments, by=by, now=now, key=str(study.pk))
    if is_new:
        record(project=study.project, study=study, what=what, by=by, now=now)
    return job, is_new


@transaction.atomic
def cancel_study_job(*, study: Study, by: User, now: datetime) -> None:
    """Cancel the launch or the extension of `study` that waits or runs. Raises StudyError if it is over."""
    found = last_study_job(study)
    if found is None or not found.job.is_unfinished:
        raise StudyError("It has already ended, so there was nothing to cancel.")
    if found.job.cancel_asked_at is not None:
        return
    cancel(job=found.job, now=now)
    if found.job.state == JobState.CANCELLED or found.job.cancel_asked_at is not None:
        what = What.LAUNCH_CANCELLED if found.is_launch else What.EXTENSION_CANCELLED
        record(project=study.project, study=study, what=what, by=by, now=now)


def job_of_study(study: Study, pk: int) -> StudyJob | None:
    """Return a launch or an extension of `study` by the id of its job, also after it ended; None without one."""
    job = Job.objects.filter(kind__in=[LAUNCH_JOB, EXTENSION_JOB], key=str(study.pk), pk=pk).first()
    return StudyJob(job, show_in(job)) if job else None


def last_study_job(study: Study) -> StudyJob | None:
    """Return the last launch of a draft, or the last extension of a launched study, by a job; None without one."""
    kind = LAUNCH_JOB if study.state == StudyState.DRAFT else EXTENSION_JOB
    job = Job.objects.filter(kind=kind, key=str(study.pk)).order_by("pk").last()
    return StudyJob(job, show_in(job)) if job and not _is_outdated(job, study) else None


def _is_outdated(job: Job, study: Study) -> bool:
    """Whether an extension failed or was cancelled and the study was extended since."""
    if job.kind != EXTENSION_JOB or job.state not in {JobState.FAILED, JobState.CANCELLED}:
        return False
    return Event.objects.filter(study=study, what__in=EXTENDED, at__gt=job.finished_at).exists()


def _checksum(study: Study) -> int:
    """Return a number that changes with the study file."""
    return zlib.crc32(study.source.encode())


def _run(job: RunningJob, act: Callable[[RunningJob, Study, User], None], *, verb: str) -> None:
    """Do `act` to the job's study, unless it is done already. `verb`: "launch" or "extend"."""
    if job.step.get("is_done"):
        # An earlier worker was lost after it had done it.
        return
    study = Study.objects.select_related("project").filter(pk=job.arguments["study"]).first()
    user = User.objects.filter(pk=job.arguments["user"]).first()
    if study is None or user is None:
        raise Failed(f"The study was deleted before it was {verb}ed.")
    if not may(user, Verb.RUN, study.project):
        raise Failed(f"{user.get_username()} may no longer {verb} studies in this project.")
    try:
        act(job, study, user)
    except StudyError as error:
        raise Failed(" ".join(error.problems)) from error


@contextmanager
def _all_or_nothing(job: RunningJob) -> Iterator[dict[str, int]]:
    """Yield the result of the job, to be filled, which is stored together with what it does."""
    result: dict[str, int] = {}
    with transaction.atomic():
        yield result
        # As late as possible: nobody can cancel from here on.
        job.advance(step={"is_done": True, "result": result})


def _launch(job: RunningJob) -> None:
    def act(job: RunningJob, study: Study, user: User) -> None:
        with _all_or_nothing(job):
            # Locked before its file is compared, so that nobody changes it in between.
            locked = Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
            if locked.state != StudyState.DRAFT:
                # Somebody has launched it at once, by a command.
                return
            if _checksum(locked) != job.arguments["file"]:
                raise Failed("The draft was changed after its launch was confirmed. Check it and launch it again.")
            launch(study=study, by=user, now=job.now(), progress=job.show)

    _run(job, act, verb="launch")


def _extend(job: RunningJob) -> None:
    way = next(way for way in ExtensionKind if way in job.arguments)

    def act(job: RunningJob, study: Study, user: User) -> None:
        beyond = job.arguments.get("beyond")
        with _all_or_nothing(job) as result:
            result |= asdict(
                extend(study=study, way=way, number=job.arguments[way], by=user, now=job.now(), beyond=beyond)
            )

    _run(job, _add_instances if way is ExtensionKind.INSTANCES else act, verb="extend")


def _add_instances(job: RunningJob, study: Study, user: User) -> None:
    """Add the new instances that earlier workers did not."""

    def store(so_far: ExtensionResult, total: int, is_last: bool) -> None:
        job.advance(step={"result": asdict(so_far), "is_done": is_last}, done=so_far.questions, total=total)

    add_instances(study=study, by=user, now=job.now(), before=_added(job), store=store)


def _added(job: Job | RunningJob) -> ExtensionResult:
    """Return which new instances the workers of an extension have added so far."""
    return ExtensionResult(**job.step.get("result", {}))


def _record_what_was_added(job: Job) -> None:
    """Record the new instances that were added before an extension failed or was cancelled."""
    added, study = _added(job), Study.objects.filter(pk=job.arguments["study"]).first()
    if study is not None and added.questions and not job.step["is_done"]:
        by, now = job.requested_by or TIMETABLE, job.finished_at or job.asked_at
        what = What.INSTANCES_TAKEN_UP
        record(project=study.project, study=study, what=what, by=by, now=now, **asdict(added))


LAUNCH = Work(run=_launch, trouble="The study could not be launched, and nothing was changed.", minutes=30)
EXTENSION = Work(
    run=_extend,
    trouble="The study could not be extended.",
    unit="questions",
    minutes=30,
    ended=_record_what_was_added,
)
