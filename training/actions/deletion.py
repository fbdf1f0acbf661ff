"""Delete a training run with its examples, and have a worker delete its weights and checkpoints."""

from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import QuerySet
from kombu.exceptions import OperationalError

from predictions.actions.models import count_predictions, delete_model
from predictions.messages import GPU
from predictions.models import Model, Run, TrainedWeights
from studies.actions.events import Actor, What, record
from training.actions.examples import delete_examples, discard_folder
from training.errors import CannotTrain
from training.messages import DISCARD
from training.models import DiscardedFolder, TrainingRun

# Workers that share no folder may get the message of another one, so it is sent again, but not for ever.
ASKED_EVERY = timedelta(hours=1)
ASKED_FOR = timedelta(days=7)
# Begins the spec of a model that loads the tower that it was trained on.
STANDING = ("imagecode:", "text-only:detector:", "image-only:detector:")


@transaction.atomic
def delete_run(*, run: TrainingRun, by: Actor, now: datetime) -> None:
    """Delete a run that has ended, with its model. Raises CannotTrain while somebody needs it.

    Its mark stays: predictions of the same weights are still marked as trained on this project.
    """
    run = TrainingRun.objects.select_for_update(of=("self",)).select_related("project").get(pk=run.pk)
    if problem := why_not_deleted(run):
        raise CannotTrain(problem)
    for model in models_of(run):
        delete_model(project=run.project, model=model, by=by, now=now)
    _trained(run).update(deleted_at=now)
    delete_examples(run)
    discard_folder(run, now=now)
    told: dict[str, Any] = {"model": run.name, "recipe": run.recipe, "base": run.base, "data": run.data}
    record(project=run.project, what=What.TRAINING_DELETED, by=by, now=now, **told)
    run.delete()


def why_not_deleted(run: TrainingRun) -> str:
    """Return why a run cannot be deleted, and what to do; "" if it can."""
    if run.is_unfinished:
        return f"{run.name} is still in training. Cancel it first."
    spec = run.result.get("spec", "")
    if spec and Run.objects.unfinished().filter(project=run.project, spec=spec).exists():
        return f"{run.name} answers questions now. Cancel its run under Models first, or wait until it ends."
    for other in TrainingRun.objects.filter(base=spec) if spec else ():
        named = other.name if other.project_id == run.project_id else "A model of another project"
        if other.is_unfinished:
            return f"{named} is trained from this model now. Cancel it first, or wait until it is done."
        if other.result.get("spec", "").startswith(STANDING):
            return f"{named} needs this model to answer questions. Delete that one first."
    for model in models_of(run):
        if (counts := count_predictions(model)).predictions:
            return f"{run.name} has {counts} under the name {model}. Delete that model first, under Models."
    return ""


def models_of(run: TrainingRun) -> list[Model]:
    """Return the models of the project that have the weights of a run, unless another run trained the same ones."""
    weights = list(_trained(run).values_list("weights", flat=True))
    others = TrainedWeights.objects.filter(project=run.project, weights__in=weights, deleted_at=None)
    if not weights or others.exclude(spec=run.result["spec"]).exists():
        return []
    return list(Model.objects.filter(project=run.project, weights__in=weights))


def _trained(run: TrainingRun) -> QuerySet[TrainedWeights]:
    return TrainedWeights.objects.filter(project=run.project, spec=run.result.get("spec", ""), deleted_at=None)


def ask_to_discard(*, now: datetime) -> None:
    """Ask workers to delete the folders of deleted runs, each once an hour until one says that it did."""
    DiscardedFolder.objects.filter(discarded_at__lt=now - ASKED_FOR).delete()
    for row in DiscardedFolder.objects.due(now - ASKED_EVERY):
        try:
            current_app.send_task(
                DISCARD, kwargs={"folder": row.folder}, queue=GPU, expires=ASKED_EVERY.total_seconds()
            )
        except OperationalError:
            # The others would not be sent either; all are sent later.
            return
        DiscardedFolder.objects.filter(pk=row.pk).update(asked_at=now)


def note_discarded(*, folder: str) -> None:
    """Record that a worker has deleted a folder."""
    DiscardedFolder.objects.filter(folder=folder).delete()
