"""Candidates on their way from a project's captions to instances, with workers that are lost in between."""

from datetime import timedelta
from typing import Any

import pytest

from background.errors import Cancelled
from background.job_runner import Attempt
from background.models import Job, JobState
from making.actions import instances, pipelines, stages
from making.actions.deletion import delete_pipeline
from making.actions.pipelines import cancel_pipeline, request_pipeline, request_trial
from making.makers import words
from making.models import Candidate, Pipeline, UsedMaker
from making.queries.yields import Sample, StageYield, samples, stage_yields, started_with
from studies.actions.events import What
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.models import Event, Instance, Project, Question, Tag
from tests.factories import NOON, draw_instance, make_instance, make_person, make_project, make_study
from tests.jobs import run_now

pytestmark = pytest.mark.django_db

FILE = """name: swaps
start: {role: caption}
stages:
  - name: swapped
    make: words:swap-nouns
    filters:
      - {filter: length, at_most: 8}
      - filter: duplicates
instances:
  of: swapped
  captions: {caption: start, negative_caption: swapped}
"""
CAPTIONS = {
    "first": "A dog is on a table.",
    "second": "A cup is in a box.",
    # Its nouns make the words of the first caption.
    "mirror": "A table is on a dog.",
    "single": "A dog is asleep.",
    "long": "A dog is on a red and very big table.",
}


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for key, text in CAPTIONS.items():
        make_instance(project, key, candidates=0, captions={"caption": text}, original_captions={"caption": text})
    return project


def made(project: Project, source: str = FILE) -> Pipeline:
    """Return a pipeline that ran to its end."""
    pipeline, job = request_pipeline(project=project, source=source, by="test", now=NOON)
    assert job is not None
    assert run_now(job, now=NOON).state == JobState.DONE
    pipeline.refresh_from_db()
    return pipeline


def outcomes(pipeline: Pipeline, stage: str = "swapped") -> dict[str, tuple[str, str, str]]:
    """Return key of the start -> text, state and reason of its candidate of a stage."""
    rows = pipeline.candidates.filter(stage=stage)
    return {one.start_key: (one.text, one.state, one.reason) for one in rows}


def new_instances(project: Project) -> dict[str, dict[str, str]]:
    rows = project.instances.filter(reference__has_key="made").order_by("pk")
    return dict(rows.values_list("key", "captions"))


def test_what_is_made_is_kept_or_rejected_with_a_reason_and_what_is_kept_becomes_an_instance(project: Project) -> None:
    pipeline = made(project)
    duplicate = "It has the same words as another text of the project."
    assert outcomes(pipeline) == {
        "first": ("A table is on a dog.", "rejected", duplicate),
        "second": ("A box is in a cup.", "kept", ""),
        "mirror": ("A dog is on a table.", "rejected", duplicate),
        "single": ("", "not_made", "The text does not have two different nouns."),
        "long": ("A table is on a red and very big dog.", "rejected", "It is longer than 8 words."),
    }
    assert new_instances(project) == {
        "second-swaps-1": {"caption": "A cup is in a box.", "negative_caption": "A box is in a cup."}
    }
    (kept,) = pipeline.candidates.filter(stage="swapped", state="kept")
    assert kept.instance is not None
    assert (kept.instance.key, kept.scores, kept.rejected_by) == ("second-swaps-1", {"length": 6}, "")
    assert {one.rejected_by for one in pipeline.candidates.filter(state="rejected")} == {"length", "duplicates"}


def test_an_instance_tells_what_made_it_and_takes_names_and_images_from_its_start() -> None:
    project = make_project("birds")
    text = {"caption": "A cup is in a box."}
    start = draw_instance(project, 1, candidates=2, captions=text, type="replace", subtype="obj", split="val")
    pipeline = made(project, f"{FILE}  images: {{image: candidate}}\n")
    instance = project.instances.get(reference__has_key="made")
    assert (instance.type, instance.subtype, instance.split) == ("replace", "obj", "val")
    (candidate,) = pipeline.candidates.filter(stage="swapped")
    assert instance.reference["made"]["pipeline"] == "swaps"
    assert instance.reference["made"]["seed"] == candidate.seed
    assert instance.reference["made"]["maker"].startswith("words:swap-nouns 1; HanTa ")
    places = instance.images.order_by("position").values_list("role", "position", "image")
    expected = start.images.filter(role="candidate").order_by("position").values_list("image", flat=True)
    assert list(places) == [("image", number, image) for number, image in enumerate(expected)]


def test_candidates_know_their_maker_with_its_options_once(project: Project) -> None:
    made(project)
    (maker,) = UsedMaker.objects.all()
    assert (maker.name, maker.weights, maker.options["tagger"]) == ("words:swap-nouns", "", "hanta")
    assert set(Candidate.objects.exclude(stage="start").values_list("maker", flat=True)) == {maker.pk}
    assert set(Candidate.objects.filter(stage="start").values_list("maker", flat=True)) == {None}


def test_the_yield_counts_candidates_and_reasons(project: Project) -> None:
    pipeline = made(project)
    assert started_with(pipeline) == 5
    assert stage_yields(pipeline) == [
        StageYield(
            name="swapped",
            maker="words:swap-nouns",
            parents=5,
            kept=1,
            rejected=3,
            not_made=1,
            reasons={
                "It has the same words as another text of the project.": 2,
                "It is longer than 8 words.": 1,
                "The text does not have two different nouns.": 1,
            },
        )
    ]
    assert stage_yields(pipeline)[0].made == 4


def test_stages_make_candidates_from_those_that_another_kept() -> None:
    project = make_project("birds")
    text = {"caption": "A red cup is in a small box."}
    make_instance(project, "first", candidates=0, captions=text, original_captions=text)
    source = (
        "name: chain\nstart: {role: caption}\nstages:\n"
        "  - {name: second, make: 'words:swap-adjectives', of: first}\n"
        "  - {name: first, make: 'words:swap-nouns'}\n"
        "instances:\n  of: second\n  type: chain\n"
        "  captions: {caption: start, one_swap: first, two_swaps: second}\n"
    )
    pipeline = made(project, source)
    assert new_instances(project) == {
        "first-chain-1-1": {
            "caption": "A red cup is in a small box.",
            "one_swap": "A red box is in a small cup.",
            "two_swaps": "A small box is in a red cup.",
        }
    }
    (last,) = pipeline.candidates.filter(stage="second")
    assert last.parent is not None
    assert last.parent.stage == "first"
    instance = project.instances.get(key="first-chain-1-1")
    assert (instance.type, instance.subtype) == ("chain", "")


def test_several_candidates_of_one_text_are_several_instances() -> None:
    project = make_project("birds")
    text = {"caption": "A dog is on a table next to a cup."}
    make_instance(project, "first", candidates=0, captions=text, original_captions=text)
    made(project, FILE.replace("nouns\n", "nouns\n    count: 3\n").replace("at_most: 8", "at_most: 80"))
    assert sorted(new_instances(project)) == ["first-swaps-1", "first-swaps-2", "first-swaps-3"]
    assert len({each["negative_caption"] for each in new_instances(project).values()}) == 3


def test_a_pipeline_that_ran_makes_nothing_again_and_another_goes_on_from_the_imported_instances(
    project: Project,
) -> None:
    pipeline = made(project)
    again, job = request_pipeline(project=project, source=f"# The same.\n{FILE}", by="test", now=NOON)
    assert (again, job) == (pipeline, None)
    made(project, FILE.replace("name: swaps", "name: others"))
    other = Pipeline.objects.get(name="others")
    # Not from the instance that the first one made, and what that one made is known.
    assert started_with(other) == 5
    assert outcomes(other)["second"][1] == "rejected"


def test_another_content_under_the_same_name_is_refused(project: Project) -> None:
    made(project)
    with pytest.raises(StudyError, match="already has a pipeline called swaps with another file"):
        request_pipeline(project=project, source=FILE.replace("at_most: 8", "at_most: 9"), by="test", now=NOON)
    with pytest.raises(DesignRefused):
        request_pipeline(project=project, source="name: swaps\n", by="test", now=NOON)
    assert Pipeline.objects.count() == 1


def test_two_requests_at_once_are_one_job(project: Project) -> None:
    first, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    second, same = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    assert (first, job) == (second, same)
    assert Event.objects.filter(what=What.PIPELINE_REQUESTED).count() == 1


def test_events_name_who_asked_and_how_many_instances_came(project: Project) -> None:
    anna = make_person("anna")
    _, job = request_pipeline(project=project, source=FILE, by=anna, now=NOON)
    assert job is not None
    run_now(job, now=NOON)
    requested, finished = Event.objects.filter(what__startswith="pipeline").order_by("pk")
    assert (requested.by, requested.details) == (anna, {"pipeline": "swaps"})
    assert (finished.by, finished.details) == (anna, {"pipeline": "swaps", "instances": 1})


def in_batches_of(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pipelines, stages, instances):
        monkeypatch.setattr(module, "BATCH", size)


@pytest.mark.parametrize("batches", range(8))
def test_a_lost_worker_loses_nothing_and_the_next_makes_nothing_twice(
    batches: int, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    """The worker is lost when it stores batch number `batches`: 3 of the start, 3 of the stage, 1 of instances."""
    in_batches_of(2, monkeypatch)
    expected = {"second-swaps-1"}
    _, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    assert job is not None
    advance = Attempt.advance
    count = 0

    def lost(self: Any, **news: Any) -> None:
        nonlocal count
        advance(self, **news)
        count += 1
        if count == batches + 1:
            raise Cancelled

    with monkeypatch.context() as patched:
        patched.setattr(Attempt, "advance", lost)
        run_now(job, now=NOON)
    before = Candidate.objects.count()
    if batches < 7:
        assert Job.objects.get(pk=job.pk).state == JobState.CANCELLED
        # Batches are whole: the one that was lost left no trace.
        assert before == [0, 2, 4, 5, 7, 9, 10][batches]
        _, job = request_pipeline(project=project, source=FILE, by="test", now=NOON + timedelta(minutes=1))
        assert job is not None
        assert run_now(job, now=NOON + timedelta(minutes=1)).state == JobState.DONE
    assert set(new_instances(project)) == expected
    pipeline = Pipeline.objects.get()
    assert pipeline.candidates.count() == 10
    assert sorted(outcomes(pipeline)) == sorted(CAPTIONS)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    expected = outcomes(made(project))
    Pipeline.objects.all().delete()
    Instance.objects.filter(reference__has_key="made").delete()
    in_batches_of(1, monkeypatch)
    assert outcomes(made(project)) == expected


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            FILE.replace("nouns\n", "nouns\n    options: {tagger: 'spacy:none'}\n"),
            "The stage swapped cannot start. The tagger spacy:none cannot be loaded here. Install spaCy and its model "
            "none, or use hanta.",
        ),
    ],
)
def test_a_pipeline_that_cannot_run_says_why(source: str, sentence: str, project: Project) -> None:
    _, job = request_pipeline(project=project, source=source, by="test", now=NOON)
    assert job is not None
    failed = run_now(job, now=NOON)
    assert (failed.state, failed.error) == (JobState.FAILED, sentence)
    assert not new_instances(project)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            FILE.replace("{role: caption}", "{role: title}"),
            "No instance of the project has a caption in the role title. Import some, or name another role in `start`.",
        ),
        (
            f"{FILE}  images: {{image: photo}}\n",
            "No instance that the pipeline begins with has an image in the role photo. Their image roles are: "
            "candidate.",
        ),
        (
            FILE.replace("{caption: start,", "{caption: start.title,"),
            "No instance that the pipeline begins with has a caption in the role title.",
        ),
    ],
)
def test_roles_that_no_instance_has_are_named_before_anything_is_made(
    source: str, sentence: str, project: Project
) -> None:
    make_instance(project, "pictured", candidates=1, captions={"caption": "A dog is on a cup."})
    for request in (request_pipeline, request_trial):
        with pytest.raises(StudyError) as refused:
            request(project=project, source=source, by="test", now=NOON)
        assert str(refused.value) == sentence
    assert not project.pipelines.exists()


def test_an_instance_whose_source_lacks_the_image_is_not_made(project: Project) -> None:
    make_instance(project, "pictured", candidates=1, captions={"caption": "A dog is on a cup."})
    pipeline = made(project, f"{FILE}  images: {{image: candidate}}\n")
    assert list(new_instances(project)) == ["pictured-swaps-1"]
    assert pipeline.candidates.filter(stage="swapped", state="kept").count() > 1


def test_a_key_that_is_taken_is_named_and_no_candidate_is_lost(project: Project) -> None:
    make_instance(project, "second-swaps-1", candidates=0)
    _, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    assert job is not None
    assert run_now(job, now=NOON).error == (
        "The project already has an instance called second-swaps-1. Give the pipeline another name."
    )
    assert outcomes(Pipeline.objects.get())["second"][1] == "kept"


def test_the_longest_key_is_shortened(project: Project) -> None:
    text = {"caption": "A pen is on a car."}
    make_instance(project, "k" * 200, candidates=0, captions=text, original_captions=text)
    made(project)
    assert f"{'k' * 192}-swaps-1" in new_instances(project)


def test_makers_are_loaded_only_by_the_job(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError

    monkeypatch.setattr(words, "tagger_of", refuse)
    _, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    assert job is not None
    assert not Candidate.objects.exists()
    assert run_now(job, now=NOON).state == JobState.FAILED


def test_what_a_pipeline_made_has_its_name_as_a_tag(project: Project) -> None:
    made(project)
    assert list(project.instances.filter(tags__name="swaps").values_list("key", flat=True)) == ["second-swaps-1"]


def test_samples_show_what_was_kept_and_every_reason(project: Project) -> None:
    pipeline = made(project)
    (stage,) = stage_yields(pipeline)
    duplicate = "It has the same words as another text of the project."
    assert samples(pipeline, stage) == [
        Sample("A cup is in a box.", "A box is in a cup.", ""),
        Sample("A dog is on a table.", "A table is on a dog.", duplicate),
        Sample("A table is on a dog.", "A dog is on a table.", duplicate),
        Sample(CAPTIONS["long"], "A table is on a red and very big dog.", "It is longer than 8 words."),
        Sample("A dog is asleep.", "", "The text does not have two different nouns."),
    ]


def test_a_trial_makes_no_instance_and_the_next_replaces_it(project: Project) -> None:
    trial, job = request_trial(project=project, source=FILE, by="test", now=NOON)
    assert run_now(job, now=NOON).state == JobState.DONE
    assert outcomes(trial)["second"][1] == "kept"
    assert not new_instances(project)
    again, job = request_trial(project=project, source=FILE.replace("at_most: 8", "at_most: 5"), by="test", now=NOON)
    run_now(job, now=NOON)
    assert list(Pipeline.objects.all()) == [again]
    assert outcomes(again)["second"][2] == "It is longer than 5 words."
    assert not Event.objects.exists()
    # The pipeline itself may have the same name.
    assert set(new_instances(made(project).project)) == {"second-swaps-1"}


def test_a_trial_takes_ten_texts_from_all_over_the_project() -> None:
    project = make_project("birds")
    for number in range(25):
        text = {"caption": f"A dog is on a table, number {number}."}
        make_instance(project, f"row-{number}", candidates=0, captions=text, original_captions=text)
    trial, job = request_trial(project=project, source=FILE, by="test", now=NOON)
    run_now(job, now=NOON)
    keys = trial.candidates.filter(stage="start").values_list("start_key", flat=True)
    assert list(keys) == [f"row-{number}" for number in range(0, 20, 2)]


def test_a_trial_that_was_replaced_ends_quietly(project: Project) -> None:
    _, first = request_trial(project=project, source=FILE, by="test", now=NOON)
    _, second = request_trial(project=project, source=FILE, by="test", now=NOON)
    assert run_now(first, now=NOON).state == JobState.CANCELLED
    assert run_now(second, now=NOON).state == JobState.DONE


def test_a_pipeline_is_cancelled_and_goes_on_later(project: Project) -> None:
    pipeline, job = request_pipeline(project=project, source=FILE, by="test", now=NOON)
    cancel_pipeline(pipeline=pipeline, by="anna", now=NOON)
    assert job is not None
    assert run_now(job, now=NOON).state == JobState.CANCELLED
    assert Event.objects.filter(what=What.PIPELINE_CANCELLED, by_name="anna").count() == 1
    pipeline.refresh_from_db()
    assert pipeline.can_go_on
    with pytest.raises(StudyError, match="has already ended"):
        cancel_pipeline(pipeline=pipeline, by="anna", now=NOON)
    assert not made(project).can_go_on
    assert set(new_instances(project)) == {"second-swaps-1"}


def test_a_pipeline_is_deleted_with_what_it_made_and_can_run_again(project: Project) -> None:
    pipeline = made(project)
    assert list(new_instances(project)) == ["second-swaps-1"]
    assert delete_pipeline(pipeline=pipeline, by="anna", now=NOON) == 1
    assert not new_instances(project)
    assert not project.pipelines.exists()
    assert not Candidate.objects.exists()
    assert not Tag.objects.exists()
    assert project.instances.count() == len(CAPTIONS)
    assert Event.objects.get(what=What.PIPELINE_DELETED).details == {"pipeline": "swaps", "instances": 1}
    made(project)
    assert list(new_instances(project)) == ["second-swaps-1"]


def test_a_pipeline_that_studies_ask_about_stays(project: Project) -> None:
    pipeline = made(
        project, f"{FILE}".replace("of: swapped\n", "of: start\n").replace("negative_caption: swapped", "x: start")
    )
    study = make_study(project, "asking")
    asked = pipeline.instances.get(key="first-swaps")
    Question.objects.create(study=study, instance=asked, kind="best_of_n", content={}, part=0, answers_wanted=1)
    with pytest.raises(StudyError, match="belongs to the design of these studies: asking"):
        delete_pipeline(pipeline=pipeline, by="anna", now=NOON)
    assert pipeline.instances.count() == len(CAPTIONS)
    trial, job = request_trial(project=project, source=FILE, by="test", now=NOON)
    with pytest.raises(StudyError, match="is running"):
        delete_pipeline(pipeline=trial, by="anna", now=NOON)
    run_now(job, now=NOON)
    assert delete_pipeline(pipeline=trial, by="anna", now=NOON) == 0
    assert list(project.pipelines.all()) == [pipeline]


def test_a_pipeline_that_was_deleted_already_is_said(project: Project) -> None:
    pipeline = made(project)
    seen = Pipeline.objects.get(pk=pipeline.pk)
    delete_pipeline(pipeline=pipeline, by="anna", now=NOON)
    with pytest.raises(StudyError, match="Somebody else has just deleted this pipeline"):
        delete_pipeline(pipeline=seen, by="anna", now=NOON)


def test_a_complete_pipeline_needs_its_sources_no_more(project: Project) -> None:
    pipeline = made(project)
    project.instances.exclude(reference__has_key="made").delete()
    assert request_pipeline(project=project, source=FILE, by="test", now=NOON) == (pipeline, None)
