"""How many instances each study was asked about, and what became of them, per type and subtype."""

from collections import Counter
from collections.abc import Iterable, Sequence

from results.reports.base import Cell, Column, Plot, Point, Series, Table
from results.reports.facts import ACCEPTED, REJECTED, UNDECIDED, ProjectFacts, QuestionFacts, StudyFacts

ALL = "all"
ANSWERED = "answered"
COUNTS = ("asked", ANSWERED, ACCEPTED, REJECTED, UNDECIDED)
# What the release of BiVLC counts: two images and two captions make four questions.
EXAMPLES_PER_INSTANCE = 4
Category = tuple[str, str]


def funnel_table(project: ProjectFacts) -> Table:
    """Count instances: one row for each study as a whole and one for each of its types and subtypes."""
    columns = [Column("Study"), Column("Type"), Column("Subtype")]
    columns += [Column(name.capitalize(), "count") for name in COUNTS]
    rows: list[Sequence[Cell]] = [
        ("imported", *category, n, None, None, None, None) for category, n in _imported(project)
    ]
    for study in project.studies:
        rows += [
            (study.slug, *category, *(counts[name] for name in COUNTS))
            for category, counts in _counts(study, project).items()
        ]
    notes = [
        "Instances are counted. One about which a study asks several questions is answered when all of them have an "
        "answer, accepted when all are accepted, and rejected when one is rejected."
    ]
    return Table("funnel", "From candidates to instances", columns, rows, notes)


def _imported(project: ProjectFacts) -> Iterable[tuple[Category, int]]:
    yield (ALL, ALL), len(project.categories)
    yield from sorted(Counter(project.categories.values()).items())


def _counts(study: StudyFacts, project: ProjectFacts) -> dict[Category, Counter[str]]:
    """Return the counts of all instances, and then of each category in order."""
    seen = Counter(
        (project.categories[instance], outcome_of(questions), all(question.answers for question in questions))
        for instance, questions in by_instance(study.questions).items()
    )
    counts: dict[Category, Counter[str]] = {(ALL, ALL): Counter()}
    for category, outcome, answered in sorted(seen):
        n = seen[category, outcome, answered]
        for group in ((ALL, ALL), category):
            counts.setdefault(group, Counter()).update({"asked": n, outcome: n, ANSWERED: n if answered else 0})
    return counts


def by_instance(questions: Iterable[QuestionFacts]) -> dict[int, list[QuestionFacts]]:
    """Group the questions by the instance they ask about, in their order."""
    grouped: dict[int, list[QuestionFacts]] = {}
    for question in questions:
        grouped.setdefault(question.instance, []).append(question)
    return grouped


def outcome_of(questions: Sequence[QuestionFacts]) -> str:
    """Return what became of an instance with these questions."""
    states = {question.state for question in questions}
    if REJECTED in states:
        return REJECTED
    return ACCEPTED if states == {ACCEPTED} else UNDECIDED


def accepted_of(study: StudyFacts) -> set[int]:
    """Return the instances that `study` accepted."""
    return {
        instance for instance, questions in by_instance(study.questions).items() if outcome_of(questions) == ACCEPTED
    }


def filtering_studies(project: ProjectFacts) -> list[StudyFacts]:
    """Return the studies that decide what belongs to the data: those that ask without knowing the right answer."""
    return [study for study in project.studies if not study.knows_answers]


def kept_instances(project: ProjectFacts) -> set[int]:
    """Return what the last filtering study accepted; everything where there is none."""
    filters = filtering_studies(project)
    return accepted_of(filters[-1]) if filters else set(project.categories)


def dataset_table(project: ProjectFacts) -> Table:
    """Count what the pipeline kept, as the paper's table of the data does; without studies there is nothing to say."""
    filters = filtering_studies(project)
    kept_by = f"Kept: what {filters[-1].slug} accepted. " if filters else "No study filters: all that were imported. "
    counts = Counter(project.categories[instance] for instance in kept_instances(project))
    columns = [Column("Type"), Column("Subtype"), Column("Instances", "count"), Column("Retrieval examples", "count")]
    rows: list[Sequence[Cell]] = [
        (*category, n, EXAMPLES_PER_INSTANCE * n)
        for category, n in [((ALL, ALL), counts.total()), *sorted(counts.items())]
    ]
    return Table(
        "dataset",
        "What was kept, per type and subtype",
        columns,
        rows if project.studies else [],
        [f"{kept_by}An instance has two images and two captions: four retrieval examples, two in each direction."],
    )


def funnel_plot(project: ProjectFacts, funnel: Table) -> Plot:
    """Plot what `funnel`, the table of `project`, says of all instances."""
    filters = {study.slug for study in filtering_studies(project)}
    points = []
    for slug, type, _, asked, _, accepted, *_ in funnel.rows:
        if type == ALL and isinstance(asked, int):
            points.append(Point(f"{slug}: asked" if accepted is not None else str(slug), asked))
            if slug in filters and isinstance(accepted, int):
                points.append(Point(f"{slug}: accepted", accepted))
    words = ", ".join(f"{point.label} {point.value:,}" for point in points)
    title = "From candidates to instances"
    return Plot("funnel", title, f"Instances: {words}.", "bars", "count", "Instances", [Series("", points)])
