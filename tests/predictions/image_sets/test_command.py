import csv
import json
from collections import Counter
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from predictions.image_sets import text_detection
from studies.models import Instance, Project
from tests.factories import make_person
from tests.predictions.image_sets.test_set_maker import ball, frames_of

pytestmark = pytest.mark.django_db

SHARED_SETS = Path(__file__).resolve().parents[4] / "shared/data/images/sets_of_10"


@pytest.fixture(autouse=True)
def _no_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_detection, "program", lambda: None)


def run(*arguments: str, out: Path) -> str:
    said = StringIO()
    call_command("make_image_sets", "balls", *arguments, out=out, owner="ada", verbosity=0, stdout=said)
    return said.getvalue()


def splits_in(out: Path) -> dict[str, str]:
    """Return the split of each set by the name of its folder, "" where it has none."""
    lines = map(json.loads, (out / "sets.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["directory"]: line.get("split", "") for line in lines}


@pytest.fixture
def _owner() -> None:
    make_person("ada")


@pytest.mark.usefixtures("_owner")
def test_photos_become_instances_of_a_project(tmp_path: Path) -> None:
    asked = "--photos", str(photos_of_balls(tmp_path / "photos"))
    assert "1 sets of ten from 10 photos, by colour-and-gradient-v1." in run(*asked, out=tmp_path / "out")
    (instance,) = Instance.objects.filter(project__slug="balls")
    assert (instance.type, instance.split, instance.images.count()) == ("static", "", 10)
    # The same command again adds nothing.
    run(*asked, out=tmp_path / "out")
    assert Instance.objects.count() == 1


@pytest.mark.usefixtures("_owner")
def test_frames_become_video_sets_and_what_was_not_looked_for_is_said(tmp_path: Path) -> None:
    frames_of(tmp_path / "films/roll", [ball(10 * number) for number in range(11)])
    said = run("--videos", str(tmp_path / "films"), out=tmp_path / "out")
    assert "1 sets of ten from 11 frames" in said
    assert "Frames full of text were not detected. Install tesseract-ocr to detect them." in said
    assert list(Instance.objects.values_list("key", "type")) == [("video-roll-1-shot0_0", "video")]


@pytest.mark.skipif(not SHARED_SETS.is_dir(), reason="the real frames are not there")
def test_the_real_frames_come_out_in_time_order(tmp_path: Path) -> None:
    films = tmp_path / "films"
    films.mkdir()
    for real in SHARED_SETS.glob("*video*"):
        (films / real.name).symlink_to(real)
    said = run("--videos", str(films), "--only-make", "--least-distance", "0", out=tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/sets.jsonl").read_text(encoding="utf-8").splitlines()]
    # Ten frames each, none of them blurred beside the others.
    assert len(lines) == len(list(films.iterdir())) == 13
    assert "13 sets of ten from 130 frames" in said
    for line in lines:
        numbers = [int(Path(name).stem.removeprefix("img")) for name in line["images"]]
        assert numbers == sorted(numbers)
    assert not Project.objects.exists()


def test_where_no_set_was_made_nothing_is_imported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a folder"):
        run("--photos", str(tmp_path / "nowhere"), out=tmp_path / "out")
    frames_of(tmp_path / "films/still", [ball(10)] * 12)
    with pytest.raises(CommandError, match="No set was made"):
        run("--videos", str(tmp_path / "films"), out=tmp_path / "out")
    assert not Project.objects.exists()


def photos_of_balls(folder: Path, copies: int = 1) -> Path:
    """Put ten photos of each of `copies` scenes into a folder, at most 8, each on a ground of its own."""
    folder.mkdir()
    for copy, (red, green, blue) in zip(range(copies), product((0, 255), repeat=3), strict=False):
        for number in range(10):
            ball(11 * number, ground=(red, green, blue)).save(folder / f"{copy}-{number}.png")
    return folder


@pytest.mark.usefixtures("_owner")
def test_sets_are_put_into_splits_that_studies_then_ask_for(tmp_path: Path) -> None:
    # With no bounds all 80 photos are in sets.
    asked = ["--photos", str(photos_of_balls(tmp_path / "photos", 8)), "--same-below", "0", "--most-distance", "2"]
    asked += ["--split", "train=.7,valid=.15,test=.15"]
    said = run(*asked, out=tmp_path / "out")
    # 5.6, 1.2 and 1.2 of 8: the one that is left over goes to the largest remainder.
    assert "Splits: train 6, valid 1, test 1." in said
    assert "Wanted" not in said
    assert Counter(Instance.objects.values_list("split", flat=True)) == {"train": 6, "valid": 1, "test": 1}
    again = splits_in(tmp_path / "out")
    run(*asked, out=tmp_path / "out")
    assert splits_in(tmp_path / "out") == again
    found = set()
    for seed in "abcdef":
        run(*asked, "--only-make", "--seed", seed, out=tmp_path / seed)
        found.add(tuple(sorted(splits_in(tmp_path / seed).items())))
    assert len(found) > 1


@pytest.mark.usefixtures("_owner")
def test_the_shots_of_one_video_are_in_one_split_and_the_counts_that_were_wanted_are_told(tmp_path: Path) -> None:
    for shot in range(3):
        pictures = [ball(10 * number, ground=(30, 80 * shot, 90)) for number in range(11)]
        frames_of(tmp_path / f"films/walk-shot{shot}_0", pictures)
    frames_of(tmp_path / "films/run-shot0_0", [ball(10 * number, ground=(250, 250, 90)) for number in range(11)])
    said = run("--videos", str(tmp_path / "films"), "--split", "train=.5,test=.5", out=tmp_path / "out")
    found = splits_in(tmp_path / "out")
    of_walk, of_run = ({split for name, split in found.items() if video in name} for video in ("walk", "run"))
    assert len(found) == 4
    assert len(of_walk) == len(of_run) == 1
    assert of_walk.isdisjoint(of_run)
    assert "Wanted: train 2, test 2. Sets of one video, or with near-duplicate images, stay in one split" in said


@pytest.mark.usefixtures("_owner")
def test_a_video_that_is_there_twice_is_in_one_split(tmp_path: Path) -> None:
    for name, ground in (("a", 0), ("copy of a", 0), ("b", 120), ("c", 240)):
        frames_of(tmp_path / "films" / name, [ball(10 * number, ground=(ground, 90, 30)) for number in range(11)])
    said = run("--videos", str(tmp_path / "films"), "--split", "train=.5,test=.5", out=tmp_path / "out")
    found = splits_in(tmp_path / "out")
    assert found["video-a-1-shot0_0"] == found["video-copy_of_a-4-shot0_0"]
    assert found["video-b-2-shot0_0"] == found["video-c-3-shot0_0"] != found["video-a-1-shot0_0"]
    assert "Splits: train 2, test 2." in said


def test_shares_that_cannot_be_used_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"^--split names 'dev'\. The splits are train, valid, test\.$"):
        run("--photos", str(tmp_path), "--split", "train=.8,dev=.2", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_photos_that_are_too_unlike_are_left_out_with_the_reason(tmp_path: Path) -> None:
    photos = photos_of_balls(tmp_path / "photos")
    ball(0, ground=(0, 0, 0)).save(photos / "again.png")
    for number, colour in enumerate(("red", "white", "black")):
        Image.new("RGB", (160, 120), colour).save(photos / f"plain-{number}.png")
    said = run("--photos", str(photos), "--only-make", out=tmp_path / "out")
    assert "1 sets of ten from 14 photos" in said
    assert "Left out: 1 (the same as a photo that is in a set), 3 (too few similar photos)." in said
    with (tmp_path / "out/left_out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["photo"]: row["reason"] for row in rows if "plain" in row["photo"]} == dict.fromkeys(
        ("plain-0.png", "plain-1.png", "plain-2.png"), "too few similar photos"
    )
    assert {row["nearest_distance"] for row in rows if row["reason"].startswith("the same")} == {"0.0"}


@pytest.mark.parametrize("bounds", [("--same-below", "0.4"), ("--most-distance", "0.005"), ("--most-distance", "3")])
def test_bounds_that_leave_nothing_between_them_are_refused(tmp_path: Path, bounds: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="leave no distance between them"):
        run("--photos", str(tmp_path), *bounds, out=tmp_path / "out")


PHOTOS = SHARED_SETS.parent / "photos"


@pytest.mark.skipif(not PHOTOS.is_dir(), reason="the real photos are not there")
def test_real_photos_of_different_things_are_not_in_one_set(tmp_path: Path) -> None:
    said = run("--photos", str(PHOTOS), "--only-make", "--split", "train=.8,valid=.1,test=.1", out=tmp_path / "out")
    with (tmp_path / "out/sets.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert 0 < len(rows) < 30
    assert all(float(row["least_distance"]) >= 0.01 and float(row["most_distance"]) <= 0.4 for row in rows)
    with (tmp_path / "out/left_out.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 304 - 10 * len(rows)
    assert "from 304 photos" in said
