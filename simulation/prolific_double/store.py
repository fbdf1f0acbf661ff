"""Documents of the local platform, as JSON in a SQLite file of its own."""

import json
import sqlite3
from pathlib import Path
from typing import Any

Document = dict[str, Any]
# Losing power may cost the last moments; a killed process costs nothing.
_TABLE = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (kind, id)
);
CREATE INDEX IF NOT EXISTS owners ON documents (kind, owner, number);
"""


class Store:
    """Reads and writes documents by kind and id. `owner`: the document that one belongs to, "" for none.

    Not safe for several threads at once; `commit` makes what was written durable.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.executescript(_TABLE)

    def find(self, kind: str, id_: str) -> Document | None:
        row = self._database.execute("SELECT body FROM documents WHERE kind = ? AND id = ?", (kind, id_)).fetchone()
        return None if row is None else json.loads(row[0])

    def write(self, kind: str, document: Document, *, owner: str = "") -> None:
        """Write a document under its `id`, in the place of an earlier one."""
        self._database.execute(
            "INSERT INTO documents (kind, id, owner, body) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, owner = excluded.owner",
            (kind, document["id"], owner, json.dumps(document)),
        )

    def list(self, kind: str, *, owner: str | None = None) -> list[Document]:
        """Return the documents of a kind, of one owner if it is given, oldest first."""
        where, values = ("", [kind]) if owner is None else (" AND owner = ?", [kind, owner])
        rows = self._database.execute(f"SELECT body FROM documents WHERE kind = ?{where} ORDER BY number", values)  # noqa: S608
        return [json.loads(body) for (body,) in rows]

    def delete(self, kind: str, id_: str) -> None:
        self._database.execute("DELETE FROM documents WHERE kind = ? AND id = ?", (kind, id_))

    def commit(self) -> None:
        self._database.commit()

    def rollback(self) -> None:
        self._database.rollback()

    def close(self) -> None:
        self._database.close()
