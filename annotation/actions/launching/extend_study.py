"""Extend a launched study: more answers, a higher limit, new instances.

See docs/decisions/0044-growing-a-launched-study.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from django.db import transaction
from django.db.models import F, Max, Min, QuerySet

from annotation.actions import seats
from annotation.actions.deciding.decisions import recount
from annotation.actions.deciding.undo_acceptance import update_downstream_of_questions
from annotation.models import Decision, Seat, Slot
from studies.actions.events import Actor, What, record
from studies.actions.questions import (
    About,
    build_questions,
    images_asked,
    items_to_ask,
    unsaved_questions,
)
from studies.actions.studies import add_surveys, fill_survey
from studies.actions.table_statistics import refresh_statistics
from studies.design.model import MOST_ANSWERS
from studies.errors import StudyError
from studies.kinds import CannotAsk
from studies.models import UNDER_WAY, Question, Study, Survey, SurveyQuestion
from studies.survey_plan import CannotPlan, PlannedSurvey, order_parts, plan_surveys
from studies.wording import format_count

# The job that extends a large study; its key is the id of the study.
EXTENSION_JOB = "annotation.extension"
BATCH = 500
# Questions and places for answers that one transaction of an extension creates: a quarter of a second on SQLite.
CREATED_TOGETHER = 1_000


class ExtensionKind(StrEnum):
    """The ways to extend a study."""

    ANSWERS = "answers"
    UNDECIDED = "undecided"
    INSTANCES = "instances"


@dataclass(frozen=True)
class ExtensionResult:
    """What an extension added or changed, in numbers of 0 or more.

    seats, answers, questions: added. left_out: instances that cannot be asked about yet. decisions: questions that
    became decided or undecided. undone, restored: downstream questions that left the dataset or returned to it.
    """

    seats: int = 0
    answers: int = 0
    questions: int = 0
    left_out: int = 0
    decisions: int = 0
    undone: int = 0
    restored: int = 0


NOTHING = ExtensionResult()


@dataclass(frozen=True)
class ExtensionPlan:
    """What an extension would add at most. `questions`: those that it adds or decides again.

    Reading every question takes long, so `added` counts neither changed decisions nor instances that are left out.
    """

    questions: int
    added: ExtensionResult

    @property
    def answers(self) -> int:
        return self.added.answers


def plan(study: Study, way: ExtensionKind, number: int, beyond: int | None = None) -> ExtensionPlan:
    """Return what `extend` would add at most, without adding it. Raises StudyError."""
    _check_under_way(study)
    match way:
        case ExtensionKind.ANSWERS:
            _check_more(study, number, beyond)
            questions = Decision.objects.filter(study=study).count()
            seats = number * len(set(_first_surveys(study).values()))
            return ExtensionPlan(questions, ExtensionResult(seats=seats, answers=number * questions))
        case ExtensionKind.UNDECIDED:
            _check_limit(study, number)
            return ExtensionPlan(Decision.objects.filter(study=study).count(), ExtensionResult())
        case ExtensionKind.INSTANCES:
            surveys = _new_surveys(study, _unasked_instances(study))
            questions = study.design.questions_per_instance * sum(len(survey.items) for survey in surveys)
            seats = sum(survey.seats for survey in surveys)
            return ExtensionPlan(questions, ExtensionResult(seats, questions * study.answers, questions))
    assert_never(way)


def extend(
    *, study: Study, way: ExtensionKind, number: int, by: Actor, now: datetime, beyond: int | None = None
) -> ExtensionResult:
    """Extend a launched study at once: all or nothing.

    number: how many more answers, or the new limit; unused for new instances. Raises StudyError.
    """
    match way:
        case ExtensionKind.ANSWERS:
            return add_answers(study=study, more=number, by=by, now=now, beyond=beyond)
        case ExtensionKind.UNDECIDED:
            return raise_limit(study=study, to=number, by=by, now=now)
        case ExtensionKind.INSTANCES:
            with transaction.atomic():
                return add_instances(study=_lock_study(study), by=by, now=now)
    assert_never(way)


@transaction.atomic
def add_answers(*, study: Study, more: int, by: Actor, now: datetime, beyond: int | None = None) -> ExtensionResult:
    """Ask for `more` answers to every question of a launched study, present and future.

    beyond: raise if the study no longer has this many answers per question, as previewed. Each planned survey is
    repeated with `more` seats, so that nobody gets a survey again. Decisions are recomputed. Raises StudyError.
    """
    study = _lock_study(study)
    _check_more(study, more, beyond)
    Study.objects.filter(pk=study.pk).update(more_answers=F("more_answers") + more)
    surveys = _repeat_surveys(study, more)
    seats.open_seats(study=study, surveys=surveys)
    refresh_statistics(SurveyQuestion, Seat, Slot)
    # As late as possible: answers wait from here on.
    questions = _mark(Decision.objects.filter(study=study), now=now)
    Question.with_checks.filter(study=study).update(answers_wanted=F("answers_wanted") + more)
    grown = replace(_recount(questions, now=now), seats=more * len(surveys), answers=more * len(questions))
    told = {"more": more, **asdict(grown)}
    record(project=study.project, study=study, what=What.MORE_ANSWERS_WANTED, by=by, now=now, **told)
    return grown


@transaction.atomic
def raise_limit(*, study: Study, to: int, by: Actor, now: datetime) -> ExtensionResult:
    """Let undecided questions of a launched study get up to `to` answers, one at a time, as people arrive.

    Raises StudyError.
    """
    study = _lock_study(study)
    _check_limit(study, to)
    Study.objects.filter(pk=study.pk).update(raised_to=to, completed_at=None)
    # All of them: an edit in transit may undo what is decided now.
    grown = _recount(_mark(Decision.objects.filter(study=study), now=now), now=now)
    record(project=study.project, study=study, what=What.MOST_ANSWERS_RAISED, by=by, now=now, to=to)
    return grown


def add_instances(
    *,
    study: Study,
    by: Actor,
    now: datetime,
    before: ExtensionResult = NOTHING,
    store: Callable[[ExtensionResult, int, bool], None] = lambda so_far, total, is_last: None,
) -> ExtensionResult:
    """Ask about selected instances that a launched study does not ask about yet, in new surveys.

    Instances that cannot be asked about yet, such as those without an image, are left out. Each of several short
    transactions adds whole surveys, which can be answered from then on, and others can write in between. What an
    interrupted run did not add is left to the next one.

    before: what earlier runs added. store: called in each transaction with what was added so far, how many questions
    that will be, and whether it is the last. Raises StudyError.
    """
    _check_under_way(study)
    ready, left_out = _askable(study, _unasked_instances(study))
    grown, surveys = replace(before, left_out=left_out), _new_surveys(study, ready)
    total = before.questions + len(ready) * study.design.questions_per_instance
    batches = list(_batches(surveys, study))
    for number, batch in enumerate(batches, 1):
        with transaction.atomic():
            # Built under the lock, or a change of a mapping could come between.
            locked = _lock_study(study)
            built = build_questions(locked, [about for survey in batch for about in survey.items])
            grown = _add_surveys(locked, batch, built, grown)
            is_last = number == len(batches)
            if is_last:
                refresh_statistics(Question, SurveyQuestion, Seat, Slot, Decision)
                record(
                    project=study.project, study=study, what=What.INSTANCES_TAKEN_UP, by=by, now=now, **asdict(grown)
                )
            store(grown, total, is_last)
    return grown


def _batches(surveys: Sequence[PlannedSurvey[About]], study: Study) -> Iterator[Sequence[PlannedSurvey[About]]]:
    """Divide surveys into batches of about `CREATED_TOGETHER` questions and places for answers."""
    batch: list[PlannedSurvey[About]] = []
    size = 0
    for survey in surveys:
        batch.append(survey)
        size += len(survey.items) * study.design.questions_per_instance * (1 + survey.seats)
        if size >= CREATED_TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _add_surveys(
    study: Study,
    planned: Sequence[PlannedSurvey[About]],
    built: Mapping[About, list[Question]],
    before: ExtensionResult,
) -> ExtensionResult:
    """Add planned surveys to a locked study; return `before` with what was added.

    Another extension since the plan may have asked about some of their items, or wanted more answers.
    """
    items = {about for survey in planned for about in survey.items}
    asked = _asked(study.questions.filter(instance__in={about.instance for about in items}))
    left = [tuple(about for about in survey.items if _key(about) not in asked) for survey in planned]
    surveys = add_surveys(
        study=study, planned=[PlannedSurvey(each, study.answers) for each in left if each], built=built
    )
    seats.open_seats(study=study, surveys=surveys)
    questions = sum(len(built[about]) for each in left for about in each)
    return replace(
        before,
        seats=before.seats + len(surveys) * study.answers,
        answers=before.answers + questions * study.answers,
        questions=before.questions + questions,
    )


def _check_more(study: Study, more: int, beyond: int | None) -> None:
    if beyond is not None and study.answers != beyond:
        raise StudyError(
            f"Somebody else has added answers: each question now gets {study.answers} answers, not "
            f"{beyond}. Check the preview again."
        )
    if more < 1:
        raise StudyError("Write how many more answers each question gets: 1 or more.")
    if study.answers + more > MOST_ANSWERS:
        raise StudyError(
            f"Each question already gets {study.answers} answers; {more} more would exceed the limit of {MOST_ANSWERS}."
        )


def _check_limit(study: Study, to: int) -> None:
    if to <= study.most_answers:
        raise StudyError(f"Undecided questions already get up to {study.most_answers} answers. Write a larger number.")
    if to > MOST_ANSWERS:
        raise StudyError(f"A question can get at most {MOST_ANSWERS} answers.")


def why_no_new_instances(study: Study) -> str:
    """Return why new instances cannot be added to `study` on request; "" if they can."""
    if study.fed_by_id is not None and study.design.instances.sample is None:
        return "Instances that its upstream study accepts are added automatically, when annotators arrive."
    if study.design.instances.sample is not None:
        return "It asks about a random sample drawn at its launch, so no instances can be added."
    return ""


def _unasked_instances(study: Study) -> list[About]:
    """Return what `study` selects and does not ask about yet. Raises StudyError if there is nothing."""
    if why_not := why_no_new_instances(study):
        raise StudyError(why_not)
    asked = _asked(study.questions.all())
    new = [about for about in items_to_ask(study) if _key(about) not in asked]
    if not new:
        raise StudyError("It already asks about every instance that it selects. Import more first.")
    return new


def _asked(questions: QuerySet[Question]) -> set[tuple[int, str, int]]:
    return set(questions.order_by().values_list("instance_id", "source_type", "source_id"))


def _key(about: About) -> tuple[int, str, int]:
    """Return what tells an item from the others that a study asks about."""
    return about.instance, *((about.source.type, about.source.id) if about.source else ("", 0))


def _askable(study: Study, new: Sequence[About]) -> tuple[list[About], int]:
    """Return those that `study` can ask about, and the number of instances that it cannot yet. Raises StudyError."""
    ready, left_out = [], set()
    for about, made in unsaved_questions(study, new):
        if isinstance(made, CannotAsk):
            left_out.add(about.instance)
        else:
            ready.append(about)
    if not ready:
        raise StudyError(_why_none(study, len(left_out)))
    return ready, len(left_out)


def _why_none(study: Study, new: int) -> str:
    """Say why `study` can ask about none of so many new instances."""
    said = f"The study cannot ask about any of {format_count(new, 'new instance')} yet."
    missing = images_asked(study).filter(image=None).count()
    if not missing:
        return f"{said} They lack a caption or an image that its question shows. Import instances that have them."
    files = "1 image file is" if missing == 1 else f"{missing:,} image files are"
    return f"{said} {files} missing. Import the same file again, with its images."


def _new_surveys(study: Study, new: Sequence[About]) -> list[PlannedSurvey[About]]:
    """Plan surveys about new instances. Raises StudyError."""
    try:
        return plan_surveys(
            new,
            size=max(1, study.design.surveys.size // study.design.questions_per_instance),
            answers=study.answers,
            double_seats=0,
            seed=f"{study.seed}|{study.surveys.count()}",
        )
    except CannotPlan as error:
        raise StudyError(str(error)) from error


def _lock_study(study: Study) -> Study:
    """Return the current row of `study`, locked: no draws and no removals until the transaction ends.

    Raises StudyError if it is not under way.
    """
    locked = Study.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=study.pk)
    _check_under_way(locked)
    return locked


def _check_under_way(study: Study) -> None:
    if study.state not in UNDER_WAY:
        state = study.get_state_display().lower()
        raise StudyError(f"Study {study.slug} is {state}: only an open or paused study can be extended.")


def _mark(decisions: QuerySet[Decision], *, now: datetime) -> list[int]:
    """Make answers in transit to these questions wait, and then read again what is wanted; return the questions."""
    found = list(decisions.order_by("question_id").select_for_update(of=("self",)).values_list("pk", "question_id"))
    for start in range(0, len(found), BATCH):
        these = [pk for pk, _ in found[start : start + BATCH]]
        Decision.objects.filter(pk__in=these).update(more_asked_at=now)
    return [question for _, question in found]


def _repeat_surveys(study: Study, more: int) -> list[Survey]:
    """Create each planned survey of `study` again, with the same questions and `more` seats."""
    first = _first_surveys(study)
    planned: dict[int, list[Question]] = {}
    asked = Question.objects.filter(study=study, pk__in=_planned_places(study).values("question"))
    for question in asked.only("part").order_by("pk"):
        planned.setdefault(first[question.pk], []).append(question)
    last = study.surveys.aggregate(number=Max("number"), round=Max("round"))
    surveys = []
    for number, (_, questions) in enumerate(sorted(planned.items()), (last["number"] or 0) + 1):
        survey = Survey.objects.create(study=study, number=number, seats_planned=more, round=last["round"] + 1)
        fill_survey(survey=survey, questions=order_parts(questions, seed=f"{study.seed}|{number}"))
        surveys.append(survey)
    return surveys


def _planned_places(study: Study) -> QuerySet[SurveyQuestion]:
    return SurveyQuestion.objects.filter(survey__study=study, survey__round=1).order_by()


def _first_surveys(study: Study) -> dict[int, int]:
    """Return the number of the first planned survey of each question that has one."""
    return dict(_planned_places(study).values_list("question_id").annotate(Min("survey__number")))


def _recount(questions: list[int], *, now: datetime) -> ExtensionResult:
    changed = recount(questions=questions, now=now)
    undone = update_downstream_of_questions(questions=changed, now=now)
    return ExtensionResult(decisions=len(changed), **undone)
