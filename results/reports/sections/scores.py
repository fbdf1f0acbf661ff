"""Human scores, each baseline separately, and models on the same instances, with intervals."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod

from analytics.outcomes import Progress
from analytics.people import PeopleScore, score_of_people
from analytics.scores import CHANCE, Score, sum_of_scores
from results.reports.base import INSTANCES, Cell, Chart, Column, LinkedCount, Point, Reference, Series, Table, Undefined
from results.reports.cells import (
    chart_intervals_note,
    intervals_axis,
    limits_or_reason,
    range_over_instances,
    share_of,
    share_range,
    value_or_reason,
)
from results.reports.explorer_links import ALL, ANSWERED, instances_with_question, list_query
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.sections.funnel import Category, dataset_studies, have_types, kept_instances
from results.reports.sections.models import OF_AN_INSTANCE, ModelOutcomes, category_scores, models_on, score_point
from results.reports.sections.people import (
    FOUR,
    GROUP,
    OF_FOUR,
    MajorityScores,
    PeopleScores,
    UnitScore,
    by_category,
    in_category_order,
    majority_scores,
    score_people,
)
from results.reports.text import category_label, short_model_names

HUMANS, DATASET_ROWS = "Humans", "the dataset"
# The row of chance, and the two rows if people who guess and models that guess are right differently often.
CHANCE_ROW = "Random chance"
CHANCE_OF_PEOPLE, CHANCE_OF_MODELS = f"{CHANCE_ROW}, people", f"{CHANCE_ROW}, models"
FINER = frozenset(FOUR.values())
OF_QUESTIONS = "Models on questions: the share right of exactly the questions that people answered, each counted once."
PER_PERSON = (
    "Humans: each person's share right, averaged over people; each person counts once. Questions on which people "
    "disagree are included. Settlements by researchers are ignored. The share of all answers that are right can "
    "differ: whoever answers more counts more there."
)
WHOLE = f"{OF_AN_INSTANCE} A person's instance counts where this person answered all of these questions about it."


@dataclass(frozen=True)
class ModelScores:
    """A model's results on exactly the questions that people answered: score -> one position per question.

    As if the model were one person.
    """

    who: str
    judged: Mapping[str, Sequence[UnitScore]]

    @property
    def instances(self) -> Set[int]:
        return {one.instance for each in self.judged.values() for one in each}


@dataclass(frozen=True)
class Baseline:
    """A study with known right answers: results of people, and of models on the instances people answered.

    `predicted`: models on the questions that people answered, if the study does not ask the four. `answered`: instances
    that people answered. `both_answered`: model, as in lists -> those with any prediction of it.
    """

    study: StudyFacts
    scores: Sequence[PeopleScores]
    models: Sequence[ModelOutcomes]
    categories: Mapping[int, Category]
    predicted: Sequence[ModelScores] = ()
    answered: Set[int] = frozenset()
    both_answered: Mapping[str, Set[int]] = field(default_factory=dict)

    @property
    def has_whole(self) -> bool:
        return any(each.unit == "instance" for each in self.scores)

    @property
    def judged(self) -> Iterable[UnitScore]:
        return (one for each in self.scores for one in each.judged)

    @property
    def left_dataset(self) -> Mapping[str, int]:
        """Score -> how many of its instances have left the dataset since people answered."""
        return {each.name: len({one.instance for one in each.judged} & self.study.undone) for each in self.scores}

    def link_count(
        self,
        count: int,
        about: Iterable[int],
        *,
        model: str | None = None,
        category: Category = (ALL, ALL),
        unit: str = INSTANCES,
    ) -> int:
        """Return a count over the instances `about`, of which some are of `category`; it leads to these where the list
        of what people, and `model` if there is one, answered shows just these."""
        shown = self.answered if model is None else self.both_answered.get(model, frozenset())
        if set(about) != shown:
            return count
        query = list_query(study=self.study.slug, category=category, question=ANSWERED, model=model or "")
        return LinkedCount(count, query, unit=unit, instances=count if unit == INSTANCES else len(shown))

    def counts(self, score: str, units: int, about: Collection[int], *, model: str | None = None) -> tuple[int, int]:
        """Return the number of instances `about` and of questions behind `units` of a score, like `link_count`."""
        instances = self.link_count(len(set(about)), about, model=model)
        return instances, self.link_count(units * questions_per_unit(score), about, model=model, unit="questions")


def questions_per_unit(score: str) -> int:
    """Return how many questions one unit of a score is about: of I2T, T2I and Group all of an instance, else one."""
    return len(OF_FOUR.get(score, (score,)))


def baseline_of(study: StudyFacts, project: ProjectFacts) -> Baseline:
    """Return the results of `study`. Includes models if both were asked the same four questions."""
    scores = score_people(study)
    instances = dict.fromkeys(one.instance for each in scores if each.unit == "instance" for one in each.judged)
    predicted = [_model_scores(who, rights, scores) for who, rights in study.predicted.items()]
    predicted = [each for each in predicted if any(each.judged.values())]
    answered = instances_with_question(study, ANSWERED)
    both_answered = {model: answered & those for model, those in project.predicted_by.items()}
    models = models_on(project, list(instances), without=study.predicted_otherwise)
    return Baseline(study, scores, models, project.categories, predicted, answered, both_answered)


def _model_scores(who: str, rights: Mapping[int, float], scores: Sequence[PeopleScores]) -> ModelScores:
    asked = {each.name: {one.unit: one.instance for one in each.judged} for each in scores if each.unit == "question"}
    return ModelScores(
        who,
        {
            name: [UnitScore(0, unit, instance, rights[unit]) for unit, instance in units.items() if unit in rights]
            for name, units in asked.items()
        },
    )


def people_score(judged: Sequence[UnitScore]) -> PeopleScore:
    """Return the human score, 0 to 1: the mean over people of the share right of each, with its 95 % interval."""
    return score_of_people(
        [one.right for one in judged],
        [one.person for one in judged],
        [one.unit for one in judged],
        [one.instance for one in judged],
    )


def scores_table(baselines: Sequence[Baseline]) -> Table:
    """Return the scores of people, and of models on the instances that people answered, by type and subtype."""
    names = _names(baselines)
    columns = [Column("Study"), Column("Who"), Column("Type"), Column("Subtype"), Column("People", "count")]
    columns += [Column("Instances", "count"), *(Column(name, "share") for name in names)]
    rows: list[Sequence[Cell]] = []
    for baseline in baselines:
        rows += _people_rows(baseline, names)
        for model in baseline.models:
            rows += _model_rows(baseline, model, names)
        for predicted in baseline.predicted:
            rows += _predicted_rows(baseline, predicted, names)
    notes = [PER_PERSON, *([WHOLE] if any(each.has_whole for each in baselines) else [])]
    for baseline in baselines:
        left = baseline.study.undone & {one.instance for one in baseline.judged}
        notes += [_left_dataset(baseline.study.slug, len(left))] if left else []
    if any(each.models for each in baselines):
        notes.append("Models: the share right of the instances that people answered, each counting once.")
    if any(each.predicted for each in baselines):
        notes.append(OF_QUESTIONS)
    return Table("scores", "How often people and models are right", columns, rows, notes, _slugs(baselines))


def _model_rows(baseline: Baseline, model: ModelOutcomes, names: Sequence[str]) -> Iterable[Sequence[Cell]]:
    for category, scores in category_scores(model, baseline.categories).items():
        n = baseline.link_count(scores["I2T"].n, model.instances, model=model.listed_as, category=category)
        shares = (share_of(scores[name]) if name in scores else None for name in names)
        yield (baseline.study.slug, model.who, *category, None, n, *shares)


def compact_table(baselines: Sequence[Baseline], project: ProjectFacts | None = None) -> Table:
    """Return models and people by score as papers print it: chance, models, people.

    On what people answered and, with a project, models on the instances of its dataset that they answered.
    """
    kept = sorted(kept_instances(project)) if project else []
    on_dataset = models_on(project, kept) if project else []
    names = [name for name in _names(baselines) if name not in FINER]
    names = [*(name for name in OF_FOUR if on_dataset and name not in names), *names]
    columns = [Column("Study"), Column("Who"), *(Column(name, "share") for name in names)]
    rows: list[Sequence[Cell]] = []
    for baseline in baselines:
        by_name = {each.name: each for each in baseline.scores if each.judged}
        if not by_name:
            continue
        slug = baseline.study.slug
        rows += [(slug, *row) for row in _chance_rows(baseline, [by_name.get(name) for name in names])]
        for model in baseline.models:
            found = model.outcomes.scores()
            rows.append((slug, model.who, *(share_of(found[name]) if name in by_name else None for name in names)))
        for each in baseline.predicted:
            rows.append((slug, each.who, *(_share(each.judged.get(name)) for name in names)))
        rows.append((slug, HUMANS, *(_mean(by_name[name].judged) if name in by_name else None for name in names)))
    if on_dataset:
        rows.append((DATASET_ROWS, CHANCE_OF_MODELS, *(CHANCE.get(name) for name in names)))
    for model in on_dataset:
        found = model.outcomes.scores()
        n = len(model.instances)
        of = DATASET_ROWS if n == len(kept) else f"{n:,} of the {len(kept):,} instances of the dataset"
        rows.append((of, model.who, *(share_of(found[name]) if name in found else None for name in names)))
    notes = [
        "Models on what people answered, and on what they answered of the dataset; Humans: each person's share right, "
        "averaged over people. Intervals, counts, types and subtypes are in the tables below.",
        "Random chance: the share right of random options. People answer the four questions about an instance "
        "separately, so that Group takes four right guesses. A model gives four scores that belong together: by "
        "chance, they are in random order.",
    ]
    rests_on = [*_slugs(baselines), *(_slugs_of_dataset(project) if project and on_dataset else [])]
    return Table("compact", "People and models", columns, rows, notes, rests_on)


def _slugs_of_dataset(project: ProjectFacts) -> list[str]:
    return [study.slug for study in dataset_studies(project)]


def _chance_rows(baseline: Baseline, scores: Sequence[PeopleScores | None]) -> list[Sequence[Cell]]:
    """Return who guesses, and the chance level of each of `scores`: that of models only where there are models."""
    of_people = [None if each is None else chance_of_people(baseline.study, each) for each in scores]
    of_models = [None if each is None else _chance_of_models(baseline.study, each) for each in scores]
    if of_people == of_models:
        return [(CHANCE_ROW, *of_people)]
    models: list[Sequence[Cell]] = [(CHANCE_OF_MODELS, *of_models)] if baseline.models else []
    return [*models, (CHANCE_OF_PEOPLE, *of_people)]


def chance_of_people(study: StudyFacts, each: PeopleScores) -> Cell:
    """Return the share right of a person who picks a random option of each question that the score counts.

    Example: 1/2 for one question with two options, 1/4 for I2T and 1/16 for Group.
    """
    names = OF_FOUR.get(each.name, (each.name,))
    kinds = [kind for (kind, _), name in FOUR.items() if name in names] or [each.kind]
    if any(question.has_own_score for question in study.questions if question.kind in kinds):
        return Undefined("No chance level: answers can be partly right.")
    offered = [study.label_spaces[kind] for kind in kinds]
    if not all(space.options and space.same_for_all for space in offered):
        return Undefined("Its questions do not all offer the same options.")
    return 1 / prod(len(space.options) for space in offered)


def _chance_of_models(study: StudyFacts, each: PeopleScores) -> Cell:
    return CHANCE[each.name] if each.name in CHANCE else chance_of_people(study, each)


def _share(judged: Sequence[UnitScore] | None) -> Cell:
    return share_of(sum_of_scores([one.right for one in judged])) if judged else None


def _predicted_rows(baseline: Baseline, predicted: ModelScores, names: Sequence[str]) -> Iterable[Sequence[Cell]]:
    by_name = {name: by_category(judged, baseline.categories) for name, judged in predicted.judged.items()}
    categories = dict.fromkeys(category for found in by_name.values() for category in found)
    for category in sorted(categories, key=in_category_order):
        judged = {name: found.get(category, []) for name, found in by_name.items()}
        instances = len({one.instance for each in judged.values() for one in each})
        cells = [_share(judged.get(name)) for name in names]
        if instances:
            n = baseline.link_count(instances, predicted.instances, model=predicted.who, category=category)
            yield (baseline.study.slug, predicted.who, *category, None, n, *cells)


def _left_dataset(slug: str, instances: int) -> str:
    return (
        f"Instances that have left the dataset, because their acceptance was undone, but whose answers in "
        f"{slug} still count: {instances}."
    )


def _names(baselines: Iterable[Baseline]) -> list[str]:
    return list(dict.fromkeys(each.name for baseline in baselines for each in baseline.scores if each.judged))


def _slugs(baselines: Iterable[Baseline]) -> list[str]:
    return [baseline.study.slug for baseline in baselines]


def _people_rows(baseline: Baseline, names: Sequence[str]) -> Iterable[Sequence[Cell]]:
    grouped_scores = {each.name: by_category(each.judged, baseline.categories) for each in baseline.scores}
    about = {one.instance for one in baseline.judged}
    categories: dict[Category, None] = {}
    for found in grouped_scores.values():
        categories |= dict.fromkeys(found)
    for category in sorted(categories, key=in_category_order):
        judged = {name: found.get(category, []) for name, found in grouped_scores.items()}
        every = [one for each in judged.values() for one in each]
        if every:
            people = len({one.person for one in every})
            instances = baseline.link_count(len({one.instance for one in every}), about, category=category)
            cells = [_mean(judged[name]) if name in judged else None for name in names]
            yield (baseline.study.slug, HUMANS, *category, people, instances, *cells)


def _mean(judged: Sequence[UnitScore]) -> Cell:
    found = people_score(judged)
    return value_or_reason(found.value, found.reason)


def intervals_table(baselines: Sequence[Baseline]) -> Table:
    """Return every score with its sample size and 95 % interval, of people and of models."""
    columns = [Column("Study"), Column("Who"), Column("Score"), Column("Value", "share")]
    columns += [Column("95 % interval", "share"), Column("95 % interval for this person", "share"), Column("Unit")]
    columns += [Column(name, "count") for name in ("People", "Instances", "Questions", "Answers")]
    columns += [Column("ICC", "coefficient"), Column("Design effect", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for baseline in baselines:
        rows += [_human_interval(baseline, each) for each in baseline.scores if each.judged]
        for model in baseline.models:
            for name, found in model.outcomes.scores().items():
                counts = baseline.counts(name, found.n, model.instances, model=model.listed_as)
                unit = "instance" if name in OF_FOUR else "question"
                rows.append(_model_interval(baseline, model.who, name, found, unit, counts, share_range(found)))
        for predicted in baseline.predicted:
            for name, judged in predicted.judged.items():
                found = sum_of_scores([one.right for one in judged])
                about = [one.instance for one in judged]
                counts = baseline.counts(name, found.n, about, model=predicted.who)
                interval = _over_instances(judged)
                rows.append(_model_interval(baseline, predicted.who, name, found, "question", counts, interval))
    notes = [
        "Intervals for humans generalise to similar people and instances; Wilson's with Student's t, at the effective "
        "sample size after the design effect (Korn and Graubard 1998). ICC: how much more alike two answers of one "
        "person are than answers of two people. I2T, T2I and Group score instances: all questions of a score about an "
        "instance together. Their interval, ICC and design effect count each person's instance once.",
        "Interval for this person: given if only one person answered. It and those of models generalise to other "
        "instances; Wilson's, clustered by instance if an instance has several questions.",
    ]
    return Table("intervals", "Scores with intervals", columns, rows, notes, _slugs(baselines))


def _over_instances(judged: Sequence[UnitScore]) -> Cell:
    return range_over_instances([one.right for one in judged], [one.instance for one in judged])


def _model_interval(
    baseline: Baseline, who: str, name: str, found: Score, unit: str, counts: Sequence[int], interval: Cell
) -> Sequence[Cell]:
    return (baseline.study.slug, who, name, share_of(found), interval, None, unit, None, *counts, None, None, None)


def _human_interval(baseline: Baseline, each: PeopleScores) -> Sequence[Cell]:
    found = people_score(each.judged)
    about = [one.instance for one in each.judged]
    return (
        *(baseline.study.slug, HUMANS, each.name, value_or_reason(found.value, found.reason)),
        limits_or_reason(found.low, found.high, found.reason),
        _over_instances(each.judged) if found.n_people == 1 else None,
        *(each.unit, found.n_people, *baseline.counts(each.name, found.n_questions, about)),
        found.n_answers * questions_per_unit(each.name),
        value_or_reason(found.icc, NO_ICC),
        value_or_reason(found.design_effect, found.reason),
    )


NO_ICC = "Needs two people, one of them with several answers, and answers that differ."


def majority_table(baselines: Sequence[Baseline]) -> Table:
    """Return the scores of the majority answer, if several people are asked the same question."""
    columns = [Column("Study"), Column("Score"), Column("Value by majority", "share"), Column("Unit")]
    columns += [Column("Units counted", "count"), Column("Right", "count"), Column("Left out, unanswered", "count")]
    columns += [Column("Left out, open", "count"), Column("Left out, conflicting", "count")]
    columns.append(Column("95 % interval over units", "share"))
    rows: list[Sequence[Cell]] = []
    for baseline in baselines:
        if baseline.study.answers_wanted > 1 and baseline.study.answers:
            for each in majority_scores(baseline.study):
                left = (each.left_out[Progress.UNANSWERED], each.left_out[Progress.OPEN])
                rows.append(
                    (
                        *(baseline.study.slug, each.name, share_of(each.found), each.unit, each.found.n),
                        *(each.found.count, *left, each.left_out[Progress.COMPLETE], _majority_cell(each)),
                    )
                )
    notes = [
        "By majority: a question is right when more than half of its counted answers are. What a researcher settled "
        "does not enter. Questions that lack answers and those without a majority (conflicting) are left out. "
        "This measures groups, not single people. It can differ from the score of people, which includes the "
        "questions on which they disagree and counts every person once. Wilson's intervals, clustered by instance if "
        "an instance has several questions.",
    ]
    return Table("majority", "Scores by majority", columns, rows, notes, _slugs(baselines))


def _majority_cell(each: MajorityScores) -> Cell:
    return range_over_instances([right for _, right in each.decided], [instance for instance, _ in each.decided])


def scores_chart(baselines: Sequence[Baseline]) -> Chart:
    """Chart the first score of everybody by type and subtype: the group score if the four questions are asked."""
    several = len(baselines) > 1
    series = [
        Series(f"{baseline.study.slug}: {name}" if several else name, points)
        for baseline in baselines
        for name, points in _series(baseline)
    ]
    words = "; ".join(
        f"{each.name}: "
        + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value is not None)
        for each in series
    )
    whole = any(each.has_whole for each in baselines)
    what = "Group score" if whole else "Share right"
    reasons = [
        (f"{baseline.study.slug}: " * several + f"{HUMANS}, {category_label(category)}", people_score(judged).reason)
        for baseline in baselines
        if (shown := first_score(baseline)) is not None
        for category, judged in _drawn(baseline, shown).items()
    ]
    axis = intervals_axis(what, series, (reason for _, reason in reasons))
    note = chart_intervals_note(reasons)
    described = f"{what}. {words}."
    title, lines = f"{what} per category", _lines(baselines)
    return Chart("scores", title, described, "dots", "share", axis, series, lines, method=note)


def _lines(baselines: Sequence[Baseline]) -> list[Reference]:
    """Return the chance levels of people and of models, each if it is the same for all of them in the chart."""
    shown = [(baseline, each) for baseline in baselines if (each := first_score(baseline)) is not None]
    of_people = {chance_of_people(baseline.study, each) for baseline, each in shown}
    of_models = {_chance_of_models(baseline.study, each) for baseline, each in shown if baseline.models}
    if not of_models or of_models == of_people:
        return _line("chance", of_people)
    return [*_line("chance, people", of_people), *_line("chance, models", of_models)]


def _line(name: str, levels: Collection[Cell]) -> list[Reference]:
    known = [level for level in levels if isinstance(level, float)]
    return [Reference(name, known[0])] if len(levels) == len(known) == 1 else []


def first_score(baseline: Baseline) -> PeopleScores | None:
    """Return the group score, or else the first score with answers."""
    scores = [each for each in baseline.scores if each.judged]
    return next((each for each in scores if each.name == GROUP), scores[0] if scores else None)


def _series(baseline: Baseline) -> Iterable[tuple[str, list[Point]]]:
    shown = first_score(baseline)
    if shown is None:
        return
    drawn = _drawn(baseline, shown)
    labels = {
        category: f"{category_label(category)} (n = {len({one.unit for one in judged}):,})"
        for category, judged in drawn.items()
    }
    yield HUMANS, [_human_point(label, drawn[category]) for category, label in labels.items()]
    short = short_model_names(model.who for model in baseline.models)
    for model in baseline.models:
        found = {
            category: scores[shown.name] for category, scores in category_scores(model, baseline.categories).items()
        }
        yield (
            short[model.who],
            [score_point(label, found[category]) for category, label in labels.items() if category in found],
        )


def _drawn(baseline: Baseline, shown: PeopleScores) -> Mapping[Category, Sequence[UnitScore]]:
    """Return the units of each row of the chart: of all, and of each type with its subtype."""
    found = by_category(shown.judged, baseline.categories)
    has_types = have_types(found)
    return {
        category: judged
        for category, judged in found.items()
        if judged and (category == (ALL, ALL) or (category[1] != ALL and has_types))
    }


def _human_point(label: str, judged: Sequence[UnitScore]) -> Point:
    found = people_score(judged)
    return Point(label, found.value, found.low, found.high)
