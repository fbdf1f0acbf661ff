"""People answer what models are asked: ARO's and RoCOCO's files become studies, and both see the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluation.protocols import get_protocol
from studies.actions.imports.importer import import_files
from studies.models import InstanceImage, Project, Question
from tests.factories import NOON, TESTS, arrive_at_work, launch_study

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once(on="sqlite", because="importing and launching are tried on both databases with other formats"),
]
ORDERS = [
    {
        "image": "1.png",
        "caption_options": ["A red cup on a plate.", f"cup {n} .", f"on {n} .", f"red {n} .", f"a {n} ."],
    }
    for n in range(2)
] + [{"image": "1.png", "caption_options": ["A cup.", "A cup .", "cup . A", ". A cup", "cup A ."]}]
REGION = {
    "image_path": "1.png",
    "bbox_x": 10,
    "bbox_y": 5,
    "bbox_w": 20,
    "bbox_h": 10,
    "relation_name": "on",
    "true_caption": "the cup is on the plate",
    "false_caption": "the plate is on the cup",
}


def bring_in(folder: Path, format: str, files: dict[str, Any]) -> Project:
    for name in ("1.png", "mix_0.9/1.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        Image.effect_mandelbrot((40, 30), (-2, -1, 1, 1), 20 + len(name)).convert("RGB").save(folder / name)
    paths = [folder / name for name in files]
    for path in paths:
        path.write_text(json.dumps(files[path.name]))
    project = Project.objects.create(slug=format, name=format)
    import_files(
        project=project, files=paths, format=format, by=TESTS, now=NOON, images_dir=folder, caption_rule="retrieval-v1"
    )
    return project


def asked(project: Project, kind: str, ask: dict[str, Any], selection: dict[str, Any]) -> list[Question]:
    study = launch_study(project, instances=0, kind=kind, ask=ask, selection=selection, answers=1)
    arrive_at_work(study)
    return list(study.questions.order_by("instance__source_row"))


def test_people_tell_a_caption_from_its_other_orders_as_models_do(tmp_path: Path) -> None:
    project = bring_in(tmp_path, "aro", {"coco_order.json": ORDERS})
    roles = ["caption", "nouns_and_adjectives_shuffled", "other_words_shuffled", "within_trigrams_shuffled"]
    ask = {"images": ["image"], "captions": [*roles, "trigrams_shuffled"]}
    questions = asked(project, "image_to_text", ask, {"subtype": ["coco"]})
    # The third caption is not told from one of its orders, and is not asked about.
    assert len(questions) == 2
    protocol = get_protocol("aro")
    for question, block in zip(questions, protocol.blocks(protocol.read(tmp_path)), strict=False):
        assert [option["text"] for option in question.content["options"]] == list(block.texts)


def test_people_see_the_region_that_models_see(tmp_path: Path) -> None:
    project = bring_in(tmp_path, "aro", {"visual_genome_relation.json": [REGION]})
    ask = {"images": ["image"], "captions": ["caption", "negative_caption"]}
    (question,) = asked(project, "image_to_text", ask, {"type": ["relation"]})
    (use,) = InstanceImage.objects.select_related("image")
    assert use.image is not None
    assert (use.image.width, use.image.height) == (20, 10)
    (block,) = get_protocol("aro").blocks(get_protocol("aro").read(tmp_path))
    assert block.images == (use.filename,)
    assert {option["text"] for option in question.content["options"]} == set(block.texts)


def test_people_choose_between_a_photo_and_what_was_made_of_it(tmp_path: Path) -> None:
    captions = [f"A cup {n}." for n in range(5)] + [f"A weapon {n} ." for n in range(5)]
    project = bring_in(tmp_path, "rococo", {"danger.json": [{"image": "1.png", "caption": captions}]})
    ask = {"captions": ["caption"], "images": ["image", "mixed"]}
    questions = asked(project, "text_to_image", ask, {"subtype": ["altered"]})
    assert [question.content["caption"] for question in questions] == [f"a cup {n}" for n in range(5)]
    assert {len(question.content["options"]) for question in questions} == {2}
    assert InstanceImage.objects.values("image").distinct().count() == 2
