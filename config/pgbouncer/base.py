"""Django's PostgreSQL backend for a site behind PgBouncer in transaction mode (docs/decisions/0094).

There, two statements outside a transaction may run on two connections of the server. A cursor of the server, with
which `QuerySet.iterator()` reads, would be gone at the second.
"""

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any

from django.db.backends.postgresql import base

ROWS_AT_ONCE = 1_000
# Fewer bytes stay in memory.
LARGEST_IN_MEMORY = 1_000_000


class SpooledCursor:
    """Reads all rows of one statement into a temporary file, and gives them from there.

    The server's connection is free after the statement, however long the reader takes, and memory stays flat.
    """

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self._file = tempfile.SpooledTemporaryFile(max_size=LARGEST_IN_MEMORY)  # noqa: SIM115 (closed with the cursor)
        self._rows: Iterator[Any] = iter(())

    def execute(self, sql: Any, params: Any = None) -> None:
        # An unfinished stream keeps the connection locked, for example when the disk of the file is full.
        with closing(self._cursor.stream(sql, params, size=ROWS_AT_ONCE)) as rows:
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                pickle.dump(batch, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._file.seek(0)
        self._rows = self._read()

    def _read(self) -> Iterator[Any]:
        while True:
            try:
                # Written above, into a file without a name.
                yield from pickle.load(self._file)  # noqa: S301
            except EOFError:
                return

    def fetchmany(self, size: int) -> list[Any]:
        return list(islice(self._rows, size))

    def close(self) -> None:
        self._rows = iter(())
        try:
            # Writes what is left, which fails on a full disk.
            self._file.close()
        finally:
            self._cursor.close()


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Any:
        """Return a cursor; Django names those of `QuerySet.iterator()`."""
        cursor = super().create_cursor()
        return cursor if name is None else SpooledCursor(cursor)
