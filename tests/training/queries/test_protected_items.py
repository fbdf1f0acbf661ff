"""What no model may be trained on, listed by hand."""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image, ImageOps
from pytest_django import Settings

from predictions.models import PictureVector
from studies.models import Project, Question
from tests.factories import make_instance, make_launched, make_project, make_study, redesign
from tests.predictions.near import drawn, put, saved
from training.errors import CannotTrain
from training.leaks import NEAR_CAPTION, NEAR_IMAGE, SAME_CAPTION, SAME_IMAGE, SAME_SOURCE, Item, LeakCheck, LeakReport
from training.queries.protected_items import protect, protected_instances, protected_items

pytestmark = pytest.mark.django_db
ALL = Project.objects.all()


def ask(project: Project, purpose: str) -> None:
    """Ask about all instances that `project` has so far."""
    study = make_launched(make_study(project, f"of-{purpose}"))
    redesign(study, purpose=purpose)
    study.purpose = purpose
    study.save()


def test_baselines_and_splits_for_tests_are_protected_and_nothing_else() -> None:
    birds, fish = make_project("birds"), make_project("fish")
    make_instance(birds, "in the baseline", split="train")
    ask(birds, "baseline")
    make_instance(fish, "filtered")
    make_instance(fish, "filtered and held out", split="Test")
    ask(fish, "filter")
    for split in ("", "train", "Training", "valid", "DEV", "test", "test-2"):
        make_instance(birds, f"split {split}", split=split)
    assert [each.key for each in protected_instances(ALL)] == [
        "in the baseline",
        "filtered and held out",
        "split valid",
        "split DEV",
        "split test",
        "split test-2",
    ]
    # A model is chosen by the split for validation, and not by the others.
    chosen_by = protected_instances(ALL, for_validation=True)
    assert {each.key for each in protected_instances(ALL)} - {each.key for each in chosen_by} == {
        "split valid",
        "split DEV",
    }
    only_fish = protected_instances(Project.objects.filter(pk=fish.pk))
    assert [each.key for each in only_fish] == ["filtered and held out"]


def test_all_of_an_instance_is_protected_and_what_people_were_asked_about_it() -> None:
    project = make_project("birds")
    instance = put(project, "set", saved(1), saved(2))
    instance.split, instance.captions = "test", {"caption": "A vase.", "other": "A map."}
    instance.save()
    place = instance.images.get(position=0)
    place.filename, place.source = "val2017/000000219578.jpg", "https://www.flickr.com/photos/somebody/1007129816"
    place.save()
    study = make_study(project)
    source = {"text": "The vase that stands on the left.", "target": 3}
    Question.objects.create(
        study=study, instance=instance, kind="retrieve", content={}, answers_wanted=1, source_type="response",
        source_id=7, source=source,
    )  # fmt: skip
    (item,) = protected_items(ALL)
    # PostgreSQL keeps captions in an order of its own.
    assert replace(item, captions=sorted(item.captions)) == Item(
        "birds/set",
        ["A map.", "A vase.", "The vase that stands on the left."],
        [str(each.image_id) for each in instance.images.order_by("position")],
        ["instance:birds/set", "coco:219578", "flickr:1007129816"],
        of="birds",
    )


def test_images_are_compared_by_their_vectors_stored_or_not() -> None:
    project = make_project("birds")
    held = put(project, "held", saved(1), saved(2))
    held.split = "test"
    held.save()
    again, other = put(project, "again", saved(1, quality=40)), put(project, "other", saved(3))
    # One that could not be read has an empty vector.
    unreadable = str(held.images.get(position=1).image_id)
    PictureVector.objects.create(image_id=unreadable, embedding="colour-and-gradient-v1", vector=b"")
    check = protect(protected_items(ALL))
    examples = [Item(each.key, images=[str(each.images.get().image_id)]) for each in (again, other)]
    report = report_of(check, examples)
    assert (report.protected, report.protected_images, report.images_not_compared) == (1, 1, 0)
    assert [(pair.kind, pair.example, pair.protected) for pair in report.pairs] == [(NEAR_IMAGE, "again", "birds/held")]


def report_of(check: LeakCheck, examples: Sequence[Item]) -> LeakReport:
    list(check.without_leaks(examples, lambda item: item))
    return check.report()


def as_jpeg(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, "JPEG", quality=90)
    return out.getvalue()


def test_altered_copies_of_a_protected_image_are_found() -> None:
    project = make_project("birds")
    held = put(project, "held", saved(1))
    held.split = "test"
    held.save()
    copies = {
        "mirrored": ImageOps.mirror(drawn(1)),
        "grey": drawn(1).convert("L").convert("RGB"),
        "cropped": drawn(1).crop((5, 5, 91, 91)),
        "three quarters": drawn(1).crop((20, 4, 92, 76)),
        "three quarters, mirrored": ImageOps.mirror(drawn(1).crop((20, 4, 92, 76))),
        "brighter": drawn(1).point(lambda level: min(255, level * 1.3)),
        "darker": drawn(1).point(lambda level: level * 0.6),
        "another, mirrored": ImageOps.mirror(drawn(2)),
    }
    stored = {key: put(project, key, as_jpeg(picture)) for key, picture in copies.items()}
    check = protect(protected_items(ALL))
    examples = [Item(key, images=[str(one.images.get().image_id)]) for key, one in stored.items()]
    report = report_of(check, examples)
    assert report.protected_parts == 1
    assert [(pair.kind, pair.example, pair.protected) for pair in report.pairs] == [
        (NEAR_IMAGE, key, "birds/held") for key in list(copies)[:-1]
    ]


def test_known_test_sets_are_protected(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "coco-val").mkdir()
    drawn(1).save(tmp_path / "coco-val/000000219578.jpg", quality=95)
    (tmp_path / "crepe.txt").write_text("A cat sits under the old table.\n\nA dog.\n", encoding="utf-8")
    settings.KNOWN_SETS_DIR, settings.DATA_DIR = str(tmp_path), str(tmp_path / "data")
    project = make_project("birds")
    photo = str(put(project, "photo", saved(1, quality=40)).images.get().image_id)
    check = protect([])
    examples = [
        Item("photo", images=[photo]),
        Item("caption", ["a cat sits under the old table"]),
        Item("nearly", ["A cat sits under the old tables."]),
        Item("source", sources=["coco:219578"]),
        Item("clean", ["A dog.", "A bird flies over the old table."]),
    ]
    report = report_of(check, examples)
    assert {(pair.kind, pair.example, pair.protected) for pair in report.pairs} == {
        (NEAR_IMAGE, "photo", "coco-val: 000000219578.jpg"),
        (SAME_CAPTION, "caption", "crepe: text 1"),
        (NEAR_CAPTION, "nearly", "crepe: text 1"),
        (SAME_SOURCE, "source", "coco-val: 000000219578.jpg"),
    }
    assert report.counts[SAME_IMAGE] == 0
    (tmp_path / "latin.txt").write_bytes("Caf\xe9".encode("latin-1"))
    with pytest.raises(CannotTrain, match=r"The known test set latin.txt cannot be read"):
        protect([])


def test_captions_and_their_changed_ones_in_one_file_follow_no_template(tmp_path: Path, settings: Settings) -> None:
    """As in a file of a benchmark's captions and negative captions, a line each."""
    words = ("red", "blue", "green", "black", "white", "large")
    lines = [f"The {word} {kind} {word}s the old table." for word in words for kind in ("cat", "dog")]
    (tmp_path / "crepe.txt").write_text("\n".join(lines))
    (tmp_path / "flickr30k").mkdir()
    (tmp_path / "flickr30k/1007129816.png").write_bytes(saved(1))
    settings.KNOWN_SETS_DIR, settings.DATA_DIR = str(tmp_path), str(tmp_path / "data")
    near, photo = Item("near", ["The red bird reds the old table."]), Item("photo", sources=["flickr:1007129816"])
    report = report_of(protect([]), [near, photo])
    # Of some collections, plain numbers are ids of photos.
    assert {pair.example: pair.kind for pair in report.pairs} == {"near": NEAR_CAPTION, "photo": SAME_SOURCE}
    assert report.captions_alike == 0


def test_twice_as_many_instances_need_no_more_queries() -> None:
    project = make_project("birds")
    counts: list[int] = []
    for some in (("a", "b"), ("c", "d")):
        for key in some:
            make_instance(project, key, split="test")
        with CaptureQueriesContext(connection) as queries:
            assert len(list(protected_items(ALL))) == 2 * (len(counts) + 1)
        counts.append(len(queries))
    assert counts[0] == counts[1]
