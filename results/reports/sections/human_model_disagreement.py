"""Disagreements: questions where people are right and all models wrong, or vice versa. Pure.

The only definition, for the counts of the report and for the list they link to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.reports.base import Cell, Column, Table
from results.reports.explorer_links import ALL
from results.reports.facts import Disagreement, Way
from results.reports.sections.funnel import Category
from results.reports.sections.people import in_category_order

TITLES: Mapping[Way, str] = {Way.PEOPLE: "People right, all models wrong", Way.MODELS: "All models right, people wrong"}


def way_of_people(right: int, answers: int) -> Way | None:
    """Return who is right if all models disagree with people.

    People are right if more than half of their answers are, wrong if fewer are; None if divided equally, and without an
    answer.

    Example: 2 of 3 are right, 1 of 3 wrong, and 1 of 2 neither.
    """
    if 2 * right == answers:
        return None
    return Way.PEOPLE if 2 * right > answers else Way.MODELS


def all_models_disagree(way: Way, models: Iterable[bool]) -> bool:
    """Whether all models disagree with people; False without a model.

    models: whether each model that answered exactly this question was right. Others do not count.
    """
    rights = list(models)
    return bool(rights) and all(right is (way is Way.MODELS) for right in rights)


@dataclass(frozen=True)
class DisagreementCounts:
    """Number of (questions, instances) on which people and all models disagree in a study and category, by way."""

    study: str
    category: Category
    counts: Mapping[Way, tuple[int, int]]


def disagreement_table(disagreements: Sequence[Disagreement]) -> Table:
    """Count the questions and instances on which people and all models disagree, by study, type and subtype."""
    columns = [Column("Study"), Column("Type"), Column("Subtype")]
    for way in Way:
        columns += [Column(f"{TITLES[way]}: {unit}", "count") for unit in ("questions", "instances")]
    rows: list[Sequence[Cell]] = [
        (line.study, *line.category, *(count for way in Way for count in line.counts[way]))
        for line in count_disagreements(disagreements)
    ]
    notes = [
        "People are right about a question when more than half of its counted answers are, and wrong when fewer than "
        "half are; where they are divided equally it counts for neither. All models: every one that answered the very "
        "same question, of the same texts and pictures. A question that two studies ask counts in each."
    ]
    rests_on = list(dict.fromkeys(each.study for each in disagreements))
    return Table("parted", "Where people and models disagree", columns, rows, notes, rests_on)


def count_disagreements(disagreements: Sequence[Disagreement]) -> list[DisagreementCounts]:
    """Return the counts of each study as a whole, then of its types, followed by their subtypes."""
    return [
        DisagreementCounts(study, category, {way: _counts(found, way) for way in Way})
        for study in dict.fromkeys(each.study for each in disagreements)
        for category, found in _by_category(each for each in disagreements if each.study == study)
    ]


def _by_category(disagreements: Iterable[Disagreement]) -> list[tuple[Category, list[Disagreement]]]:
    found: dict[Category, list[Disagreement]] = {}
    for each in disagreements:
        for category in dict.fromkeys(((ALL, ALL), (each.type, ALL), (each.type, each.subtype))):
            found.setdefault(category, []).append(each)
    return sorted(found.items(), key=lambda item: in_category_order(item[0]))


def _counts(disagreements: Iterable[Disagreement], way: Way) -> tuple[int, int]:
    """Return the number of disagreements in this way, and of their instances."""
    instances = [each.instance for each in disagreements if each.way is way]
    return len(instances), len(set(instances))
