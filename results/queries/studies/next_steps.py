"""Next steps of a project."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from results.queries.studies.overview import Conflicts, StudyLine, WaitingImages, count_conflicts
from studies.kinds import get_kind
from studies.models import Import, Project, Study, StudyState


class Todo(StrEnum):
    """Next steps of researchers, most urgent first. The template has the sentence and the button of each."""

    IMPORT = "import"
    AWAIT_IMPORT = "await the import"
    IMPORT_LOOKED_OVER = "import what was looked over"
    UPLOAD_IMAGES = "upload images"
    MAKE_STUDY = "make a study"
    SETTLE = "settle"
    CLOSE = "close"
    ASK_OTHERS = "ask others"
    RESUME = "resume"
    LAUNCH = "launch"
    WAIT = "wait"
    RELEASE = "release"
    NOTHING = "nothing"


@dataclass(frozen=True)
class NextStep:
    """`number` counts what is missing: images, conflicting questions, answers; 0 if nothing is counted.

    asked_again: conflicting questions that get one more answer when somebody arrives. ready: items that the study asks
    about then. Without a `study` it is about the project.
    """

    todo: Todo
    study: Study | None = None
    number: int = 0
    asked_again: int = 0
    ready: int = 0


def next_steps(
    project: Project,
    *,
    lines: Sequence[StudyLine],
    waiting: WaitingImages,
    instances: int,
    releases: int,
    conflicts: Conflicts | None = None,
) -> Sequence[NextStep]:
    """Return the next steps, most urgent first: none in an archive, otherwise at least one.

    lines: the studies of the project. waiting: announced images that are missing. instances, releases (frozen): how
    many there are. conflicts: of `count_conflicts`, if known.
    """
    if project.archived_at is not None:
        return []
    if not instances:
        return [NextStep(_import_step(project))]
    steps = [NextStep(Todo.UPLOAD_IMAGES, number=waiting.images)] if waiting.images else []
    if not lines:
        return [*steps, NextStep(Todo.MAKE_STUDY)]
    conflicts = count_conflicts(project) if conflicts is None else conflicts
    for line in lines:
        # Conflicts first: the lines come without their designs.
        if conflicts.final.get(line.study.pk) and _can_be_settled(line.study):
            steps.append(NextStep(Todo.SETTLE, line.study, conflicts.final[line.study.pk]))
    again = conflicts.asked_again
    steps += [step for line in lines for step in _study_steps(line, again.get(line.study.pk, 0))]
    if without_place := sum(line.answers.without_place for line in lines if line.study.state == StudyState.OPEN):
        steps.append(NextStep(Todo.ASK_OTHERS, number=without_place))
    if all(line.study.state == StudyState.CLOSED for line in lines) and not releases:
        # A study of the dataset, else the latest.
        accepting = [line.study for line in lines if line.study.accepts]
        accepting.sort(key=lambda study: not study.in_dataset)
        steps += [NextStep(Todo.RELEASE, study) for study in accepting[:1]]
    order = list(Todo)
    return sorted(steps, key=lambda step: order.index(step.todo)) or [NextStep(Todo.NOTHING)]


def _can_be_settled(study: Study) -> bool:
    """Whether somebody can settle questions of `study`: it accepts, and its answers are options."""
    return study.accepts and any(get_kind(part.kind).has_one_label for part in study.design.parts)


def _import_step(project: Project) -> Todo:
    """Return the steps about imports when none has added anything yet."""
    last = Import.objects.filter(project=project).first()
    if last is None or last.error:
        return Todo.IMPORT
    if last.is_unfinished:
        return Todo.AWAIT_IMPORT
    return Todo.IMPORT_LOOKED_OVER if last.dry_run and last.upload_id else Todo.IMPORT


def _study_steps(line: StudyLine, asked_again: int) -> list[NextStep]:
    study, answers = line.study, line.answers
    if study.state == StudyState.DRAFT:
        return [NextStep(Todo.LAUNCH, study)]
    if study.state == StudyState.PAUSED:
        return [NextStep(Todo.RESUME, study, answers.to_come, asked_again, line.ready)]
    if study.state != StudyState.OPEN:
        return []
    if study.completed_at:
        # As the periodic task found it, which knows what may be asked again and what upstream studies still accept.
        return [NextStep(Todo.CLOSE, study)]
    if answers.without_place and not (answers.to_come or asked_again or line.ready):
        return []
    return [NextStep(Todo.WAIT, study, answers.to_come, asked_again, line.ready)]


@dataclass(frozen=True)
class NeedsAction:
    """What somebody has to do in a project: questions to settle, studies to close. One of the numbers is not 0."""

    settle: int
    close: int

    def __str__(self) -> str:
        parts = [(self.settle, "to settle"), (self.close, "to close")]
        return ", ".join(f"{n:,} {what}" for n, what in parts if n)


def projects_needing_action(projects: Iterable[Project]) -> dict[int, NeedsAction]:
    """Return the id of each project in which somebody has to settle questions or to close a study -> how many."""
    at_work = [project for project in projects if project.archived_at is None]
    launched = Study.objects.filter(project__in=at_work).exclude(state=StudyState.DRAFT).defer("source")
    conflicts = count_conflicts(*at_work)
    settle, close = Counter[int](), Counter[int]()
    for study in launched:
        if _can_be_settled(study):
            settle[study.project_id] += conflicts.final.get(study.pk, 0)
        close[study.project_id] += study.state == StudyState.OPEN and study.completed_at is not None
    return {
        project.pk: NeedsAction(settle[project.pk], close[project.pk])
        for project in at_work
        if settle[project.pk] or close[project.pk]
    }
