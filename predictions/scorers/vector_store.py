"""Store vectors across worker processes, in a folder that several workers may share.

A vector's key names everything it follows from, so it is reused only under the recorded conditions: the image (SHA-256)
or the text (its SHA-256 alone), and the model with its settings (`predictions.scorers.contrastive`). Images are never
stored. When the space is full, the least recently used vectors are deleted.

One SQLite file in WAL mode: a killed worker leaves its stored vectors, and several read and write at once. The file
must be on a local disk, because that mode needs memory shared by the processes. Every vector has a checksum: a damaged
one is computed again; a damaged file is replaced. If storing fails, scores are still computed.
"""

import hashlib
import logging
import re
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from predictions.scorers.batches import Vector, in_batches

logger = logging.getLogger(__name__)

# Increase it when the storage format or the decoding of images changes (`studies.importing.pictures.decode`): stored
# vectors are then computed again.
FORM = 1
MEGABYTE = 2**20
# Share kept when the space is full, so that deletions are rare.
LEFT = 0.9
# SQLite limits the parameters of a statement.
AT_ONCE = 500
# Uses are recorded by the hour, so that reading rarely writes.
HOUR = 60 * 60
# A larger page: a vector of 1,024 numbers would fill half of a default one.
PAGE = 16384
BUSY_SECONDS = 10
DIGEST = 8
_FILE = re.compile(r"vectors-(\d+)\.sqlite3")
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (name BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, asked INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_by_hour ON vectors (asked);
"""
_DELETE_OLDEST = "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY asked LIMIT ?)"


class CannotStoreVectors(Exception):
    """The folder cannot be used; the message says why and what to do."""


class VectorStore:
    """The vectors in a folder. `most`: bytes that they may fill, more than 0; `clock`: seconds."""

    def __init__(self, folder: Path, *, most: int, clock: Callable[[], float] = time.time) -> None:
        """Raises CannotStoreVectors."""
        self._folder, self._most, self._clock = folder, most, clock
        self._open: sqlite3.Connection | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise CannotStoreVectors(f"Vectors cannot be stored in {folder} ({error.strerror}).") from error

    def get(self, space: bytes, names: Sequence[str]) -> dict[str, Vector]:
        """Return the stored vectors of `names` in `space`, by name; the others are missing."""
        by_key = {_key(space, name): name for name in names}
        found: dict[str, Vector] = {}
        with self._usable_file() as file:
            if file is None:
                return {}
            damaged = []
            for keys in in_batches(by_key, AT_ONCE):
                places = ",".join("?" * len(keys))
                wanted = f"SELECT name, vector, asked FROM vectors WHERE name IN ({places})"  # noqa: S608 (only question marks are inserted)
                rows = file.execute(wanted, keys).fetchall()
                for key, content, _ in rows:
                    vector = _read(key, content)
                    if vector is None:
                        damaged.append((key,))
                    else:
                        found[by_key[key]] = vector
                self._note_asked(file, [key for key, _, asked in rows if asked < self._hour()])
            if damaged:
                logger.warning(
                    "%s stored vectors in %s are damaged and will be recomputed.", len(damaged), self._folder
                )
                with file:
                    file.executemany("DELETE FROM vectors WHERE name = ?", damaged)
        return found

    def put(self, space: bytes, vectors: Mapping[str, Vector]) -> None:
        """Store vectors by name, as far as there is room. Existing ones do not change."""
        hour = self._hour()
        keyed = ((_key(space, name), vector) for name, vector in vectors.items())
        rows = ((key, _encode(key, vector), hour) for key, vector in keyed)
        with self._usable_file() as file:
            if file is None:
                return
            with file:
                file.executemany("INSERT OR IGNORE INTO vectors (name, vector, asked) VALUES (?, ?, ?)", rows)
            self._make_room(file)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _hour(self) -> int:
        return int(self._clock()) // HOUR

    def _note_asked(self, file: sqlite3.Connection, keys: Sequence[bytes]) -> None:
        if keys:
            with file:
                file.executemany("UPDATE vectors SET asked = ? WHERE name = ?", [(self._hour(), key) for key in keys])

    def _make_room(self, file: sqlite3.Connection) -> None:
        """Delete the least recently used vectors until enough space is free; order within an hour is arbitrary."""
        page, pages, free = (
            file.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_size", "page_count", "freelist_count")
        )
        if (pages - free) * page > self._most:
            (count,) = file.execute("SELECT count(*) FROM vectors").fetchone()
            going = count - int(count * LEFT * self._most / ((pages - free) * page))
            with file:
                file.execute(_DELETE_OLDEST, (going,))
        if pages * page > self._most:
            # Returns free pages to the disk, because the limit may have been lowered. As a script, because a single
            # statement returns only the first page.
            file.executescript("PRAGMA incremental_vacuum")

    @contextmanager
    def _usable_file(self) -> Iterator[sqlite3.Connection | None]:
        """Open the file for the block, or give None if it cannot be used; errors are only logged."""
        try:
            if self._open is None:
                self._open = self._newest()
        except (sqlite3.DatabaseError, OSError) as error:
            self._say(error)
            yield None
            return
        try:
            yield self._open
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self._replace_file(error)
            else:
                self._say(error)

    def _say(self, error: Exception) -> None:
        logger.warning("Cannot store or read vectors in %s for now (%s).", self._folder, error)

    def _newest(self) -> sqlite3.Connection:
        """Open the file with the highest number; earlier ones are damaged, and deleted."""
        number = max(self._numbers(), default=1)
        try:
            found = self._open_file(number)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            logger.warning("The stored vectors in %s are damaged (%s) and will be recomputed.", self._folder, error)
            number += 1
            found = self._open_file(number)
        for earlier in self._numbers():
            if earlier < number:
                # A worker that has the file open still writes to it. Its name is not reused, or SQLite would take the
                # WAL left behind for part of another file.
                for ending in ("", "-wal", "-shm"):
                    Path(f"{self._path(earlier)}{ending}").unlink(missing_ok=True)
        return found

    def _replace_file(self, error: Exception) -> None:
        """Replace a damaged file with a new one, unless another worker has done so."""
        logger.warning("The stored vectors in %s are damaged (%s) and will be recomputed.", self._folder, error)
        number = self._number
        self.close()
        try:
            self._open_file(max([*self._numbers(), number + 1])).close()
        except (sqlite3.DatabaseError, OSError) as another:
            self._say(another)

    def _open_file(self, number: int) -> sqlite3.Connection:
        # The threads of a worker use it in turns, as they do the device.
        file = sqlite3.connect(self._path(number), timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            # These take effect only before the first table exists.
            file.execute(f"PRAGMA page_size = {PAGE}")
            file.execute("PRAGMA auto_vacuum = INCREMENTAL")
            file.execute("PRAGMA journal_mode = WAL")
            # A loss of power may lose the last writes, but cannot damage the file.
            file.execute("PRAGMA synchronous = NORMAL")
            file.executescript(_TABLE)
        except sqlite3.DatabaseError:
            file.close()
            raise
        self._number = number
        # Whoever drops the store has closed its file.
        weakref.finalize(self, file.close)
        return file

    def _numbers(self) -> list[int]:
        return [int(found[1]) for path in self._folder.iterdir() if (found := _FILE.fullmatch(path.name))]

    def _path(self, number: int) -> Path:
        return self._folder / f"vectors-{number}.sqlite3"


def _is_damage(error: Exception) -> bool:
    """Return whether the file is damaged or not an SQLite file; other errors have their own classes."""
    return type(error) is sqlite3.DatabaseError


def _key(space: bytes, name: str) -> bytes:
    return hashlib.sha256(f"{FORM}|".encode() + space + b"|" + name.encode("utf-8", errors="surrogatepass")).digest()


def _digest(key: bytes, numbers: bytes) -> bytes:
    return hashlib.blake2b(key + numbers, digest_size=DIGEST).digest()


def _encode(key: bytes, vector: Vector) -> bytes:
    numbers = vector.astype("<f4").tobytes()
    return _digest(key, numbers) + numbers


def _read(key: bytes, content: bytes) -> Vector | None:
    """Return the vector stored under `key`, None if its checksum differs."""
    if not isinstance(content, bytes) or content[:DIGEST] != _digest(key, content[DIGEST:]):
        return None
    return np.frombuffer(content[DIGEST:], "<f4").astype(np.float32)
