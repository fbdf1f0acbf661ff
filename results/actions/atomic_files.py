"""Write files and folders that appear under their names only when complete."""

import errno
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.files.storage import default_storage

from results.errors import CannotExport
from studies.actions.images import original_name

# The earliest date that a ZIP file can hold: the same content makes the same bytes.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1024 * 1024


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path whose content replaces `path` at the end of the block.

    If the block fails, nothing of it is left and the old content stays. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".", suffix=".part") as passing:
        unfinished = Path(passing) / path.name
        yield unfinished
        _settle(unfinished)
        if path.is_dir() and not path.is_symlink():
            path.rename(Path(passing) / "before")
        os.replace(unfinished, path)


def _settle(unfinished: Path) -> None:
    for written in [unfinished, *unfinished.rglob("*")]:
        os.chmod(written, 0o755 if written.is_dir() else 0o644)
        if written.is_file():
            with written.open("rb") as out:
                os.fsync(out.fileno())


def pack(folder: Path, into: Path) -> None:
    """Pack the files of `folder`, under its name, into the ZIP file `into`; equal files make equal bytes."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), ZIP_DATE)
            entry.external_attr = 0o644 << 16
            with path.open("rb") as source, packed.open(entry, "w", force_zip64=True) as out:
                shutil.copyfileobj(source, out, _BLOCK)


def stored_bytes(sha256: str) -> bytes:
    """Return the bytes of a stored picture. Raises CannotExport when the storage has lost it."""
    try:
        with default_storage.open(original_name(sha256)) as stored:
            return bytes(stored.read())
    except OSError as error:
        raise CannotExport(
            f"The storage has lost the image {sha256}. "
            "Import the same file again with its image folder, then export again."
        ) from error


def why_not(error: OSError, path: Path) -> str:
    """Return the message for a `path` that could not be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"The disk is full, so {path.name} was not written. Free some space and export again."
    return f"{path} cannot be written: {error.strerror}. Choose a folder that you may write to."
