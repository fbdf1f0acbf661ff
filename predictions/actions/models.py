"""What a researcher does with a model of a project: call it otherwise, and delete what it predicted."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from predictions.actions.import_predictions import ModelName, problems_with_names
from predictions.errors import CannotPredict
from predictions.models import Model, Run
from studies.actions.events import Actor, What, record
from studies.models import Project
from studies.wording import counted

GONE = "Somebody has deleted this model meanwhile."
AT_WORK = "It is being asked at this moment ({about}). Cancel that first, or wait until it is done."


@dataclass(frozen=True)
class Holding:
    """What goes with a model: how many predictions, about how many instances."""

    predictions: int
    instances: int

    def __str__(self) -> str:
        return f"{counted(self.predictions, 'prediction')} about {counted(self.instances, 'instance')}"


def holding(model: Model) -> Holding:
    """Return what goes with a model."""
    instances = model.predictions.order_by().values("instance").distinct()
    return Holding(predictions=model.predictions.count(), instances=instances.count())


@transaction.atomic
def rename_model(*, project: Project, model: Model, name: str, version: str, by: Actor, now: datetime) -> Model:
    """Call a model `name` and `version` in every table from now on; which weights it has is never changed.

    Workers go on knowing it by its first names, so that what it has answered is not asked again. Raises CannotPredict.
    """
    name, version = name.strip(), version.strip()
    if problems := problems_with_names(ModelName(name, version)):
        raise CannotPredict(" ".join(problems))
    found = _locked(project, model)
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
def delete_model(*, project: Project, model: Model, by: Actor, now: datetime) -> Holding:
    """Delete a model of a project and all that it predicted there; return what went. Raises CannotPredict.

    What was asked of it stays listed. Frozen releases and files that were exported keep what they hold: they are what
    somebody may have published, and no person's wish stands behind a prediction.
    """
    found = _locked(project, model)
    at_work = Run.objects.unfinished().filter(model=found).select_related("study").first()
    if at_work is not None:
        raise CannotPredict(AT_WORK.format(about=at_work.about))
    went = holding(found)
    record(project=project, what=What.MODEL_DELETED, by=by, now=now, model=str(found), predictions=went.predictions)
    found.delete()
    return went


def _locked(project: Project, model: Model) -> Model:
    """Return the project's model, whose row is ours until the end of the transaction. Raises CannotPredict where it is
    gone."""
    found = Model.objects.select_for_update(of=("self",)).filter(project=project, pk=model.pk).first()
    if found is None:
        raise CannotPredict(GONE)
    return found
