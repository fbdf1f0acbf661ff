"""Databases of an older version for the tests of upgrades: filled as that version left them, in a place of their own
(tests/databases.py).

That version's own commands and pages filled them, and told what its pages answered and what each value meant that a
browser still held. The program that had them do so is `tests/upgrades/filled_878c08f.py` of commit 736d3fb8.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.apps.registry import Apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

HERE = Path(__file__).resolve().parent
Filled = Mapping[str, Any]


@cache
def filled(version: str) -> Filled:
    """Return the dump of the filled database of `version`: rows, files, and what its pages showed."""
    with gzip.open(HERE / f"filled_{version}.json.gz", "rt", encoding="utf-8") as dumped:
        found: Filled = json.load(dumped)
    return found


def leaves(version: str) -> list[tuple[str, str]]:
    """Return the last migration of each app as `version` had it."""
    applied = {(app, name) for app, name in filled(version)["migrations"]}
    graph = MigrationExecutor(connection).loader.graph
    followed = {parent.key for key in applied for parent in graph.node_map[key].parents if parent.key[0] == key[0]}
    return sorted(applied - followed)


def migrate_to(targets: list[tuple[str, str]]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)


def models_of(targets: list[tuple[str, str]]) -> dict[str, type[Model]]:
    """Return the models as they were after the migrations `targets`, by table."""
    return by_table(MigrationExecutor(connection).loader.project_state(targets).apps)


def by_table(apps: Apps) -> dict[str, type[Model]]:
    return {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}


def fill(version: str) -> None:
    """Migrate the empty database to `version` and put in its rows as they were."""
    targets = leaves(version)
    migrate_to(targets)
    known = models_of(targets)
    with transaction.atomic(), connection.cursor() as cursor:
        for table, dumped in filled(version)["tables"].items():
            _insert(cursor, known[table], dumped["columns"], dumped["rows"])
        for statement in connection.ops.sequence_reset_sql(no_style(), list(known.values())):
            cursor.execute(statement)
    connection.check_constraints()


def _insert(cursor: CursorWrapper, model: type[Model], columns: list[str], rows: list[list[Any]]) -> None:
    fields = {field.column: field for field in model._meta.local_concrete_fields}
    names = ", ".join(map(connection.ops.quote_name, columns))
    table, placeholders = connection.ops.quote_name(model._meta.db_table), ", ".join(["%s"] * len(columns))
    values = [[_stored(fields[name], value) for name, value in zip(columns, row, strict=True)] for row in rows]
    cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({placeholders})", values)  # noqa: S608 (names of a file of ours)


def _stored(field: "models.Field[Any, Any]", value: Any) -> Any:
    return field.get_db_prep_save(field.to_python(value), connection)


def restore_files(version: str, media: Path) -> None:
    """Put the stored files of `version` where `media` says."""
    for name, content in filled(version)["files"].items():
        (media / name).parent.mkdir(parents=True, exist_ok=True)
        (media / name).write_bytes(base64.b64decode(content))


def upgrade() -> None:
    """Do what somebody does who has fetched a new version."""
    call_command("migrate", verbosity=0)
