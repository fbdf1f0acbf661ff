"""What models got right: on the instances that people answered about, on the dataset, and choosing captions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.outcomes import Outcome
from analytics.scores import Outcomes, Score, score
from results.reports.addresses import ALL, in_address, listing
from results.reports.base import Cell, Column, Listed, Table
from results.reports.cells import share_of, share_range
from results.reports.facts import ProjectFacts
from results.reports.funnel import Category, dataset_study, kept_instances
from results.reports.people import SCORES, in_category_order


@dataclass(frozen=True)
class Answered:
    """The outcomes of a model, one place per instance. `listed_as`: what lists of instances call it."""

    who: str
    instances: Sequence[int]
    outcomes: Outcomes
    listed_as: str = ""

    def rights(self) -> dict[str, dict[int, bool]]:
        """Return for each score whether every instance counts as right."""
        return {
            name: dict(zip(self.instances, column.tolist(), strict=True))
            for name, column in self.outcomes.columns().items()
        }


def models_on(project: ProjectFacts, instances: Collection[int]) -> list[Answered]:
    """Return the models that were asked all four questions about some of `instances`, on these."""
    found = []
    for model in project.models:
        common = [instance for instance in instances if instance in model.outcomes]
        if common:
            columns = np.array([model.outcomes[instance] for instance in common], dtype=np.bool_).reshape(-1, 4).T
            found.append(Answered(model.name, common, Outcomes(*columns), model.listed_as))
    return found


def declared(project: ProjectFacts, names: Collection[str]) -> list[str]:
    """Return the note about those of the models called `names` of which nobody knows what pictures they saw."""
    found = [model.name for model in project.models if model.is_declared and model.name in names]
    if not found:
        return []
    return [f"Declared, not verified, because the files of their predictions name no pictures: {', '.join(found)}."]


def grouped(taker: Answered, categories: Mapping[int, Category]) -> dict[Category, dict[str, Score]]:
    """Return the scores over all instances, then of each type, followed by its subtypes."""
    types, subtypes = ([categories[instance][index] for instance in taker.instances] for index in (0, 1))
    found = {(ALL, ALL): taker.outcomes.scores()}
    found |= {(type, ALL): scores for (type,), scores in taker.outcomes.scores_by(types).items()}
    found |= {(type, subtype): scores for (type, subtype), scores in taker.outcomes.scores_by(types, subtypes).items()}
    return dict(sorted(found.items(), key=lambda item: in_category_order(item[0])))


def models_table(project: ProjectFacts) -> Table:
    """Return every model's scores on the dataset."""
    columns = [Column("Model"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column(name, "share") for name in SCORES]
    keeping, kept = dataset_study(project), kept_instances(project)
    within = {"study": keeping.slug, "state": in_address(Outcome.ACCEPTED)} if keeping else {}
    rows: list[Sequence[Cell]] = []
    for model in models_on(project, sorted(kept)):
        are_listed = set(model.instances) == project.predicted_by.get(model.listed_as, frozenset()) & kept
        for category, scores in grouped(model, project.categories).items():
            n = scores["I2T"].n
            query = listing(category=category, model=model.listed_as, **within)
            shares = (share_of(scores[name]) for name in SCORES)
            rows.append((model.who, *category, Listed(n, query) if are_listed else n, *shares))
    over = f"what {keeping.slug} accepted" if keeping else "all that was imported"
    notes = [f"Over the dataset: {over}. {OF_AN_INSTANCE}", *declared(project, {str(row[0]) for row in rows})]
    rests_on = [keeping.slug] if keeping else []
    return Table("models", "Models on the dataset", columns, rows, notes, rests_on, is_long_form=True)


OF_AN_INSTANCE = (
    "An instance counts for I2T when both images were given their captions, for T2I when both captions were given "
    "their images, for Group when all four were right."
)


def captions_table(project: ProjectFacts) -> Table:
    """Return how often models chose the caption of the image, where that is all they were asked: as on SugarCrepe."""
    columns = [Column("Model"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column("Right", "count"), Column("Accuracy", "share"), Column("95 % interval", "share")]
    rows: list[Sequence[Cell]] = []
    for model in project.models:
        are_listed = set(model.captions) == project.predicted_by.get(model.listed_as)
        for category, rights in _by_category(model.captions.items(), project):
            found = score(rights)
            if found.n:
                query = listing(category=category, model=model.listed_as)
                n = Listed(found.n, query) if are_listed else found.n
                rows.append((model.name, *category, n, found.count, share_of(found), share_range(found)))
    notes = [
        "The image with its caption and the negative caption, one question per instance, over all that were imported. "
        "All counts every instance once (the micro average). Wilson's intervals.",
        *declared(project, {str(row[0]) for row in rows}),
    ]
    return Table("captions", "Models choosing the caption of an image", columns, rows, notes)


def _by_category(captions: Iterable[tuple[int, bool]], project: ProjectFacts) -> Iterable[tuple[Category, list[bool]]]:
    found: dict[Category, list[bool]] = {(ALL, ALL): []}
    for instance, right in captions:
        for category in ((ALL, ALL), project.categories[instance]):
            found.setdefault(category, []).append(right)
    return sorted(found.items(), key=lambda item: in_category_order(item[0]))
