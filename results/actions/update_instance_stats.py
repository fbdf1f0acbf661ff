"""Recount what studies made of instances, and store what changed."""

from collections.abc import Callable
from dataclasses import asdict

from django.db import transaction

from results.models import InstanceFigures
from results.queries.instances.instance_stats import Figures, disagreements_in, figures_of, instances_asked
from studies.actions.table_statistics import refresh_statistics
from studies.models import Project, StudyState

_COUNTED = [name for name in Figures.__dataclass_fields__ if name != "instance"]


def count_figures(project: Project, keep: Callable[[], None]) -> None:
    """Recount the figures of `project`; running twice equals once, and only changes are written.

    Some thousand instances are one transaction, so that incoming answers never wait long. `keep` is called in each and
    raises when the figures are no longer wanted.
    """
    disagreements = disagreements_in(project)
    for study in project.studies.exclude(state=StudyState.DRAFT).order_by("pk"):
        for instances in instances_asked(study):
            with transaction.atomic():
                keep()
                _store(study.pk, instances, figures_of(study, instances, disagreements))
    refresh_statistics(InstanceFigures)


def _store(study: int, instances: list[int], figures: dict[int, Figures]) -> None:
    stored = InstanceFigures.objects.filter(study=study, instance__gte=instances[0], instance__lte=instances[-1])
    # One at a time: a request about a small project counts it itself.
    there = {row.instance_id: row for row in stored.select_for_update()}
    changed, new = [], []
    for instance, found in figures.items():
        values = asdict(found) | {"outcome": found.outcome.value, "progress": found.progress.value}
        del values["instance"]
        row = there.pop(instance, None)
        if row is None:
            new.append(InstanceFigures(study_id=study, instance_id=instance, **values))
        elif any(getattr(row, name) != value for name, value in values.items()):
            vars(row).update(values)
            changed.append(row)
    InstanceFigures.objects.bulk_create(
        new, update_conflicts=True, unique_fields=["study", "instance"], update_fields=_COUNTED
    )
    InstanceFigures.objects.bulk_update(changed, _COUNTED, batch_size=200)
    stored.filter(instance__in=there).delete()
