"""Items that each study was asked about, and their outcomes, by type and subtype."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from analytics.outcomes import (
    ACCEPTING,
    NOT_ACCEPTING,
    WHOLE,
    Outcome,
    Progress,
    outcome_of_item,
    progress_of,
    progress_of_instance,
)
from results.reports.base import Cell, Chart, Column, LinkedCount, Point, Series, Table
from results.reports.explorer_links import ALL, SETTLED, in_address, link_of, list_query, word_of
from results.reports.facts import ProjectFacts, QuestionFacts, StudyFacts
from results.reports.text import category_label

Category = tuple[str, str]
# An instance id, and the part of it; `WHOLE` for all of it.
Item = tuple[int, str]
EVERYTHING: Category = (ALL, ALL)
INSTANCES, ITEMS = "instances", "items"
INSTANCES_ASKED, ITEMS_ASKED = "Instances asked", "Items asked"
UNDECIDED = word_of(Outcome.NONE_YET).capitalize()
# Outcomes that a researcher may choose by settling a question.
SETTLED_OUTCOMES = (Outcome.AGREED, Outcome.ACCEPTED, Outcome.REJECTED)
DATASET_SETTLED = "Settled by a researcher"


def settled_title(outcome: str) -> str:
    """Return the title of the column that counts the settled items with this outcome: "Accepted, settled"."""
    return f"{outcome.capitalize()}, settled"


def have_types(categories: Iterable[Sequence[str]]) -> bool:
    """Whether one of `categories` names a type or subtype. Otherwise the row of "no type" repeats that of all."""
    return any(name not in ("", ALL) for category in categories for name in category)


def funnel_table(project: ProjectFacts) -> Table:
    """Count items: a row for each study as a whole and for each of its types and subtypes."""
    counts = {study.slug: _counts(study, project) for study in project.studies}
    shown = _shown_outcomes(counts.values(), project)
    settled = [each for each in SETTLED_OUTCOMES if any(of.settled(each) for of in _all_counts(counts.values()))]
    has_parts = any(asks_about_parts(study) for study in project.studies)
    columns = [Column("Study"), Column("Purpose"), Column("Type"), Column("Subtype")]
    columns += [Column(title, "count") for title in (INSTANCES_ASKED, *([ITEMS_ASKED] if has_parts else []))]
    columns += [Column(word_of(name).capitalize(), "count") for name in shown]
    columns += [Column(settled_title(name), "count") for name in settled]
    nothing: list[Cell] = [None for _ in (*([ITEMS_ASKED] if has_parts else []), *shown, *settled)]
    rows: list[Sequence[Cell]] = [
        ("imported", "", *category, LinkedCount(n, list_query(category=category)), *nothing)
        for category, n in _import_counts(project)
    ]
    for study in project.studies:
        for category, found in counts[study.slug].items():
            asked: list[Cell] = [LinkedCount(len(found.instances), list_query(study=study.slug, category=category))]
            asked += [len(found.items)] if has_parts else []
            standing = (_outcome_cell(study, category, name, found.of[name]) for name in shown)
            chosen = (_settled_cell(study, category, name, found.settled(name)) for name in settled)
            rows.append((study.slug, study.purpose, *category, *asked, *standing, *chosen))
    slugs = [study.slug for study in project.studies]
    notes = [_OF_PARTS if has_parts else _OF_INSTANCES, _OUTCOMES, *([_SETTLED] if settled else [])]
    return Table("funnel", "From candidates to instances", columns, rows, notes, slugs)


@dataclass
class _CategoryItems:
    """The items of a category; `of`: outcome or progress -> its items.

    `touched`: those with a question that a researcher settled.
    """

    items: set[Item] = field(default_factory=set)
    of: dict[str, set[Item]] = field(default_factory=dict)
    touched: set[Item] = field(default_factory=set)

    @property
    def instances(self) -> Set[int]:
        return {instance for instance, _ in self.items}

    def settled(self, outcome: str) -> Set[Item]:
        """Return the items with this outcome of which a researcher settled a question."""
        return self.of[outcome] & self.touched


def _outcome_cell(study: StudyFacts, category: Category, name: str, items: Set[Item]) -> Cell:
    """Return the number of items with this outcome or progress in a study."""
    # Outcomes depend on the study: a baseline accepts nothing, and a filter has no agreed ones.
    if name in (NOT_ACCEPTING if study.accepts else ACCEPTING):
        return None
    if name in set(Outcome):
        query = list_query(study=study.slug, category=category, state=in_address(Outcome(name)))
        return linked_count(items, query)
    query = list_query(study=study.slug, category=category, progress=name)
    # Lists know the progress of instances, not of their parts.
    return len(items) if asks_about_parts(study) else linked_count(items, query)


def _settled_cell(study: StudyFacts, category: Category, name: Outcome, items: Set[Item]) -> Cell:
    """Return the number of items with this outcome in a study of which a researcher settled a question."""
    if name in (NOT_ACCEPTING if study.accepts else ACCEPTING):
        return None
    query = list_query(study=study.slug, category=category, state=in_address(name), question=SETTLED)
    # Lists know which questions of an instance are settled, not of its parts.
    return len(items) if asks_about_parts(study) else linked_count(items, query)


def linked_count(items: Set[Item], query: str) -> LinkedCount:
    """Return the number of `items`, linked to their instances, which `query` lists."""
    unit = ITEMS if any(item != WHOLE for _, item in items) else INSTANCES
    return LinkedCount(len(items), query, unit=unit, instances=len({instance for instance, _ in items}))


_OF_INSTANCES = (
    "Counts are instances. Where a study asks several questions about an instance, it is complete when all have the "
    "answers wanted, unanswered when none has an answer, accepted when all are accepted, rejected when one is "
    "rejected, and conflicting when no answer is awaited and one question conflicts."
)
_OF_PARTS = (
    "Counts are items: instances, or their parts where a study asks about parts, such as each described image of a "
    "set. An instance is accepted when all questions about it are. A part is accepted as soon as one question about it "
    "is, and rejected when all are."
)
_OUTCOMES = (
    "A study that accepts nothing, such as a baseline, has agreed and conflicting instances. Undone: the acceptance "
    "that it came from was undone, so it is not in the dataset. A study with the rule collected-v1 accepts whatever "
    "people answer: pages call that collected."
)

_SETTLED = (
    "Settled: of these, a researcher decided a question that the answers left undecided. They are counted with the "
    "others of their outcome too."
)


def _all_counts(counts: Iterable[Mapping[Category, _CategoryItems]]) -> Iterable[_CategoryItems]:
    return (each for of in counts for each in of.values())


def _shown_outcomes(counts: Iterable[Mapping[Category, _CategoryItems]], project: ProjectFacts) -> list[str]:
    """Return the names of the possible counts, with undone items only if there are some."""
    accepting = {study.accepts for study in project.studies}
    names: list[str] = [*Progress, Outcome.NONE_YET]
    names += [Outcome.AGREED] if False in accepting else []
    names += [Outcome.CONFLICTING]
    names += [Outcome.ACCEPTED, Outcome.REJECTED] if True in accepting else []
    return names + ([Outcome.UNDONE] if any(each.of[Outcome.UNDONE] for each in _all_counts(counts)) else [])


def _import_counts(project: ProjectFacts) -> Iterable[tuple[Category, int]]:
    yield EVERYTHING, len(project.categories)
    yield from sorted(Counter(project.categories.values()).items())


def _counts(study: StudyFacts, project: ProjectFacts) -> dict[Category, _CategoryItems]:
    """Return the items of all categories together, then of each category in order."""
    found: dict[Category, _CategoryItems] = {EVERYTHING: _empty_counts()}
    settled = settled_items_of(study)
    for (instance, item), questions in by_item(study.questions).items():
        names = (outcome_of(item, questions), progress_of_all(questions))
        for category in (EVERYTHING, project.categories[instance]):
            of_category = found.setdefault(category, _empty_counts())
            of_category.items.add((instance, item))
            if (instance, item) in settled:
                of_category.touched.add((instance, item))
            for name in names:
                of_category.of[name].add((instance, item))
    return dict(sorted(found.items(), key=lambda each: (each[0] != EVERYTHING, each[0])))


def _empty_counts() -> _CategoryItems:
    return _CategoryItems(of={name: set() for name in (*Outcome, *Progress)})


def progress_of_all(questions: Sequence[QuestionFacts]) -> Progress:
    """Return the joint progress of all questions about an item."""
    return progress_of_instance(progress_of(question.answers, question.wanted) for question in questions)


def by_item(questions: Iterable[QuestionFacts]) -> dict[Item, list[QuestionFacts]]:
    """Group the questions by item, in order."""
    grouped: dict[Item, list[QuestionFacts]] = {}
    for question in questions:
        grouped.setdefault((question.instance, question.item), []).append(question)
    return grouped


def asks_about_parts(study: StudyFacts) -> bool:
    """Whether a question of `study` is about a part of its instance."""
    return any(question.item != WHOLE for question in study.questions)


def outcome_of(item: str, questions: Sequence[QuestionFacts]) -> Outcome:
    """Return the outcome of an item from its questions."""
    return outcome_of_item(item, (question.outcome for question in questions))


def accepted_items_of(study: StudyFacts) -> set[Item]:
    """Return the accepted items of `study`; none if it accepts nothing."""
    items = by_item(study.questions).items()
    return {item for item, questions in items if outcome_of(item[1], questions) is Outcome.ACCEPTED}


def settled_items_of(study: StudyFacts) -> set[Item]:
    """Return the items of `study` of which a researcher settled a question."""
    return {(question.instance, question.item) for question in study.questions if question.settled}


def accepted_instances(study: StudyFacts) -> set[int]:
    """Return the instances of which `study` accepted an item."""
    return {instance for instance, _ in accepted_items_of(study)}


def accepted_questions(study: StudyFacts) -> set[int]:
    """Return the ids of the questions that made the items of `study` accepted; of a part, the accepted ones."""
    items = accepted_items_of(study)
    return {
        question.id
        for question in study.questions
        if (question.instance, question.item) in items and question.outcome is Outcome.ACCEPTED
    }


def accepting_studies(project: ProjectFacts) -> list[StudyFacts]:
    """Return the studies whose answers accept and reject."""
    return [study for study in project.studies if study.accepts]


def dataset_studies(project: ProjectFacts) -> list[StudyFacts]:
    """Return those of these studies whose accepted items are the dataset."""
    return [study for study in project.studies if study.slug in project.dataset]


def kept_items(project: ProjectFacts) -> set[Item]:
    """Return the items of the project's dataset; its instances if no study is declared."""
    declared = dataset_studies(project)
    if not declared:
        return {(instance, WHOLE) for instance in project.categories}
    return set().union(*map(accepted_items_of, declared))


def _settled_kept_items(project: ProjectFacts) -> set[Item]:
    """Return the items of the project's dataset of which a researcher settled a question in an accepting study."""
    declared = dataset_studies(project)
    return set().union(*(accepted_items_of(study) & settled_items_of(study) for study in declared))


def kept_instances(project: ProjectFacts) -> set[int]:
    """Return the instances that have an item in the project's dataset."""
    return {instance for instance, _ in kept_items(project)}


def describe_dataset(project: ProjectFacts) -> str:
    """Return a description of the dataset, for the end of a sentence."""
    names = [study.slug for study in dataset_studies(project)]
    return f"what {' and '.join(names)} accepted" if names else "all that was imported"


def dataset_filters(project: ProjectFacts) -> dict[str, str] | None:
    """Return the filters for the dataset in lists of instances; None if no list shows exactly these."""
    declared = dataset_studies(project)
    if len(declared) > 1:
        return None
    return {"study": declared[0].slug, "state": in_address(Outcome.ACCEPTED)} if declared else {}


def dataset_table(project: ProjectFacts) -> Table:
    """Count the dataset, as the paper's table does; empty without studies.

    Retrieval examples are counted if a study asks questions with a right answer about instances of the dataset: as many
    per instance as its design has (BiVLC: two images and two captions make four).
    """
    declared = [study.slug for study in dataset_studies(project)]
    note = f"The dataset is {describe_dataset(project)}."
    note = note if declared else f"No study is marked as the dataset, so the dataset is {describe_dataset(project)}."
    found: dict[Category, set[Item]] = {EVERYTHING: kept_items(project)}
    for item in found[EVERYTHING]:
        found.setdefault(project.categories[item[0]], set()).add(item)
    has_parts = any(item != WHOLE for _, item in found[EVERYTHING])
    columns = [Column("Type"), Column("Subtype"), Column("Items" if has_parts else "Instances", "count")]
    examples = _examples_per_instance(project)
    if examples:
        columns.append(Column("Retrieval examples", "count"))
        note += f" Each instance gives {examples} retrieval examples, one per question of the baseline."
    settled = _settled_kept_items(project)
    if settled:
        columns.append(Column(DATASET_SETTLED, "count"))
        note += " Settled: a researcher decided a question about them that the answers left undecided."
    within = dataset_filters(project)
    rows: list[Sequence[Cell]] = []
    for category, items in sorted(found.items(), key=lambda each: (each[0] != EVERYTHING, each[0])):
        n: Cell = len(items)
        made: Cell = examples * len(items)
        chosen: Cell = len(items & settled)
        if within is not None:
            query = list_query(category=category, **within)
            n = linked_count(items, query)
            made = LinkedCount(examples * len(items), query, unit="examples", instances=n.instances)
            if not has_parts:
                chosen = linked_count(items & settled, list_query(category=category, **within, question=SETTLED))
        rows.append((*category, n, *([made] if examples else []), *([chosen] if settled else [])))
    title, shown = "The dataset, per type and subtype", rows if project.studies else []
    return Table("dataset", title, columns, shown, [note], declared)


def _examples_per_instance(project: ProjectFacts) -> int:
    """Return the number of baseline questions with a right answer per instance; 0 if it varies."""
    asked = {sum(part.variants for part in study.parts) for study in project.studies if study.purpose == "baseline"}
    return asked.pop() if len(asked) == 1 else 0


def funnel_chart(project: ProjectFacts, funnel: Table) -> Chart:
    """Chart the rows of `funnel`, the table of `project`, for all categories together.

    Each bar leads to its instances.
    """
    titles = [column.title for column in funnel.columns]
    unit = "Items" if ITEMS_ASKED in titles else "Instances"
    rules = {study.slug: study.rule for study in project.studies}
    asked_about, accepted_by, words = [], [], []
    names: dict[str, None] = {}
    for row in funnel.rows:
        said = dict(zip(titles, row, strict=True))
        slug, accepted = str(said["Study"]), said.get(Outcome.ACCEPTED.capitalize())
        asked = said.get(ITEMS_ASKED) or said[INSTANCES_ASKED]
        if said["Type"] == ALL and isinstance(asked, int):
            asked_about.append(_bar(slug, asked))
            words.append(f"{slug}: {'asked ' if said['Purpose'] else ''}{asked:,}")
            if isinstance(accepted, int):
                name = word_of(Outcome.ACCEPTED, rules[slug])
                names[name] = None
                accepted_by.append(_bar(slug, accepted))
                words.append(f"{slug}: {name} {accepted:,}")
    series = [Series("imported or asked", asked_about)]
    series += [Series(" or ".join(names), accepted_by)] if accepted_by else []
    title = "From candidates to instances"
    return Chart("funnel", title, f"{unit}: {', '.join(words)}.", "bars", "count", unit, series)


def _bar(label: str, count: int) -> Point:
    return Point(label, int(count), link=link_of(count))


def decisions_chart(decisions: Table) -> Chart:
    """Chart the outcomes of one study by category: the rows of its table of decisions.

    Each part of a bar leads to its instances.
    """
    titles = [column.title for column in decisions.columns]
    unit = "Items" if ITEMS_ASKED in titles else "Instances"
    # Settled items are among those of their outcome.
    settled = set(map(settled_title, SETTLED_OUTCOMES))
    outcomes = [title for title in titles[titles.index(UNDECIDED) :] if title not in settled]
    rows = [dict(zip(titles, row, strict=True)) for row in decisions.rows]
    # All categories together, and each type with its subtype.
    labels = {number: category_label((str(row["Type"]), str(row["Subtype"]))) for number, row in enumerate(rows)}
    if not have_types([(str(row["Type"]), str(row["Subtype"])) for row in rows]):
        labels = dict(list(labels.items())[:1])
    series = [
        Series(
            name.lower(),
            [_bar(label, count) for number, label in labels.items() if isinstance(count := rows[number][name], int)],
        )
        for name in outcomes
    ]
    series = [each for each in series if any(point.value for point in each.points)]
    words = ", ".join(f"{each.points[0].value:,} {each.name}" for each in series if each.points[0].label == ALL)
    title = "Outcomes by category"
    return Chart("decisions", title, f"{unit}: {words}.", "stacked", "count", unit, series)
