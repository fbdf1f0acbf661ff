"""Pipelines whose makers read images: those that ship, what their instances show, and images that are missing."""

import errno
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from PIL import Image as Picture

from background.job_runner import Attempt
from background.models import JobState
from making.actions import stages
from making.actions.candidate_images import store_image
from making.actions.pipelines import request_pipeline, request_trial
from making.models import Candidate, Pipeline
from making.queries.yields import samples, stage_yields
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import ABOVE, LEFT, Scene, Thing
from studies.errors import StudyError
from studies.models import Image, InstanceImage, Project
from tests.factories import NOON, make_instance, make_project
from tests.jobs import run_now

pytestmark = pytest.mark.django_db

BEACH = Scene("on a beach", Thing("car", "red"), LEFT, Thing("house", "blue"))
SNOW = Scene("in the snow", Thing("fish", "green"), ABOVE, Thing("mug", "pink"))
SCENES = {"beach-1": (BEACH, "1"), "beach-2": (BEACH, "2"), "snow-1": (SNOW, "1"), "snow-2": (SNOW, "2")}
TWICE = {"beach-1": "beach-2", "beach-2": "beach-1", "snow-1": "snow-2", "snow-2": "snow-1"}
DESIGNS = Path(settings.BASE_DIR) / "making" / "designs"


def shipped(name: str) -> str:
    return (DESIGNS / f"{name}.yaml").read_text(encoding="utf-8")


def stored(picture: Picture.Image) -> Image:
    out = BytesIO()
    picture.save(out, "PNG")
    return store_image(out.getvalue())


@pytest.fixture
def project() -> Project:
    """Two scenes that are drawn twice, and an instance without an image."""
    project = make_project("scenes")
    for key, (scene, seed) in SCENES.items():
        captions = {"caption": scene.caption}
        instance = make_instance(project, key, candidates=0, captions=captions, original_captions=captions)
        use(project, key, stored(draw_scene(scene, seed=seed)), licence="CC0")
        assert instance.images.count() == 1
    captions = {"caption": "A dog without an image on a table."}
    make_instance(project, "blind", candidates=0, captions=captions, original_captions=captions)
    return project


def use(project: Project, key: str, image: Image | None, *, role: str = "image", licence: str = "") -> None:
    instance = project.instances.get(key=key)
    filename = f"{key}-{role}.png"
    InstanceImage.objects.create(
        instance=instance, role=role, filename=filename, image=image, source="drawn", licence=licence
    )


def image_of(key: str, project: Project) -> str:
    found = InstanceImage.objects.get(instance__project=project, instance__key=key, role="image").image_id
    assert found is not None
    return found


def made(project: Project, source: str) -> Pipeline:
    pipeline, job = request_pipeline(project=project, source=source, by="test", now=NOON)
    assert job is not None
    done = run_now(job, now=NOON)
    assert (done.state, done.error) == (JobState.DONE, "")
    pipeline.refresh_from_db()
    return pipeline


def failure(project: Project, source: str) -> str:
    _, job = request_pipeline(project=project, source=source, by="test", now=NOON)
    assert job is not None
    return run_now(job, now=NOON).error


def found_by(pipeline: Pipeline, stage: str) -> dict[str, list[str | None]]:
    """Return key of the start -> the images of its kept candidates of a stage."""
    rows = pipeline.candidates.filter(stage=stage, state=Candidate.State.KEPT).order_by("pk")
    found: dict[str, list[str | None]] = {}
    for one in rows:
        found.setdefault(one.start_key, []).append(one.image_id)
    return found


def test_nearest_images_of_the_project_become_negative_images(project: Project) -> None:
    pipeline = made(project, shipped("nearest-images"))
    found = found_by(pipeline, "nearest")
    # The instance without an image is no start.
    assert {key: images[0] for key, images in found.items()} == {
        key: image_of(other, project) for key, other in TWICE.items()
    }
    assert {len(images) for images in found.values()} == {3}
    scores = [one.scores["similarity"] for one in pipeline.candidates.filter(start_key="beach-1", stage="nearest")]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 < scores[0] < 0.9999
    instance = project.instances.get(key="beach-1-nearest-images")
    uses = instance.images.filter(role="negative_image").order_by("position")
    assert [each.image_id for each in uses] == found["beach-1"]
    # What is known of the image, not what found it.
    assert (uses[0].filename, uses[0].source, uses[0].licence) == ("beach-2-image.png", "drawn", "CC0")
    assert instance.images.get(role="image").image_id == image_of("beach-1", project)
    assert Image.objects.count() == 4


def test_images_of_the_same_instance_and_of_other_roles_are_not_found(project: Project) -> None:
    use(project, "beach-1", Image.objects.get(pk=image_of("beach-2", project)), role="candidate")
    use(project, "snow-1", stored(draw_scene(BEACH, seed="3")), role="candidate")
    found = found_by(made(project, shipped("nearest-images")), "nearest")
    assert {*found["beach-1"]} == {image_of("snow-1", project), image_of("snow-2", project)}
    assert found["beach-2"][0] == image_of("beach-1", project)
    assert len(found["beach-2"]) == 3


def test_rococos_captions_and_images_are_made_together(project: Project) -> None:
    pipeline = made(project, shipped("rococo"))
    texts = {one.start_key: one.text for one in pipeline.candidates.filter(stage="replaced")}
    assert texts["beach-1"] in {
        "A red weapon to the left of a blue house on a beach.",
        "A red car to the left of a blue house on a minefield.",
    }
    instance = project.instances.get(key="snow-1-rococo-1")
    assert instance.captions == {"caption": SNOW.caption, "negative_caption": texts["snow-1"]}
    mixed = instance.images.get(role="negative_image")
    assert mixed.image is not None
    assert (mixed.image.width, mixed.image.height) == (384, 384)
    own, other = image_of("snow-1", project), mixed.source.removesuffix(".").split()[-1]
    assert mixed.source == f"Made from: the images {own} and {other}"
    assert other in {image_of(key, project) for key in SCENES if key != "snow-1"}
    assert mixed.licence == "that of both photos"
    assert mixed.generator.startswith("mix:random 1; Pillow ")


def test_the_orders_of_words_ship(project: Project) -> None:
    pipeline = made(project, shipped("word-orders"))
    stages_read = {each.name: each for each in stage_yields(pipeline)}
    assert [*stages_read] == ["nouns-and-adjectives", "other-words", "within-trigrams", "trigrams"]
    assert all(each.parents == 5 and each.made + each.not_made == 5 for each in stages_read.values())
    (last,) = pipeline.candidates.filter(start_key="blind", stage="trigrams")
    tokens = ["A", "dog", "without", "an", "image", "on", "a", "table", "."]
    assert sorted(last.text.split()) == sorted(tokens)
    assert last.text != " ".join(tokens)
    # Instances have an image; the one that began without has become none.
    assert pipeline.instances.count() == len(SCENES)
    assert project.instances.get(key="beach-1-word-orders-1").images.get().role == "image"


def test_images_are_made_of_images_that_another_stage_made(project: Project) -> None:
    source = (
        "name: twice\nstart: {role: caption, images: image}\nstages:\n"
        "  - {name: mixed, make: 'mix:random', count: 2}\n"
        "  - {name: patched, make: 'patch:random', of: mixed}\n"
        "instances: {of: start, captions: {caption: start}, images: {image: image, candidate: patched}}\n"
    )
    pipeline = made(project, source)
    patched = pipeline.candidates.filter(stage="patched")
    assert patched.count() == 8
    assert {one.parent.stage for one in patched if one.parent} == {"mixed"}
    assert all(one.parent and f"the images {one.parent.image_id} and" in one.prompt for one in patched)
    assert len({one.seed for one in patched}) == 8
    uses = InstanceImage.objects.filter(instance__key="snow-1-twice", role="candidate").order_by("position")
    mixed = pipeline.candidates.filter(stage="mixed", start_key="snow-1").order_by("number")
    expected = [patched.get(parent=one).image_id for one in mixed]
    assert [use.image_id for use in uses] == expected
    assert len({*expected}) == 2


def test_batches_and_a_repeated_run_change_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    source = shipped("nearest-images")
    once = made(project, source), made(project, shipped("rococo"))
    expected = [found_by(once[0], "nearest"), found_by(once[1], "mixed")]
    project.instances.filter(reference__has_key="made").delete()
    Pipeline.objects.all().delete()
    monkeypatch.setattr(stages, "BATCH", 1)
    assert [found_by(made(project, source), "nearest"), found_by(made(project, shipped("rococo")), "mixed")] == expected


def test_a_trial_finds_images_of_the_whole_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("making.actions.pipelines.TRIAL_TEXTS", 1)
    trial, job = request_trial(project=project, source=shipped("nearest-images"), by="test", now=NOON)
    assert run_now(job, now=NOON).state == JobState.DONE
    assert found_by(trial, "nearest")["beach-1"][0] == image_of("beach-2", project)
    (stage,) = stage_yields(trial)
    first = samples(trial, stage)[0]
    assert (first.image, first.parent_image) == (image_of("beach-2", project), image_of("beach-1", project))


def test_a_file_that_is_gone_is_a_reason_and_the_rest_goes_on(project: Project) -> None:
    gone = image_of("beach-1", project)
    default_storage.delete(f"images/{gone[:2]}/{gone}")
    pipeline = made(project, shipped("nearest-images").replace("nearest:onnx:demo", "nearest:colour-and-gradient"))
    (missing,) = pipeline.candidates.filter(state="not_made")
    assert (missing.start_key, missing.image_id) == ("beach-1", None)
    assert missing.reason == f"The file of the image {gone[:12]} is missing or damaged. Import it again."
    assert sorted(found_by(pipeline, "nearest")) == ["beach-2", "snow-1", "snow-2"]
    assert all(gone not in images for images in found_by(pipeline, "nearest").values())


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            shipped("nearest-images").replace("nearest:onnx:demo", "nearest:onnx:/none"),
            "The stage nearest cannot start. The model onnx:/none cannot be loaded: onnx:/none cannot be read on the "
            "worker's machine (No such file or directory). Write onnx:demo, or onnx:FILE with a model made by "
            "train_demo_model.",
        ),
    ],
)
def test_what_cannot_begin_says_why(source: str, sentence: str, project: Project) -> None:
    assert failure(project, source) == sentence


def test_images_of_a_role_that_nobody_has_are_no_beginning(project: Project) -> None:
    source = shipped("rococo").replace("images: image\nstages", "images: photo\nstages")
    with pytest.raises(StudyError) as refused:
        request_trial(project=project, source=source, by="test", now=NOON)
    assert str(refused.value) == (
        "No instance of the project has a caption in the role caption and an image in the role photo. Import some, "
        "or name another role in `start`."
    )


def test_a_full_disk_is_said_and_the_stage_goes_on_once_there_is_room(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "name: mixed\nstart: {role: caption, images: image}\nstages: [{name: mixed, make: 'mix:random'}]\n"

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("making.actions.candidate_images.check_and_store", refuse)
        assert failure(project, source) == (
            "The site cannot store an image (No space left on device). Make room on its disk, or mend its media "
            "folder; then continue."
        )
    assert not Candidate.objects.filter(stage="mixed").exists()
    assert made(project, source).candidates.filter(stage="mixed", state="kept").count() == len(SCENES)


def test_progress_is_reported_while_vectors_are_computed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bool] = []
    advance = Attempt.advance

    def noted(self: Attempt, *, step: Mapping[str, Any] | None = None, **news: Any) -> None:
        if step is not None and step["phase"] == "nearest":
            read.append("nearest" in step["after"])
        advance(self, step=step, **news)

    monkeypatch.setattr(Attempt, "advance", noted)
    monkeypatch.setattr("making.makers.nearest.AT_ONCE", 1)
    made(project, shipped("nearest-images"))
    # A stored step for each of four images, before the one of the batch.
    assert read == [False, False, False, False, True]
