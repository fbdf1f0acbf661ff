"""Preferences among images shown together, by criterion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

from analytics.intervals.bootstrap import LEAST_RATERS
from analytics.preferences import Comparison, Limits, Preferences, Standing, preferences
from analytics.scores import Score
from results.reports.base import Cell, Chart, Column, Point, Series, Table, Undefined
from results.reports.cells import ends_of, intervals_axis, intervals_note, range_or_reason, share_of, value_or_reason
from results.reports.explorer_links import ALL
from results.reports.facts import StudyFacts
from results.reports.labels import answers_to, units_of


@dataclass(frozen=True)
class CriterionPreferences:
    """The preferences in questions of `kind` by one criterion."""

    study: str
    kind: str
    criterion: str
    found: Preferences

    @property
    def in_order(self) -> list[Standing]:
        """The images, best first; without scores, in the order of the question."""
        return sorted(self.found.standings, key=lambda each: each.rank or 0)


def preferences_of(study: StudyFacts) -> list[CriterionPreferences]:
    return [
        CriterionPreferences(
            study.slug, kind, criterion, preferences(_comparisons(study, kind, criterion), _items(study, kind))
        )
        for kind, label_space in study.label_spaces.items()
        if label_space.is_preference
        for criterion in units_of(answers_to(study, kind))
    ]


def _items(study: StudyFacts, kind: str) -> list[str]:
    asked = (study.beside[question.id] for question in study.questions if question.kind == kind)
    return sorted({option for options in asked for option in options})


def _comparisons(study: StudyFacts, kind: str, criterion: str) -> Iterable[Comparison]:
    instances = {question.id: question.instance for question in study.questions}
    for answer in answers_to(study, kind, criterion):
        shown = tuple(study.beside[answer.question])
        # A choice that is no image is a tie.
        preferred, about = answer.choice if answer.choice in shown else None, instances[answer.question]
        yield Comparison(shown, preferred, answer.question, answer.annotator, about)


def preferences_table(found: Sequence[CriterionPreferences]) -> Table:
    """Return a row per study, criterion and image, best first, below a total."""
    columns = [Column("Study"), Column("Kind"), Column("Criterion"), Column("Rank", "count"), Column("Image")]
    columns += [Column("Score", "coefficient"), Column("95 % interval over questions", "coefficient")]
    columns += [Column("95 % interval over people and questions", "coefficient")]
    columns += [Column("Comparisons", "count"), Column("Preferred", "count"), Column("No difference", "count")]
    columns += [Column("Share preferred", "share"), Column("Against an average image", "share")]
    rows: list[Sequence[Cell]] = []
    for of_one in found:
        about = (of_one.study, of_one.kind, of_one.criterion)
        n, ties = of_one.found.n, of_one.found.ties
        rows.append((*about, None, ALL, None, None, None, n, n - ties, ties, None, None))
        rows += [(*about, *_standing(each, of_one.found.reason)) for each in of_one.in_order]
    notes = [
        "Counted answers only. Scores: natural logarithms of Bradley-Terry worths, with Davidson's ties and mean 0; an "
        "image that leads by 0.69 is preferred twice as often as the other. Against an average image: how often it "
        "would be preferred to an image with score 0, without ties. Share preferred: share of its comparisons. If not "
        "all images were compared with each other, this depends on the opponents; the score does not. Intervals are "
        f"clustered by instance and, with at least {LEAST_RATERS} people, by person too."
    ]
    made_of = dict.fromkeys(of_one.study for of_one in found)
    return Table("preferences", "What people preferred", columns, rows, notes, list(made_of))


def _standing(each: Standing, reason: str | None) -> Sequence[Cell]:
    against = None if each.score is None else _against_average(each.score)
    limits = [_cell(each.over_questions, reason), _cell(each.over_both, reason)]
    return (
        *(each.rank, each.item, value_or_reason(each.score, reason), *limits),
        *(each.shown, each.preferred, each.tied, share_of(Score(each.preferred, each.shown))),
        value_or_reason(against, reason),
    )


def _cell(limits: Limits | None, reason: str | None) -> Cell:
    return range_or_reason(limits or Limits(None, None, reason))


def _against_average(score: float) -> float:
    return 1 / (1 + exp(-score))


def preferences_chart(found: Sequence[CriterionPreferences]) -> Chart:
    scored = [each for each in found if each.found.reason is None]
    several = len({each.study for each in scored}) > 1
    series = [
        Series(
            f"{each.study}: " * several + each.criterion,
            [_point(one) for one in each.found.standings if one.score is not None],
        )
        for each in scored
    ]
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {point.value or 0:.1%}" for point in each.points)
        for each in series
    )
    title = "How often each image would be preferred to an average one"
    reasons = [(each.name, _no_interval(of_one)) for each, of_one in zip(series, scored, strict=True)]
    axis = intervals_axis("Preferred to an average image, ties apart", series, (reason for _, reason in reasons))
    note = intervals_note("Chart: intervals generalise to other instances and their questions.", reasons)
    return Chart("preferences", title, f"{words}.", "dots", "share", axis, series, method=note if scored else "")


def _no_interval(of_one: CriterionPreferences) -> str | None:
    """Return why the chart shows no intervals of a criterion, None if it does."""
    cells = [_cell(each.over_questions, None) for each in of_one.found.standings if each.score is not None]
    return next((cell.reason for cell in cells if isinstance(cell, Undefined)), None)


def _point(each: Standing) -> Point:
    around = ends_of(_cell(each.over_questions, None))
    value, low, high = (None if end is None else _against_average(end) for end in (each.score, *around))
    return Point(each.item, value, low, high)
