"""How well people and models answer the same questions: I2T, T2I, Group and the finer scores, with intervals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.bootstrap import Interval, mean_over_annotators, mean_over_units
from analytics.comparison import difference, mcnemar
from analytics.scores import Outcomes, Score, score, wilson_interval
from results.reports.agreement import SEED, range_or_reason, share_range, value_or_reason
from results.reports.base import Cell, Column, Plot, Point, Series, Table
from results.reports.facts import ProjectFacts, QuestionFacts, StudyFacts
from results.reports.funnel import ALL, by_instance, kept_instances

HUMANS = "Humans"
SCORES = ("I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I")
# The kinds whose two questions about an instance give two of its four outcomes, in the order of `Outcomes`.
FOUR = tuple((kind, place) for kind in ("image_to_text", "text_to_image") for place in (0, 1))


@dataclass(frozen=True)
class Answered:
    """The outcomes of one taker of the questions, one place per instance; `annotators`: who answered, if one did."""

    who: str
    instances: Sequence[int]
    outcomes: Outcomes
    annotators: Sequence[int] | None = None


def human_outcomes(study: StudyFacts) -> Answered | None:
    """Return what people got right in a study that asks all four questions; None for other studies.

    A question is right when what its answers decided is the right option. Instances with an unanswered question are
    left out.
    """
    if {(question.kind, question.place) for question in study.questions} != set(FOUR):
        return None
    rows = {
        instance: [question.winner == question.right for question in sorted(four, key=_place)]
        for instance, four in by_instance(study.questions).items()
        if len(four) == len(FOUR) and all(question.answers for question in four)
    }
    return Answered(HUMANS, list(rows), _outcomes(rows.values()), _single_annotators(study, rows))


def _place(question: QuestionFacts) -> int:
    return FOUR.index((question.kind, question.place))


def _outcomes(rows: Iterable[Sequence[bool]]) -> Outcomes:
    columns = np.array(list(rows), dtype=np.bool_).reshape(-1, len(FOUR)).T
    return Outcomes(*columns)


def _single_annotators(study: StudyFacts, instances: Iterable[int]) -> list[int] | None:
    """Return who answered about each instance, or None where somebody shared one with somebody else."""
    asked = {question.id: question.instance for question in study.questions}
    people: dict[int, set[int]] = {}
    for answer in study.answers:
        people.setdefault(asked[answer.question], set()).add(answer.annotator)
    of_each = [people.get(instance, set()) for instance in instances]
    return [min(one) for one in of_each] if all(len(one) == 1 for one in of_each) else None


def all_outcomes(project: ProjectFacts) -> list[Answered]:
    """Return the people's outcomes and every model's on the very same instances; none where nobody was asked."""
    humans = next(filter(None, (human_outcomes(study) for study in project.studies)), None)
    if humans is None:
        return []
    return [humans, *_models(project, humans.instances)]


def _models(project: ProjectFacts, instances: Collection[int]) -> Iterable[Answered]:
    for model in project.models:
        common = [instance for instance in instances if instance in model.outcomes]
        if common:
            yield Answered(model.name, common, _outcomes(model.outcomes[instance] for instance in common))


def models_table(project: ProjectFacts) -> Table:
    """Return every model's scores on everything that was kept."""
    return _scores_table(
        "models",
        "Models on all instances that were kept",
        list(_models(project, sorted(kept_instances(project)))),
        project,
    )


def captions_table(project: ProjectFacts) -> Table:
    """Return how often models chose the caption of the image, where that is all they were asked: as on SugarCrepe."""
    columns = [Column("Model"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column("Right", "count"), Column("Accuracy", "share"), Column("95 % interval", "share")]
    rows: list[Sequence[Cell]] = []
    for model in project.models:
        by_category: dict[tuple[str, str], list[bool]] = {(ALL, ALL): list(model.captions.values())}
        for instance, right in model.captions.items():
            by_category.setdefault(project.categories[instance], []).append(right)
        for category, rights in sorted(by_category.items(), key=lambda item: (item[0] != (ALL, ALL), item[0])):
            found = score(rights)
            if found.n:
                rows.append((model.name, *category, found.n, found.count, _share(found), share_range(found)))
    notes = [
        "The image with its caption and the negative caption, one question per instance, over all that were imported. "
        "All counts every instance once (the micro average). Wilson's intervals."
    ]
    return Table("captions", "Models choosing the caption of an image", columns, rows, notes)


def scores_table(answered: Sequence[Answered], project: ProjectFacts) -> Table:
    """Return the scores of people, and of models on the instances that people answered."""
    return _scores_table("scores", "People and models on the same questions", answered, project)


def _scores_table(name: str, title: str, answered: Sequence[Answered], project: ProjectFacts) -> Table:
    """Return the seven scores of everybody: over all instances, per type, and per type and subtype."""
    columns = [Column("Who"), Column("Type"), Column("Subtype"), Column("Instances", "count")]
    columns += [Column(name, "share") for name in SCORES]
    rows: list[Sequence[Cell]] = []
    for taker in answered:
        for group, scores in _grouped(taker, project).items():
            rows.append((taker.who, *group, scores["I2T"].n, *(_share(scores[name]) for name in SCORES)))
    notes = [
        "An instance counts for I2T when both images were given their captions, for T2I when both captions were given "
        "their images, for Group when all four were right."
    ]
    return Table(name, title, columns, rows, notes)


def _grouped(taker: Answered, project: ProjectFacts) -> dict[tuple[str, str], dict[str, Score]]:
    types, subtypes = ([project.categories[instance][place] for instance in taker.instances] for place in (0, 1))
    by_type = taker.outcomes.scores_by(types)
    by_both = taker.outcomes.scores_by(types, subtypes)
    found = {(ALL, ALL): taker.outcomes.scores()}
    for type in sorted(set(types)):
        found[type, ALL] = by_type[type,]
        found |= {(type, subtype): scores for (of, subtype), scores in sorted(by_both.items()) if of == type}
    return found


def _share(score: Score) -> Cell:
    return value_or_reason(score.share, score.reason)


def intervals(taker: Answered) -> Mapping[str, Mapping[str, Interval]]:
    """Return the interval of each score over instances and, where one person answered each, over annotators."""
    found: dict[str, dict[str, Interval]] = {}
    for name, column in taker.outcomes.columns().items():
        found[name] = {"instances": mean_over_units(column, rng=np.random.default_rng(SEED))}
        if taker.annotators is not None:
            found[name]["annotators"] = mean_over_annotators(column, taker.annotators, rng=np.random.default_rng(SEED))
    return found


def intervals_table(answered: Sequence[Answered]) -> Table:
    columns = [Column("Who"), Column("Score"), Column("Value", "share"), Column("Instances", "count")]
    columns += [Column("95 % interval over instances", "share"), Column("95 % interval over annotators", "share")]
    rows: list[Sequence[Cell]] = []
    for taker in answered:
        scores = taker.outcomes.scores()
        for name, found in intervals(taker).items():
            people = range_or_reason(found["annotators"]) if "annotators" in found else None
            over_instances = range_or_reason(found["instances"])
            rows.append((taker.who, name, _share(scores[name]), scores[name].n, over_instances, people))
    notes = [
        "Percentile bootstrap intervals. Over annotators: each with all their instances, as for other people. Where "
        "all or none are right there is nothing to resample: an interval without width is no certainty."
    ]
    return Table("intervals", "Scores with intervals", columns, rows, notes)


def comparison_table(answered: Sequence[Answered]) -> Table:
    """Compare people with every model on I2T, T2I and Group, instance by instance."""
    columns = [Column("Model"), Column("Score"), Column("Instances", "count"), Column("People minus model", "share")]
    columns += [Column("95 % interval", "share"), Column("Only people right", "count")]
    columns += [Column("Only model right", "count"), Column("p (McNemar, exact)", "p")]
    rows: list[Sequence[Cell]] = []
    for model in answered[1:]:
        for name in SCORES[:3]:
            rows.append((model.who, name, *_comparison(answered[0], model, name)))
    notes = ["Paired: the same instances on both sides. The interval is a paired bootstrap over instances."]
    return Table("comparison", "People against models", columns, rows, notes)


def _comparison(people: Answered, model: Answered, name: str) -> tuple[Cell, ...]:
    place = {instance: index for index, instance in enumerate(people.instances)}
    theirs = people.outcomes.of(np.array([place[instance] for instance in model.instances])).columns()[name]
    its = model.outcomes.columns()[name]
    apart = difference(theirs, its, rng=np.random.default_rng(SEED))
    test = mcnemar(theirs, its)
    return (
        apart.n,
        value_or_reason(apart.value, apart.reason),
        range_or_reason(apart.interval),
        test.only_first,
        test.only_second,
        value_or_reason(test.p, test.reason),
    )


def scores_plot(answered: Sequence[Answered], project: ProjectFacts) -> Plot:
    """Plot the group score of everybody per type and subtype, with how many instances people answered about."""
    found = [{group: scores["Group"] for group, scores in _grouped(taker, project).items()} for taker in answered]
    labels = {
        group: f"{_label(group)} (n = {people.n:,})"
        for group, people in (found[0].items() if found else ())
        if group == (ALL, ALL) or group[1] != ALL
    }
    series = [
        Series(taker.who, [_point(label, scores[group]) for group, label in labels.items() if group in scores])
        for taker, scores in zip(answered, found, strict=True)
    ]
    words = "; ".join(
        f"{each.name}: "
        + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value is not None)
        for each in series
    )
    axis = "Group score, with Wilson's 95 % interval"
    return Plot("scores", "Group score per category", f"Group score. {words}.", "bars", "share", axis, series)


def _point(label: str, found: Score) -> Point:
    low, high = wilson_interval(found.count, found.n) or (None, None)
    return Point(label, found.share, low, high)


def _label(group: tuple[str, str]) -> str:
    return ALL if group == (ALL, ALL) else " ".join(filter(None, group))
