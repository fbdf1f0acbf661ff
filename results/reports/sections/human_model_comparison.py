"""People against models on the instances that both were asked about, by person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.comparison import PeopleComparison, compare_people, holm
from results.reports.base import Cell, Chart, Column, Point, Reference, Series, Table
from results.reports.cells import intervals_axis, limits_or_reason, value_or_reason
from results.reports.sections.people import FOUR, OF_FOUR, UnitScore
from results.reports.sections.scores import Baseline, questions_per_unit
from results.reports.text import percent, short_model_names
from studies.wording import format_count

# More are unreadable; those with the most answers are drawn.
MOST_PEOPLE_DRAWN = 40
DIFFERENCES = (
    "Chart: of the questions that a person and a model both answered, the share that only one of them answered "
    "correctly. Each question counts once, also where I2T, T2I or Group combine several. If answers can be partly "
    "right, the difference between the two scores counts. People with the highest share are first."
)


@dataclass(frozen=True)
class _Comparison:
    study: str
    model: str
    score: str
    found: PeopleComparison
    counts: tuple[int, int]
    only_people: int
    only_model: int


def comparison_table(baselines: Sequence[Baseline]) -> Table:
    """Compare people with every model on I2T, T2I and Group, or on a study's questions if it does not ask the four."""
    columns = [Column("Study"), Column("Model"), Column("Score"), Column("People right", "share")]
    columns += [Column(name, "share") for name in ("Model right", "People minus model", "95 % interval")]
    columns += [Column("p", "p"), Column("p (Holm)", "p"), Column("Test")]
    columns += [Column(name, "count") for name in ("People", "Instances", "Questions", "Answers")]
    columns += [Column("Only people right", "count"), Column("Only model right", "count")]
    compared = [each for baseline in baselines for each in _comparisons(baseline)]
    adjusted = holm([each.found.p for each in compared])
    rows = [_row(each, after) for each, after in zip(compared, adjusted, strict=True)]
    made = sum(each.found.p is not None for each in compared)
    notes = [
        "People right, Model right: for each person the share right, and the model's share right of the same "
        "instances, both averaged over people. So an instance that two people answered counts twice for the model, "
        "and its score can differ from the one over instances, where each counts once. Clustered score test: by person "
        "and instance, from the intervals of both shares (Zou and Donner 2008). McNemar's exact test is used if every "
        "answer is by a different person about a different instance. Only people right, only model right: numbers of "
        "answers; for I2T, T2I and Group, numbers of instances, counted once per person.",
        f"p (Holm) is corrected for {made} comparisons.",
    ]
    slugs = [baseline.study.slug for baseline in baselines]
    return Table("comparison", "People against models", columns, rows, notes, slugs)


def comparison_chart(baselines: Sequence[Baseline]) -> Chart:
    """Chart the difference between people and each model, by score."""
    compared = [each for baseline in baselines for each in _comparisons(baseline)]
    several = len({each.study for each in compared}) > 1
    by_model: dict[str, list[Point]] = {}
    for each in compared:
        label = f"{each.study}: " * several + each.score
        by_model.setdefault(each.model, []).append(Point(label, each.found.value, each.found.low, each.found.high))
    known = {model: [point for point in points if point.value is not None] for model, points in by_model.items()}
    short = short_model_names(known)
    series = [Series(short[model], points) for model, points in known.items() if points]
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {percent(point.value or 0)}" for point in each.points)
        for each in series
    )
    reasons = (each.found.reason for each in compared)
    title, axis = "People minus models", intervals_axis("Difference of the shares right", series, reasons)
    lines = [Reference("equally good", 0)]
    return Chart("comparison", title, f"{words}.", "dots", "share", axis, series, lines)


def shared_units(baseline: Baseline) -> Iterable[tuple[str, str, list[UnitScore], Mapping[int, float]]]:
    """Yield, by model and score, the units of people that the model also answered, and whether it was right.

    Units are instances for I2T, T2I and Group, and questions if a study does not ask the four.
    """
    by_name = {each.name: each.judged for each in baseline.scores}
    for model in baseline.models:
        rights = model.rights()
        for name in OF_FOUR:
            yield model.who, name, [one for one in by_name[name] if one.unit in rights[name]], rights[name]
    for predicted in baseline.predicted:
        for name, judged in predicted.judged.items():
            right = {one.unit: one.right for one in judged}
            yield predicted.who, name, [one for one in by_name[name] if one.unit in right], right


def _comparisons(baseline: Baseline) -> Iterable[_Comparison]:
    names = {model.who: model.listed_as for model in baseline.models}
    for who, name, both, rights in shared_units(baseline):
        mine, its = [one.right for one in both], [rights[one.unit] for one in both]
        columns = ([getattr(one, column) for one in both] for column in ("person", "unit", "instance"))
        found = compare_people(mine, its, *columns)
        pairs = list(zip(mine, its, strict=True))
        only_one = (pairs.count((True, False)), pairs.count((False, True)))
        about = [one.instance for one in both]
        counts = baseline.counts(name, found.n_questions, about, model=names.get(who, who))
        yield _Comparison(baseline.study.slug, who, name, found, counts, *only_one)


def _row(each: _Comparison, adjusted: float | None) -> Sequence[Cell]:
    found = each.found
    return (
        *(each.study, each.model, each.score),
        *(value_or_reason(share, found.reason) for share in (found.people, found.other, found.value)),
        limits_or_reason(found.low, found.high, found.reason),
        *(value_or_reason(p, found.reason) for p in (found.p, adjusted)),
        *(found.test, found.n_people, *each.counts, found.n_answers * questions_per_unit(each.score)),
        *(each.only_people, each.only_model),
    )


def differences_chart(baselines: Sequence[Baseline]) -> Chart:
    """Chart for each person and model on which share of the questions that both answered only one of them is right.

    Those who differ most are first; people without a name are numbered.
    """
    names = {(each.study.slug, person): name for each in baselines for person, name in each.study.names.items()}
    models: dict[str, dict[tuple[str, int], list[float]]] = {}
    answered: dict[tuple[str, int], set[int]] = {}
    for baseline in baselines:
        for who, one, right in _questions_of_both(baseline):
            person = (baseline.study.slug, one.person)
            models.setdefault(who, {}).setdefault(person, []).append(abs(one.right - right))
            answered.setdefault(person, set()).add(one.unit)
    by_person: dict[tuple[str, int], list[float]] = {}
    for of_model in models.values():
        for person, differences in of_model.items():
            by_person.setdefault(person, []).extend(differences)
    drawn = sorted(by_person, key=lambda person: len(by_person[person]), reverse=True)[:MOST_PEOPLE_DRAWN]
    drawn.sort(key=lambda person: _mean(by_person[person]), reverse=True)
    labels = {
        person: f"{person[0]}: " * (len(baselines) > 1)
        + f"{names.get(person, f'Person {number}')} ({format_count(len(answered[person]), 'question')})"
        for number, person in enumerate(drawn, start=1)
    }
    short = short_model_names(models)
    series = [
        Series(
            short[who],
            [
                Point(label, _mean(of[person]) if person in of else None, link=names.get(person, ""))
                for person, label in labels.items()
            ],
        )
        for who, of in models.items()
    ]
    left_out = f" The {len(drawn)} with the most answers of {len(by_person):,} people." * (len(by_person) > len(drawn))
    every = [each for differences in by_person.values() for each in differences]
    words = ""
    if every:
        words = f"Only one of the two is right in {percent(_mean(every))} of {len(every):,} comparisons.{left_out}"
    title = "Questions that only a person or only a model gets right"
    axis = "Share of questions that both answered"
    return Chart(
        *("differences", title, words, "heat", "share", axis, series),
        x_axis="Person",
        method=DIFFERENCES if every else "",
    )


def _questions_of_both(baseline: Baseline) -> Iterable[tuple[str, UnitScore, float]]:
    """Yield, by model, each answer of a person to a question that the model also answered, and the model's score."""
    by_name = {each.name: each.judged for each in baseline.scores if each.unit == "question"}
    for model in baseline.models:
        rights = model.rights()
        for name in FOUR.values():
            yield from (
                (model.who, one, rights[name][one.instance]) for one in by_name[name] if one.instance in rights[name]
            )
    for predicted in baseline.predicted:
        for name, judged in predicted.judged.items():
            right = {one.unit: one.right for one in judged}
            yield from ((predicted.who, one, right[one.unit]) for one in by_name[name] if one.unit in right)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
