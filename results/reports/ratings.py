"""How a scale was used in a study: how often each step was chosen, by category."""

from collections.abc import Iterable, Mapping, Sequence

from analytics.scales import distribution
from results.reports.addresses import ALL
from results.reports.answers import AnswerDetails, Kinds
from results.reports.base import Cell, Column, Plot, Point, Series, Table, Undefined
from results.reports.facts import Answerable
from results.reports.funnel import Category


def ratings_table(answers: Sequence[AnswerDetails], kinds: Kinds) -> Table:
    """Return one row per kind that rates on a scale, category and step: how often it was chosen, with the mean."""
    columns = [Column("Kind"), Column("Type"), Column("Subtype"), Column("Step"), Column("Times", "count")]
    columns += [Column("Share", "share"), Column("Answers", "count"), Column("Mean", "coefficient")]
    columns += [Column("Spread (SD)", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for kind, answerable, of_kind in _on_scales(answers, kinds):
        for category, given in _by_category(of_kind).items():
            found = distribution(given, answerable.options, answerable.scale.values)
            spread = Undefined("One rating has no spread.") if found.sd is None else found.sd
            rows.append((kind, *category, ALL, found.n, None, found.n, found.mean, spread))
            rows += [
                (kind, *category, answerable.name(step), times, times / found.n, found.n, None, None)
                for step, times in zip(answerable.options, found.counts, strict=True)
            ]
    notes = ["Counted answers only. Mean and spread (sample standard deviation) are in steps of the scale."]
    return Table("ratings", "Ratings by category", columns, rows, notes)


def ratings_plot(answers: Sequence[AnswerDetails], kinds: Kinds) -> Plot:
    series = []
    for kind, answerable, of_kind in _on_scales(answers, kinds):
        found = distribution(_spread_out(of_kind), answerable.options, answerable.scale.values)
        steps = zip(answerable.options, found.counts, strict=True)
        series.append(Series(kind, [Point(answerable.name(step), times / found.n) for step, times in steps]))
    words = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.label} {point.value or 0:.1%}" for point in each.points)
        for each in series
    )
    return Plot(
        "ratings", "Share of each step of the scale", f"{words}.", "bars", "share", "Share of the answers", series
    )


def _on_scales(answers: Iterable[AnswerDetails], kinds: Kinds) -> Iterable[tuple[str, Answerable, list[AnswerDetails]]]:
    by_kind: dict[str, list[AnswerDetails]] = {}
    for answer in answers:
        if kinds[answer.kind].is_scale:
            by_kind.setdefault(answer.kind, []).append(answer)
    for kind, of_kind in by_kind.items():
        yield kind, kinds[kind], of_kind


def _by_category(answers: Sequence[AnswerDetails]) -> Mapping[Category, list[str]]:
    found: dict[Category, list[str]] = {}
    for answer in answers:
        found.setdefault(answer.category, []).extend([answer.choice] * answer.times)
    return {(ALL, ALL): _spread_out(answers), **dict(sorted(found.items()))}


def _spread_out(answers: Iterable[AnswerDetails]) -> list[str]:
    return [answer.choice for answer in answers for _ in range(answer.times)]
