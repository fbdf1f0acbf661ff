"""Facets of the explorer: how many instances each value of a filter would leave, given the other filters.

All instances of a project are grouped into cells of equal facet values. Cells are few, so that the counts for any
choice of facets are sums over cells, without reading instances again.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from django.db.models import Q, QuerySet

from analytics.outcomes import LOST, Outcome
from annotation.models.outcomes import instances_with
from results.models import InstanceFigures
from results.queries.instances.explorer import (
    ABOUT_ANSWERS,
    AWAITED,
    BY_FIGURES,
    IMAGES,
    NOT_ACCEPTED,
    NOT_ASKED,
    STATES,
    THERE,
    InstanceFilters,
    Unasked,
    list_instances,
)
from results.queries.packed_numbers import pack, pack_ids, unpack, unpack_ids
from results.reports.explorer_links import NO_NAME, in_address
from studies.actions.projects.datasets import ways_to_dataset
from studies.models import Instance, InstanceImage, Project, Study, Tag

# With more cells than this the table is not stored: grouping gains nothing if nearly every instance differs.
MOST_CELLS = 10_000
CHUNK = 5_000
# Maximum number of instances to look up for filters that are not facets, because each costs time.
MOST_LOOKED_UP = 10_000
# Filters that do not depend on the chosen study.
_OWN = ("type", "subtype", "split", "tag", "images")
FACETS = ("state", "study", *_OWN)
# Filters on answers are about the chosen study.
_BY_STUDY = ABOUT_ANSWERS - {"study", "state", "model"}


class Cell(NamedTuple):
    """The facet values that some instances share.

    outcomes: (study id, outcome) in each study that asks about them. items: the same for each item, in studies whose
    items are parts of instances.
    """

    type: str
    subtype: str
    split: str
    tags: tuple[str, ...]
    awaited: bool
    outcomes: tuple[tuple[int, str], ...]
    items: tuple[tuple[int, str], ...]

    def values(self, facet: str) -> Sequence[str]:
        """Return the values of a facet that does not depend on studies, as addresses have them."""
        if facet == "tag":
            return self.tags
        if facet == "images":
            return (AWAITED if self.awaited else THERE,)
        return (getattr(self, facet) or NO_NAME,)


@dataclass(frozen=True)
class FacetTable:
    """The cells of a project with the number of their instances, and the cell of each instance.

    `instances`, `cell_of`: packed; the ids in order, each as the difference from the one before it, and their cells.
    They are unpacked only where instances are looked up.
    """

    cells: Sequence[Cell]
    counts: Sequence[int]
    instances: str
    cell_of: str

    @classmethod
    def of(cls, cells: Sequence[Cell], instances: Sequence[int], cell_of: Sequence[int]) -> Self:
        """Make a table; `cell_of` has the index of the cell of each of `instances`, sorted ids."""
        sizes = Counter(cell_of)
        return cls(cells, [sizes[index] for index in range(len(cells))], pack_ids(instances), pack(cell_of))

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        cells = [
            Cell(type, subtype, split, tuple(tags), awaited, _pairs(outcomes), _pairs(items))
            for type, subtype, split, tags, awaited, outcomes, items in stored["cells"]
        ]
        return cls(cells, stored["counts"], stored["instances"], stored["cell_of"])

    def dump(self) -> dict[str, Any]:
        """Return the table as JSON."""
        return dict(vars(self))

    def categories(self) -> Mapping[tuple[str, str], int]:
        """Return the number of instances of each type and subtype."""
        found = Counter[tuple[str, str]]()
        for index, size in self.sizes().items():
            found[self.cells[index].type, self.cells[index].subtype] += size
        return found

    def sizes(self, among: Iterable[int] | None = None) -> Mapping[int, int]:
        """Return the number of instances in each cell: of all, or of those `among` that the table has."""
        if among is None:
            return dict(enumerate(self.counts))
        ids, wanted = unpack_ids(self.instances), np.array(list(among), np.int64)
        at = np.searchsorted(ids, wanted)
        known = at < len(ids)
        known[known] = ids[at[known]] == wanted[known]
        return Counter(np.asarray(unpack(self.cell_of))[at[known]].tolist())

    def unasked(self, studies: Set[int]) -> Unasked | None:
        """Return the instances that none of `studies` (ids) asked about; None if more than `MOST_LOOKED_UP`."""
        left = [index for index, cell in enumerate(self.cells) if studies.isdisjoint(pk for pk, _ in cell.outcomes)]
        if sum(self.counts[index] for index in left) > MOST_LOOKED_UP:
            return None
        ids = unpack_ids(self.instances)
        found: list[int] = ids[np.isin(np.asarray(unpack(self.cell_of)), left)].tolist()
        return Unasked(found, int(ids[-1]) if len(ids) else 0, len(ids))


def _pairs(stored: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    return tuple((study, outcome) for study, outcome in stored)


def facet_table(project: Project) -> FacetTable | None:
    """Group the instances of `project` by facets; None if they have too many cells.

    Outcomes are those of `InstanceFigures`.
    """
    tags, awaited = _tags(project), _incomplete_instances(project)
    outcomes, items = _outcomes(project), _items(project)
    found: dict[Cell, int] = {}
    instances, cell_of = array("q"), array("q")
    rows = Instance.objects.filter(project=project).order_by("pk").values_list("pk", "type", "subtype", "split")
    for pk, type, subtype, split in rows.iterator(chunk_size=CHUNK):
        asked, parts = (tuple(found_in.get(pk, ())) for found_in in (outcomes, items))
        cell = Cell(type, subtype, split, tuple(tags.get(pk, ())), pk in awaited, asked, parts)
        instances.append(pk)
        cell_of.append(found.setdefault(cell, len(found)))
    if len(found) > MOST_CELLS:
        return None
    return FacetTable.of(list(found), instances, cell_of)


def _tags(project: Project) -> Mapping[int, Sequence[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    tagged = Tag.objects.filter(project=project, instances__isnull=False).order_by("name")
    for instance, name in tagged.values_list("instances", "name").iterator(chunk_size=CHUNK):
        found[instance].append(name)
    return found


def _incomplete_instances(project: Project) -> set[int]:
    missing = InstanceImage.objects.filter(image=None, instance__project=project).order_by()
    return set(missing.values_list("instance_id", flat=True))


def _outcomes(project: Project) -> Mapping[int, Sequence[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for study in Study.objects.filter(project=project).order_by("pk").values_list("pk", flat=True):
        rows = InstanceFigures.objects.filter(study=study).order_by().values_list("instance_id", "outcome")
        for instance, outcome in rows.iterator(chunk_size=CHUNK):
            found[instance].append((study, outcome))
    return found


def _items(project: Project) -> Mapping[int, Sequence[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for study in Study.objects.filter(project=project).order_by("pk"):
        if study.design.asks_about_parts:
            for outcome in Outcome:
                for instance in instances_with(outcome, study).values_list("pk", flat=True):
                    found[instance].append((study.pk, outcome.value))
    return found


@dataclass(frozen=True)
class FacetCounts:
    """The number of instances by facet and value, None where it is not known, and of those that meet all filters."""

    by_facet: Mapping[str, Mapping[str, int] | None]
    matching: int

    def of(self, facet: str, value: str) -> int | None:
        counts = self.by_facet.get(facet)
        return None if counts is None else counts.get(value, 0)


def count_facets(
    table: FacetTable,
    project: Project,
    studies: Sequence[Study],
    wanted: InstanceFilters,
    order: str = "",
    *,
    said: Q | None = None,
    shown: QuerySet[Instance] | None = None,
) -> FacetCounts | None:
    """Return how many instances the list would show for each value of each facet, the other filters unchanged.

    None if the filters that are not facets leave too many instances. Without such filters it takes no query. studies,
    said: as for `explorer.list_instances`. shown: the instances that match `wanted`, if they were selected already.
    """
    others, among = _without_facets(wanted, order), None
    if any(asdict(others).values()):
        if shown is None or others != wanted:
            shown = list_instances(project, studies, others, order, said=said).instances
        among = list(shown.order_by().values_list("pk", flat=True)[: MOST_LOOKED_UP + 1])
        if len(among) > MOST_LOOKED_UP:
            return None
    counts: dict[str, Counter[str]] = {facet: Counter() for facet in FACETS}
    states = _States(project, studies)
    matching = sum(
        _count(counts, table.cells[index], size, wanted, states) for index, size in table.sizes(among).items()
    )
    return FacetCounts({**counts, **({"study": None} if _is_by_study(wanted, order) else {})}, matching)


def needs_lookup(wanted: InstanceFilters, order: str = "") -> bool:
    """Whether `count_facets` has to look up which instances meet the filters that are not facets."""
    return any(asdict(_without_facets(wanted, order)).values())


def _without_facets(wanted: InstanceFilters, order: str) -> InstanceFilters:
    """Return the filters that are not facets, with their study."""
    study = wanted.study if _is_by_study(wanted, order) else ""
    return replace(wanted, **{**dict.fromkeys(FACETS, ""), "study": study})


def _is_by_study(wanted: InstanceFilters, order: str) -> bool:
    """Whether the other filters, or the order, depend on the chosen study."""
    return any(getattr(wanted, name) for name in _BY_STUDY) or bool(order in BY_FIGURES and wanted.study)


def _count(
    counts: Mapping[str, Counter[str]], cell: Cell, size: int, wanted: InstanceFilters, states: "_States"
) -> int:
    """Count the instances of a cell under the values of each facet whose other filters they meet.

    Return how many of them meet all filters.
    """
    missed = [name for name in _OWN if _filters(wanted, name) and getattr(wanted, name) not in cell.values(name)]
    if len(missed) > 1:
        return 0
    is_met = states.is_met(cell, wanted.study, wanted.state)
    if is_met:
        for name in missed or _OWN:
            for value in cell.values(name):
                counts[name][value] += size
    if missed:
        return 0
    for state in states.of(cell, wanted.study):
        counts["state"][state] += size
    for slug in states.slugs:
        if states.is_met(cell, slug, wanted.state) and (wanted.state != NOT_ACCEPTED or slug in states.deciding):
            counts["study"][slug] += size
    return size if is_met else 0


def _filters(wanted: InstanceFilters, name: str) -> bool:
    """Whether a filter is in use; unknown values of `images` are ignored by the list."""
    value = getattr(wanted, name)
    return value in IMAGES if name == "images" else bool(value)


class _States:
    """The states of cells, in a study or in the project: the rules of `explorer.list_instances` on facet values."""

    def __init__(self, project: Project, studies: Sequence[Study]) -> None:
        self.slugs = [study.slug for study in studies]
        self._ids = {study.slug: study.pk for study in studies}
        self._of_parts = {study.slug for study in studies if study.design.asks_about_parts}
        ways = ways_to_dataset(project)
        self._ways = [[study.pk for study in way] for way in ways]
        # Nothing is lost from the dataset in other studies.
        self.deciding = {study.slug for way in ways for study in way} or set(self.slugs)

    def is_met(self, cell: Cell, study: str, state: str) -> bool:
        """Whether the filters for this study and state keep a cell; "" and unknown states do not filter."""
        if state in STATES:
            return state in self.of(cell, study)
        return not study or self._ids.get(study) in dict(cell.outcomes)

    def of(self, cell: Cell, study: str) -> set[str]:
        """Return the states of a cell in `study`, or in the project if it is ""."""
        outcomes = dict(cell.outcomes)
        if not outcomes or (study and self._ids.get(study) not in outcomes):
            return {NOT_ASKED}
        if study in self._of_parts:
            found = {outcome for pk, outcome in cell.items if pk == self._ids[study]}
        elif study:
            found = {outcomes[self._ids[study]]}
        else:
            found = self._in_project(outcomes)
        states = {in_address(Outcome(outcome)) for outcome in found}
        return states | {NOT_ACCEPTED} if found & LOST else states

    def _in_project(self, outcomes: Mapping[int, str]) -> set[str]:
        everywhere = set(outcomes.values())
        if not self._ways:
            return everywhere
        found = set()
        for way in self._ways:
            asked = next((study for study in way if study in outcomes), None)
            if asked is not None:
                # An instance accepted only upstream of the dataset has no outcome yet.
                is_early = asked != way[0] and outcomes[asked] == Outcome.ACCEPTED
                found.add(Outcome.NONE_YET.value if is_early else outcomes[asked])
        return found or everywhere & {Outcome.AGREED}
