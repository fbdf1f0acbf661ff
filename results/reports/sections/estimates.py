"""Estimates from people and a model together.

Whether the model could replace one annotator, and the score of people on the whole dataset. Every table calls it an
estimate.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from analytics.alternative_annotator import (
    EPSILON,
    FALSE_DISCOVERY_RATE,
    LEAST_INSTANCES,
    LEAST_PEOPLE,
    PASSING_RATE,
    agreement,
    alternative_annotator_test,
    nearness,
)
from analytics.intervals.prediction_powered_inference import METHOD, prediction_powered_scores
from analytics.scores import Outcomes
from results.reports.base import Cell, Chart, Column, Point, Range, Series, Table
from results.reports.cells import intervals_axis, limits_or_reason, range_or_reason, value_or_reason
from results.reports.facts import ProjectFacts
from results.reports.sections.funnel import kept_instances
from results.reports.sections.human_model_comparison import shared_units
from results.reports.sections.models import ModelOutcomes, models_on
from results.reports.sections.people import GROUP, OF_FOUR
from results.reports.sections.scores import Baseline


def alternative_table(baselines: Sequence[Baseline]) -> Table:
    """Return the alternative annotator test: could a model replace an annotator?"""
    columns = [Column("Study"), Column("Model"), Column("Score"), Column("People", "count")]
    columns += [Column("People tested", "count"), Column("Winning rate", "share"), Column("Advantage", "share")]
    columns.append(Column("Could replace an annotator"))
    rows = [row for baseline in baselines for row in _alternatives(baseline)]
    notes = [
        "Alternative annotator test (Calderon, Reichart and Dror 2025): leaves out one person at a time, and compares "
        "how often the model and that person agree with the others on being right. Winning rate: share of the tested "
        f"people over whom the model wins; a person may be better on {EPSILON:.0%} of shared answers (epsilon), with "
        f"false discoveries at most {FALSE_DISCOVERY_RATE:.0%}. Advantage: how often the model is at least as good. "
        f"A model could replace an annotator at a winning rate of {PASSING_RATE:.0%} or more.",
        f"A person is tested on what others answered too, where that is about at least {LEAST_INSTANCES} instances. "
        f"The test needs {LEAST_PEOPLE} people.",
    ]
    slugs = [baseline.study.slug for baseline in baselines]
    return Table(
        "alternative", "Alternative annotator test: could a model replace an annotator?", columns, rows, notes, slugs
    )


def _alternatives(baseline: Baseline) -> Iterable[Sequence[Cell]]:
    for who, name, both, rights in shared_units(baseline):
        scores = [one.right for one in both]
        found = alternative_annotator_test(
            *(scores, [one.person for one in both], [one.unit for one in both], rights),
            clusters={one.unit: one.instance for one in both},
            # Scores between 0 and 1 are hardly ever equal.
            alignment=agreement if {*scores, *rights.values()} <= {0, 1} else nearness,
        )
        sharing = sum(each.n > 0 for each in found.people)
        if not sharing:
            continue
        numbers = (value_or_reason(value, found.reason) for value in (found.winning_rate, found.advantage))
        passes = "" if found.passes is None else "yes" if found.passes else "no"
        yield (baseline.study.slug, who, name, sharing, found.n_tested, *numbers, passes)


def powered_table(baselines: Sequence[Baseline], project: ProjectFacts) -> Table:
    """Return the estimated score of people on what a model answered of the dataset, of which they answered a part."""
    columns = [Column("Study"), Column("Model"), Column("Score"), Column("Instances people answered", "count")]
    columns += [Column("Further instances", "count"), Column("Estimate", "share"), Column("95 % interval", "share")]
    columns += [Column("People alone", "share"), Column("95 % interval, people alone", "share")]
    columns += [Column("Weight of the model", "coefficient")]
    models = models_on(project, sorted(kept_instances(project)))
    rows = [row for baseline in baselines for model in models for row in _powered_rows(baseline, model)]
    notes = [
        f"Method: {METHOD}, prediction-powered inference (Angelopoulos et al. 2023, PPI++) with exact intervals "
        "(Clopper and Pearson 1934; Korn and Graubard 1998).",
        "Estimate: the score of people on all instances of the dataset that the model answered. The model predicts "
        "those that people did not answer, corrected by its errors on the instances that they answered. This is only "
        "as good as those instances are a random sample of the dataset.",
        "Each instance counts once, with the mean of its answers. So “People alone” is over instances here, and over "
        "people in the other tables. An instance counts if one person answered all four questions.",
    ]
    slugs = [baseline.study.slug for baseline in baselines]
    return Table("powered", "Estimates: people on instances that only models answered", columns, rows, notes, slugs)


def powered_chart(powered: Table) -> Chart:
    """Chart the estimates of `powered`; with only one model, also the scores of people alone on its instances."""
    titles = [column.title for column in powered.columns]
    rows = [dict(zip(titles, row, strict=True)) for row in powered.rows]
    several = len({row["Study"] for row in rows}) > 1
    has_one_model = len({row["Model"] for row in rows}) == 1
    by_name: dict[str, list[Point]] = {}
    for row in rows:
        label = f"{row['Study']}: " * several + str(row["Score"])
        for name, value, interval in (
            ("people alone", row["People alone"], row["95 % interval, people alone"]),
            (f"with {row['Model']}", row["Estimate"], row["95 % interval"]),
        ):
            # The sentence leaves out estimates without an interval, too.
            if isinstance(value, float) and isinstance(interval, Range) and (has_one_model or name != "people alone"):
                by_name.setdefault(name, []).append(Point(label, value, interval.low, interval.high))
    series = [Series(name, points) for name, points in by_name.items()]
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {point.value or 0:.1%}" for point in each.points)
        for each in series
    )
    title, axis = "Estimated score of people on the dataset", intervals_axis("Share right", series)
    return Chart("powered", title, f"{words}.", "dots", "share", axis, series)


def _powered_rows(baseline: Baseline, model: ModelOutcomes) -> Iterable[Sequence[Cell]]:
    people = {key: rights for key, rights in _complete_answers(baseline).items() if key[1] in set(model.instances)}
    instances = [instance for _, instance in people]
    if not people or set(instances) == set(model.instances):
        return
    columns = np.array(list(people.values()), dtype=np.bool_).reshape(-1, 4).T
    found = prediction_powered_scores(Outcomes(*columns), instances, model.outcomes, model.instances)
    for name in OF_FOUR:
        each = found[name]
        labelled = baseline.link_count(each.n_labelled, instances, model=model.listed_as)
        yield (
            *(baseline.study.slug, model.who, name, labelled, each.n_unlabelled),
            *(value_or_reason(each.value, each.reason), range_or_reason(each)),
            value_or_reason(each.alone, each.reason),
            limits_or_reason(each.alone_low, each.alone_high, each.reason, each.warning),
            each.weight,
        )


def _complete_answers(baseline: Baseline) -> dict[tuple[int, int], list[float]]:
    """Return (person, instance) -> four truth values, for instances whose four questions the person all answered."""
    by_name = {each.name: each.judged for each in baseline.scores}
    found: dict[tuple[int, int], list[float]] = {}
    for name in OF_FOUR[GROUP]:
        for one in by_name.get(name, ()):
            found.setdefault((one.person, one.instance), []).append(one.right)
    return {key: rights for key, rights in found.items() if len(rights) == len(OF_FOUR[GROUP])}
