"""Which study keeps the dataset of a project is declared, by whoever launches it or says so later."""

from datetime import datetime

from django.db import transaction

from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import Project, Study, StudyState


@transaction.atomic
def set_dataset(*, project: Project, study: Study | None, by: Actor, now: datetime) -> None:
    """Declare that the dataset of `project` is what `study` kept; None: all its instances. Raises StudyError."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if study is not None:
        _check(locked, study)
    if locked.dataset_id != (study and study.pk):
        before = locked.dataset.slug if locked.dataset else ""
        locked.dataset = study
        locked.save(update_fields=["dataset"])
        record(project=project, study=study, what=What.DATASET_SET, by=by, now=now, before=before)
    project.dataset = study


def _check(project: Project, study: Study) -> None:
    if study.project_id != project.pk:
        raise StudyError(f"{study.slug} is a study of another project. Choose one of {project.slug}.")
    if not study.accepts:
        raise StudyError(
            f"{study.slug} accepts nothing, so it cannot keep the dataset. Choose a study that accepts and rejects."
        )
    if study.state == StudyState.DRAFT:
        raise StudyError(f"{study.slug} is a draft, so it has kept nothing. Launch it first.")


def may_keep(study: Study) -> bool:
    """Tell whether `study` may keep the dataset of its project: it has been launched, and it accepts and rejects."""
    return study.accepts and study.state != StudyState.DRAFT
