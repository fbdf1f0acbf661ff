"""Ratings on a scale, by image role: mean, spread, and distribution of steps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.intervals.clustered_means import ClusteredMean, mean_of
from analytics.people import Answers, number_answers
from analytics.scales import Distribution, distribution, number_of
from results.reports.base import Cell, Chart, Column, Point, Series, Table, Undefined
from results.reports.cells import limits_or_reason
from results.reports.explorer_links import ALL
from results.reports.facts import AnswerFacts, QuestionFacts, StudyFacts
from results.reports.sections.funnel import Category
from studies.kinds.base import Scale

ONE_RATING = "One rating has no spread."


@dataclass(frozen=True)
class RatingStatistics:
    """The ratings of one kind of question, image role and category of instances.

    `unit`: which of several things asked at once, "" for others. `steps`: of the scale, lowest to highest. `mean`: in
    steps, or in the numbers of the scale, with an interval for other people and instances. `ends`: the lowest and the
    highest possible mean.
    """

    study: str
    kind: str
    role: str
    unit: str
    category: Category
    steps: Sequence[str]
    names: Sequence[str]
    distribution: Distribution
    mean: ClusteredMean
    ends: tuple[float, float]


@dataclass(frozen=True)
class _RatedUnit:
    """What is rated together."""

    kind: str
    role: str
    unit: str


def ratings_of(study: StudyFacts) -> list[RatingStatistics]:
    """Return the ratings of `study` by kind, image role and unit: all instances, then each category."""
    questions = {question.id: question for question in study.questions}
    given: dict[_RatedUnit, list[AnswerFacts]] = {}
    for answer in study.answers:
        question = questions.get(answer.question)
        # With a known right position, choices are not ratings.
        if question is not None and not question.knows_right and _scale(study, question.kind, answer.unit) is not None:
            given.setdefault(_RatedUnit(question.kind, question.role, answer.unit), []).append(answer)
    return [
        _rating_statistics(study, asked, category, of_category, questions)
        for asked, answers in sorted(given.items(), key=lambda item: (item[0].kind, item[0].role))
        for category, of_category in _by_category(study, answers, questions).items()
    ]


def _scale(study: StudyFacts, kind: str, unit: str) -> Scale | None:
    """Return the ordered scale of a label of `unit`, None without one."""
    label_space = study.label_spaces[kind]
    scale = label_space.units.get(unit, label_space.scale)
    return scale if scale.level != "nominal" and not label_space.is_preference else None


def _by_category(
    study: StudyFacts, answers: Sequence[AnswerFacts], questions: Mapping[int, QuestionFacts]
) -> dict[Category, list[AnswerFacts]]:
    found: dict[Category, list[AnswerFacts]] = {}
    for answer in answers:
        found.setdefault(study.categories.get(questions[answer.question].instance, ("", "")), []).append(answer)
    return {(ALL, ALL): list(answers), **dict(sorted(found.items()))}


def _rating_statistics(
    study: StudyFacts,
    asked: _RatedUnit,
    category: Category,
    answers: Sequence[AnswerFacts],
    questions: Mapping[int, QuestionFacts],
) -> RatingStatistics:
    label_space = study.label_spaces[asked.kind]
    scale = label_space.units.get(asked.unit, label_space.scale)
    steps = list(scale.labels or label_space.options)
    number = number_of(steps, scale.values)
    ends = (min(number.values()), max(number.values()))
    given = number_answers(
        [answer.annotator for answer in answers], [questions[answer.question].instance for answer in answers]
    )
    return RatingStatistics(
        *(study.slug, asked.kind, asked.role, asked.unit, category, steps),
        [label_space.name(step) for step in steps],
        distribution((answer.choice for answer in answers), steps, scale.values),
        _mean(given, [number[answer.choice] for answer in answers], ends),
        ends,
    )


def _mean(given: Answers, values: Sequence[float], ends: tuple[float, float]) -> ClusteredMean:
    return mean_of(replace(given, values=np.array(values)), bounds=ends)


def ratings_table(found: Iterable[RatingStatistics]) -> Table:
    """Return a row per kind, image role, category and step with its frequency; the first also has the mean."""
    columns = [Column("Study"), Column("Kind"), Column("Image role"), Column("What was asked"), Column("Type")]
    columns += [Column("Subtype"), Column("Step"), Column("Times", "count"), Column("Share", "share")]
    columns += [Column("Answers", "count"), Column("People", "count"), Column("Instances", "count")]
    columns += [Column("Mean", "coefficient"), Column("Scale"), Column("95 % interval", "coefficient")]
    columns.append(Column("Spread (SD)", "coefficient"))
    rows = [row for each in found for row in _rows(each)]
    notes = [
        "Counted answers only. Mean and spread (sample standard deviation) in steps of the scale, by image role. "
        "Intervals by person and instance generalise to other people and other instances."
    ]
    made_of = list(dict.fromkeys(str(row[0]) for row in rows))
    return Table("ratings", "Ratings by image role and category", columns, rows, notes, made_of)


def _rows(each: RatingStatistics) -> Iterable[Sequence[Cell]]:
    about = (each.study, each.kind, each.role, each.unit, *each.category)
    mean, n = each.mean, each.distribution.n
    sd = Undefined(ONE_RATING) if each.distribution.sd is None else each.distribution.sd
    limits = limits_or_reason(mean.low, mean.high, mean.reason)
    scale = " to ".join(f"{end:g}" for end in each.ends)
    yield (*about, ALL, n, None, n, mean.n_people, mean.n_instances, mean.value, scale, limits, sd)
    for name, times in zip(each.names, each.distribution.counts, strict=True):
        yield (*about, name, times, times / n, n, None, None, None, None, None, None)


def ratings_chart(found: Sequence[RatingStatistics]) -> Chart:
    whole = [each for each in found if each.category == (ALL, ALL)]
    steps = list(dict.fromkeys(name for each in whole for name in each.names))
    series = [Series(name, [_share_of(each, name, _title(each, whole)) for each in whole]) for name in steps]
    words = "; ".join(
        f"{each.name}: "
        + ", ".join(f"{point.label} {point.value:.1%}" for point in each.points if point.value is not None)
        for each in series
    )
    title, axis = "Share of each step of the scale", "Share of the answers"
    return Chart("ratings", title, f"{words}.", "diverging", "share", axis, series if whole else [])


def _title(each: RatingStatistics, among: Sequence[RatingStatistics]) -> str:
    """Return the title: the kind, with role and unit if there are several, and the study if there are several."""
    several_roles = len({other.role for other in among if other.kind == each.kind}) > 1
    study = f"{each.study}: " * (len({other.study for other in among}) > 1)
    return study + ", ".join(filter(None, [each.kind, each.role if several_roles else "", each.unit]))


def _share_of(each: RatingStatistics, name: str, title: str) -> Point:
    if name not in each.names:
        return Point(title, None)
    return Point(title, each.distribution.counts[list(each.names).index(name)] / each.distribution.n)
