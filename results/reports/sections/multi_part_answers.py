"""Answers to questions that ask several things at once: frequency of labels per thing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analytics.intervals.clustered_means import ClusteredMean, mean_of
from analytics.people import Answers, number_answers
from results.reports.base import Cell, Chart, Column, Point, Series, Table
from results.reports.cells import limits_or_reason
from results.reports.facts import AnswerFacts, LabelSpace, StudyFacts
from results.reports.labels import answers_to


@dataclass(frozen=True)
class _LabelCounts:
    """Frequency of the labels of `unit`, one of the things that questions of `kind` ask at once.

    `times`: label -> number of answers, and their share.
    """

    study: str
    kind: str
    unit: str
    label_space: LabelSpace
    times: Mapping[str, tuple[int, ClusteredMean]]


def units_table(studies: Sequence[StudyFacts]) -> Table:
    """Return a row per study, unit and label with its frequency."""
    columns = [Column("Study"), Column("Kind"), Column("What was asked"), Column("Answer")]
    columns += [
        Column("Answers", "count"),
        Column("Times", "count"),
        Column("Share", "share"),
        Column("95 % interval", "share"),
    ]
    found = [said for study in studies for said in _label_counts(study)]
    rows: list[Sequence[Cell]] = [
        (
            *(said.study, said.kind, said.unit, said.label_space.name(label)),
            *(share.n_answers, times, share.value, limits_or_reason(share.low, share.high, share.reason)),
        )
        for said in found
        for label, (times, share) in said.times.items()
    ]
    notes = ["Counted answers only. Intervals by person and instance generalise to other people and other instances."]
    title, made_of = "How often each answer was given, by what was asked", dict.fromkeys(said.study for said in found)
    return Table("units", title, columns, rows, notes, list(made_of))


def units_chart(studies: Sequence[StudyFacts]) -> Chart:
    found = [said for study in studies for said in _label_counts(study)]
    of_several = len({said.study for said in found}) > 1
    titles = [f"{said.study}: " * of_several + said.unit for said in found]
    labels = dict.fromkeys((said.kind, label) for said in found for label in said.times)
    several = len({kind for kind, _ in labels}) > 1
    series = [
        Series(
            f"{kind}: {label}" if several else label,
            [
                Point(title, said.times[label][1].value if said.kind == kind and label in said.times else None)
                for said, title in zip(found, titles, strict=True)
            ],
        )
        for kind, label in labels
    ]
    words = "; ".join(
        f"{title}: " + ", ".join(f"{label} {share.value or 0:.1%}" for label, (_, share) in said.times.items())
        for said, title in zip(found, titles, strict=True)
    )
    title = "Share of each answer, by what was asked"
    return Chart("units", title, f"{words}.", "stacked", "share", "Share of the answers", series)


def _label_counts(study: StudyFacts) -> Iterable[_LabelCounts]:
    instances = {question.id: question.instance for question in study.questions}
    for kind, label_space in study.label_spaces.items():
        if label_space.has_one_label or label_space.is_preference or not label_space.options:
            continue
        by_unit: dict[str, list[AnswerFacts]] = {}
        for answer in answers_to(study, kind):
            by_unit.setdefault(answer.unit, []).append(answer)
        for unit, given in by_unit.items():
            could = label_space.units[unit].labels if unit in label_space.units else label_space.options
            people = [answer.annotator for answer in given]
            numbered = number_answers(people, [instances[answer.question] for answer in given])
            times = dict(_times([answer.choice for answer in given], could, numbered))
            yield _LabelCounts(study.slug, kind, unit, label_space, times)


def _times(
    choices: Sequence[str], options: Sequence[str], given: Answers
) -> Iterable[tuple[str, tuple[int, ClusteredMean]]]:
    place = {option: number for number, option in enumerate(options)}
    said = np.array([place.get(choice, -1) for choice in choices])
    for option, number in place.items():
        chosen = (said == number).astype(np.float64)
        yield option, (int(chosen.sum()), mean_of(replace(given, values=chosen)))
