"""Blind baselines from asking to launching: what they are asked, what is stored, what the launch makes of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from django.core.files.storage import default_storage

from annotation.actions.launching.launch import launch, plan
from evaluation.blind.logistic_regression import FOLDS
from predictions import tasks
from predictions.actions import blind, runs, store_scores
from predictions.actions.runs import cancel_run, request_run, resume_run
from predictions.blind_baselines import FITTED_BASELINES
from predictions.errors import CannotPredict
from predictions.models import Chunk, Prediction, Run
from studies.actions.drafts import update_draft
from studies.actions.images import original_name
from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import BlindScore, Project, Question, Study
from tests.factories import (
    CONTACT,
    NOON,
    TESTS,
    answer,
    draw_instance,
    make_launched,
    make_project,
    make_study,
    sit_down,
)

pytestmark = pytest.mark.django_db
TEXT, IMAGE = "text-only:ngrams", "image-only:colour-and-gradient"
INSTANCES = 12
ASK_TEXT = f"on the page of the study, or with: manage.py predict birds --model {TEXT} --study which-bird"
# Right every time on INSTANCES questions of their own: the low end of Wilson's interval is n / (n + t^2), where t is
# the 97.5 % point of Student's t with 11 degrees of freedom, 2.200985, from a table.
LOW = INSTANCES / (INSTANCES + 2.200985**2)


@pytest.fixture
def project() -> Project:
    """A project whose right captions say "on" and whose wrong ones say "under"."""
    project = make_project("birds")
    for number in range(1, INSTANCES + 1):
        draw_instance(project, number, candidates=2)
    for instance in project.instances.all():
        instance.images.filter(role="candidate", position=0).update(role="negative_image")
    return project


def file(*, baselines: Sequence[str] = (TEXT,), at_most: float = 0.6, **lines: Any) -> str:
    """Return a study file about choices between captions of one image, or about `parts`."""
    given: dict[str, Any] = {"study": "which-bird", "title": "Which bird?", "contact": CONTACT}
    given |= {} if "parts" in lines else {"kind": "image_to_text", "ask": {"images": ["image"]}}
    limit = {"blind_solvability": {"baselines": list(baselines), "at_most": at_most}} if baselines else {}
    return yaml.safe_dump(given | {"conditions": limit} | lines)


def draft(project: Project, **lines: Any) -> Study:
    return create_study(project=project, source=file(**lines), by=TESTS, now=NOON)


def ask(study: Study, spec: str = TEXT) -> Run:
    return request_run(project=study.project, spec=spec, study=study, by=TESTS, now=NOON)


def begun(run: Run) -> Chunk:
    """Divide a run into folds and return the first; one at a time, so that not all workers of the site are at it."""
    runs.due(run_id=run.pk, now=NOON)
    for _ in range(2):
        blind.begin(run_id=run.pk, now=NOON)
    (chunk,) = runs.due(run_id=run.pk, now=NOON).chunks
    return chunk


@pytest.fixture
def older_version(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Go back to an older version of the baseline of texts; yields what ends that."""
    older = replace(FITTED_BASELINES[TEXT], version="ngrams-v1")
    with monkeypatch.context() as before:
        before.setattr("predictions.blind_baselines.FITTED_BASELINES", {**FITTED_BASELINES, TEXT: older})
        yield before.undo


def computed(run: Run) -> Run:
    """Let the site's workers do all of a run."""
    while (due := runs.due(run_id=run.pk, now=NOON)) != runs.Due():
        if due.load is not None:
            blind.begin(run_id=run.pk, now=NOON)
        for chunk in due.chunks:
            blind.score(chunk_id=chunk.pk, now=NOON)
    run.refresh_from_db()
    return run


def refused(study: Study) -> Sequence[str]:
    """Return why a study is not launched, which its page says before anybody tries."""
    study.refresh_from_db()
    with pytest.raises(StudyError) as before:
        plan(study, now=NOON)
    with pytest.raises(StudyError) as tried:
        launch(study=study, by=TESTS, now=NOON)
    assert tried.value.problems == before.value.problems
    study.refresh_from_db()
    assert study.state == "draft"
    return tried.value.problems


def test_a_draft_is_not_launched_before_its_blind_baselines_have_answered(project: Project) -> None:
    study = draft(project, baselines=[TEXT, IMAGE])
    assert refused(study) == tuple(
        f"{spec}, which sees only a part of each question, has not run on this study yet. Run it on the page of the "
        f"study, or with: manage.py predict birds --model {spec} --study which-bird"
        for spec in (TEXT, IMAGE)
    )


def test_what_its_texts_give_away_is_not_launched(project: Project) -> None:
    study = draft(project)
    run = computed(ask(study))
    assert (run.state, run.stored, run.wrong, run.left_out) == (Run.State.DONE, INSTANCES, 0, 0)
    score = BlindScore.objects.get(study=study, baseline=TEXT)
    assert (score.share, score.chance, score.questions, score.left_out) == (1.0, 0.5, INSTANCES, 0)
    assert score.low == pytest.approx(LOW, abs=1e-6)
    assert refused(study) == (
        f"{TEXT} is right on 100.0 % of 12 questions of which it sees only a part (guessing gives "
        f"50.0 %; 95 % interval {100 * LOW:.1f} % to 100.0 %), and the study file allows 60.0 %. "
        "Choose instances whose right answer does not show in one part alone, or change "
        "`conditions.blind_solvability` in the study file.",
    )
    # The bound is the study's own; what was found of the same questions stays.
    update_draft(study=study, source=file(at_most=1.0), by=TESTS, now=NOON)
    launch(study=study, by=TESTS, now=NOON)
    assert study.questions.count() == INSTANCES


def test_what_is_balanced_is_launched(project: Project) -> None:
    """Either caption is right for one of the two images, as in BiVLC."""
    study = draft(project, ask={})
    computed(ask(study))
    score = BlindScore.objects.get(study=study)
    assert (score.share, score.chance, score.questions) == (0.5, 0.5, 2 * INSTANCES)
    launch(study=study, by=TESTS, now=NOON)
    asked = {(each.instance_id, each.variant) for each in study.questions.all()}
    assert {(each.instance_id, each.variant) for each in Prediction.objects.all()} == asked


def test_predictions_say_that_they_are_of_a_blind_baseline_and_what_was_learnt_from(project: Project) -> None:
    run = computed(ask(draft(project)))
    assert run.model is not None
    assert str(run.model).startswith("Blind baseline: text only, n-grams ngrams-v2 (")
    first = Prediction.objects.get(instance__key="row-1")
    assert (first.kind, first.variant, first.is_right) == ("image_to_text", "image", True)
    assert first.scores is not None
    assert first.scores["caption"] > first.scores["negative_caption"]
    assert first.conditions is not None
    assert (first.conditions.details["folds"], first.conditions.details["questions"]) == (FOLDS, INSTANCES)
    assert {"numpy", "scipy", "scikit-learn", "Pillow"} == first.conditions.details["libraries"].keys()


def test_asked_again_it_computes_nothing_and_notes_the_same(project: Project) -> None:
    study = draft(project)
    first = computed(ask(study))
    before = list(Prediction.objects.order_by("pk").values())
    noted = BlindScore.objects.values().get()
    BlindScore.objects.all().delete()
    again = computed(ask(study))
    assert (again.stored, again.already_there, again.model) == (0, INSTANCES, first.model)
    assert list(Prediction.objects.order_by("pk").values()) == before
    assert BlindScore.objects.values().get() | {"id": noted["id"]} == noted


def test_predictions_of_an_older_version_stay_beside_those_of_this_one(
    project: Project, older_version: Callable[[], None]
) -> None:
    study = draft(project)
    first = computed(ask(study))
    older_version()
    kept = list(Prediction.objects.order_by("pk").values())
    second = computed(ask(study))
    assert (first.stored, second.stored) == (INSTANCES, INSTANCES)
    assert [str(run.model).partition(" (")[0] for run in (first, second)] == [
        "Blind baseline: text only, n-grams ngrams-v1",
        "Blind baseline: text only, n-grams ngrams-v2",
    ]
    assert list(Prediction.objects.filter(model=first.model).order_by("pk").values()) == kept


def test_a_run_that_an_older_version_began_stores_nothing_of_this_one_and_can_go_on(
    project: Project, older_version: Callable[[], None]
) -> None:
    run = ask(draft(project))
    chunk = begun(run)
    older_version()
    blind.score(chunk_id=chunk.pk, now=NOON)
    run = computed(run)
    assert (run.stored, run.wrong) == (0, INSTANCES)
    assert {problem for chunk in Chunk.objects.all() for problem in chunk.problems} == {store_scores.OTHER_WEIGHTS}
    resume_run(run=run, by=TESTS, now=NOON)
    run = computed(run)
    assert (run.state, run.stored, run.wrong) == (Run.State.DONE, INSTANCES, 0)
    assert run.model is not None
    assert run.model.version == "ngrams-v2"


def test_other_questions_are_another_model_and_must_be_asked_before_the_launch_but_not_after(project: Project) -> None:
    study = draft(project, at_most=1.0)
    first = computed(ask(study))
    changed = project.instances.get(key="row-3")
    changed.captions = changed.captions | {"caption": "A bird beside 3 roofs."}
    changed.save()
    stale = f"{TEXT} ran on questions that have changed since. Run it again {ASK_TEXT}"
    assert refused(study) == (stale,)
    second = computed(ask(study))
    assert second.model != first.model
    noted = BlindScore.objects.values().get()
    launch(study=study, by=TESTS, now=NOON)
    Question.objects.filter(instance__key="row-3").update(right="negative_caption")
    assert computed(ask(study)).stored == INSTANCES
    assert BlindScore.objects.values().get() == noted


def test_a_fold_is_stored_once_and_a_cancelled_run_goes_on_with_those_that_are_missing(project: Project) -> None:
    run = ask(draft(project))
    chunk = begun(run)
    for _ in range(2):
        blind.score(chunk_id=chunk.pk, now=NOON)
    cancel_run(run=run, by=TESTS, now=NOON)
    assert runs.due(run_id=run.pk, now=NOON) == runs.Due()
    there = set(Prediction.objects.values_list("pk", flat=True))
    assert 0 < len(there) == len(chunk.items) < INSTANCES
    assert not BlindScore.objects.exists()
    resume_run(run=run, by=TESTS, now=NOON)
    run = computed(run)
    assert (run.state, run.stored) == (Run.State.DONE, INSTANCES)
    assert there < set(Prediction.objects.values_list("pk", flat=True))
    assert BlindScore.objects.get().share == 1.0


def test_pictures_alone_are_asked_where_options_are_pictures(project: Project) -> None:
    parts = [{"kind": "image_to_text"}, {"kind": "text_to_image", "ask": {"captions": ["caption"]}}]
    study = draft(project, baselines=[IMAGE], at_most=1.0, parts=parts)
    run = computed(ask(study, IMAGE))
    assert (run.stored, run.left_out) == (INSTANCES, 2 * INSTANCES)
    assert run.why_left_out == [
        "24 questions of image_to_text cannot be answered by a blind baseline: the right option is unknown, or has "
        "nothing that the baseline sees."
    ]
    score = BlindScore.objects.get(study=study)
    assert (score.questions, score.left_out) == (INSTANCES, 2 * INSTANCES)
    assert {prediction.kind for prediction in Prediction.objects.all()} == {"text_to_image"}


def test_a_baseline_that_can_answer_nothing_says_so(project: Project) -> None:
    study = draft(project, baselines=[IMAGE])
    run = computed(ask(study, IMAGE))
    assert (run.state, run.stored, run.left_out) == (Run.State.DONE, 0, INSTANCES)
    assert refused(study) == (
        f"{IMAGE} cannot answer any question of the study. Remove it from `conditions.blind_solvability.baselines`.",
    )


def test_questions_that_all_hang_together_are_told_to_be_too_few(project: Project) -> None:
    project.instances.exclude(key="row-1").delete()
    run = computed(ask(draft(project)))
    assert run.state == Run.State.FAILED
    assert run.error.startswith("The baseline needs at least two groups of questions")


def test_a_broken_picture_costs_its_question_and_nothing_is_noted(project: Project) -> None:
    study = draft(project, kind="text_to_image", ask={"captions": ["caption"]})
    lost = project.instances.get(key="row-3").images.get(role="image").image_id
    assert lost is not None
    default_storage.delete(original_name(lost))
    run = computed(ask(study, IMAGE))
    assert (run.stored, run.wrong) == (INSTANCES - 1, 1)
    assert not BlindScore.objects.exists()
    (told,) = (problem for chunk in Chunk.objects.all() for problem in chunk.problems)
    assert told == f"row-3: The image {lost[:12]} cannot be read. Import it again."


def unpaired(project: Project) -> Project:
    """Give back the negative image to the candidates that people choose it from."""
    for instance in project.instances.all():
        instance.images.filter(role="negative_image").update(role="candidate")
    return project


def test_a_sample_of_what_another_study_accepted_is_known_before_the_launch(project: Project) -> None:
    def accept(person: str) -> None:
        """Let somebody accept the four instances of the next survey."""
        session = sit_down(filtering, person)
        for question in filtering.questions.filter(slots__seat__session=session):
            answer(session, question, "candidate-1")

    filtering = make_launched(make_study(unpaired(project), "filter"), size=4)
    lines = {"ask": {}, "instances": {"from": "filter", "sample": 4}}
    study = draft(project, **lines)
    with pytest.raises(CannotPredict, match="has accepted no instance yet, so no sample can be drawn"):
        ask(study)
    accept("ann")
    run = computed(ask(study))
    assert run.stored == 8
    assert BlindScore.objects.get(study=study).share == 0.5
    plan(study, now=NOON)
    # By the time of the launch others may be drawn.
    accept("ben")
    assert refused(study)[0].startswith(f"{TEXT} ran on questions that have changed since.")
    computed(ask(study))
    launch(study=study, by=TESTS, now=NOON)
    assert study.questions.count() == 8


def test_a_draft_is_asked_about_by_blind_baselines_only_where_its_questions_are_known(project: Project) -> None:
    with pytest.raises(CannotPredict, match="which-bird has no questions before it is launched"):
        ask(draft(project), "open_clip:ViT-B-32/openai")
    make_launched(make_study(unpaired(project), "filter"))
    fed = draft(project, study="fed", baselines=[], instances={"from": "filter"})
    with pytest.raises(CannotPredict, match="gets its questions from another study after its launch"):
        ask(fed)


def test_no_worker_with_models_is_told_anything(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site's own workers do it all, one message after another."""

    def told(*args: Any, **kwargs: Any) -> None:
        raise AssertionError(f"A message left the site: {args}")

    monkeypatch.setattr("predictions.tasks.current_app.send_task", told)
    for task in (tasks.fit, tasks.score_blind):
        monkeypatch.setattr(task, "send", lambda args, task=task, **options: task(*args))
    run = ask(draft(project))
    tasks.send_due(run.pk)
    run.refresh_from_db()
    assert (run.state, run.stored) == (Run.State.DONE, INSTANCES)


def test_a_language_model_is_asked_about_the_texts_of_a_draft_by_a_worker_with_models(project: Project) -> None:
    parts = [{"kind": "image_to_text", "ask": {"images": ["image"]}}, {"kind": "text_to_image"}]
    study = draft(project, baselines=["text-only:hf:tiny"], at_most=0.4, parts=parts)
    run = ask(study, "text-only:hf:tiny")
    assert runs.due(run_id=run.pk, now=NOON).load == run
    identity = {"name": "Blind baseline: text only, tiny", "version": "", "weights": "w"}
    store_scores.plan(run_id=run.pk, answer={"identity": identity, "pictures_per_second": 100}, now=NOON)
    (chunk,) = runs.due(run_id=run.pk, now=NOON).chunks
    items = runs.items_of(chunk=chunk)
    assert len(items) == INSTANCES
    # By the length of the text, the wrong caption: "under" is longer than "on".
    results = [
        {"content": item["content"], "scores": {key: float(len(text)) for key, (text, _) in item["matches"].items()}}
        for item in items
    ]
    answer = {"identity": identity, "conditions": {}, "results": results}
    store_scores.store(run_id=run.pk, chunk_id=chunk.pk, answer=answer, now=NOON)
    score = BlindScore.objects.get(study=study)
    assert (score.share, score.questions, score.left_out) == (0.0, INSTANCES, 2 * INSTANCES)
    launch(study=study, by=TESTS, now=NOON)
