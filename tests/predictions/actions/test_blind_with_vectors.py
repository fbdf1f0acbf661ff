"""A blind baseline that sees a model's vectors: a worker looks at the pictures, and the site learns what is right."""

import json
from collections.abc import Mapping
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
import yaml

from predictions import tasks
from predictions.actions import runs
from predictions.actions.runs import LOST_AFTER, LOST_TOO_OFTEN, MOST_BEGUN, cancel_run, request_run, resume_run
from predictions.messages import EMBED, EMBEDDED, LOAD, LOADED
from predictions.models import Chunk, PictureVector, Prediction, Run
from predictions.queries.progress import progress_of
from predictions.scorers import NoPicture, Scorer, scorer_of
from predictions.scoring import embed_pictures, loaded_message
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import LEFT, Scene, Thing
from studies.actions.images import check_and_store
from studies.actions.studies import create_study
from studies.models import BlindScore, Image, InstanceImage, Project
from tests.factories import CONTACT, NOON, TESTS, draw_instance, make_project
from tests.predictions.plain_scorer import Plain

pytestmark = pytest.mark.django_db
SPEC = "image-only:onnx:demo"
INSTANCES = 10
PLACES = {"image": "on a meadow", "negative_image": "under the stars"}
THINGS = ("car", "mug", "fish", "house", "kite")
COLOURS = ("red", "white")


@pytest.fixture
def drawn() -> dict[str, Any]:
    """Return pictures by their SHA-256, once `project` has made them."""
    return {}


@pytest.fixture
def project(drawn: dict[str, Any]) -> Project:
    """A project of which every right picture was drawn on a meadow, every wrong one under the stars."""
    project = make_project("scenes")
    for number in range(1, INSTANCES + 1):
        draw_instance(project, number, candidates=2)
    for number, instance in enumerate(project.instances.order_by("pk")):
        instance.images.filter(role="candidate", position=0).update(role="negative_image")
        thing = Thing(THINGS[number % 5], COLOURS[number // 5])
        for role, place in PLACES.items():
            picture = draw_scene(Scene(place, thing, LEFT, Thing("tent", "purple")), seed=f"{number} {role}")
            out = BytesIO()
            picture.save(out, "PNG")
            sha256, facts = check_and_store(out.getvalue(), keep=True, on_write=lambda name: None)
            known = {"width": facts.width, "height": facts.height, "format": facts.format}
            image, _ = Image.objects.get_or_create(pk=sha256, defaults=known | {"byte_size": len(out.getvalue())})
            InstanceImage.objects.filter(instance=instance, role=role).update(image=image)
            drawn[sha256] = picture
    return project


class Worker:
    """A worker with models, by its messages alone, each way as JSON. `answers`: whether it still does."""

    def __init__(self, scorer: Scorer, drawn: Mapping[str, Any]) -> None:
        self.scorer, self.drawn = scorer, drawn
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.answers = True

    def send_task(self, name: str, *, kwargs: Mapping[str, Any], **options: Any) -> None:
        message = json.loads(json.dumps(kwargs))
        self.told.append((name, message))
        if not self.answers:
            return
        if name == LOAD:
            self.load(message["run"])
        else:
            self.embed(message)

    def load(self, run: int, *, pictures_per_second: float = 0.25) -> None:
        """Say that the model is loaded, and is so fast."""
        answer = loaded_message(self.scorer, None) | {"pictures_per_second": pictures_per_second}
        tasks.plan_run(run=run, answer=json.loads(json.dumps(answer)))

    def embed(self, message: Mapping[str, Any], **other: Any) -> None:
        answer = embed_pictures(self.scorer, message["pictures"], self.open) | other
        tasks.store_vectors(run=message["run"], chunk=message["chunk"], answer=json.loads(json.dumps(answer)))

    def open(self, name: str) -> Any:
        if name not in self.drawn:
            raise NoPicture(f"The image {name[:12]} is not on the worker.")
        return self.drawn[name]

    @property
    def looked_at(self) -> list[str]:
        return [picture for name, message in self.told if name == EMBED for picture in message["pictures"]]


@pytest.fixture
def worker(drawn: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Worker:
    worker = Worker(scorer_of("onnx:demo"), drawn)
    monkeypatch.setattr("predictions.tasks.current_app.send_task", worker.send_task)
    monkeypatch.setattr(tasks.score_blind, "send", lambda args, **options: tasks.score_blind(*args))
    return worker


def ask(project: Project, *, at_most: float = 1.0) -> Run:
    limit = {"blind_solvability": {"baselines": [SPEC], "at_most": at_most}}
    given = {"study": "which-scene", "title": "Which scene?", "contact": CONTACT, "kind": "text_to_image"}
    source = yaml.safe_dump(given | {"ask": {"captions": ["caption"]}, "conditions": limit})
    study = project.studies.first() or create_study(project=project, source=source, by=TESTS, now=NOON)
    return request_run(project=project, spec=SPEC, study=study, by=TESTS, now=NOON)


def sent(run: Run) -> Run:
    tasks.send_due(run.pk)
    run.refresh_from_db()
    return run


def test_where_a_model_sees_what_was_drawn_for_the_right_answer_it_is_told_by_pictures_alone(
    project: Project, worker: Worker
) -> None:
    run = sent(ask(project))
    assert (run.state, run.error, run.stored, run.wrong, run.total) == ("done", "", INSTANCES, 0, INSTANCES)
    score = BlindScore.objects.get(baseline=SPEC)
    assert (score.share, score.chance, score.questions) == (1.0, 0.5, INSTANCES)
    known = worker.scorer.identity
    assert run.model is not None
    assert run.model.name == f"Blind baseline: image only, {known.name} {known.version}"
    prediction = Prediction.objects.get(instance__key="row-1")
    assert prediction.scores is not None
    assert prediction.scores["image"] > prediction.scores["negative_image"]
    assert prediction.conditions is not None
    told = prediction.conditions.details
    assert (told["blind_baseline"], told["folds"]) == ("vectors-v2", 5)
    assert told["embedding"]["identity"]["weights"] == known.weights
    assert told["embedding"]["conditions"]["dtype"] == "float32"
    # The worker is told nothing of the questions. At a picture in four seconds, five are in a chunk.
    assert worker.told[0] == (LOAD, {"run": run.pk, "spec": "onnx:demo"})
    assert {name for name, _ in worker.told[1:]} == {EMBED}
    assert [len(message["pictures"]) for _, message in worker.told[1:]] == [5, 5, 5, 5]
    assert all(message.keys() == {"run", "chunk", "spec", "pictures"} for _, message in worker.told[1:])
    assert sorted(worker.looked_at) == sorted(worker.drawn)


def test_other_questions_about_the_same_pictures_look_at_none_of_them_again(project: Project, worker: Worker) -> None:
    first = sent(ask(project))
    vectors = list(PictureVector.objects.order_by("pk").values())
    changed = project.instances.get(key="row-3")
    changed.captions = changed.captions | {"caption": "A tent."}
    changed.save()
    second = sent(ask(project))
    assert (second.state, second.stored) == ("done", INSTANCES)
    # Learnt from other questions, so another model.
    assert second.model != first.model
    assert len(worker.looked_at) == 2 * INSTANCES
    assert list(PictureVector.objects.order_by("pk").values()) == vectors


def test_a_run_that_is_cancelled_goes_on_with_the_pictures_that_are_missing(project: Project, worker: Worker) -> None:
    worker.answers = False
    run = sent(ask(project))
    assert progress_of(run, now=NOON).waits_for == "a worker with models"
    worker.load(run.pk, pictures_per_second=0.5)
    *_, (_, message) = worker.told
    # Both, and no question before they are done, though there would be room for it.
    assert [name for name, _ in worker.told] == [LOAD, *[EMBED] * 2]
    run.refresh_from_db()
    assert (run.state, run.stored, run.wrong) == ("running", 0, 0)
    assert progress_of(run, now=NOON).looks
    for _ in range(2):
        worker.embed(message)
    assert PictureVector.objects.count() == INSTANCES
    cancel_run(run=run, by=TESTS, now=NOON)
    worker.told.clear()
    worker.answers = True
    resume_run(run=run, by=TESTS, now=NOON)
    run = sent(run)
    assert (run.state, run.stored) == ("done", INSTANCES)
    assert len(worker.looked_at) == INSTANCES
    assert not progress_of(run, now=NOON).looks


def test_a_picture_that_is_not_on_the_worker_costs_its_question(project: Project, worker: Worker) -> None:
    lost = project.instances.get(key="row-3").images.get(role="image").image_id
    assert lost is not None
    del worker.drawn[lost]  # type: ignore[attr-defined]
    run = sent(ask(project))
    assert (run.state, run.stored, run.wrong) == ("done", INSTANCES - 1, 1)
    (problem,) = (problem for chunk in Chunk.objects.all() for problem in chunk.problems)
    assert problem == f"row-3: The image {lost[:12]} is not on the worker."
    assert not BlindScore.objects.exists()


def test_pictures_that_end_their_workers_are_given_up_and_their_questions_say_so(
    project: Project, worker: Worker
) -> None:
    run = ask(project)
    worker.answers = False
    tasks.send_due(run.pk, now=NOON)
    worker.load(run.pk)
    Chunk.objects.of_pictures().update(begun=MOST_BEGUN, sent_at=NOON)
    later = NOON + LOST_AFTER + timedelta(seconds=1)
    tasks.send_due(run.pk, now=later)
    assert run in runs.overdue_runs(now=later)
    tasks.send_due(run.pk, now=later)
    run.refresh_from_db()
    assert (run.state, run.stored, run.wrong) == ("done", 0, INSTANCES)
    assert {problem.partition(": ")[2] for chunk in Chunk.objects.all() for problem in chunk.problems} == {
        LOST_TOO_OFTEN
    }


def test_a_model_without_vectors_of_pictures_is_refused_once_it_is_loaded(project: Project, worker: Worker) -> None:
    worker.scorer = Plain("w1")
    run = sent(ask(project))
    assert (run.state, run.total) == ("failed", 0)
    assert run.error == "The model gives no image embeddings. Name a contrastive model, such as CLIP."


def test_vectors_of_other_weights_than_the_run_began_with_are_not_kept(project: Project, worker: Worker) -> None:
    worker.answers = False
    run = sent(ask(project))
    worker.load(run.pk)
    for _, message in list(worker.told[1:]):
        worker.embed(message, identity={"name": "other", "version": "", "weights": "w"})
    assert not PictureVector.objects.exists()
    run.refresh_from_db()
    assert (run.state, run.wrong) == ("done", INSTANCES)


def test_the_messages_have_the_names_that_the_worker_answers_by() -> None:
    assert (tasks.plan_run.name, tasks.store_vectors.name) == (LOADED, EMBEDDED)
