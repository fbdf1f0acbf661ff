"""Exports that carry images, at the end of a pipeline of two studies."""

import io
from pathlib import Path

import PIL.Image
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from results.actions.exports import write_export
from results.errors import CannotExport
from studies.actions.images import original_name
from studies.models import Image, Question, Study
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.factories import arrive_at_work, launch_study
from tests.results.exporting.test_columnar import COLUMNS, digests

pytestmark = pytest.mark.django_db


def no_report(done: int, total: int) -> None:
    pass


def store_pictures() -> dict[str, tuple[int, int, int]]:
    """Store a picture of a colour of its own under every image's name; return image -> colour."""
    colours = {}
    for number, image in enumerate(Image.objects.order_by("sha256")):
        out = io.BytesIO()
        colours[image.sha256] = (number, 100, 200)
        PIL.Image.new("RGB", (8, 6), colours[image.sha256]).save(out, "PNG")
        default_storage.save(original_name(image.sha256), ContentFile(out.getvalue()))
    return colours


def make_pipeline() -> Study:
    """Return step 4 over three instances: all accepted by step 3 with candidate 2, then two of them kept."""
    project = make_pipeline_project(3)
    answer_all(arrive_at_work(launch_study(project, instances=3), "ann"), "candidate-2")
    step_4 = make_step_4(project)
    answers = iter(["original", "both", "original"])
    answer_all(arrive_at_work(step_4, "ben"), lambda question: next(answers))
    return step_4


def test_the_last_study_of_a_pipeline_exports_all_six_columns(tmp_path: Path) -> None:
    import datasets

    step_4 = make_pipeline()
    colours = store_pictures()
    written = write_export(study=step_4, format="hf", folder=tmp_path, report=no_report)
    assert (written.path, written.rows) == (tmp_path / "step-4-hf", 2)
    loaded = datasets.load_dataset(str(written.path), cache_dir=str(tmp_path / "cache"))["test"]
    assert loaded.column_names == COLUMNS
    kept = Question.objects.filter(study=step_4, decision__state="accepted").select_related("instance").order_by("id")
    assert len(loaded) == len(kept) == 2
    for row, question in zip(loaded, kept, strict=True):
        indices = {(index.role, index.position): str(index.image_id) for index in question.instance.images.all()}
        assert row["caption"] == question.instance.captions["caption"]
        assert row["negative_caption"] == question.instance.captions["negative_caption"]
        assert row["image"].getpixel((0, 0)) == colours[indices["image", 0]]
        assert row["negative_image"].getpixel((0, 0)) == colours[indices["candidate", 2]]
        assert (row["type"], row["subtype"]) == ("replace", "obj")


def test_a_folder_made_again_takes_the_place_of_the_first_with_the_same_bytes(tmp_path: Path) -> None:
    step_4 = make_pipeline()
    store_pictures()
    first = digests(write_export(study=step_4, format="hf", folder=tmp_path, report=no_report).path)
    (tmp_path / "step-4-hf" / "stray.txt").write_text("from before")
    again = digests(write_export(study=step_4, format="hf", folder=tmp_path, report=no_report).path)
    assert again == first
    assert [path.name for path in tmp_path.iterdir()] == ["step-4-hf"]


def test_a_picture_that_the_storage_has_lost_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match=r"has lost the image [0-9a-f]{64}\. Import the same file again"):
        write_export(study=make_pipeline(), format="hf", folder=tmp_path, report=no_report)
    assert list(tmp_path.iterdir()) == []
