"""Write files so that a crash at any moment leaves the old or the new one, never a part. Pure.

Importing this module does not import torch.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from training.errors import CannotTrain

CHECKPOINT, BEST, RESULT = "checkpoint.pt", "best.pt", "result.json"
_TEMPORARY = ".part"
_REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


def write_file(path: Path, content: Mapping[str, Any]) -> None:
    """Write tensors and plain values by torch. Raises CannotTrain if the disk is full or refuses."""
    import torch

    with _replace(path) as stream:
        writes = _Writes(stream)
        try:
            torch.save(content, writes)
        # torch hides why a write failed.
        except RuntimeError:
            if writes.error is not None:
                raise writes.error from None
            raise


def write_json(path: Path, content: Any) -> None:
    """Write plain values. Raises CannotTrain if the disk is full or refuses."""
    with _replace(path) as stream:
        stream.write(json.dumps(content, ensure_ascii=False, indent=1).encode())


def read_file(path: Path) -> dict[str, Any] | None:
    """Return what `write_file` wrote, on the CPU; None if there is none. Raises CannotTrain for a damaged file."""
    import torch

    if not path.is_file():
        return None
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    # A damaged file may raise anything.
    except Exception as error:
        raise CannotTrain(f"{path} is damaged. Delete it to train from the start.") from error
    return content


def remove_file(path: Path) -> None:
    """Delete a file, and what is left of one that was being written when a process was killed."""
    for each in (path, path.with_name(path.name + _TEMPORARY)):
        each.unlink(missing_ok=True)


def write_folder(path: Path, write: Callable[[Path], None]) -> None:
    """Write a folder by `write`, which gets an empty one. Raises CannotTrain if the disk is full or refuses."""
    temporary = path.with_name(path.name + _TEMPORARY)
    with _in_words(path):
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            _call(write, temporary)
            for file in temporary.rglob("*"):
                if file.is_file():
                    with file.open("rb") as stream:
                        os.fsync(stream.fileno())
            if path.exists():
                shutil.rmtree(path)
            temporary.replace(path)
            _sync_folder(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _call(write: Callable[[Path], None], folder: Path) -> None:
    """Call `write`, and raise OSError where safetensors tells the number of an error of the disk in its text."""
    from safetensors import SafetensorError

    try:
        write(folder)
    except SafetensorError as error:
        number = _OS_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


class _Writes:
    """A file that remembers why a write failed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.error = stream, None

    error: OSError | None

    def write(self, data: Any) -> int:
        try:
            return self._stream.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._stream.flush()


@contextmanager
def _replace(path: Path) -> Iterator[IO[bytes]]:
    """Write a file beside `path` in the block, and then put it in its place."""
    temporary = path.with_name(path.name + _TEMPORARY)
    with _in_words(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        mend = "Let the process write" if error.errno in _REFUSALS else "Free space"
        raise CannotTrain(
            f"{path.name} cannot be written to {path.parent} ({error.strerror}). {mend} there, and train again: it "
            "goes on from the last checkpoint."
        ) from error


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
