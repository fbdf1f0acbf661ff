"""Next steps of a project."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Exists, OuterRef

from results.models import Release
from results.queries.paying.to_do import money_to_do
from results.queries.people.flagged_sessions import sessions_to_review
from results.queries.studies.navigation import COMPLETE, stage_of
from results.queries.studies.overview import (
    CardNumbers,
    Conflicts,
    StudyLine,
    WaitingImages,
    count_conflicts,
    unreplaced_projects,
)
from results.queries.studies.sessions import count_unfit
from studies.kinds import get_kind
from studies.models import Import, InstanceImage, Project, Study, StudyState


class Todo(StrEnum):
    """Next steps of researchers, most urgent first. The template has the sentence and the button of each."""

    IMPORT = "import"
    AWAIT_IMPORT = "await the import"
    IMPORT_LOOKED_OVER = "import what was looked over"
    UPLOAD_IMAGES = "upload images"
    MAKE_STUDY = "make a study"
    DECIDE_PAYMENTS = "decide payments"
    REVIEW = "review"
    RAISE_PAY = "raise pay"
    LOOK_AT_SUBMISSIONS = "look at submissions"
    REVIEW_FLAGS = "review flags"
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
    """`number` counts what the step is about, such as images, answers or sessions; 0 if nothing is counted.

    asked_again: conflicting questions that get one more answer when somebody arrives. ready: items that the study asks
    about then. Without a `study` it is about the project.
    """

    todo: Todo
    study: Study | None = None
    number: int = 0
    asked_again: int = 0
    ready: int = 0

    @property
    def is_all_in(self) -> bool:
        """Whether it only says that all answers of an open study are in."""
        waits = bool(self.number or self.asked_again or self.ready)
        return self.todo is Todo.WAIT and not waits and self.study is not None and self.study.fed_by_id is None


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
        return [NextStep(_import_step(Import.objects.filter(project=project).first()))]
    steps = [NextStep(Todo.UPLOAD_IMAGES, number=waiting.images)] if waiting.images else []
    if not lines:
        return [*steps, NextStep(Todo.MAKE_STUDY)]
    steps += _money_steps([line.study for line in lines])
    conflicts = count_conflicts(project) if conflicts is None else conflicts
    for line in lines:
        # Conflicts first: the lines come without their designs.
        if conflicts.final.get(line.study.pk) and _can_be_settled(line.study):
            steps.append(NextStep(Todo.SETTLE, line.study, conflicts.final[line.study.pk]))
    unfit = count_unfit(line.study.pk for line in lines)
    for line in lines:
        if number := unfit.get(line.study.pk):
            steps.append(NextStep(Todo.LOOK_AT_SUBMISSIONS, line.study, number))
    flagged = sessions_to_review([line.study.pk for line in lines])
    for line in lines:
        if number := flagged.get(line.study.pk):
            steps.append(NextStep(Todo.REVIEW_FLAGS, line.study, number))
    to_settle = {step.study.pk for step in steps if step.study and step.todo is Todo.SETTLE}
    again = conflicts.asked_again
    for line in lines:
        for step in _study_steps(line, again.get(line.study.pk, 0)):
            # That all answers are in stands beside its conflicting questions already, with the button that helps.
            if not (line.study.pk in to_settle and step.is_all_in):
                steps.append(step)
    if without_place := sum(line.answers.without_place for line in lines if line.study.state == StudyState.OPEN):
        steps.append(NextStep(Todo.ASK_OTHERS, number=without_place))
    if all(line.study.state == StudyState.CLOSED for line in lines) and not releases:
        # A study of the dataset, else the latest.
        accepting = [line.study for line in lines if line.study.accepts]
        accepting.sort(key=lambda study: not study.in_dataset)
        steps += [NextStep(Todo.RELEASE, study) for study in accepting[:1]]
    order = list(Todo)
    return sorted(steps, key=lambda step: order.index(step.todo)) or [NextStep(Todo.NOTHING)]


def _money_steps(studies: Sequence[Study]) -> list[NextStep]:
    found = money_to_do([study.pk for study in studies])
    steps = []
    for study in studies:
        if study.pk in found.undecided:
            steps.append(NextStep(Todo.DECIDE_PAYMENTS, study, found.undecided[study.pk]))
        if study.pk in found.reviews:
            steps.append(NextStep(Todo.REVIEW, study, found.reviews[study.pk]))
        if study.pk in found.underpaid:
            steps.append(NextStep(Todo.RAISE_PAY, study))
    return steps


def _can_be_settled(study: Study) -> bool:
    """Whether somebody can settle questions of `study`: it accepts, and its answers are options."""
    return study.accepts and any(get_kind(part.kind).has_one_label for part in study.design.parts)


def _import_step(last: Import | None) -> Todo:
    """Return the step about imports when none has added anything yet. last: the latest."""
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


# State of a study -> what somebody has to do with it, whatever its answers are.
_STUDY_ACTIONS = {StudyState.DRAFT: Todo.LAUNCH, StudyState.PAUSED: Todo.RESUME, COMPLETE: Todo.CLOSE}
# What somebody has to do, in the words of the home page; {n}: how many questions or studies.
ACTIONS: Mapping[Todo, str] = {
    Todo.IMPORT: "instances to import",
    Todo.IMPORT_LOOKED_OVER: "checked file to import",
    Todo.UPLOAD_IMAGES: "images to upload",
    Todo.MAKE_STUDY: "study to create",
    Todo.DECIDE_PAYMENTS: "payments to decide: {n}",
    Todo.REVIEW: "submissions to review: {n}",
    Todo.RAISE_PAY: "pay to raise",
    Todo.LOOK_AT_SUBMISSIONS: "submissions to check: {n}",
    Todo.REVIEW_FLAGS: "flagged sessions to review: {n}",
    Todo.SETTLE: "{n} to settle",
    Todo.CLOSE: "{n} to close",
    Todo.ASK_OTHERS: "answers to replace",
    Todo.RESUME: "{n} to resume",
    Todo.LAUNCH: "{n} to launch",
    Todo.RELEASE: "release to create",
}


def needs_action(steps: Iterable[NextStep]) -> bool:
    """Whether somebody has to do one of `steps`; the others wait for answers or for an import, or are nothing."""
    return any(step.todo in ACTIONS for step in steps)


def projects_needing_action(
    projects: Iterable[Project], studies: Iterable[Study], *, stored: Mapping[int, CardNumbers]
) -> dict[int, list[str]]:
    """Return the id of each project whose `next_steps` need somebody -> what to do in words, most urgent first.

    projects: read with `project_counts`. studies: theirs, latest first. stored: ids of projects whose conflicts are not
    to be counted, with their numbers. Takes as many queries for many as for few.
    """
    at_work = {project.pk: project for project in projects if project.archived_at is None}
    found: dict[int, Counter[Todo]] = {pk: Counter() for pk in at_work}
    empty = [pk for pk, project in at_work.items() if not vars(project)["instance_count"]]
    last = {each.project_id: each for each in Import.objects.filter(project__in=empty).order_by("requested_at", "pk")}
    for pk in empty:
        found.pop(pk)
        if (step := _import_step(last.get(pk))) in ACTIONS:
            found[pk] = Counter([step])
    filled = [pk for pk in at_work if pk not in empty]
    missing = InstanceImage.objects.filter(instance__project=OuterRef("pk"), image=None).order_by()
    for pk in Project.objects.filter(Exists(missing), pk__in=filled).values_list("pk", flat=True):
        found[pk][Todo.UPLOAD_IMAGES] = 1
    theirs: dict[int, list[Study]] = {pk: [] for pk in filled}
    for study in studies:
        if study.project_id in theirs:
            theirs[study.project_id].append(study)
    conflicts = dict(count_conflicts(*(at_work[pk] for pk in filled if pk not in stored)).final)
    for pk in stored.keys() & filled:
        conflicts |= stored[pk].conflicts
    unfit = count_unfit(study.pk for of in theirs.values() for study in of)
    flagged = sessions_to_review([study.pk for of in theirs.values() for study in of])
    released = set(Release.objects.filter(project__in=filled).exclude(file="").values_list("project", flat=True))
    for pk in unreplaced_projects(filled):
        found[pk][Todo.ASK_OTHERS] = 1
    money = money_to_do([study.pk for of in theirs.values() for study in of])
    for pk, of in theirs.items():
        for study in of:
            found[pk][Todo.DECIDE_PAYMENTS] += money.undecided.get(study.pk, 0)
            found[pk][Todo.REVIEW] += money.reviews.get(study.pk, 0)
            found[pk][Todo.RAISE_PAY] += study.pk in money.underpaid
        if not of:
            found[pk][Todo.MAKE_STUDY] = 1
        for study in of:
            if conflicts.get(study.pk) and _can_be_settled(study):
                found[pk][Todo.SETTLE] += conflicts[study.pk]
            if unfit.get(study.pk):
                found[pk][Todo.LOOK_AT_SUBMISSIONS] += unfit[study.pk]
            if flagged.get(study.pk):
                found[pk][Todo.REVIEW_FLAGS] += flagged[study.pk]
            if todo := _STUDY_ACTIONS.get(stage_of(study)):
                found[pk][todo] += 1
        is_over = of and all(study.state == StudyState.CLOSED for study in of)
        if is_over and pk not in released and any(study.accepts for study in of):
            found[pk][Todo.RELEASE] = 1
    in_words = {pk: [ACTIONS[todo].format(n=f"{n[todo]:,}") for todo in Todo if n[todo]] for pk, n in found.items()}
    return {pk: words for pk, words in in_words.items() if words}
