"""Create a study from its file, freeze its design, and open, pause and close it."""

import random
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from studies.actions.completion_codes import add_code
from studies.actions.conditions import check_conditions
from studies.actions.events import Actor, What, person, record
from studies.actions.projects.datasets import dataset_studies, join_dataset
from studies.actions.projects.roles import check_roles
from studies.actions.questions import (
    About,
    build_questions,
    items_to_ask,
    make_practice,
    refuse_unaskable,
    save_questions,
    unsaved_questions,
)
from studies.actions.selection import check_selection
from studies.batches import Progress, create_in_batches, ignore_progress
from studies.design import Design, read_design
from studies.design.checks import check_reachable
from studies.design.policy_checks import check_policies
from studies.errors import StudyError
from studies.kinds import CannotAsk
from studies.models import (
    Outcome,
    Project,
    Purpose,
    Question,
    Study,
    StudyState,
    Survey,
    SurveyQuestion,
)
from studies.models.studies import STUDY_TRANSITIONS
from studies.survey_plan import CannotPlan, PlannedSurvey, order_parts, plan_surveys

BATCH = 1000
# Before a launch, so many of the first and of the last items are tried.
TRIED_AT_EACH_END = 500
# While a study is written, so many of each.
TRIED_IN_PREVIEW = 100


class Arriving(Protocol):
    def __call__(self, study: Study, *, now: datetime) -> Sequence[About] | None:
        """Return the items from the upstream study of `study`, None without one. Raises StudyError."""


@transaction.atomic
def create_study(*, project: Project, source: str, by: Actor, now: datetime) -> Study:
    """Make a draft from a study file. Raises DesignRefused, or StudyError if its name is taken."""
    study = new_draft(project, source, by)
    record(project=project, study=study, what=What.STUDY_CREATED, by=by, now=now)
    return study


def new_draft(project: Project, source: str, by: Actor) -> Study:
    """Make a draft and its completion codes; the caller records the event. Raises DesignRefused and StudyError."""
    design = read_design(source)
    check_name(project, design.study)
    fed_by = feeding_study(project, design)
    check_roles(project, design, fed_by)
    study = Study.objects.create(
        project=project,
        source=source,
        fed_by=fed_by,
        order_secret=secrets.token_urlsafe(32),
        invite_token=secrets.token_urlsafe(16),
        created_by=person(by),
        **columns(design),
    )
    for outcome in Outcome.values:
        add_code(study=study, outcome=outcome)
    return study


def check_name(project: Project, slug: str) -> None:
    """Raise StudyError if `project` already has a study called `slug`."""
    if Study.objects.filter(project=project, slug=slug).exists():
        raise StudyError(f"Project {project.slug} already has a study called {slug}. Give `study` another name.")


def columns(design: Design) -> dict[str, Any]:
    """Return the design of a study and its columns that repeat parts of it."""
    return {
        "slug": design.study,
        "title": design.title,
        "kind": design.parts[0].kind,
        "rule": design.rule,
        "purpose": design.purpose,
        "seed": design.seed,
        "design": design,
    }


def feeding_study(project: Project, design: Design) -> Study | None:
    """Return the upstream study that `design` names. Raises StudyError if it does not exist or accepts nothing."""
    slug = design.instances.from_study
    if not slug:
        return None
    # Locked, so that it cannot be deleted in the meantime.
    found = Study.objects.select_for_update(of=("self",), no_key=True).filter(project=project, slug=slug).first()
    if found is None:
        raise StudyError(
            f"`instances.from` names {slug}, but project {project.slug} has no such study. Create it first."
        )
    if not found.accepts:
        raise StudyError(
            f"`instances.from` names {slug}, whose purpose is {found.purpose}: it accepts nothing "
            "that this study could ask about."
        )
    return found


@dataclass(frozen=True)
class Plan:
    """Preview of a launch: counts of questions, surveys, seats and answers wanted."""

    questions: int
    surveys: int
    seats: int
    answers: int


def plan_study(study: Study, *, about: Sequence[About] | None = None) -> Plan:
    """Return what a launch would create, without creating it. Raises StudyError. `about` as for `freeze`."""
    _check_draft(study)
    asked = _choose_instances(study, about)
    found = _make_plan(study, asked)
    refuse_unaskable([str(each) for each in _questions(study, _ends(asked)) if isinstance(each, CannotAsk)])
    check_conditions(study, (each for each in _questions(study, asked) if isinstance(each, Question)))
    return found


def _ends(asked: Sequence[About]) -> Sequence[About]:
    """Return the first and the last items: a launch, which tries all of them, takes long if there are many."""
    return asked if len(asked) <= 2 * TRIED_AT_EACH_END else [*asked[:TRIED_AT_EACH_END], *asked[-TRIED_AT_EACH_END:]]


def count_plan(study: Study, *, about: Sequence[About] | None = None) -> Plan:
    """Return what a launch would create, also of a study that is not saved or lacks something. Raises StudyError."""
    return _make_plan(study, _choose_instances(study, about))


@dataclass(frozen=True)
class Unaskable:
    """Instances of a draft that it cannot ask about: `count`, above 0, of so many `tried`, and why not one of them.

    `selected`: number of the instances that the draft selects.
    """

    count: int
    tried: int
    selected: int
    example: str


def preview_plan(study: Study) -> tuple[Plan, Unaskable | None]:
    """Return what `count_plan` returns, and which of the first and last selected instances `study` cannot ask about.

    Raises StudyError, also if it selects no description to ask about, or too few to sample.
    """
    asked = _choose_instances(study, None)
    return _make_plan(study, asked), _unaskable(study, asked)


def _unaskable(study: Study, asked: Sequence[About]) -> Unaskable | None:
    ends = asked if len(asked) <= 2 * TRIED_IN_PREVIEW else [*asked[:TRIED_IN_PREVIEW], *asked[-TRIED_IN_PREVIEW:]]
    reasons = {
        about.instance: str(made) for about, made in unsaved_questions(study, ends) if isinstance(made, CannotAsk)
    }
    if not reasons:
        return None
    tried, selected = (len({about.instance for about in some}) for some in (ends, asked))
    return Unaskable(len(reasons), tried, selected, next(iter(reasons.values())))


def _make_plan(study: Study, asked: Sequence[About]) -> Plan:
    surveys = _plan_surveys(study, asked)
    _check_reach(study, surveys)
    each = study.design.questions_per_instance
    return Plan(
        questions=each * sum(len(survey.items) for survey in surveys),
        surveys=len(surveys),
        seats=sum(survey.seats for survey in surveys),
        answers=each * sum(survey.seats * len(survey.items) for survey in surveys),
    )


def draft_questions(
    study: Study, instances: Collection[int] | None = None, *, now: datetime
) -> Iterator[Question | CannotAsk]:
    """Yield the unsaved questions that a launch would make, or why an instance cannot be asked about.

    `instances`: ids; by default all that the draft selects. Raises StudyError if a sample cannot be drawn.
    """
    arriving: Arriving = import_string(settings.ARRIVING)
    asked = _choose_instances(study, arriving(study, now=now))
    yield from _questions(study, [about for about in asked if instances is None or about.instance in instances])


def _questions(study: Study, asked: Sequence[About]) -> Iterator[Question | CannotAsk]:
    for _, made in unsaved_questions(study, asked):
        yield from [made] if isinstance(made, CannotAsk) else made


def _check_draft(study: Study) -> None:
    """Raise StudyError for what a draft may lack and a launched study may not.

    Studies named by the design must exist now; earlier they need not, so two may name each other.
    """
    if not study.design.contact:
        raise StudyError(
            "The study has no contact for annotators. Fill in `contact`, such as Ada Lovelace, ada@example.org."
        )
    check_selection(study)
    named = {each.parameters["study"] for each in study.design.eligibility if "study" in each.parameters}
    known = Study.objects.filter(project=study.project_id, slug__in=named).values_list("slug", flat=True)
    if missing := sorted(named - set(known)):
        raise StudyError(
            f"`eligibility` names {', '.join(missing)}, but project {study.project.slug} has no such "
            "study. Create it first (a draft is enough), or correct the name."
        )


def _choose_instances(study: Study, about: Sequence[About] | None) -> list[About]:
    chosen = list(items_to_ask(study) if about is None else about)
    if about is None and not chosen and study.design.asks_about_answers:
        raise StudyError(
            "No instance that it selects has a description whose image is known. Import some, or name the study in "
            "which descriptions are written under `instances.from`."
        )
    sample = study.design.instances.sample
    if sample is None:
        return chosen
    if sample > len(chosen):
        raise StudyError(f"A sample of {sample} instances cannot be drawn from {len(chosen)}.")
    chosen.sort(key=_order)
    drawn = random.Random(f"sample|{study.seed}").sample(chosen, sample)  # noqa: S311 (no secret)
    return sorted(drawn, key=_order)


def _order(about: About) -> tuple[int, int]:
    return about.instance, about.source.id if about.source else 0


def _check_reach(study: Study, surveys: Sequence[PlannedSurvey[About]]) -> None:
    """Raise StudyError for policies that cannot act with these surveys, and a qualification that nobody can pass."""
    found = [*check_policies(study.design, surveys), *check_reachable(study.design, surveys)]
    if problems := [sentence for _, sentence in found]:
        raise StudyError(*problems)


def _plan_surveys(study: Study, about: Sequence[About]) -> list[PlannedSurvey[About]]:
    design = study.design
    try:
        return plan_surveys(
            about,
            size=max(1, design.surveys.size // study.design.questions_per_instance),
            double_seats=design.surveys.double_seats,
            answers=design.answers,
            seed=study.seed,
        )
    except CannotPlan as error:
        raise StudyError(str(error)) from error


def freeze(
    *,
    study: Study,
    by: Actor,
    now: datetime,
    about: Sequence[About] | None = None,
    progress: Progress = ignore_progress,
) -> None:
    """Make the questions and surveys of a draft and open it. Must run in a transaction. Raises StudyError.

    `about`: the items to ask about, None for all instances that the file selects. An empty list opens a study whose
    instances arrive later.
    """
    if not Study.objects.filter(pk=study.pk, state=StudyState.DRAFT).update(state=StudyState.OPEN, launched_at=now):
        raise StudyError(f"Study {study.slug} is already launched; its design is frozen.")
    study.refresh_from_db()
    _check_draft(study)
    if joins_dataset(study):
        join_dataset(study=study, by=by, now=now)
    make_practice(study)
    if about is None or about:
        planned = _plan_surveys(study, _choose_instances(study, about))
        _check_reach(study, planned)
        add_surveys(study=study, planned=planned, progress=progress)
    check_conditions(study, study.questions.iterator(chunk_size=BATCH))


def joins_dataset(study: Study) -> bool:
    """Return whether launching `study` adds its accepted items to the project's dataset.

    The study file can decide it. By default a filter is added if the project has no dataset yet or if its upstream
    study is part of the dataset; the order of launches does not matter.
    """
    declared = study.design.dataset
    if declared is not None:
        return bool(declared)
    in_dataset = {each.pk for each in dataset_studies(study.project)}
    return study.purpose == Purpose.FILTER and (not in_dataset or study.fed_by_id in in_dataset)


def add_surveys(
    *,
    study: Study,
    planned: Sequence[PlannedSurvey[About]],
    built: Mapping[About, list[Question]] | None = None,
    progress: Progress = ignore_progress,
) -> list[Survey]:
    """Make the planned questions and surveys; return the surveys.

    built: the unsaved questions about each item, if they were built already. Raises StudyError.
    """
    wanted = {about: survey.seats for survey in planned for about in survey.items}
    questions = build_questions(study, list(wanted), progress) if built is None else built
    save_questions(questions, wanted, progress)
    first = study.surveys.count() + 1
    surveys = [
        Survey(study=study, number=number, seats_planned=survey.seats) for number, survey in enumerate(planned, first)
    ]
    Survey.objects.bulk_create(surveys, batch_size=BATCH)
    asked = ([question for about in plan.items for question in questions[about]] for plan in planned)
    fill_surveys(
        (
            (survey, order_parts(of_survey, seed=f"{study.seed}|{survey.number}"))
            for survey, of_survey in zip(surveys, asked, strict=True)
        ),
        total=sum(map(len, questions.values())),
        progress=progress,
    )
    return surveys


def fill_survey(*, survey: Survey, questions: Sequence[Question]) -> None:
    fill_surveys([(survey, questions)])


def fill_surveys(
    filled: Iterable[tuple[Survey, Sequence[Question]]], *, total: int = 0, progress: Progress = ignore_progress
) -> None:
    """Make the rows of surveys and their questions, in order. `total`: how many there are, for `progress`.

    All surveys share the statements, so that many small surveys need no more statements than a few large ones.
    """
    create_in_batches(
        SurveyQuestion.objects.all(),
        (
            SurveyQuestion(survey=survey, question=question, position=position)
            for survey, questions in filled
            for position, question in enumerate(questions)
        ),
        size=BATCH,
        stage="Filling surveys",
        total=total,
        progress=progress,
    )


CHANGED = {
    StudyState.PAUSED: What.STUDY_PAUSED,
    StudyState.OPEN: What.STUDY_RESUMED,
    StudyState.CLOSED: What.STUDY_CLOSED,
}


@transaction.atomic
def change_state(*, study: Study, to: StudyState, by: Actor, now: datetime) -> None:
    """Pause, resume or close a study. Raises StudyError if its state does not allow it."""
    state = StudyState(study.state)
    if to not in STUDY_TRANSITIONS[state] or state is StudyState.DRAFT:
        raise StudyError(f"Study {study.slug} is {state.label.lower()}; it cannot be changed to {to.label.lower()}.")
    closed = {"closed_at": now} if to is StudyState.CLOSED else {}
    if not Study.objects.filter(pk=study.pk, state=state).update(state=to, **closed):
        raise StudyError(f"Somebody else has just changed study {study.slug}. Reload the page.")
    study.refresh_from_db()
    record(project=study.project, study=study, what=CHANGED[to], by=by, now=now)
