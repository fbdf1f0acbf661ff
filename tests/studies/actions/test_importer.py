import errno
import os
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.db import OperationalError
from PIL import Image as Pillow

from background.errors import Cancelled
from studies.actions import images as image_actions
from studies.actions.imports import importer
from studies.actions.imports.image_folder import ImageFolder
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.importer import import_files
from studies.models import Image, Instance, InstanceImage, Project
from tests.factories import NOON, TESTS, draw_instance
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import (
    import_file,
    json_lines,
    manifest_bytes,
    manifest_row,
    picture_bytes,
    write_images,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_images(tmp_path / "pictures")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "manifest.csv"
    file.write_bytes(manifest_bytes(manifest_row(0), manifest_row(1, negative_caption=" a bird on a couch")))
    return file


def stored_files() -> list[str]:
    root = Path(settings.MEDIA_ROOT)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def assert_nothing_imported() -> None:
    assert not Instance.objects.exists()
    assert not InstanceImage.objects.exists()
    assert not Image.objects.exists()
    assert stored_files() == []


def test_rows_become_instances_with_images_and_formatted_captions(manifest: Path, folder: Path) -> None:
    summary = import_file(manifest, folder, caption_rule="bivlc-release-v1")
    assert (summary.records, summary.added, summary.already_there, summary.images) == (2, 2, 0, 8)
    instance = Instance.objects.get(key="1")
    assert instance.captions["negative_caption"] == "A bird on a couch."
    assert instance.original_captions["negative_caption"] == " a bird on a couch"
    assert (instance.caption_rule, instance.source_file, instance.source_row) == ("bivlc-release-v1", "manifest.csv", 2)
    uses = list(instance.images.select_related("image"))
    assert [(use.role, use.position, use.filename) for use in uses] == [
        ("candidate", number, f"{number}.jpg") for number in range(4)
    ]
    assert Image.objects.count() == 4
    assert {(image.width, image.height, image.format) for image in Image.objects.all()} == {(40, 30, "JPEG")}


def test_an_image_is_stored_once_byte_for_byte(manifest: Path, folder: Path) -> None:
    (folder / "000000219578.jpg").write_bytes(picture_bytes("gold"))
    import_file(manifest, folder)
    # The photo is taken, because its file is there.
    assert InstanceImage.objects.filter(role="image", image__isnull=False).count() == 2
    use = InstanceImage.objects.filter(filename="2.jpg").first()
    assert use is not None
    stored = Path(settings.MEDIA_ROOT) / image_actions.original_name(str(use.image_id))
    assert stored.read_bytes() == (folder / "2.jpg").read_bytes()
    # Five pictures of 40 x 30: the smallest rendition is whole already.
    assert len(stored_files()) == 10
    assert sum(name.endswith("card.webp") for name in stored_files()) == 5


@pytest.mark.parametrize("with_images", [True, False])
def test_a_second_run_adds_nothing_and_needs_no_image_folder(manifest: Path, folder: Path, with_images: bool) -> None:
    import_file(manifest, folder)
    before = (list(Instance.objects.values()), list(InstanceImage.objects.values()), stored_files())
    summary = import_file(manifest, folder if with_images else None)
    assert (summary.added, summary.already_there, summary.filled) == (0, 2, 0)
    assert (list(Instance.objects.values()), list(InstanceImage.objects.values()), stored_files()) == before


def test_images_that_come_later_fill_the_places_that_waited(manifest: Path, folder: Path) -> None:
    (folder / "3.jpg").rename(folder / "later.jpg")
    first = import_file(manifest, folder, images_later=True)
    assert (first.added, first.images, first.waiting) == (2, 6, 2)
    assert InstanceImage.objects.filter(image=None).count() == 2
    (folder / "later.jpg").rename(folder / "3.jpg")
    (folder / "000000219578.jpg").write_bytes(picture_bytes("gold"))
    second = import_file(manifest, folder)
    assert (second.added, second.already_there, second.filled, second.waiting) == (0, 2, 4, 0)
    assert not InstanceImage.objects.filter(image=None).exists()
    assert InstanceImage.objects.filter(role="image").count() == 2


def test_a_dry_run_checks_everything_and_writes_nothing(manifest: Path, folder: Path) -> None:
    summary = import_file(manifest, folder, dry_run=True)
    assert (summary.added, summary.images, summary.dry_run) == (2, 8, True)
    assert_nothing_imported()
    (folder / "1.jpg").write_bytes(b"no image")
    with pytest.raises(ImportRefused, match=r"1\.jpg: The file cannot be read as an image"):
        import_file(manifest, folder, dry_run=True)


def test_an_unsaved_project_is_saved_only_with_its_instances(manifest: Path, folder: Path) -> None:
    with pytest.raises(ImportRefused):
        import_file(manifest, to=Project(slug="new"))
    assert not Project.objects.exists()
    import_file(manifest, folder, to=Project(slug="new"))
    assert Project.objects.get().instances.count() == 2


def test_several_files_are_imported_all_or_none(manifest: Path, folder: Path) -> None:
    second = manifest.with_name("second.csv")
    project = Project.objects.create(slug="cats")
    both: dict[str, Any] = {"files": [manifest, second], "format": "bivlc-manifest", "images_dir": folder}
    second.write_bytes(manifest_bytes(manifest_row(1)))
    with pytest.raises(ImportRefused, match=r"record 2 of manifest\.csv also has the key 1") as refused:
        import_files(project=project, by=TESTS, now=NOON, **both)
    assert refused.value.file == "second.csv"
    assert_nothing_imported()
    second.write_bytes(manifest_bytes(manifest_row(2)))
    import_files(project=project, by=TESTS, now=NOON, **both)
    assert Instance.objects.count() == 3


@pytest.mark.parametrize(
    ("cells", "options", "different"),
    [
        ({"caption": "A cow."}, {}, "captions"),
        ({"type": "add"}, {}, "type"),
        ({"hn_img_0": "1.jpg"}, {}, "images"),
        ({"filename": "1.jpg"}, {}, "reference"),
        ({}, {"caption_rule": "keep-case-v1"}, "caption rule"),
    ],
)
def test_the_same_key_with_other_content_is_refused(
    cells: dict[str, str], options: dict[str, Any], different: str, manifest: Path, folder: Path
) -> None:
    import_file(manifest, folder)
    other = manifest.with_name("other.csv")
    other.write_bytes(manifest_bytes(manifest_row(0, **cells)))
    with pytest.raises(ImportRefused, match=rf"already in the project with other content \({different}"):
        import_file(other, folder, **options)
    assert Instance.objects.count() == 2


def test_another_image_under_a_known_name_is_refused(manifest: Path, folder: Path) -> None:
    import_file(manifest, folder)
    before = stored_files()
    (folder / "0.jpg").write_bytes(picture_bytes("black"))
    with pytest.raises(ImportRefused, match=r"0\.jpg is not the image that was imported before"):
        import_file(manifest, folder)
    assert stored_files() == before


def test_a_refused_import_leaves_the_files_of_other_imports(manifest: Path, folder: Path) -> None:
    import_file(manifest, folder)
    before = stored_files()
    other = manifest.with_name("other.jsonl")
    (folder / "new.jpg").write_bytes(picture_bytes("pink"))
    other.write_bytes(json_lines({"key": "x", "caption": "A cat.", "images": ["0.jpg", "new.jpg", "none.jpg"]}))
    with pytest.raises(ImportRefused, match=r"none\.jpg is not among the images"):
        import_file(other, folder, format="jsonl")
    assert stored_files() == before


def test_a_name_may_leave_out_the_folders_above_a_file_that_is_the_only_one_with_it(tmp_path: Path) -> None:
    """As in a zip of a folder called pictures, and rows with the names of the files alone."""
    for path, colour in (("pictures/a/1.jpg", "red"), ("pictures/a/2.jpg", "green"), ("pictures/b/2.jpg", "blue")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(picture_bytes(colour))
    (tmp_path / "elsewhere.jpg").symlink_to("/etc/hostname")
    (tmp_path / "pictures" / "4.jpg").symlink_to("/etc/hostname")
    images = ImageFolder(tmp_path)
    assert images.read("1.jpg") == images.read("a/1.jpg") == picture_bytes("red")
    assert images.read("b/2.jpg") == picture_bytes("blue")
    reasons = [getattr(images.read(name), "reason", "") for name in ("2.jpg", "c/1.jpg", "4.jpg", "icture/a/1.jpg")]
    assert reasons == [
        "2 images are called 2.jpg, such as pictures/a/2.jpg and pictures/b/2.jpg. Include the folder in the name.",
        "The file c/1.jpg is not among the images.",
        "The file 4.jpg is not among the images.",
        "The file icture/a/1.jpg is not among the images.",
    ]


def test_only_the_first_hundred_problems_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(manifest_bytes(*(manifest_row(number, type="x") for number in range(250))))
    with pytest.raises(ImportRefused, match=r"\.\.\. and 150 more problems\.") as refused:
        import_file(file, images_later=True)
    assert (len(refused.value.problems), refused.value.count) == (100, 250)


@pytest.mark.parametrize(
    ("where", "what", "error"),
    [(os, "fsync", OSError(errno.ENOSPC, "full")), (importer, "save", OperationalError("database or disk is full"))],
    ids=["disk", "database"],
)
def test_a_full_disk_gives_a_sentence_and_leaves_nothing(
    manifest: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, where: Any, what: str, error: Exception
) -> None:
    monkeypatch.setattr(where, what, Mock(side_effect=error))
    with pytest.raises(ImportRefused, match=r"The disk is full\. Nothing was imported"):
        import_file(manifest, folder)
    assert_nothing_imported()


@pytest.mark.parametrize(
    ("at", "meanwhile", "sentence", "left"),
    [
        (
            "saving",
            lambda manifest: manifest.write_bytes(manifest_bytes(manifest_row(9))),
            r"manifest\.csv changed while it was read",
            [],
        ),
        (
            "images",
            lambda _: draw_instance(Project.objects.get(), 1, key="1"),
            "Another import changed the project at the same time",
            ["1"],
        ),
        (
            "images",
            lambda _: shutil.rmtree(Path(settings.MEDIA_ROOT) / "images"),
            "Another import removed an image of this import",
            [],
        ),
    ],
    ids=["a file changes", "another import adds a key", "another import removes an image"],
)
def test_what_happens_meanwhile_is_noticed(
    manifest: Path, folder: Path, at: str, meanwhile: Callable[[Path], object], sentence: str, left: list[str]
) -> None:
    def interfere(stage: str, done: int, total: int) -> None:
        if stage == at:
            meanwhile(manifest)

    with pytest.raises(ImportRefused, match=sentence):
        import_file(manifest, folder, progress=interfere)
    assert [instance.key for instance in Instance.objects.all()] == left
    if not left:
        assert_nothing_imported()


@pytest.mark.parametrize("reason", [KeyboardInterrupt, Cancelled])
@pytest.mark.parametrize("at", ["images", "saving"])
def test_an_interrupted_import_leaves_nothing(
    manifest: Path, folder: Path, at: str, reason: type[BaseException]
) -> None:
    """Whatever ends it between two batches: a person at the keyboard, or a job that was cancelled."""

    def interrupt(stage: str, done: int, total: int) -> None:
        if stage == at:
            raise reason

    with pytest.raises(reason):
        import_file(manifest, folder, progress=interrupt)
    assert_nothing_imported()


of_real_pictures = pytest.mark.once(
    on="sqlite",
    because="a picture is read and drawn anew without a database; drawn pictures are imported on both, above",
)


@needs_real_data
@pytest.mark.once(on="sqlite", because="on PostgreSQL the whole paper begins with the import of this manifest")
def test_the_real_manifest_imports_whole_and_waits_for_its_images() -> None:
    file = REAL_DATA / "bivlc/BiVLC_negative_imgs.csv"
    summary = import_file(file, images_later=True, caption_rule="bivlc-release-v1")
    assert (summary.records, summary.added, summary.waiting) == (7512, 7512, 30048)
    assert InstanceImage.objects.filter(image=None, role="candidate").count() == 30048
    assert import_file(file, images_later=True, caption_rule="bivlc-release-v1").already_there == 7512


@of_real_pictures
@needs_real_data
def test_the_26_real_sets_import_with_their_images() -> None:
    images = REAL_DATA / "images"
    summary = import_file(images / "best_of_4.jsonl", images, format="jsonl")
    assert (summary.added, summary.images, summary.waiting) == (26, 104, 0)
    vase = Instance.objects.get(key="bivlc_vase")
    assert vase.reference["right"] == "candidate-1"
    assert vase.reference["given"]["bivlc_manifest_index"] == 6850
    robots = Instance.objects.get(key="rudalle_robots")
    assert "CYRILLIC" in unicodedata.name(robots.captions["caption"][0])
    first = vase.images.select_related("image").first()
    assert first is not None
    assert first.image is not None
    assert first.generator == "SDXL-DPO"
    assert first.licence == "MIT"
    assert (first.image.width, first.image.height) == (512, 512)


@needs_real_data
def test_the_twelve_real_pairs_import_with_their_images() -> None:
    images = REAL_DATA / "images"
    summary = import_file(images / "pairs.jsonl", images, format="pairs")
    assert (summary.added, summary.images) == (12, 24)
    assert set(Instance.objects.values_list("key", flat=True)) > {"bivlc_3015", "bivlc_7150"}


@of_real_pictures
@needs_real_data
def test_photos_with_every_orientation_are_stored_upright(tmp_path: Path) -> None:
    file = tmp_path / "exif.jsonl"
    names = [f"Landscape_{number}.jpg" for number in range(9)]
    file.write_bytes(json_lines(*({"key": name, "caption": "A landscape.", "images": [name]} for name in names)))
    import_file(file, REAL_DATA / "images/exif_orientation", format="jsonl")
    upright = None
    for name in names[1:]:
        use = InstanceImage.objects.select_related("image").get(filename=name)
        assert use.image is not None
        assert (use.image.width, use.image.height) == (1800, 1200)
        shown = Path(settings.MEDIA_ROOT) / image_actions.rendition_name(use.image.pk, "view")
        with Pillow.open(shown) as picture:
            assert picture.size == (1024, 683)
            assert not picture.getexif()
            # A few pixels of the sky, the horizon and the ground: a turned or mirrored picture has other ones.
            small = picture.convert("L").resize((6, 4)).tobytes()
        upright = upright or small
        assert max(abs(one - other) for one, other in zip(small, upright, strict=True)) <= 12
