import json
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from simulation.demo.image_sets import ImageSet, describe_sets
from simulation.demo.manifest import write_sets
from simulation.demo.scenes import shows
from studies.importing import Record, get_importer
from studies.kinds import get_kind


@pytest.fixture(scope="module")
def sets() -> list[ImageSet]:
    return list(describe_sets(seed="demo", of_each=8))


def test_there_are_still_sets_and_videos_of_ten_images_each(sets: list[ImageSet]) -> None:
    first = [(drawn.key, drawn.type) for drawn in sets[:3]]
    assert first == [("static-1", "static"), ("video-1", "video"), ("static-2", "static")]
    assert len(sets) == 16
    assert {len(drawn.stills) for drawn in sets} == {10}
    # The same seed gives the same, another one others.
    assert list(describe_sets(seed="demo", of_each=8)) == sets
    assert list(describe_sets(seed="other", of_each=8)) != sets


def test_a_text_about_one_image_of_a_still_set_fits_no_other(sets: list[ImageSet]) -> None:
    for drawn in sets:
        for still in drawn.stills if drawn.type == "static" else ():
            fitting = [each for each in drawn.stills if shows(each.scene, still.scene)]
            assert fitting == [still]


def test_the_subject_of_a_video_flies_from_left_to_right_over_the_other_thing(sets: list[ImageSet]) -> None:
    for drawn in sets:
        if drawn.type == "video":
            places = [still.at for still in drawn.stills]
            across, down = zip(*(at for at in places if at is not None), strict=True)
            assert list(across) == sorted(across)
            assert (round(across[0], 6), round(across[-1], 6)) == (0.1, 0.9)
            # It lies on the ground at both ends, and is highest in the middle.
            assert (round(down[0], 6), round(down[-1], 6)) == (0.86, 0.86)
            assert round(down[4], 6) == round(down[5], 6) == round(min(down), 6) < 0.3
            assert len({still.scene for still in drawn.stills}) == 1


def test_every_text_can_be_sent_and_none_is_there_twice(sets: list[ImageSet]) -> None:
    kind = get_kind("describe")
    content = {"fewest": 13, "most": 800, "not_possible": True}
    for drawn in sets:
        texts = [text for still in drawn.stills for text in still.texts]
        assert len(texts) == 40
        assert len({kind.duplicate_key({"text": text}) for text in texts}) == 40
        for text in texts:
            assert kind.parse(content, [], {"text": text}).value == {"text": text}


def test_what_is_written_down_is_what_the_importer_reads_and_all_images_differ(tmp_path: Path) -> None:
    manifest = write_sets(describe_sets(seed="demo", of_each=1), tmp_path)

    with manifest.open("rb") as stream:
        records = list(get_importer("imagecode")(stream))
    read = [(record.key, record.type) for record in records if isinstance(record, Record)]
    assert read == [("static-1", "static"), ("video-1", "video")]
    for row in map(json.loads, manifest.read_text(encoding="utf-8").splitlines()):
        pictures = [Image.open(tmp_path / "images" / name) for name in row["images"]]
        for number, picture in enumerate(pictures):
            for other in pictures[number + 1 :]:
                difference = ImageChops.difference(picture, other).convert("L")
                assert sum(difference.histogram()[24:]) > 300, row["directory"]
