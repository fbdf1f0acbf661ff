"""Databases beside the one that the tests share, which is left alone: while one of these is used, the connection leads
to it.

`kept` makes the rows that many tests read once, instead of once for each of them:

    played = kept(play)                                # play() makes rows, and returns what it wants to be told

    def test_it(played: str) -> None: ...              # without the mark django_db

Each test finds them as they were made, and what it changes is taken back, so no test knows what ran before it.
"""

import fcntl
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker, Settings

Make = Callable[[], str]
# The database that was migrated and then left alone, of which others are copies.
MIGRATED = "migrated"


@dataclass(frozen=True)
class Kept:
    """A filled database, the folder of its files, and what its maker returned."""

    database: str
    media: Path
    said: str


class Keeper:
    """What has been made so far, once for each maker."""

    def __init__(self, folder: Path, databases: ExitStack) -> None:
        self._folder, self._databases = folder, databases
        self._made: dict[Make, Kept] = {}

    def of(self, make: Make) -> Kept:
        if make not in self._made:
            number = len(self._made)
            media = self._folder / str(number)
            media.mkdir()
            empty = str(connection.settings_dict["NAME"])
            # A copy is made of what nobody uses.
            connection.close()
            name = self._databases.enter_context(database(f"kept_{number}", like=empty))
            with connected_to(name), override_settings(MEDIA_ROOT=media):
                self._made[make] = Kept(name, media, make())
        return self._made[make]


def kept(make: Make) -> Any:
    """Return a fixture whose tests stand in a database that `make` filled; its value is what `make` returned."""

    @pytest.fixture
    def standing(
        keeper: Keeper, django_db_blocker: DjangoDbBlocker, settings: Settings, request: pytest.FixtureRequest
    ) -> Iterator[str]:
        if not {"db", "transactional_db"}.isdisjoint(request.fixturenames) or request.node.get_closest_marker(
            "django_db"
        ):
            pytest.fail("What is kept is in a database of its own: this test cannot have the mark django_db or db too.")
        with django_db_blocker.unblock():
            found = keeper.of(make)
            shutil.copytree(found.media, settings.MEDIA_ROOT, dirs_exist_ok=True)
            with connected_to(found.database), rolled_back():
                yield found.said

    return standing


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Let the connection lead to the database `name`."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


@contextmanager
def connected_at(url: str, *, pooled: bool = False, alias: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Let the connection called `alias` lead to the PostgreSQL database at `url`; another than the default is made."""
    # Reads all settings, which are not chosen yet when pytest reads this file.
    from config.environment import read_database

    read = read_database(url, connection_seconds=600, pooled=pooled)
    known = dict(connections.settings)
    before = connections[alias] if alias in known else None
    connections.settings[alias] = connections[DEFAULT_DB_ALIAS].settings_dict | read
    connections[alias] = connections.create_connection(alias)
    try:
        yield
    finally:
        connections[alias].close()
        del connections[alias]
        connections.settings.clear()
        connections.settings.update(known)
        if before is not None:
            connections[alias] = before


@contextmanager
def database(suffix: str, *, like: str = "") -> Iterator[str]:
    """Make an empty database beside that of the other tests, or a copy of the one called `like`; yield its name."""
    name = f"{connection.settings_dict['NAME']}_{suffix}"
    _drop(name)
    _make(name, like=like)
    try:
        yield name
    finally:
        _drop(name)


@contextmanager
def migrated_once() -> Iterator[None]:
    """Have the tests' own database be made inside, as a copy of one that was migrated before; the first who comes here
    migrates it. Workers that share `TESTS_TOGETHER`, or a server, share it."""
    name: str = connection.creation._get_test_db_name()  # type: ignore[attr-defined]
    together = Path(os.environ["TESTS_TOGETHER"])
    migrated = str(together / f"{MIGRATED}.sqlite3") if connection.vendor == "sqlite" else MIGRATED
    with (together / f"{MIGRATED}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = _exists(migrated)
        _drop(name)
        if known:
            _make(name, like=migrated)
        yield
        if not known:
            connection.close()
            _make(migrated, like=name)


def _exists(name: str) -> bool:
    if connection.vendor == "sqlite":
        return Path(name).exists()
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        return cursor.fetchone() is not None


def _make(name: str, *, like: str) -> None:
    if connection.vendor != "sqlite":
        _at_server(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{like}"' if like else ""))
    elif like:
        # Not the file's bytes: some of what it says may still be in the log beside it.
        with closing(sqlite3.connect(like)) as source, closing(sqlite3.connect(name)) as copy:
            source.backup(copy)


def delete_rows_to_empty_tables() -> None:
    """Have what a test committed be deleted afterwards. Django truncates every table instead, which makes PostgreSQL
    begin some hundreds of files anew: a third of a second where this takes six thousandths."""
    if connection.vendor == "postgresql":
        connection.ops.sql_flush = _deletions  # type: ignore[method-assign]


def _deletions(
    style: object, tables: Sequence[str], *, reset_sequences: bool = False, allow_cascade: bool = False
) -> list[str]:
    """Return what empties `tables` in whatever order they refer to each other; it is run in one transaction."""
    if reset_sequences:
        raise ValueError("A test that counts on the numbers of rows has to begin them anew by itself.")
    quoted = connection.ops.quote_name
    return [
        "SET LOCAL session_replication_role = replica",
        *(f"DELETE FROM {quoted(table)}" for table in tables),  # noqa: S608 (names of tables)
        "SET LOCAL session_replication_role = origin",
    ]


def end_other_sessions() -> list[tuple[Any, ...]]:
    """End all other sessions at the current database, which cannot be dropped while one is open; return the state and
    the last statement of each that is not about to end by itself."""
    if connection.vendor == "sqlite":
        return []
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        for _ in range(50):
            cursor.execute(f"SELECT state, query {others} AND backend_type = 'client backend'")
            left: list[tuple[Any, ...]] = cursor.fetchall()
            if not left:
                break
            time.sleep(0.1)
        cursor.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}")
    return left


def _drop(name: str) -> None:
    if connection.vendor == "sqlite":
        for end in ("", "-wal", "-shm"):
            Path(f"{name}{end}").unlink(missing_ok=True)
    else:
        _at_server(f'DROP DATABASE IF EXISTS "{name}"')


def _at_server(statement: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Take back whatever is stored inside, after checking that it fits together."""
    with transaction.atomic():
        yield
        connection.check_constraints()
        transaction.set_rollback(True)
