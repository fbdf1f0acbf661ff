"""Create a study from its file, freeze its design, open, pause and close it."""

import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Prefetch, QuerySet

from studies.design import read_design
from studies.errors import StudyError
from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, get_kind
from studies.models import (
    CompletionCode,
    Instance,
    InstanceImage,
    Outcome,
    PracticeQuestion,
    Project,
    Question,
    Study,
    StudyState,
    Survey,
    SurveyQuestion,
)
from studies.models.studies import STUDY_TRANSITIONS
from studies.planning import CannotPlan, PlannedSurvey, plan_surveys

BATCH = 1000
CODE_LENGTH = 9
# A list of thousands of instances helps nobody; the count stands beside the first of them.
PROBLEMS_SHOWN = 20
# A preview passes over instances that cannot be asked about (yet), but not over a whole project of them.
SAMPLED_PER_QUESTION = 20


@transaction.atomic
def create_study(*, project: Project, source: str, by: AbstractBaseUser | None) -> Study:
    """Make a draft from a study file. Raises DesignRefused, or StudyError when its name is taken."""
    design = read_design(source)
    if Study.objects.filter(slug=design["study"]).exists():
        raise StudyError(f"There is already a study called {design['study']}. Give `study` another name.")
    study = Study.objects.create(
        project=project,
        slug=design["study"],
        title=design["title"],
        kind=design["kind"],
        rule=design["rule"],
        source=source,
        design=design,
        seed=design["seed"],
        invite_token=secrets.token_urlsafe(16),
        created_by_id=by.pk if by else None,
    )
    letters = string.ascii_uppercase + string.digits
    for outcome in Outcome.values:
        code = "".join(secrets.choice(letters) for _ in range(CODE_LENGTH))
        CompletionCode.objects.create(study=study, outcome=outcome, code=code)
    return study


def selected_instances(study: Study) -> QuerySet[Instance]:
    """Return the instances the study asks about: those its file selects, without the ones it practises on."""
    selection = study.design["instances"]
    chosen = Instance.objects.filter(project=study.project_id)
    for name, column in (("type", "type"), ("subtype", "subtype"), ("split", "split"), ("keys", "key")):
        if selection[name]:
            chosen = chosen.filter(**{f"{column}__in": selection[name]})
    practised = [question["instance"] for question in study.design["practice"]["questions"]]
    return chosen.exclude(key__in=practised).order_by("id")


@dataclass(frozen=True)
class Plan:
    """What launching a draft would make: counts of questions, surveys, seats and answers wanted."""

    questions: int
    surveys: int
    seats: int
    answers: int


def plan_study(study: Study) -> Plan:
    """Return what launching would make, without making it. Raises StudyError."""
    surveys = _planned(study, list(selected_instances(study).values_list("pk", flat=True)))
    return Plan(
        questions=sum(len(survey.questions) for survey in surveys),
        surveys=len(surveys),
        seats=sum(survey.seats for survey in surveys),
        answers=sum(survey.seats * len(survey.questions) for survey in surveys),
    )


def _planned(study: Study, ids: list[int]) -> list[PlannedSurvey]:
    design = study.design
    try:
        return plan_surveys(
            ids,
            size=design["surveys"]["size"],
            double_seats=design["surveys"]["double_seats"],
            answers=design["answers"],
            seed=study.seed,
        )
    except CannotPlan as error:
        raise StudyError(str(error)) from error


def freeze(*, study: Study, now: datetime) -> None:
    """Make questions and surveys from a draft's design and open it. Must run in a transaction. Raises StudyError."""
    if not Study.objects.filter(pk=study.pk, state=StudyState.DRAFT).update(state=StudyState.OPEN, launched_at=now):
        raise StudyError(f"Study {study.slug} is already launched; its design is frozen.")
    study.refresh_from_db()
    _make_practice(study)
    instances = selected_instances(study)
    surveys = _planned(study, list(instances.values_list("pk", flat=True)))
    wanted = {instance: survey.seats for survey in surveys for instance in survey.questions}
    questions = _make_questions(study, instances, wanted)
    for number, planned in enumerate(surveys, start=1):
        survey = Survey.objects.create(study=study, number=number, seats_planned=planned.seats)
        SurveyQuestion.objects.bulk_create(
            (
                SurveyQuestion(survey=survey, question_id=questions[instance], position=position)
                for position, instance in enumerate(planned.questions)
            ),
            batch_size=BATCH,
        )


def _make_questions(study: Study, instances: QuerySet[Instance], wanted: dict[int, int]) -> dict[int, int]:
    """Make a question about each instance; return instance id -> question id. Raises StudyError with all problems."""
    kind, ask = get_kind(study.kind), study.design["ask"]
    problems: list[str] = []
    made: list[Question] = []
    for instance, facts in _with_facts(instances):
        try:
            content = kind.build(facts, ask)
        except CannotAsk as error:
            problems.append(str(error))
            continue
        made.append(
            Question(
                study=study, instance=instance, kind=study.kind, content=content, answers_wanted=wanted[instance.pk]
            )
        )
    if problems:
        more = len(problems) - PROBLEMS_SHOWN
        tail = [f"... and {more} more instances cannot be asked about."] if more > 0 else []
        raise StudyError(*problems[:PROBLEMS_SHOWN], *tail)
    Question.objects.bulk_create(made, batch_size=BATCH)
    return {question.instance_id: question.pk for question in made}


def _with_facts(instances: QuerySet[Instance]) -> Iterator[tuple[Instance, InstanceFacts]]:
    # Joined, because prefetching them apart asks for all at once, with more terms than SQLite takes.
    images_of = Prefetch("images", InstanceImage.objects.select_related("image"))
    for instance in instances.prefetch_related(images_of).iterator(chunk_size=BATCH):
        images: dict[str, list[ImageFacts]] = {}
        for use in instance.images.all():
            stored = use.image
            images.setdefault(use.role, []).append(
                ImageFacts(
                    sha256=stored.sha256 if stored else None,
                    width=stored.width if stored else 0,
                    height=stored.height if stored else 0,
                    filename=use.filename,
                )
            )
        yield instance, InstanceFacts(key=instance.key, captions=instance.captions, images=images)


def sample_contents(study: Study, *, limit: int) -> list[dict[str, Any]]:
    """Return the contents of the first `limit` questions that launching would make; nothing is stored."""
    kind, ask = get_kind(study.kind), study.design["ask"]
    contents: list[dict[str, Any]] = []
    for _, facts in _with_facts(selected_instances(study)[: SAMPLED_PER_QUESTION * limit]):
        try:
            contents.append(kind.build(facts, ask))
        except CannotAsk:
            continue
    return contents[:limit]


def _make_practice(study: Study) -> None:
    kind, ask = get_kind(study.kind), study.design["ask"]
    asked = study.design["practice"]["questions"]
    found = Instance.objects.filter(project=study.project_id, key__in=[entry["instance"] for entry in asked])
    facts = {instance.key: known for instance, known in _with_facts(found)}
    for position, entry in enumerate(asked):
        if entry["instance"] not in facts:
            raise StudyError(
                f"Practice question {position + 1} names instance {entry['instance']}, which is not there."
            )
        try:
            content = kind.build(facts[entry["instance"]], ask)
        except CannotAsk as error:
            raise StudyError(f"Practice question {position + 1}: {error}") from error
        _check_right(position, entry, options=kind.shuffled_options(content) + kind.fixed_options(content))
        PracticeQuestion.objects.create(
            study=study,
            position=position,
            kind=study.kind,
            content=content,
            right=entry["right"],
            feedback=entry["feedback"],
        )


def _check_right(position: int, entry: dict[str, Any], *, options: list[str]) -> None:
    if entry["right"] not in options:
        raise StudyError(
            f"Practice question {position + 1} says {entry['right']} is right; its options are {', '.join(options)}."
        )


def change_state(*, study: Study, to: StudyState, now: datetime) -> None:
    """Pause, resume or close a study. Raises StudyError when its state does not allow it."""
    state = StudyState(study.state)
    if to not in STUDY_TRANSITIONS[state] or state is StudyState.DRAFT:
        raise StudyError(f"Study {study.slug} is {state.label.lower()}; it cannot become {to.label.lower()}.")
    closed = {"closed_at": now} if to is StudyState.CLOSED else {}
    if not Study.objects.filter(pk=study.pk, state=state).update(state=to, **closed):
        raise StudyError(f"Somebody else has just changed study {study.slug}. Reload the page and look again.")
    study.refresh_from_db()
