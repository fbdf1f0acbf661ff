"""Pipelines whose stages people make: studies are created, launched and extended, and what is accepted goes on."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.actions.answering import responses
from annotation.actions.launching.launch import launch
from annotation.actions.removing.removals import exclude, include
from annotation.models import Response
from background.models import Job, JobState
from making import tasks
from making.actions.pipelines import cancel_pipeline, next_round, request_pipeline, request_trial
from making.models import Pipeline
from making.queries.yields import stage_yields
from studies.actions.events import What
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import Event, Instance, Project, Study, StudyState
from studies.permissions import Role
from tests.annotation.test_responses import next_slot, send
from tests.factories import (
    NOON,
    TESTS,
    arrive_at_work,
    create_draft,
    launch_study,
    make_instance,
    make_member,
    make_project,
)
from tests.jobs import run_now

pytestmark = pytest.mark.django_db

FILE = """name: loop
start: {role: negative_caption}
stages:
  - {name: swapped, make: "words:swap-nouns", of: chosen}
studies:
  - name: chosen
    launch: true
    role: negative_caption
    instances:
      of: start
      captions: {caption: start.caption, negative_caption: start}
      images: {candidate: candidate}
    study:
      title: Choose the best image
      kind: best_of_n
      contact: Ada Lovelace, ada@example.org
      recruitment: {any_ids: true}
      surveys: {size: 1}
instances:
  of: swapped
  captions: {caption: chosen.caption, negative_caption: chosen, swapped: swapped}
  images: {image: chosen.negative_image}
"""
LATER = timedelta(hours=1)


@pytest.fixture
def project() -> Project:
    project = make_project("loop")
    for key, text in {"dog": "A dog is on a table.", "cup": "A cup is in a box."}.items():
        captions = {"caption": f"No {key}.", "negative_caption": text}
        make_instance(project, key, captions=captions, original_captions=captions)
    return project


def run_round(project: Project, *, source: str = FILE, by: User | str = "test", now: datetime = NOON) -> Pipeline:
    """Return a pipeline after one more round."""
    pipeline, job = request_pipeline(project=project, source=source, by=by, now=now)
    assert job is not None
    job = run_now(job, now=now)
    assert (job.state, job.error) == (JobState.DONE, "")
    pipeline.refresh_from_db()
    return pipeline


def run_news(pipeline: Pipeline, *, now: datetime) -> bool:
    """Run a round if people decided something; return whether they did."""
    job = next_round(pipeline_id=pipeline.pk, now=now)
    if job is None:
        return False
    assert run_now(job, now=now).state == JobState.DONE
    pipeline.refresh_from_db()
    return True


def choose(study: Study, person: str, choice: str, *, now: datetime) -> Response:
    """Let somebody answer one survey, of one question; return their answer."""
    session = arrive_at_work(study, person, now=now)
    slot = next_slot(session)
    order = responses.order_for(session=session, question=slot.question)
    send(session, slot, choice if choice == "none" else str(order.index(choice) + 1), now=now)
    return Response.objects.get(session=session)


def kept(pipeline: Pipeline, stage: str) -> dict[str, tuple[str, str]]:
    """Return key of the start -> state and text of its candidate of a stage."""
    rows = pipeline.candidates.filter(stage=stage).order_by("pk")
    return {one.start_key: (one.state, one.text) for one in rows}


def test_a_pipeline_launches_a_study_and_makes_more_from_what_people_accept(project: Project) -> None:
    pipeline = run_round(project)
    study = Study.objects.get(project=project, slug="loop-chosen")
    assert (study.state, study.questions.count(), study.surveys.count()) == (StudyState.OPEN, 2, 2)
    asked = {question.instance.key: question.instance for question in study.questions.all()}
    assert asked.keys() == {"dog-loop-chosen", "cup-loop-chosen"}
    assert pipeline.waits_for_people
    assert not pipeline.can_go_on
    assert not run_news(pipeline, now=NOON + LATER)

    answered = choose(study, "ann", "candidate-2", now=NOON + LATER).question.instance
    choose(study, "bob", "none", now=NOON + LATER)
    assert run_news(pipeline, now=NOON + 2 * LATER)
    key = answered.key.removesuffix("-loop-chosen")
    other = ({"dog", "cup"} - {key}).pop()
    texts = {"dog": "A dog is on a table.", "cup": "A cup is in a box."}
    swapped = {"dog": "A table is on a dog.", "cup": "A box is in a cup."}[key]
    assert kept(pipeline, "chosen") == {key: ("kept", texts[key]), other: ("rejected", texts[other])}
    assert kept(pipeline, "swapped") == {key: ("kept", swapped)}
    made = Instance.objects.get(project=project, tags__name="loop")
    assert made.captions == {"caption": f"No {key}.", "negative_caption": texts[key], "swapped": swapped}
    (image,) = made.images.all()
    assert (image.role, image.filename) == ("image", f"{key}_2.png")
    assert not run_news(pipeline, now=NOON + 3 * LATER)

    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON + 4 * LATER)
    assert run_news(pipeline, now=NOON + 5 * LATER)
    assert pipeline.finished_at == NOON + 5 * LATER
    finished = Event.objects.get(project=project, what=What.PIPELINE_FINISHED)
    assert finished.details == {"pipeline": "loop", "instances": 3}
    (each, after) = stage_yields(pipeline)
    assert (each.maker, each.is_study, each.parents, each.kept, each.rejected) == ("loop-chosen", True, 2, 1, 1)
    assert (after.parents, after.kept) == (1, 1)


def test_what_people_accept_no_longer_is_rejected_and_what_they_accept_again_returns(project: Project) -> None:
    pipeline = run_round(project)
    study = Study.objects.get(project=project, slug="loop-chosen")
    answer = choose(study, "ann", "candidate-2", now=NOON + LATER)
    person = answer.session.annotator
    exclude(annotator=person, project=project, reason="a test", by=TESTS, now=NOON + LATER)
    assert run_news(pipeline, now=NOON + 2 * LATER)
    assert kept(pipeline, "chosen") == {}
    include(annotator=person, project=project, by=TESTS, now=NOON + 3 * LATER)
    assert run_news(pipeline, now=NOON + 4 * LATER)
    (key,) = kept(pipeline, "swapped")
    exclude(annotator=person, project=project, reason="a test", by=TESTS, now=NOON + 5 * LATER)
    assert run_news(pipeline, now=NOON + 6 * LATER)
    assert kept(pipeline, "chosen")[key][0] == "rejected"
    # What was made meanwhile stays, and is made once.
    include(annotator=person, project=project, by=TESTS, now=NOON + 7 * LATER)
    assert run_news(pipeline, now=NOON + 8 * LATER)
    assert kept(pipeline, "chosen")[key][0] == "kept"
    assert pipeline.candidates.filter(stage="swapped").count() == 1


def test_a_study_that_is_not_launched_waits_as_a_draft(project: Project) -> None:
    pipeline = run_round(project, source=FILE.replace("    launch: true\n", ""))
    study = Study.objects.get(project=project, slug="loop-chosen")
    assert study.state == StudyState.DRAFT
    assert study.source.startswith("# Written by the pipeline loop, stage chosen.")
    assert pipeline.waits_for_people
    launch(study=study, by=TESTS, now=NOON + LATER)
    assert study.questions.count() == 2


def test_a_second_stage_of_people_is_extended_by_what_the_first_accepts(project: Project) -> None:
    second = FILE.replace(
        "instances:\n  of: swapped\n",
        """  - name: checked
    launch: true
    instances:
      of: swapped
      captions: {negative_caption: swapped}
      images: {candidate: chosen.candidate}
    study:
      title: Again
      kind: best_of_n
      contact: Ada, ada@example.org
      surveys: {size: 2}
instances:
  of: swapped
""",
    )
    pipeline = run_round(project, source=second)
    first = Study.objects.get(project=project, slug="loop-chosen")
    assert not Study.objects.filter(project=project, slug="loop-checked").exists()
    choose(first, "ann", "candidate-0", now=NOON + LATER)
    run_news(pipeline, now=NOON + 2 * LATER)
    later = Study.objects.get(project=project, slug="loop-checked")
    assert (later.state, later.questions.count()) == (StudyState.OPEN, 1)
    choose(first, "bob", "candidate-1", now=NOON + 3 * LATER)
    run_news(pipeline, now=NOON + 4 * LATER)
    # One more is no whole survey.
    assert later.questions.count() == 1
    change_state(study=first, to=StudyState.CLOSED, by=TESTS, now=NOON + 5 * LATER)
    run_news(pipeline, now=NOON + 6 * LATER)
    # Nothing else will come.
    assert later.questions.count() == 2
    assert pipeline.finished_at is None
    change_state(study=later, to=StudyState.CLOSED, by=TESTS, now=NOON + 7 * LATER)
    run_news(pipeline, now=NOON + 8 * LATER)
    assert pipeline.finished_at is not None


def test_whoever_may_not_launch_studies_cannot_run_a_pipeline_that_does(project: Project) -> None:
    viewer = make_member(project, Role.VIEWER)
    with pytest.raises(StudyError, match="which you may not do in this project"):
        request_pipeline(project=project, source=FILE, by=viewer, now=NOON)
    assert not project.pipelines.exists()


def test_a_refused_launch_is_said_and_tried_again(project: Project) -> None:
    source = f"{FILE}".replace("surveys: {size: 1}", "eligibility: [{rule: not_in_study, study: gone}]")
    pipeline, job = request_pipeline(project=project, source=source, by="test", now=NOON)
    assert job is not None
    assert run_now(job, now=NOON).error == (
        "The study of the stage chosen was refused. `eligibility` names gone, but project loop has no such study. "
        "Create it first (a draft is enough), or correct the name."
    )
    pipeline.refresh_from_db()
    assert pipeline.can_go_on
    draft = Study.objects.get(project=project, slug="loop-chosen")
    create_draft(project, instances=0, study="gone")
    run_round(project, source=source)
    draft.refresh_from_db()
    assert draft.state == StudyState.OPEN
    assert Instance.objects.filter(tags__name="loop-chosen").count() == 2


def test_another_study_of_the_name_is_left_alone(project: Project) -> None:
    other = launch_study(project, instances=0, study="loop-chosen")
    _, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    assert job is not None
    assert "The project has another study called loop-chosen." in run_now(job, now=NOON).error
    assert other.questions.count() == 2


def test_a_trial_ends_before_people_are_asked(project: Project) -> None:
    trial, job = request_trial(project=project, source=FILE, by="test", now=NOON)
    assert run_now(job, now=NOON).state == JobState.DONE
    trial.refresh_from_db()
    assert trial.finished_at == NOON
    assert not Study.objects.exists()


def test_a_pipeline_that_waits_for_people_can_be_stopped_and_goes_on(project: Project) -> None:
    pipeline = run_round(project)
    study = Study.objects.get(project=project, slug="loop-chosen")
    cancel_pipeline(pipeline=pipeline, by=TESTS, now=NOON + LATER)
    choose(study, "ann", "candidate-2", now=NOON + LATER)
    assert not run_news(pipeline, now=NOON + 2 * LATER)
    assert pipeline.can_go_on
    run_round(project, now=NOON + 3 * LATER)
    assert len(kept(pipeline, "swapped")) == 1


def test_the_timetable_runs_the_next_round(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = run_round(project, now=timezone.now() - LATER)
    sent: list[Job] = []
    monkeypatch.setattr(tasks, "send", sent.append)
    tasks.send_again()
    assert sent == []
    choose(Study.objects.get(project=project, slug="loop-chosen"), "ann", "candidate-2", now=timezone.now())
    tasks.send_again()
    tasks.send_again()
    assert [job.key for job in sent] == [str(pipeline.pk)]
