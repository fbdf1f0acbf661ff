"""Accuracy of models: on the instances that people answered, on the dataset, and on captions."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from analytics.scores import CHANCE, Outcomes, Score, score, wilson_interval
from results.reports.base import Cell, Chart, Column, LinkedCount, Point, Range, Reference, Report, Series, Table
from results.reports.cells import intervals_axis, share_of, share_range
from results.reports.explorer_links import ALL, list_query
from results.reports.facts import ProjectFacts
from results.reports.sections.funnel import (
    Category,
    dataset_filters,
    dataset_studies,
    describe_dataset,
    have_types,
    kept_instances,
)
from results.reports.sections.people import GROUP, SCORES, in_category_order
from results.reports.text import category_label, cell_text, percent, percent_range, short_model_names


@dataclass(frozen=True)
class ModelOutcomes:
    """The outcomes of a model, one position per instance. `listed_as`: its name in lists of instances."""

    who: str
    instances: Sequence[int]
    outcomes: Outcomes
    listed_as: str = ""

    def rights(self) -> dict[str, dict[int, bool]]:
        """Return for each score whether every instance is right."""
        return {
            name: dict(zip(self.instances, column.tolist(), strict=True))
            for name, column in self.outcomes.columns().items()
        }


def models_on(
    project: ProjectFacts, instances: Collection[int], *, without: Mapping[str, Set[int]] = MappingProxyType({})
) -> list[ModelOutcomes]:
    """Return the models that were asked all four questions about some of `instances`, on these.

    without: model, as in lists -> instances to leave out for it.
    """
    found = []
    for model in project.models:
        left_out = without.get(model.listed_as, frozenset())
        common = [instance for instance in instances if instance in model.outcomes and instance not in left_out]
        if common:
            columns = np.array([model.outcomes[instance] for instance in common], dtype=np.bool_).reshape(-1, 4).T
            found.append(ModelOutcomes(model.name, common, Outcomes(*columns), model.listed_as))
    return found


def declared_note(project: ProjectFacts, names: Collection[str]) -> list[str]:
    """Return the note about those of the models called `names` whose pictures are unknown."""
    found = [model.name for model in project.models if model.is_declared and model.name in names]
    if not found:
        return []
    return [f"Not verified, because their prediction files name no images: {', '.join(found)}."]


def category_scores(taker: ModelOutcomes, categories: Mapping[int, Category]) -> dict[Category, dict[str, Score]]:
    """Return the scores over all instances, then of each type with its subtypes."""
    types, subtypes = ([categories[instance][index] for instance in taker.instances] for index in (0, 1))
    found = {(ALL, ALL): taker.outcomes.scores()}
    found |= {(type, ALL): scores for (type,), scores in taker.outcomes.scores_by(types).items()}
    found |= {(type, subtype): scores for (type, subtype), scores in taker.outcomes.scores_by(types, subtypes).items()}
    return dict(sorted(found.items(), key=lambda item: in_category_order(item[0])))


def models_table(project: ProjectFacts) -> Table:
    """Return the scores of every model on the dataset."""
    columns = [Column("Model"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column(name, "share") for name in SCORES]
    columns.append(Column(f"95 % interval of {GROUP}", "share"))
    kept, within = kept_instances(project), dataset_filters(project)
    rows: list[Sequence[Cell]] = []
    for model in models_on(project, sorted(kept)):
        are_listed = set(model.instances) == project.predicted_by.get(model.listed_as, frozenset()) & kept
        for category, scores in category_scores(model, project.categories).items():
            n = scores["I2T"].n
            shares = (share_of(scores[name]) for name in SCORES)
            if are_listed and within is not None:
                n = LinkedCount(n, list_query(category=category, model=model.listed_as, **within))
            rows.append((model.who, *category, n, *shares, share_range(scores[GROUP])))
    over = f"Over the instances of the dataset ({describe_dataset(project)}) that the model answered. {OF_AN_INSTANCE}"
    notes = [f"{over} Wilson's intervals.", *declared_note(project, {str(row[0]) for row in rows})]
    rests_on = [study.slug for study in dataset_studies(project)]
    return Table("models", "Models on the dataset", columns, rows, notes, rests_on)


OF_AN_INSTANCE = (
    "An instance counts for I2T when both images were given their captions, for T2I when both captions were given "
    "their images, for Group when all four were right."
)


def models_chart(project: ProjectFacts) -> Chart:
    """Chart the group score of every model on the dataset by category, or else how often it chose the caption."""
    on_dataset = models_on(project, sorted(kept_instances(project)))
    scores = {
        model.who: {category: of[GROUP] for category, of in category_scores(model, project.categories).items()}
        for model in on_dataset
    }
    what, title, chance = "Group score", "Group score of models per category", CHANCE[GROUP]
    if not scores:
        what, title, chance = "Captions chosen correctly", "How often models chose the caption of an image", 1 / 2
        scores = {
            model.name: {category: score(rights) for category, rights in _by_category(model.captions.items(), project)}
            for model in project.models
            if model.captions
        }
    short = short_model_names(scores)
    series = [
        Series(
            short[who],
            [score_point(category_label(category), found) for category, found in _charted_scores(of).items()],
        )
        for who, of in scores.items()
    ]
    words = "; ".join(
        f"{each.name}: "
        + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value is not None)
        for each in series
    )
    axis = intervals_axis(what, series)
    note = "Chart: Wilson intervals, which generalise to other instances."
    lines = [Reference("chance", chance)]
    return Chart("models", title, f"{words}.", "dots", "share", axis, series, lines, method=note if series else "")


def _charted_scores(scores: Mapping[Category, Score]) -> Mapping[Category, Score]:
    """Return the scores of all instances, and of each type with its subtype."""
    has_types = have_types(scores)
    return {
        category: found
        for category, found in scores.items()
        if category == (ALL, ALL) or (category[1] != ALL and has_types)
    }


def score_point(label: str, found: Score) -> Point:
    """Return the share of a score with Wilson's interval."""
    low, high = wilson_interval(found.count, found.n) or (None, None)
    return Point(label, found.share, low, high)


def captions_table(project: ProjectFacts) -> Table:
    """Return how often models chose the caption of the image, if that is all they were asked, as on SugarCrepe."""
    columns = [Column("Model"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column("Right", "count"), Column("Accuracy", "share"), Column("95 % interval", "share")]
    rows: list[Sequence[Cell]] = []
    for model in project.models:
        are_listed = set(model.captions) == project.predicted_by.get(model.listed_as)
        for category, rights in _by_category(model.captions.items(), project):
            found = score(rights)
            if found.n:
                query = list_query(category=category, model=model.listed_as)
                n = LinkedCount(found.n, query) if are_listed else found.n
                rows.append((model.name, *category, n, found.count, share_of(found), share_range(found)))
    notes = [
        "The image with its caption and the negative caption, one question per instance, over all that were imported. "
        "All counts every instance once (the micro average). Wilson's intervals.",
        *declared_note(project, {str(row[0]) for row in rows}),
    ]
    return Table("captions", "Models choosing the caption of an image", columns, rows, notes)


@dataclass(frozen=True)
class ModelShare:
    """How often a model is right, as texts: share, interval ("" without one), and what it counts with n."""

    share: str
    interval: str
    of: str


# Table -> its columns with the model, its score and the interval, and what the score is of.
_SHARES: Mapping[str, tuple[str, str, str, str]] = {
    "models": ("Model", GROUP, f"95 % interval of {GROUP}", "{Instances} instances of the dataset, Group"),
    "captions": ("Model", "Accuracy", "95 % interval", "{Instances} captions of imported instances"),
    "intervals": ("Who", "Value", "95 % interval", "{Questions} questions of {Study}, {Score}"),
}


def model_shares(report: Report) -> dict[str, ModelShare]:
    """Return model -> how often it is right: on the dataset, by captions, or on a study's questions.

    The first of these that `report` has for the model.
    """
    found: dict[str, ModelShare] = {}
    for name, (who, value, interval, of) in _SHARES.items():
        for row in (row for table in report.tables if table.name == name for row in _rows_by_title(table)):
            share, limits = row[value], row[interval]
            if row.get("Type", ALL) == row.get("Subtype", ALL) == ALL and isinstance(share, float):
                texts = {title: cell_text(cell, "count") for title, cell in row.items() if title in of}
                around = percent_range(limits.low, limits.high) if isinstance(limits, Range) else ""
                found.setdefault(str(row[who]), ModelShare(percent(share), around, of.format(**texts)))
    return found


def _rows_by_title(table: Table) -> Iterable[dict[str, Cell]]:
    titles = [column.title for column in table.columns]
    return (dict(zip(titles, row, strict=True)) for row in table.rows)


def mismatched_table(project: ProjectFacts) -> Table:
    """Count the predictions that do not match the options of their question, by model and problem."""
    columns = [Column("Model"), Column("Problem"), Column("Predictions", "count")]
    rows: list[Sequence[Cell]] = [(each.model, each.problem, each.predictions) for each in project.mismatched]
    notes = [
        "These predictions are not counted in any table. Correct the file and import it again: the new rows replace "
        "them."
    ]
    return Table("mismatched", "Predictions that do not match their question", columns, rows, notes)


def _by_category(captions: Iterable[tuple[int, bool]], project: ProjectFacts) -> Iterable[tuple[Category, list[bool]]]:
    found: dict[Category, list[bool]] = {(ALL, ALL): []}
    for instance, right in captions:
        for category in ((ALL, ALL), project.categories[instance]):
            found.setdefault(category, []).append(right)
    return sorted(found.items(), key=lambda item: in_category_order(item[0]))
