"""How questions that ask several things at once were answered: how often each label was given to each of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.scores import Score
from results.reports.base import Cell, Column, Plot, Point, Series, Table
from results.reports.cells import share_of, share_range
from results.reports.facts import Answerable, StudyFacts
from results.reports.labels import answers_to


@dataclass(frozen=True)
class _Said:
    """How often each label was given to `unit`, one of the things that questions of `kind` ask at once."""

    study: str
    kind: str
    unit: str
    answerable: Answerable
    times: Mapping[str, Score]


def units_table(studies: Sequence[StudyFacts]) -> Table:
    """Return one row per study, thing asked and label: how often it was given."""
    columns = [Column("Study"), Column("Kind"), Column("What was asked"), Column("Answer")]
    columns += [
        Column("Answers", "count"),
        Column("Times", "count"),
        Column("Share", "share"),
        Column("95 % interval", "share"),
    ]
    found = [said for study in studies for said in _all_said(study)]
    rows: list[Sequence[Cell]] = [
        (
            *(said.study, said.kind, said.unit, said.answerable.name(label)),
            *(score.n, score.count, share_of(score), share_range(score)),
        )
        for said in found
        for label, score in said.times.items()
    ]
    notes = ["Counted answers only. Wilson's intervals, as if every answer came from somebody else."]
    title, made_of = "How often each answer was given, by what was asked", dict.fromkeys(said.study for said in found)
    return Table("units", title, columns, rows, notes, list(made_of))


def units_plot(study: StudyFacts) -> Plot:
    found = list(_all_said(study))
    labels = dict.fromkeys((said.kind, label) for said in found for label in said.times)
    several = len({kind for kind, _ in labels}) > 1
    series = [
        Series(
            f"{kind}: {label}" if several else label,
            [Point(said.unit, said.times[label].share if said.kind == kind else None) for said in found],
        )
        for kind, label in labels
    ]
    words = "; ".join(
        f"{said.unit}: " + ", ".join(f"{label} {score.share or 0:.1%}" for label, score in said.times.items())
        for said in found
    )
    title = "Share of each answer, by what was asked"
    return Plot("units", title, f"{words}.", "bars", "share", "Share of the answers", series)


def _all_said(study: StudyFacts) -> Iterable[_Said]:
    for kind, answerable in study.answerable.items():
        if answerable.has_one_label or answerable.prefers or not answerable.options:
            continue
        given: dict[str, Counter[str]] = {}
        for answer in answers_to(study, kind):
            given.setdefault(answer.unit, Counter())[answer.choice] += 1
        for unit, labels in given.items():
            times = {label: Score(labels[label], labels.total()) for label in answerable.options}
            yield _Said(study.slug, kind, unit, answerable, times)
