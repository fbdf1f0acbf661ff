"""Files of examples, and folders of workers, which are kept as long as a worker may need them: they hold what people
wrote, or were trained on it."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.core.files.storage import default_storage
from django.db.models import Q

from studies.actions.events import What
from studies.actions.stored_files import stored_files
from studies.models import Event, Project, Purpose
from training.models import DiscardedFolder, TrainingRun

# For how long a run that stopped can go on with the same examples; later they are prepared again.
KEPT = timedelta(days=7)
FOLDER = "training"
# Of studies that are a baseline.
BASELINE_GROWS = (What.STUDY_LAUNCHED, What.INSTANCES_TAKEN_UP)


def delete_examples(run: TrainingRun) -> None:
    """Delete the files of examples of a run; their hashes and numbers stay."""
    for part in run.files.values():
        if part["file"]:
            default_storage.delete(part["file"])
            part["file"] = ""
    run.save(update_fields=["files"])


def discard_folder(run: TrainingRun, *, now: datetime) -> None:
    """Remember that workers are to delete the folder of a run, if one was ever asked to train it."""
    if run.attempt:
        DiscardedFolder.objects.get_or_create(folder=run.folder, defaults={"discarded_at": now})


def are_lost(run: TrainingRun) -> bool:
    """Whether a run has examples whose files are no longer in the storage."""
    return run.has_examples and not all(default_storage.exists(part["file"]) for part in run.files.values())


class EventCounts(NamedTuple):
    """How often people of a project withdrew, and how often more was protected from training.

    They are counted before examples are read. Times would not do: an event has the time at which its work began, and is
    seen when that has ended.
    """

    withdrawals: int
    protections: int


def count_events(project: Project) -> EventCounts:
    """Return the numbers of events of now for runs of `project`."""
    in_baseline = Q(project=project, study__purpose=Purpose.BASELINE, what__in=BASELINE_GROWS)
    protects = in_baseline | Q(project=project, what=What.INSTANCES_IMPORTED) | Q(what=What.RELEASE_FROZEN)
    return EventCounts(_withdrawals(project.pk), Event.objects.filter(protects).count())


def _withdrawals(project: int) -> int:
    return Event.objects.filter(project=project, what=What.ANNOTATOR_WITHDRAWN).count()


def somebody_withdrew(run: TrainingRun) -> bool:
    """Whether somebody of its project withdrew since the examples of a run were read, which may hold their answers."""
    if run.withdrawals is None:
        # Read by an earlier version.
        read_at = run.requested_at if run.job is None else run.job.started_at or run.job.asked_at
        since = Event.objects.filter(project=run.project_id, what=What.ANNOTATOR_WITHDRAWN, at__gte=read_at)
        return since.exists()
    return _withdrawals(run.project_id) != run.withdrawals


def is_outdated(run: TrainingRun) -> bool:
    """Whether the examples of a run have to be read again before a worker begins or goes on with it.

    What is protected since counts only before its first step.
    """
    if somebody_withdrew(run):
        return True
    has_begun = run.state == TrainingRun.State.TRAINING or run.step > 0 or run.protections is None
    return not has_begun and count_events(run.project).protections != run.protections


def discard_old(*, now: datetime) -> None:
    """Delete the examples of runs that are done, stopped long ago, or stopped before somebody withdrew."""
    over = TrainingRun.objects.exclude(state__in=TrainingRun.UNFINISHED).exclude(files={}).select_related("job")
    for run in over:
        is_old = not run.can_resume or (run.finished_at is not None and run.finished_at < now - KEPT)
        if run.has_examples and (is_old or somebody_withdrew(run)):
            delete_examples(run)


def discard_orphans() -> None:
    """Delete files of examples that no run names: whatever stored them was killed before it could note them."""
    for run_id, files in stored_files(FOLDER):
        # Read after the files: a run that prepares its examples may name them soon.
        run = TrainingRun.objects.filter(pk=int(run_id)).first() if run_id.isdecimal() else None
        if run is None or run.state != TrainingRun.State.PREPARING:
            named = set() if run is None else {part["file"] for part in run.files.values()}
            for file in files:
                if file not in named:
                    default_storage.delete(file)
