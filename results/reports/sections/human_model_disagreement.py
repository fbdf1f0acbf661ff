"""Where people and models part: the questions about which people are right and all models wrong, and the other way
round. The one definition behind the counts of the report and the list that they lead to. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.reports.base import Cell, Column, Table
from results.reports.explorer_links import ALL
from results.reports.facts import Parted, Way
from results.reports.sections.funnel import Category
from results.reports.sections.people import in_category_order

TITLES: Mapping[Way, str] = {Way.PEOPLE: "People right, all models wrong", Way.MODELS: "All models right, people wrong"}


def way_of_people(right: int, answers: int) -> Way | None:
    """Return who would be right were all models of the other mind: people are right where more than half of their
    answers are, wrong where fewer are; None where they are divided equally, and without an answer.

    Example: 2 of 3 are right, 1 of 3 wrong, and 1 of 2 neither.
    """
    if 2 * right == answers:
        return None
    return Way.PEOPLE if 2 * right > answers else Way.MODELS


def part(way: Way, models: Iterable[bool]) -> bool:
    """Tell whether all models are of the other mind than people; not so without a model.

    models: whether each that answered the very same question was right. Those that did not answer it do not count.
    """
    rights = list(models)
    return bool(rights) and all(right is (way is Way.MODELS) for right in rights)


@dataclass(frozen=True)
class Counted:
    """How many questions of a study and a category part in each way, and about how many instances they are."""

    study: str
    category: Category
    counts: Mapping[Way, tuple[int, int]]


def parted_table(parted: Sequence[Parted]) -> Table:
    """Count the questions and instances on which people and models part, by study, type and subtype."""
    columns = [Column("Study"), Column("Type"), Column("Subtype")]
    for way in Way:
        columns += [Column(f"{TITLES[way]}: {unit}", "count") for unit in ("questions", "instances")]
    rows: list[Sequence[Cell]] = [
        (line.study, *line.category, *(count for way in Way for count in line.counts[way]))
        for line in counted_lines(parted)
    ]
    notes = [
        "People are right about a question when more than half of its counted answers are, and wrong when fewer than "
        "half are; where they are divided equally it counts for neither. All models: every one that answered the very "
        "same question, of the same texts and pictures. A question that two studies ask counts in each."
    ]
    rests_on = list(dict.fromkeys(each.study for each in parted))
    return Table("parted", "Where people and models part", columns, rows, notes, rests_on)


def counted_lines(parted: Sequence[Parted]) -> list[Counted]:
    """Return the counts of each study as a whole, then of its types, followed by their subtypes."""
    return [
        Counted(study, category, {way: _counts(found, way) for way in Way})
        for study in dict.fromkeys(each.study for each in parted)
        for category, found in _by_category(each for each in parted if each.study == study)
    ]


def _by_category(parted: Iterable[Parted]) -> list[tuple[Category, list[Parted]]]:
    found: dict[Category, list[Parted]] = {}
    for each in parted:
        for category in dict.fromkeys(((ALL, ALL), (each.type, ALL), (each.type, each.subtype))):
            found.setdefault(category, []).append(each)
    return sorted(found.items(), key=lambda item: in_category_order(item[0]))


def _counts(parted: Iterable[Parted], way: Way) -> tuple[int, int]:
    """Return how many questions part that way, and about how many instances they are."""
    instances = [each.instance for each in parted if each.way is way]
    return len(instances), len(set(instances))
