"""The studies of a project in pipeline order, and the number of items each accepted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Case, Count, When

from analytics.outcomes import Outcome, Progress, outcome_of_item, outcome_of_question
from annotation.models import Decision
from annotation.models.outcomes import is_at
from results.queries.instances.facets import FacetTable
from results.reports.base import count_tooltip
from results.reports.explorer_links import category_query, in_address
from results.reports.sections.funnel import INSTANCES, ITEMS
from studies.models import Project, Study, StudyState

Category = tuple[str, str]


def studies_in_order(project: Project) -> list[Study]:
    """Return the studies of `project` in order of creation, each followed at once by those downstream of it."""
    fed: dict[int | None, list[Study]] = {}
    studies = Study.objects.filter(project=project).select_related("fed_by").defer("source", "fed_by__source")
    for study in studies.order_by("created_at", "pk"):
        fed.setdefault(study.fed_by_id, []).append(study)
    ordered: list[Study] = []
    waiting = list(fed.get(None, ()))
    while waiting:
        study = waiting.pop(0)
        ordered.append(study)
        waiting[:0] = fed.get(study.pk, ())
    return ordered


@dataclass(frozen=True)
class Counts:
    """Items of a study by outcome.

    unit: what they are, in the plural. instances: the number of instances with an item of each outcome, and of any
    (None), where an instance may have several.
    """

    of: Mapping[Outcome, int] = field(default_factory=Counter)
    unit: str = INSTANCES
    instances: Mapping[Outcome | None, int] = field(default_factory=Counter)

    @property
    def asked(self) -> int:
        return sum(self.of.values())

    @property
    def asked_tooltip(self) -> str:
        return self._tooltip(self.asked, None)

    @property
    def accepted(self) -> int:
        return self.of.get(Outcome.ACCEPTED, 0)

    @property
    def accepted_tooltip(self) -> str:
        return self._tooltip(self.accepted, Outcome.ACCEPTED)

    @property
    def others(self) -> Sequence[tuple[str, str, int, str]]:
        """Return the other outcomes: name in addresses, word, number, tooltip."""
        words = [outcome for outcome in Outcome if outcome is not Outcome.ACCEPTED and self.of.get(outcome)]
        return [
            (in_address(outcome), outcome.value, self.of[outcome], self._tooltip(self.of[outcome], outcome))
            for outcome in words
        ]

    def __add__(self, other: "Counts") -> "Counts":
        unit = ITEMS if ITEMS in (self.unit, other.unit) else INSTANCES
        instances = Counter(self.instances) + Counter(other.instances)
        return Counts(Counter(self.of) + Counter(other.of), unit, instances)

    def _tooltip(self, count: int, outcome: Outcome | None) -> str:
        return count_tooltip(count, self.unit, self.instances.get(outcome, count))


@dataclass(frozen=True)
class Cell:
    """The number of items of a row that pass a study.

    `percent`: of the imported instances or, if items are parts of instances, of those that it asks about. `tooltip`:
    what a list of them shows, if not these.
    """

    counts: Counts
    left: int
    percent: float
    tooltip: str


@dataclass(frozen=True)
class Step:
    """A study and the items that pass it: what it accepted, or what it asks about if it accepts nothing."""

    study: Study
    cell: Cell


@dataclass(frozen=True)
class Row:
    """The instances of a type or subtype; `where` is the query of their list."""

    name: str
    is_type: bool
    where: str
    imported: int
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Funnel:
    """The number of instances imported, and of items left after each study.

    steps: the studies in pipeline order, over all instances. rows: the same numbers by type and subtype.
    """

    imported: int
    steps: Sequence[Step]
    rows: Sequence[Row]


def funnel(studies: Iterable[Study], imported: Mapping[Category, int], table: FacetTable | None = None) -> Funnel:
    """Count the items of a project from import through its launched `studies`, in order.

    imported: of `count_categories`. table: the kept facets of the project, from which studies of whole instances are
    counted.
    """
    launched = [study for study in studies if study.state != StudyState.DRAFT]
    counts = _counts([study for study in launched if table is None or study.design.asks_about_parts])
    if table is not None:
        counts |= _counts_of_cells(table, [study for study in launched if study.pk not in counts])
    of_studies = [counts[study.pk] for study in launched]
    counter = _Counter(imported, [study.accepts for study in launched], of_studies)
    whole = counter.row("", list(counter.imported), is_type=True)
    steps = [Step(study, cell) for study, cell in zip(launched, whole.cells, strict=True)]
    return Funnel(whole.imported, steps, list(_rows(counter)))


@dataclass(frozen=True)
class _Counter:
    imported: Mapping[Category, int]
    accepts: Sequence[bool]
    counts: Sequence[Mapping[Category, Counts]]

    def row(self, name: str, categories: Sequence[Category], *, is_type: bool) -> Row:
        imported = sum(self.imported[category] for category in categories)
        cells = []
        for accepts, found in zip(self.accepts, self.counts, strict=True):
            counts = sum((found.get(category, Counts()) for category in categories), Counts())
            left = counts.accepted if accepts else counts.asked
            of = imported if counts.unit == INSTANCES else counts.asked
            shown = counts.accepted_tooltip if accepts else counts.asked_tooltip
            cells.append(Cell(counts, left, left * 100 / of if of else 0.0, shown))
        return Row(name, is_type, category_query(categories, is_type=is_type), imported, cells)


def _counts_of_cells(table: FacetTable, studies: Sequence[Study]) -> dict[int, dict[Category, Counts]]:
    """Return the id of each study -> its counts by category, as `_counts` does, from kept facets."""
    found: dict[int, dict[Category, Counter[Outcome]]] = {study.pk: {} for study in studies}
    for index, size in table.sizes().items():
        cell = table.cells[index]
        for study, outcome in cell.outcomes:
            if study in found:
                found[study].setdefault((cell.type, cell.subtype), Counter())[Outcome(outcome)] += size
    return {study: {category: Counts(of) for category, of in by.items()} for study, by in found.items()}


def _counts(studies: Sequence[Study]) -> dict[int, dict[Category, Counts]]:
    """Return the id of each study -> its counts by category, as aggregated by the database."""
    found: dict[int, dict[Category, Counter[Outcome]]] = {study.pk: {} for study in studies}
    accepts = {study.pk: study.accepts for study in studies}
    several = [study.pk for study in studies if study.design.asks_several]
    decisions = Decision.objects.order_by().annotate(
        complete=Case(When(is_at[Progress.COMPLETE], then=True), default=False),
        undone=Case(When(question__undone_at=None, then=False), default=True),
    )
    by_category = decisions.exclude(study__in=several).filter(study__in=found).values_list(*_ALIKE)
    for study, type, subtype, *alike, n in by_category.annotate(n=Count("pk")):
        found[study].setdefault((type, subtype), Counter())[_outcome(*alike, accepts=accepts[study])] += n
    # An item with several questions still has one outcome.
    of_items: dict[tuple[int, int, str], tuple[Category, set[Outcome]]] = {}
    by_item = decisions.filter(study__in=several).values_list(*_ALIKE, "question__instance_id", "question__item")
    for study, type, subtype, *alike, instance, item in by_item.distinct():
        outcomes = of_items.setdefault((study, instance, item), ((type, subtype), set()))[1]
        outcomes.add(_outcome(*alike, accepts=accepts[study]))
    units = {study.pk: ITEMS if study.design.asks_about_parts else INSTANCES for study in studies}
    # The instances that have an item of each outcome, and of any.
    about: dict[tuple[int, Category], defaultdict[Outcome | None, set[int]]] = defaultdict(lambda: defaultdict(set))
    for (study, instance, item), (category, outcomes) in of_items.items():
        outcome = outcome_of_item(item, outcomes)
        found[study].setdefault(category, Counter())[outcome] += 1
        if units[study] == ITEMS:
            about[study, category][outcome].add(instance)
            about[study, category][None].add(instance)
    return {
        study: {
            category: Counts(of, units[study], {each: len(pks) for each, pks in about[study, category].items()})
            for category, of in by.items()
        }
        for study, by in found.items()
    }


_ALIKE = ("study_id", "question__instance__type", "question__instance__subtype", "state", "complete", "undone")


def _outcome(state: str, complete: bool, undone: bool, *, accepts: bool) -> Outcome:
    return outcome_of_question(state, answers=int(complete), wanted=1, accepts=accepts, undone=undone)


def _rows(counter: _Counter) -> Iterable[Row]:
    for type in sorted({type for type, _ in counter.imported}):
        categories = sorted(category for category in counter.imported if category[0] == type)
        yield counter.row(type, categories, is_type=True)
        if len(categories) > 1:
            for category in categories:
                yield counter.row(category[1], [category], is_type=False)
