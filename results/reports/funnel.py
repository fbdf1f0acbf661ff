"""How many instances each study was asked about, and what became of them, per type and subtype."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from analytics.outcomes import (
    ACCEPTING,
    NOT_ACCEPTING,
    Outcome,
    Progress,
    outcome_of_instance,
    progress_of,
    progress_of_instance,
)
from results.reports.addresses import ALL, in_address, listing
from results.reports.base import Cell, Column, Listed, Plot, Point, Series, Table
from results.reports.facts import ProjectFacts, QuestionFacts, StudyFacts

ASKED = "asked"
Category = tuple[str, str]


def funnel_table(project: ProjectFacts) -> Table:
    """Count instances: one row for each study as a whole and one for each of its types and subtypes."""
    counts = {study.slug: _counts(study, project) for study in project.studies}
    shown = _shown(counts.values(), project)
    columns = [
        Column("Study"),
        Column("Purpose"),
        Column("Type"),
        Column("Subtype"),
        Column("Instances asked", "count"),
    ]
    columns += [Column(name.capitalize(), "count") for name in shown]
    rows: list[Sequence[Cell]] = [
        ("imported", "", *category, _listed(n, "", category), *(None for _ in shown))
        for category, n in _imported(project)
    ]
    for study in project.studies:
        # A study has outcomes of its own sort: nothing is accepted in a baseline, and nothing agreed in a filter.
        never = NOT_ACCEPTING if study.accepts else ACCEPTING
        rows += [
            (
                study.slug,
                study.purpose,
                *category,
                _listed(found[ASKED], study.slug, category),
                *(None if name in never else _standing(found[name], study.slug, category, name) for name in shown),
            )
            for category, found in counts[study.slug].items()
        ]
    slugs = [study.slug for study in project.studies]
    return Table("funnel", "From candidates to instances", columns, rows, [_OF_INSTANCES, _OUTCOMES], slugs)


def _listed(n: int, study: str, category: Category, **standing: str) -> Listed:
    return Listed(n, listing(study=study, category=category, **standing))


def _standing(n: int, study: str, category: Category, name: str) -> Cell:
    """Return how many instances stand so in a study, by their outcome or by how far their answers are."""
    if name in set(Outcome):
        return _listed(n, study, category, state=in_address(Outcome(name)))
    return _listed(n, study, category, progress=name)


_OF_INSTANCES = (
    "Instances are counted. One about which a study asks several questions is complete when all of them have all the "
    "answers wanted, and unanswered when none has any; it is accepted when all are accepted, rejected when one is "
    "rejected, and conflicting when none is awaited any more and one of them is."
)
_OUTCOMES = (
    "A study that accepts nothing, such as a baseline, has instances on whose answers people agree or conflict. "
    "Undone: drawn from an acceptance that has been undone since; such instances are no part of the dataset."
)


def _shown(counts: Iterable[Mapping[Category, Counter[str]]], project: ProjectFacts) -> list[str]:
    """Return the names of the counts that say something: all that can be, and undone instances where there are some."""
    accepting = {study.accepts for study in project.studies}
    names: list[str] = [*Progress, Outcome.NONE_YET]
    names += [Outcome.AGREED] if False in accepting else []
    names += [Outcome.CONFLICTING]
    names += [Outcome.ACCEPTED, Outcome.REJECTED] if True in accepting else []
    return names + ([Outcome.UNDONE] if any(found[Outcome.UNDONE] for of in counts for found in of.values()) else [])


def _imported(project: ProjectFacts) -> Iterable[tuple[Category, int]]:
    yield (ALL, ALL), len(project.categories)
    yield from sorted(Counter(project.categories.values()).items())


def _counts(study: StudyFacts, project: ProjectFacts) -> dict[Category, Counter[str]]:
    """Return the counts of all instances, and then of each category in order."""
    seen = Counter(
        (project.categories[instance], outcome_of(questions), progress_of_all(questions))
        for instance, questions in by_instance(study.questions).items()
    )
    counts: dict[Category, Counter[str]] = {(ALL, ALL): Counter()}
    for category, outcome, progress in sorted(seen):
        n = seen[category, outcome, progress]
        for group in ((ALL, ALL), category):
            counts.setdefault(group, Counter()).update({ASKED: n, outcome: n, progress: n})
    return counts


def progress_of_all(questions: Sequence[QuestionFacts]) -> Progress:
    """Return how far the answers to all questions about an instance are, taken together."""
    return progress_of_instance(progress_of(question.answers, question.wanted) for question in questions)


def by_instance(questions: Iterable[QuestionFacts]) -> dict[int, list[QuestionFacts]]:
    """Group the questions by the instance they ask about, in their order."""
    grouped: dict[int, list[QuestionFacts]] = {}
    for question in questions:
        grouped.setdefault(question.instance, []).append(question)
    return grouped


def outcome_of(questions: Sequence[QuestionFacts]) -> Outcome:
    """Return what became of an instance with these questions."""
    return outcome_of_instance(question.outcome for question in questions)


def accepted_of(study: StudyFacts) -> set[int]:
    """Return the instances that `study` accepted."""
    return {
        instance
        for instance, questions in by_instance(study.questions).items()
        if outcome_of(questions) is Outcome.ACCEPTED
    }


def accepting_studies(project: ProjectFacts) -> list[StudyFacts]:
    """Return the studies whose answers accept and reject."""
    return [study for study in project.studies if study.accepts]


def dataset_study(project: ProjectFacts) -> StudyFacts | None:
    """Return the study that was declared to keep the dataset, if it is among these."""
    return next((study for study in project.studies if study.slug == project.dataset), None)


def kept_instances(project: ProjectFacts) -> set[int]:
    """Return the project's dataset: what the declared study accepted; all instances where none is declared."""
    keeping = dataset_study(project)
    return accepted_of(keeping) if keeping else set(project.categories)


def dataset_table(project: ProjectFacts) -> Table:
    """Count the dataset, as the paper's table of the data does; without studies there is nothing to say.

    Retrieval examples are counted where a study asks questions with a right answer about instances of the dataset: so
    many questions about each as its design has (BiVLC: two images and two captions make four).
    """
    keeping = dataset_study(project)
    kept_by = (
        f"The dataset is what {keeping.slug} accepted."
        if keeping
        else "No study was declared to keep the dataset, so it is all that was imported."
    )
    counts = Counter(project.categories[instance] for instance in kept_instances(project))
    columns = [Column("Type"), Column("Subtype"), Column("Instances", "count")]
    examples = _examples_per_instance(project)
    if examples:
        columns.append(Column("Retrieval examples", "count"))
        kept_by += f" An instance makes {examples} retrieval examples: as many as are asked about it in the baseline."
    kept_in, accepted = (keeping.slug, {"state": in_address(Outcome.ACCEPTED)}) if keeping else ("", {})
    rows: list[Sequence[Cell]] = [
        (
            *(*category, _listed(n, kept_in, category, **accepted)),
            *([_examples(examples, n, kept_in, category, **accepted)] if examples else []),
        )
        for category, n in [((ALL, ALL), counts.total()), *sorted(counts.items())]
    ]
    title, shown = "The dataset, per type and subtype", rows if project.studies else []
    return Table("dataset", title, columns, shown, [kept_by], [keeping.slug] if keeping else [])


def _examples(each: int, instances: int, study: str, category: Category, **standing: str) -> Listed:
    query = listing(study=study, category=category, **standing)
    return Listed(each * instances, query, unit="examples", instances=instances)


def _examples_per_instance(project: ProjectFacts) -> int:
    """Return how many questions with a right answer the baselines ask about an instance; 0 where they differ."""
    asked = {sum(part.variants for part in study.parts) for study in project.studies if study.purpose == "baseline"}
    return asked.pop() if len(asked) == 1 else 0


def funnel_plot(project: ProjectFacts, funnel: Table) -> Plot:
    """Plot what `funnel`, the table of `project`, says of all instances."""
    titles = [column.title for column in funnel.columns]
    points = []
    for row in funnel.rows:
        said = dict(zip(titles, row, strict=True))
        slug, asked, accepted = said["Study"], said["Instances asked"], said.get(Outcome.ACCEPTED.capitalize())
        if said["Type"] == ALL and isinstance(asked, int):
            points.append(Point(f"{slug}: asked" if said["Purpose"] else str(slug), asked))
            if isinstance(accepted, int):
                points.append(Point(f"{slug}: accepted", accepted))
    words = ", ".join(f"{point.label} {point.value:,}" for point in points)
    title = "From candidates to instances"
    return Plot("funnel", title, f"Instances: {words}.", "bars", "count", "Instances", [Series("", points)])
