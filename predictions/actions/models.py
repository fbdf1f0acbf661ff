"""Rename a model of a project, or delete it with its predictions."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from predictions.actions.import_predictions import ModelName, problems_with_names
from predictions.errors import CannotPredict
from predictions.models import Model, Run
from studies.actions.events import Actor, What, record
from studies.models import Project
from studies.wording import format_count

GONE = "This model no longer exists: somebody has deleted it."
AT_WORK = "The model is running now ({about}). Cancel the run first, or wait until it ends."


@dataclass(frozen=True)
class PredictionCounts:
    """The number of predictions deleted with a model, and of the instances that they are about."""

    predictions: int
    instances: int

    def __str__(self) -> str:
        return f"{format_count(self.predictions, 'prediction')} about {format_count(self.instances, 'instance')}"


def count_predictions(model: Model) -> PredictionCounts:
    """Return what is deleted with a model."""
    instances = model.predictions.order_by().values("instance").distinct()
    return PredictionCounts(predictions=model.predictions.count(), instances=instances.count())


@transaction.atomic
def rename_model(*, project: Project, model: Model, name: str, version: str, by: Actor, now: datetime) -> Model:
    """Rename a model to `name` and `version` in every table; its weights never change.

    Workers still find it by its first names, so that it is not asked the same questions again. Raises CannotPredict.
    """
    name, version = name.strip(), version.strip()
    if problems := problems_with_names(ModelName(name, version)):
        raise CannotPredict(" ".join(problems))
    found = _lock_model(project, model)
    before = str(found)
    if (found.name, found.version) == (name, version):
        return found
    others = Model.objects.filter(project=project, name=name, version=version, weights=found.weights)
    if others.exists():
        raise CannotPredict(f"The project has another model of this name, version and weights: {others[0]}.")
    if not found.first_name:
        found.first_name, found.first_version = found.name, found.version
    found.name, found.version = name, version
    found.save(update_fields=["name", "version", "first_name", "first_version"])
    record(project=project, what=What.MODEL_RENAMED, by=by, now=now, model=before, name=str(found))
    return found


@transaction.atomic
def delete_model(*, project: Project, model: Model, by: Actor, now: datetime) -> PredictionCounts:
    """Delete a model of a project and its predictions there; return what was deleted. Raises CannotPredict.

    Its runs stay listed. Frozen releases and exported files do not change: they may be published already.
    """
    found = _lock_model(project, model)
    at_work = Run.objects.unfinished().filter(model=found).select_related("study").first()
    if at_work is not None:
        raise CannotPredict(AT_WORK.format(about=at_work.about))
    went = count_predictions(found)
    record(project=project, what=What.MODEL_DELETED, by=by, now=now, model=str(found), predictions=went.predictions)
    found.delete()
    return went


def _lock_model(project: Project, model: Model) -> Model:
    """Lock the project's model until the end of the transaction. Raises CannotPredict if it was deleted."""
    found = Model.objects.select_for_update(of=("self",)).filter(project=project, pk=model.pk).first()
    if found is None:
        raise CannotPredict(GONE)
    return found
