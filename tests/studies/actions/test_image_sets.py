"""Image sets as an import brings them: images by their place in a folder, and what companion files say."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from studies.actions.imports.import_state import ImportRefused, ImportSummary
from studies.actions.imports.importer import import_files
from studies.models import Event, Instance, InstanceImage, Project
from tests.factories import NOON, TESTS
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import json_lines, picture_bytes

pytestmark = pytest.mark.django_db

CUPS, TREES = "open-images-cups", "YouCook-trees"
DESCRIBED = {CUPS: {"5": "A deer. ", "0": "T"}, TREES: {"9": "A deer. "}}
AUTHORS = {CUPS: {"5": "unseen_worker", "0": "train_worker"}, TREES: {"9": "train_worker"}}
# With gaps, and in another order by their letters than by their numbers.
NUMBERS = (2, 9, 10, 11, 30, 45, 100, 101, 102, 1000)


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="deer", name="Deer")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "image-sets"
    write_set(folder / CUPS)
    return folder


def write_set(folder: Path, numbers: tuple[int, ...] = NUMBERS) -> None:
    """Write pictures whose widths are 20 more than their places."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, number in enumerate(numbers):
        (folder / f"img{number}.jpg").write_bytes(picture_bytes(size=(20 + place, 10)))


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def imported(project: Project, *files: Path, **options: Any) -> list[ImportSummary]:
    return import_files(project=project, files=files, format="imagecode", by=TESTS, now=NOON, **options)


def widths(key: str) -> list[int]:
    uses = InstanceImage.objects.filter(instance__key=key, role="set").order_by("position")
    return [use.image.width for use in uses.exclude(image=None).select_related("image") if use.image]


def noted(key: str) -> Any:
    return Instance.objects.get(key=key).reference.get("noted")


def test_images_are_taken_by_their_place_among_the_numbers(project: Project, folder: Path, tmp_path: Path) -> None:
    (summary,) = imported(project, written(tmp_path, "train.json", {CUPS: DESCRIBED[CUPS]}), images_dir=folder)
    assert (summary.added, summary.images, summary.waiting) == (1, 10, 0)
    assert widths(CUPS) == list(range(20, 30))
    instance = Instance.objects.get()
    assert (instance.type, instance.split, instance.reference) == ("static", "train", {"targets": [5, 0]})
    assert instance.captions == {"description_1": "A deer. ", "description_2": "T"}


def test_sets_wait_for_their_folders_and_are_filled_by_the_same_file(
    project: Project, folder: Path, tmp_path: Path
) -> None:
    file = written(tmp_path, "train.json", DESCRIBED)
    # A set that is not whole yet waits as a whole.
    (folder / CUPS / "img30.jpg").rename(folder / "img30.jpg")
    (first,) = imported(project, file, images_dir=folder, images_later=True)
    assert (first.added, first.images, first.waiting) == (2, 0, 20)
    (folder / "img30.jpg").rename(folder / CUPS / "img30.jpg")
    assert list(InstanceImage.objects.filter(instance__key=CUPS).values_list("filename", flat=True)) == [
        f"{CUPS}/#{place}of10" for place in range(10)
    ]
    (second,) = imported(project, file, images_dir=folder, images_later=True)
    assert (second.added, second.filled, second.waiting) == (0, 10, 10)
    assert (widths(CUPS), widths(TREES)) == (list(range(20, 30)), [])
    write_set(folder / TREES)
    (third,) = imported(project, file, images_dir=folder)
    assert (third.filled, third.waiting) == (10, 0)
    (again,) = imported(project, file, images_dir=folder)
    assert (again.added, again.filled, again.corrected) == (0, 0, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda cups: (cups / "img30.jpg").unlink(),
            f"The folder {CUPS} has 9 images named img and a number; an image set has 10. Add what is missing,",
        ),
        (
            lambda cups: (cups / "img31.jpg").write_bytes(picture_bytes()),
            f"The folder {CUPS} has 11 images named img and a number; an image set has 10.",
        ),
        (lambda cups: cups.rename(cups.with_name("other")), f"The folder {CUPS} is not among the images. Add what"),
        (
            lambda cups: (cups / "img30.jpg").write_bytes(b"no picture"),
            f"{CUPS}/#4of10: The file cannot be read as an image",
        ),
        (
            lambda cups: cups.rename(cups.parents[1] / "elsewhere") and cups.symlink_to(cups.parents[1] / "elsewhere"),
            f"The folder {CUPS} is a link out of the image folder",
        ),
    ],
    ids=["too few", "too many", "no folder", "no picture", "a link"],
)
def test_a_folder_that_is_no_set_of_ten_is_refused(
    project: Project, folder: Path, tmp_path: Path, change: Any, sentence: str
) -> None:
    change(folder / CUPS)
    with pytest.raises(ImportRefused) as refused:
        imported(project, written(tmp_path, "train.json", {CUPS: {}}), images_dir=folder)
    assert str(refused.value).startswith(f"Record 1, set: {sentence}")
    assert not Instance.objects.exists()


@pytest.mark.parametrize("companion_first", [True, False])
def test_a_companion_in_the_same_command_goes_to_the_descriptions_whichever_comes_first(
    project: Project, tmp_path: Path, companion_first: bool
) -> None:
    files = [written(tmp_path, "valid.json", DESCRIBED), written(tmp_path, "annotator_split.json", AUTHORS)]
    files = files[::-1] if companion_first else files
    summaries = {summary.file: summary for summary in imported(project, *files, images_later=True)}
    summary = summaries["annotator_split.json"]
    assert (summary.records, summary.notes, summary.noted, summary.unknown) == (0, 2, 3, 0)
    assert str(summary) == "Its notes on 3 descriptions in 2 image sets were new."
    assert noted(CUPS) == {"5": {"author": "unseen_worker"}, "0": {"author": "train_worker"}}
    assert noted(TREES) == {"9": {"author": "train_worker"}}


def test_companions_may_come_later_add_to_each_other_and_change_nothing_the_second_time(
    project: Project, tmp_path: Path
) -> None:
    file = written(tmp_path, "valid.json", DESCRIBED)
    authors = written(tmp_path, "annotator_split.json", AUTHORS)
    codes = written(tmp_path, "codes.yaml", f"{CUPS}:\n  '0':\n    annotation: s\n")
    imported(project, file, images_later=True)
    assert imported(project, authors, dry_run=True)[0].noted == 3
    assert noted(CUPS) is None
    assert [imported(project, each)[0].noted for each in (authors, codes)] == [3, 1]
    assert noted(CUPS)["0"]["author"] == "train_worker"
    assert noted(CUPS)["0"]["tags"] == ["s"]
    events = Event.objects.count()
    again = imported(project, codes, authors, file, images_later=True)
    assert [(summary.noted, summary.added) for summary in again] == [(0, 0)] * 3
    assert Event.objects.count() == events


def test_what_a_companion_says_of_descriptions_that_are_not_there_is_left_out_and_counted(
    project: Project, tmp_path: Path
) -> None:
    said = {CUPS: {"5": "unseen_worker", "6": "unseen_worker"}, "open-images-none": {"1": "train_worker"}}
    files = [written(tmp_path, "valid.json", DESCRIBED), written(tmp_path, "authors.json", said)]
    summary = imported(project, *files, images_later=True)[1]
    assert (summary.noted, summary.unknown) == (1, 2)
    assert str(summary).endswith("2 descriptions that it refers to are not in the project; their notes are left out.")
    assert noted(CUPS) == {"5": {"author": "unseen_worker"}}
    with pytest.raises(ImportRefused, match="The project has none of the descriptions that it refers to"):
        imported(Project.objects.create(slug="other"), files[1])


def test_an_import_of_a_public_test_split_says_so(project: Project, tmp_path: Path) -> None:
    (summary,) = imported(project, written(tmp_path, "test_data.json", DESCRIBED), images_later=True)
    assert summary.public == 2
    assert "The right answers of 2 records of this test split are public" in str(summary)
    (other,) = imported(
        Project.objects.create(slug="own"), written(tmp_path, "valid_data.json", DESCRIBED), images_later=True
    )
    assert "public" not in str(other)


def test_twice_as_many_notes_ask_no_more_queries(
    project: Project, tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sets = {f"open-images-{number}": {"0": "A cup."} for number in range(40)}
    imported(project, written(tmp_path, "train.json", sets), images_later=True)
    authors = {key: {"0": "train_worker"} for key in sets}
    file = written(tmp_path, "authors.json", authors)
    with django_assert_max_num_queries(20):
        assert imported(project, file)[0].noted == 40


@needs_real_data
def test_the_25_real_sets_come_with_their_images_by_the_command(project: Project, tmp_path: Path) -> None:
    images = REAL_DATA / "images"
    lines = (images / "sets_of_10.jsonl").read_text(encoding="utf-8").splitlines()
    # Two sets say as much as 25 about images that are decoded; the test of the importer reads all lines.
    file = tmp_path / "sets.jsonl"
    file.write_bytes(json_lines(*(json.loads(line) for line in (lines[0], lines[-1]))))
    out = StringIO()
    call_command("import_instances", "deer", file, format="imagecode", images=images, stdout=out, verbosity=0)
    assert "sets.jsonl: 2 records: 2 added, 0 already there. 20 images read" in out.getvalue()
    first = InstanceImage.objects.filter(instance__key="intel-bottle-video_bottle-shot0_0").order_by("position")
    assert [use.filename.rpartition("/")[2] for use in first] == [f"img{number}.jpg" for number in range(300, 380, 8)]
    assert {use.licence for use in first} == {"CC-BY-4.0"}
    # The same set by its folder alone is the same ten pictures.
    other = Project.objects.create(slug="by-folder")
    by_place = tmp_path / "by_place.jsonl"
    by_place.write_bytes(json_lines({"directory": "intel-bottle-video_bottle-shot0_0", "kind": "video"}))
    imported(other, by_place, images_dir=images / "sets_of_10")
    placed = InstanceImage.objects.filter(instance__project=other).order_by("position")
    assert [use.image_id for use in placed] == [use.image_id for use in first]
