"""The studies of a project in the order of its pipeline, and how many instances each let through."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Decision
from studies.actions.asking import questions_per_instance
from studies.kinds import get_kind
from studies.models import Instance, Project, Study, StudyState

Category = tuple[str, str]


def studies_in_order(project: Project) -> list[Study]:
    """Return the studies of `project`, each after the one that feeds it, otherwise in the order they were made."""
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


def filters(study: Study) -> bool:
    """Tell whether the answers decide what belongs to the data, because none of them is known to be right."""
    return not any(
        get_kind(part["kind"]).right_option(part["ask"], variant)
        for part in study.design["parts"]
        for variant in get_kind(part["kind"]).variants(part["ask"])
    )


@dataclass(frozen=True)
class Counts:
    """Instances that a study asks about. Rejected: one of their questions is; accepted: all of them are."""

    accepted: int = 0
    rejected: int = 0
    undecided: int = 0

    @property
    def asked(self) -> int:
        return self.accepted + self.rejected + self.undecided

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.accepted + other.accepted, self.rejected + other.rejected, self.undecided + other.undecided)


@dataclass(frozen=True)
class Cell:
    """How many instances of a row a study lets go on, and how large a share of the imported ones, in percent."""

    counts: Counts
    left: int
    percent: float


@dataclass(frozen=True)
class Step:
    """One study, and the instances it lets go on: what it accepted if it filters, otherwise what it asks about."""

    study: Study
    filters: bool
    cell: Cell


@dataclass(frozen=True)
class Row:
    """The instances of a type, or of one of its subtypes."""

    name: str
    is_type: bool
    imported: int
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Funnel:
    imported: int
    steps: Sequence[Step]
    rows: Sequence[Row]


def funnel(project: Project, studies: Iterable[Study]) -> Funnel:
    """Count the instances of `project` from import on through those of `studies` that are launched, in their order."""
    launched = [study for study in studies if study.state != StudyState.DRAFT]
    counter = _Counter(_imported(project), [filters(study) for study in launched], _counts(launched))
    whole = counter.row("", list(counter.imported), is_type=True)
    steps = [
        Step(study, cell_filters, cell)
        for study, cell_filters, cell in zip(launched, counter.filters, whole.cells, strict=True)
    ]
    return Funnel(whole.imported, steps, list(_rows(counter)))


@dataclass(frozen=True)
class _Counter:
    imported: Mapping[Category, int]
    filters: Sequence[bool]
    counts: Sequence[Mapping[Category, Counts]]

    def row(self, name: str, categories: Sequence[Category], *, is_type: bool) -> Row:
        imported = sum(self.imported[category] for category in categories)
        cells = []
        for filtering, found in zip(self.filters, self.counts, strict=True):
            counts = sum((found.get(category, Counts()) for category in categories), Counts())
            left = counts.accepted if filtering else counts.asked
            cells.append(Cell(counts, left, left * 100 / imported if imported else 0.0))
        return Row(name, is_type, imported, cells)


def _imported(project: Project) -> dict[Category, int]:
    counted = Instance.objects.filter(project=project).order_by().values_list("type", "subtype")
    return {(type, subtype): n for type, subtype, n in counted.annotate(n=Count("pk"))}


def _counts(studies: Sequence[Study]) -> list[dict[Category, Counts]]:
    """Return what the database counts of each study, by category."""
    found: dict[int, dict[Category, Counts]] = {study.pk: {} for study in studies}
    several = [study.pk for study in studies if questions_per_instance(study) > 1]
    decisions = Decision.objects.order_by()
    by_category = decisions.exclude(study__in=several).filter(study__in=found).values_list("study_id", *_CATEGORY)
    for study, *category, questions, accepted, rejected in by_category.annotate(**_STATES):
        found[study][category[0], category[1]] = Counts(accepted, rejected, questions - accepted - rejected)
    # An instance that is asked about more than once has one outcome all the same.
    by_instance = decisions.filter(study__in=several).values_list("study_id", *_CATEGORY, "question__instance_id")
    for study, *category, _, questions, accepted, rejected in by_instance.annotate(**_STATES):
        done = Counts(rejected=1) if rejected else Counts(accepted=1) if accepted == questions else Counts(undecided=1)
        of_study, key = found[study], (category[0], category[1])
        of_study[key] = of_study.get(key, Counts()) + done
    return list(found.values())


_CATEGORY = ("question__instance__type", "question__instance__subtype")
_STATES = {
    "questions": Count("pk"),
    "accepted": Count("pk", filter=Q(state=Decision.State.ACCEPTED)),
    "rejected": Count("pk", filter=Q(state=Decision.State.REJECTED)),
}


def _rows(counter: _Counter) -> Iterable[Row]:
    for type in sorted({type for type, _ in counter.imported}):
        categories = sorted(category for category in counter.imported if category[0] == type)
        yield counter.row(type, categories, is_type=True)
        if len(categories) > 1:
            for category in categories:
                yield counter.row(category[1], [category], is_type=False)
