"""Collect the contents of dataset cards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from results.exporting.card_text import Origin, PredictionModel, dataset_card
from results.exporting.dataset_card import About, DatasetCard
from results.exporting.table_outline import tables_card
from results.queries.exports.empty_formats import EmptyFormats
from results.queries.exports.export_rows import released_predictions
from results.queries.instances.accepted_items import instances_of_studies
from results.queries.reports.report_rows import project_outline, release_facts
from results.reports.build import report_of
from studies.actions.projects.datasets import dataset_studies
from studies.models import Project, Study


def studies_card(studies: Sequence[Study], about: About, names: Mapping[int, str] | None = None) -> DatasetCard:
    """Return the card of what `studies`, one or more of a project, accepted.

    names: annotator -> name in it, by default the pseudonyms in the project.
    """
    facts = release_facts(studies, names)
    project = studies[0].project
    about = replace(about, kept_by=[study.slug for study in dataset_studies(project)])
    origins: Counter[Origin] = Counter()
    splits: Counter[str] = Counter()
    counted: set[str] = set()
    formats = EmptyFormats()
    for item in instances_of_studies(studies):
        splits[item.split] += 1
        formats.add(item)
        # Accepted parts of an instance share its other images.
        images = item.pair_images.values() if item.key in counted else item.images
        counted |= {item.key} if item.item else set()
        origins.update(Origin(image.role, image.source, image.licence, image.generator) for image in images)
    columns = [field.name for field in fields(PredictionModel)]
    models = Counter(
        PredictionModel(*(getattr(row, name) for name in columns)) for row in released_predictions(studies)
    )
    name = studies[0].slug if len(studies) == 1 else project.slug
    card = dataset_card(
        facts, report_of(facts), name=name, size=splits.total(), origins=origins, models=models, about=about
    )
    return replace(card, splits=dict(sorted(splits.items())), empty_formats=formats.reasons())


def exports_card(project: Project) -> DatasetCard:
    """Return the card of the tables exported from `project`; reads none of their rows."""
    return tables_card(project_outline(project))
