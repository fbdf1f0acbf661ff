"""Chunked, resumable uploads.

The size of the file on disk is the only record of progress: a truncated piece counts as far as it came, and a client
asks for the size before it resumes.
"""

import fcntl
import logging
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef

from studies.errors import StudyError
from studies.importing.archives import BESIDE_TABLES, DAMAGED, BadArchive, LargeArchive, problem_with_path, tables_in
from studies.importing.archives import unpack as unpack_archive
from studies.importing.parquet import ARROW, PARQUET, BadTable, write_as_parquet
from studies.models import Import, Project, Upload

logger = logging.getLogger(__name__)

# Parts of an upload: data files, and images (also in archives).
ROWS, IMAGES = "rows", "images"
PARTS = (ROWS, IMAGES)
LARGEST_PIECE = 8 << 20
BLOCK = 1 << 16
# Most bytes of a table that is taken out of an archive.
LARGEST_TABLE = 1 << 30
# Most bytes of an Arrow file that is converted in a request.
LARGEST_ARROW = 1 << 29
KEPT_FOR = timedelta(days=7)
# Bytes of disk space kept free for the site during uploads.
LEFT_FREE = 1 << 30
NEARLY_FULL = "The disk of the server is nearly full. Ask your administrator to free some space, then continue."


class Piece(Protocol):
    """Readable body of a piece, such as a request."""

    def read(self, size: int, /) -> bytes: ...


class MisplacedPiece(Exception):
    """A piece does not start at the end of the file, or another piece is being received; `have`: bytes there."""

    def __init__(self, have: int) -> None:
        super().__init__(f"{have} bytes of this file are here.")
        self.have = have


def begin_upload(project: Project, by: User, now: datetime) -> Upload:
    return Upload.objects.create(project=project, made_by=by, made_at=now)


def folder_of(upload: Upload, part: str) -> Path:
    return Path(settings.MEDIA_ROOT) / "uploads" / str(upload.pk) / part


def rows_of(upload: Upload) -> list[Path]:
    """Return the data files, sorted by name."""
    return sorted(path for path in _files(folder_of(upload, ROWS)))


def received_bytes(upload: Upload, part: str) -> dict[str, int]:
    """Return file name -> bytes received."""
    folder = folder_of(upload, part)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in _files(folder)}


def receive(upload: Upload, part: str, name: str, piece: Piece, *, offset: int, most: int = LARGEST_PIECE) -> int:
    """Append a piece to a file at byte `offset`; return the new size.

    Raises Misplaced, and StudyError for an invalid name or a full disk.
    """
    path = _place(upload, part, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise MisplacedPiece(path.stat().st_size) from error
        have = file.seek(0, os.SEEK_END)
        if have != offset:
            raise MisplacedPiece(have)
        taken = 0
        while taken < most and (block := piece.read(min(BLOCK, most - taken))):
            _make_room(upload, len(block))
            file.write(block)
            taken += len(block)
        return have + taken


def _place(upload: Upload, part: str, name: str) -> Path:
    if part not in PARTS:
        raise StudyError(f"Send each file as one of these parts: {', '.join(PARTS)}.")
    if problem := problem_with_path(name):
        raise StudyError(f"The file name {name[:100]!r} is not allowed. {problem}")
    folder = folder_of(upload, part)
    path = folder / name
    if path.is_dir() or any(above.is_file() for above in path.parents if above.is_relative_to(folder)):
        raise StudyError(f"The file {name[:100]!r} has the name of a folder that another file is in.")
    return path


def _make_room(upload: Upload, size: int) -> None:
    """Reserve bytes before they are written. Raises StudyError if that exceeds a limit."""
    limit = settings.UPLOAD_MAX_BYTES
    counted = Upload.objects.filter(pk=upload.pk, byte_size__lte=limit - size)
    if not counted.update(byte_size=F("byte_size") + size):
        raise StudyError(f"An upload can have at most {limit:,} bytes. Send less, or import on the server.")
    if shutil.disk_usage(settings.MEDIA_ROOT).free - size < LEFT_FREE:
        raise StudyError(NEARLY_FULL)


def unpack(upload: Upload, advance: Callable[[int, int], None]) -> None:
    """Unpack archives next to the other images; delete each when it is unpacked completely. Raises StudyError."""
    folder = folder_of(upload, IMAGES)
    left = settings.UPLOAD_MAX_BYTES
    for archive in sorted(path for path in _files(folder) if is_archive(path.name)):
        room = shutil.disk_usage(settings.MEDIA_ROOT).free - LEFT_FREE
        try:
            left -= unpack_archive(archive, folder, most_bytes=min(left, room), advance=advance)
        except LargeArchive as error:
            raise StudyError(str(error) if left <= room else NEARLY_FULL) from error
        except BadArchive as error:
            raise StudyError(str(error)) from error
        archive.unlink()


def extract_tables(upload: Upload) -> list[str]:
    """Copy the rows in the archives of an upload to its data files; return the names of other tables in them.

    Raises StudyError.
    """
    folder, left = folder_of(upload, IMAGES), list[str]()
    for archive in [path for path in _files(folder) if is_archive(path.name)]:
        try:
            taken, others = tables_in(archive)
            left += others
            for name in taken:
                with zipfile.ZipFile(archive) as opened, opened.open(name) as table:
                    if opened.getinfo(name).file_size > LARGEST_TABLE:
                        raise StudyError(f"{name} is too large to be read in {archive.name}. Choose it as a data file.")
                    inside = name.removeprefix(f"{archive.stem}/")
                    receive(upload, ROWS, inside, table, offset=0, most=LARGEST_TABLE)
        except MisplacedPiece as error:
            raise StudyError(f"Another zip also contains {inside}. Rename one of the two files.") from error
        except (BadArchive, *DAMAGED) as error:
            raise StudyError(str(error)) from error
    return left


def convert_arrow_files(upload: Upload) -> None:
    """Write the Arrow files of a dataset that was saved by `save_to_disk` as Parquet files. Raises StudyError."""
    files = rows_of(upload)
    arrows = [path for path in files if path.suffix.lower() == ARROW]
    for path in arrows:
        if path.stat().st_size > LARGEST_ARROW:
            raise StudyError(f"{path.name} is too large to be converted here. Write it as Parquet: dataset.to_parquet.")
        part = path.with_suffix(f"{PARQUET}.part")
        try:
            write_as_parquet(path, part)
        except BadTable as error:
            part.unlink(missing_ok=True)
            raise StudyError(f"{path.name}: {error}") from error
        part.rename(path.with_suffix(PARQUET))
        path.unlink()
    for path in files if arrows else ():
        if path.name in BESIDE_TABLES:
            path.unlink()


def is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


def _files(folder: Path) -> Iterator[Path]:
    return (Path(above) / name for above, _, names in os.walk(folder) for name in names)


def discard(upload: Upload) -> None:
    """Delete an upload and its files."""
    delete_files(upload)
    upload.delete()


def delete_files(upload: Upload) -> None:
    shutil.rmtree(folder_of(upload, ROWS).parent, ignore_errors=True)


def discard_old(now: datetime) -> None:
    """Delete old uploads that are not being imported."""
    at_work = Import.objects.unfinished().filter(upload=OuterRef("pk"))
    for upload in Upload.objects.filter(~Exists(at_work), made_at__lt=now - KEPT_FOR):
        logger.info("upload %s is thrown away, a week after it was begun", upload.pk)
        discard(upload)
