import shutil
import zipfile
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from pytest_django import Settings

from background.jobs import request_job
from studies.actions.imports import uploads
from studies.actions.imports.uploads import (
    IMAGES,
    LEFT_FREE,
    MisplacedPiece,
    begin_upload,
    discard_old,
    folder_of,
    receive,
    received_bytes,
    rows_of,
    unpack,
)
from studies.errors import StudyError
from studies.models import Import, Upload
from tests.factories import NOON, make_person, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def upload() -> Upload:
    return begin_upload(make_project(), make_person("anna"), NOON)


def test_a_file_grows_piece_by_piece(upload: Upload) -> None:
    assert receive(upload, "images", "a/1.jpg", BytesIO(b"one "), offset=0) == 4
    assert receive(upload, "images", "a/1.jpg", BytesIO(b"two"), offset=4) == 7
    assert received_bytes(upload, "images") == {"a/1.jpg": 7}
    assert (folder_of(upload, "images") / "a" / "1.jpg").read_bytes() == b"one two"
    assert received_bytes(upload, "rows") == {}
    upload.refresh_from_db()
    assert upload.byte_size == 7
    assert receive(upload, "images", "b", BytesIO(b"12345"), offset=0, most=3) == 3


@pytest.mark.parametrize("offset", [0, 3, 5])
def test_a_piece_that_begins_elsewhere_changes_nothing_and_is_told_where_to_go_on(upload: Upload, offset: int) -> None:
    receive(upload, "rows", "rows.jsonl", BytesIO(b"1234"), offset=0)
    with pytest.raises(MisplacedPiece) as refused:
        receive(upload, "rows", "rows.jsonl", BytesIO(b"5"), offset=offset)
    assert refused.value.have == 4
    assert rows_of(upload)[0].read_bytes() == b"1234"


def test_what_came_of_a_piece_before_the_line_broke_is_kept(upload: Upload) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if block := super().read(size):
                return block
            raise OSError("the line broke")

    with pytest.raises(OSError, match="the line broke"):
        receive(upload, "rows", "rows.jsonl", Broken(b"1234"), offset=0)
    assert received_bytes(upload, "rows") == {"rows.jsonl": 4}
    assert receive(upload, "rows", "rows.jsonl", BytesIO(b"56"), offset=4) == 6


def test_while_a_piece_comes_another_of_the_same_file_does_not(upload: Upload) -> None:
    class Meanwhile(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            with pytest.raises(MisplacedPiece):
                receive(upload, "rows", "rows.jsonl", BytesIO(b"x"), offset=0)
            return super().read(size)

    receive(upload, "rows", "rows.jsonl", Meanwhile(b"1234"), offset=0)
    assert rows_of(upload)[0].read_bytes() == b"1234"


@pytest.mark.parametrize("name", ["../x", "/x", "a//b", "", "a\\b", "x\0"])
def test_a_name_that_leads_out_is_refused(upload: Upload, name: str) -> None:
    with pytest.raises(StudyError, match="is not allowed"):
        receive(upload, "images", name, BytesIO(b"x"), offset=0)
    with pytest.raises(StudyError, match="rows, images"):
        receive(upload, "../images", "x", BytesIO(b"x"), offset=0)


def test_a_file_is_not_called_like_a_folder(upload: Upload) -> None:
    receive(upload, "images", "a", BytesIO(b"x"), offset=0)
    with pytest.raises(StudyError, match="has the name of a folder"):
        receive(upload, "images", "a/b", BytesIO(b"x"), offset=0)
    receive(upload, "images", "c/d", BytesIO(b"x"), offset=0)
    with pytest.raises(StudyError, match="has the name of a folder"):
        receive(upload, "images", "c", BytesIO(b"x"), offset=0)


def test_no_more_is_taken_than_the_site_allows(upload: Upload, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    receive(upload, "images", "a", BytesIO(b"12345678"), offset=0)
    with pytest.raises(StudyError, match="An upload can have at most 10 bytes"):
        receive(upload, "images", "b", BytesIO(b"123"), offset=0)
    receive(upload, "images", "b", BytesIO(b"12"), offset=0)


def test_no_disk_is_filled(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LEFT_FREE", 1 << 62)
    with pytest.raises(StudyError, match="The disk of the server is nearly full"):
        receive(upload, "images", "a", BytesIO(b"1"), offset=0)


def test_archives_are_unpacked_beside_the_other_images_and_go(upload: Upload) -> None:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("1.jpg", b"one")
    receive(upload, "images", "some.ZIP", BytesIO(archive.getvalue()), offset=0)
    receive(upload, "images", "2.jpg", BytesIO(b"two"), offset=0)
    unpack(upload, lambda done, total: None)
    assert received_bytes(upload, "images") == {"1.jpg": 3, "2.jpg": 3}
    receive(upload, "images", "bad.zip", BytesIO(b"none"), offset=0)
    with pytest.raises(StudyError, match=r"bad\.zip cannot be unpacked"):
        unpack(upload, lambda done, total: None)


def zeros(count: int) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(f"{count}.jpg", bytes(count))
    return out.getvalue()


def test_all_archives_together_unpack_to_no_more_than_the_site_allows(upload: Upload, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10_000
    for name, count in (("a.zip", 6000), ("b.zip", 5000)):
        data = zeros(count)
        receive(upload, IMAGES, name, BytesIO(data), offset=0)
    with pytest.raises(StudyError, match=r"b\.zip holds more than 4,000 bytes\."):
        unpack(upload, lambda done, total: None)


def test_an_archive_fills_no_disk(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    receive(upload, IMAGES, "a.zip", BytesIO(zeros(6000)), offset=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=LEFT_FREE + 5999))
    with pytest.raises(StudyError, match=r"The disk of the server is nearly full\."):
        unpack(upload, lambda done, total: None)


def test_what_lies_for_a_week_is_thrown_away_unless_it_is_being_imported(upload: Upload) -> None:
    receive(upload, "rows", "rows.jsonl", BytesIO(b"1"), offset=0)
    folder = Path(settings.MEDIA_ROOT) / "uploads" / str(upload.pk)
    wanted = Import.objects.create(
        project=upload.project, files=[], format="jsonl", caption_rule="as-is-v1", upload=upload, requested_at=NOON
    )
    request_job(kind="studies.import", arguments={"import": wanted.pk}, by=None, now=NOON)
    discard_old(NOON + timedelta(days=8))
    assert folder.is_dir()
    Import.objects.update(finished_at=NOON)
    discard_old(NOON + timedelta(days=6))
    assert folder.is_dir()
    discard_old(NOON + timedelta(days=8))
    assert not folder.exists()
    assert not Upload.objects.exists()
    wanted.refresh_from_db()
    assert wanted.upload is None
