"""What is said beside a dataset, gathered."""

from collections import Counter
from collections.abc import Iterable

from results.exporting.card import Origin, dossier_of
from results.exporting.dossier import About, Dossier
from results.exporting.rows import IMAGE_ROLES, AcceptedInstance
from results.reports.build import report_of
from results.tables.exported import accepted_instances
from results.tables.reporting import release_facts
from studies.models import Study


def study_dossier(study: Study, about: About) -> Dossier:
    """Return what there is to say about what `study` accepted."""
    facts = release_facts(study)
    origins: Counter[Origin] = Counter()
    keys: set[str] = set()
    for instance in accepted_instances(study):
        if instance.key not in keys:
            keys.add(instance.key)
            origins.update(_origins(instance))
    return dossier_of(facts, report_of(facts), study=study.slug, size=len(keys), origins=origins, about=about)


def _origins(instance: AcceptedInstance) -> Iterable[Origin]:
    for image in instance.images:
        if image.role in IMAGE_ROLES and image.position == 0:
            yield Origin(image.role, image.source, image.licence, image.generator)
