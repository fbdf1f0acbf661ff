import hashlib
import json
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from simulation.demo.manifest import write_manifest
from simulation.demo.pictures import FORMS, PAINT, draw_scene
from simulation.demo.scenes import COLOURS, KINDS, LEFT, PATTERNS, Scene, Thing, describe_instances


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_manifest(describe_instances(seed="demo", per_category=1), tmp_path_factory.mktemp("scenes"))


def test_every_kind_and_colour_of_the_scenes_can_be_drawn() -> None:
    assert set(FORMS) == set(KINDS)
    assert set(PAINT) == set(COLOURS)


def test_the_same_scene_and_seed_give_the_same_pixels_and_another_seed_others() -> None:
    scene = Scene("under the stars", Thing("car", "red"), LEFT, Thing("mug", "white"))

    picture = draw_scene(scene, seed="a")

    assert picture.size == (512, 512)
    assert picture.tobytes() == draw_scene(scene, seed="a").tobytes()
    assert picture.tobytes() != draw_scene(scene, seed="b").tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_or_colour_changes_what_is_seen_of_every_kind(kind: str) -> None:
    other = Thing("box" if kind != "box" else "ball", "blue")
    plain = draw_scene(Scene("on a beach", Thing(kind, "red"), LEFT, other), seed="a")
    for thing in [Thing(kind, "red", pattern=pattern) for pattern in PATTERNS] + [Thing(kind, "green")]:
        changed = draw_scene(Scene("on a beach", thing, LEFT, other), seed="a")
        assert _changed_pixels(plain, changed) > 300


def test_candidates_of_one_instance_differ_visibly(manifest: Path) -> None:
    for row in _rows(manifest):
        pictures = [Image.open(manifest.parent / "images" / name) for name in row["images"]["candidate"]]
        for number, picture in enumerate(pictures):
            for other in pictures[number + 1 :]:
                assert _changed_pixels(picture, other) > 2_000, row["key"]


def test_the_manifest_names_files_that_are_there_and_knows_the_faithful_one(manifest: Path) -> None:
    rows = _rows(manifest)

    assert len(rows) == 7
    for row in rows:
        names = row["images"]["image"] + row["images"]["candidate"]
        assert len(names) == 5
        assert all((manifest.parent / "images" / name).is_file() for name in names)
        assert row["reference"]["right"] in {"candidate-0", "candidate-1", "candidate-2", "candidate-3", "none"}
        assert row["captions"]["caption"] != row["captions"]["negative_caption"]


def test_no_picture_is_written_twice_and_writing_again_gives_the_same_bytes(manifest: Path, tmp_path: Path) -> None:
    again = write_manifest(describe_instances(seed="demo", per_category=1), tmp_path)

    assert again.read_bytes() == manifest.read_bytes()
    before, after = (
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (folder / "images").iterdir()}
        for folder in (manifest.parent, tmp_path)
    )
    assert len(set(before.values())) == 35
    assert before == after


def _rows(manifest: Path) -> list[dict[str, dict[str, str]]]:
    return [json.loads(line) for line in manifest.read_text().splitlines()]


def _changed_pixels(one: Image.Image, other: Image.Image) -> int:
    red, green, blue = ImageChops.difference(one, other).split()
    return sum(ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()[24:])
