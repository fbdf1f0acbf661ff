import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from predictions.image_sets import reading_text
from studies.models import Instance, Project
from tests.factories import make_person
from tests.predictions.image_sets.test_making import ball, frames_of

pytestmark = pytest.mark.django_db

SHARED_SETS = Path(__file__).resolve().parents[4] / "shared/data/images/sets_of_10"


@pytest.fixture(autouse=True)
def _no_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_text, "program", lambda: None)


def run(*arguments: str, out: Path) -> str:
    said = StringIO()
    call_command("make_image_sets", "balls", *arguments, out=out, owner="ada", verbosity=0, stdout=said)
    return said.getvalue()


def test_photos_become_instances_of_a_project(tmp_path: Path) -> None:
    make_person("ada")
    (tmp_path / "photos").mkdir()
    for number in range(10):
        ball(10 * number).save(tmp_path / f"photos/{number}.png")
    said = run("--photos", str(tmp_path / "photos"), out=tmp_path / "out")
    assert "1 sets of ten from 10 photos, by colour-and-gradient-v1." in said
    (instance,) = Instance.objects.filter(project__slug="balls")
    assert instance.type == "static"
    assert instance.images.count() == 10
    # The same command again adds nothing.
    run("--photos", str(tmp_path / "photos"), out=tmp_path / "out")
    assert Instance.objects.count() == 1


def test_frames_become_video_sets_and_what_was_not_looked_for_is_said(tmp_path: Path) -> None:
    make_person("ada")
    frames_of(tmp_path / "films/roll", [ball(10 * number) for number in range(11)])
    said = run("--videos", str(tmp_path / "films"), out=tmp_path / "out")
    assert "1 sets of ten from 11 frames" in said
    assert "not looked for text: no OCR" in said
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
    frames_of(tmp_path / "films/still", [ball(10)] * 12)
    with pytest.raises(CommandError, match="No set was made"):
        run("--videos", str(tmp_path / "films"), out=tmp_path / "out")
    assert not Project.objects.exists()


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no folder"):
        run("--photos", str(tmp_path / "nowhere"), out=tmp_path / "out")
