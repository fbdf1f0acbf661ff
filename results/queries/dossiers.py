"""What is said beside a dataset, gathered."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace

from results.exporting.card import Origin, PredictedBy, dossier_of
from results.exporting.dossier import About, Dossier
from results.exporting.outline import outline_of
from results.exporting.rows import IMAGE_ROLES, AcceptedInstance
from results.queries.exported import accepted_instances, released_predictions
from results.queries.reporting import project_outline, release_facts
from results.reports.build import report_of
from studies.models import Project, Study


def study_dossier(study: Study, about: About) -> Dossier:
    """Return what there is to say about what `study` accepted."""
    facts = release_facts(study)
    dataset = study.project.dataset
    about = replace(about, kept_by=dataset.slug if dataset else "")
    origins: Counter[Origin] = Counter()
    keys: set[str] = set()
    for instance in accepted_instances(study):
        if instance.key not in keys:
            keys.add(instance.key)
            origins.update(_origins(instance))
    names = [field.name for field in fields(PredictedBy)]
    models = Counter(PredictedBy(*(getattr(row, name) for name in names)) for row in released_predictions(study))
    return dossier_of(
        facts, report_of(facts), study=study.slug, size=len(keys), origins=origins, models=models, about=about
    )


def exports_dossier(project: Project) -> Dossier:
    """Return what there is to say about the tables exported from `project`; reads no row of them."""
    return outline_of(project_outline(project))


def _origins(instance: AcceptedInstance) -> Iterable[Origin]:
    for image in instance.images:
        if image.role in IMAGE_ROLES and image.position == 0:
            yield Origin(image.role, image.source, image.licence, image.generator)
