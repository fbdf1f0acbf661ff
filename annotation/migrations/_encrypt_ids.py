"""Encrypt the ids of people and sessions, in batches: what was interrupted continues where it stopped."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from background.sealed_secrets import keyed_digest, seal, unseal

BATCH = 500
# The clear column of each table, and the purpose of its digests.
COLUMNS = {"Annotator": ("provider_id", "annotator"), "Session": ("provider_session_id", "submission")}


def encrypt(apps: Any, schema_editor: Any) -> None:
    for name, (column, purpose) in COLUMNS.items():

        def change(row: Any, column: str = column, purpose: str = purpose) -> None:
            text = getattr(row, column)
            row.sealed_id, row.id_digest = seal(text), keyed_digest(text, purpose=purpose)

        rows = apps.get_model("annotation", name)._base_manager.filter(id_digest=None, **{f"{column}__isnull": False})
        _in_batches(rows, change, ["sealed_id", "id_digest"], schema_editor.connection.alias)


def decrypt(apps: Any, schema_editor: Any) -> None:
    for name, (column, _) in COLUMNS.items():

        def change(row: Any, column: str = column) -> None:
            # The older version has no people without an id.
            setattr(row, column, unseal(row.sealed_id) if row.sealed_id else f"deleted:{row.pk}")

        rows = apps.get_model("annotation", name)._base_manager.filter(**{column: None})
        _in_batches(rows, change, [column], schema_editor.connection.alias)


def _in_batches(rows: Any, change: Callable[[Any], None], fields: list[str], alias: str) -> None:
    last = 0
    while True:
        with transaction.atomic(using=alias):
            batch = list(rows.using(alias).filter(pk__gt=last).order_by("pk")[:BATCH])
            for row in batch:
                change(row)
            rows.model._base_manager.using(alias).bulk_update(batch, fields)
        if not batch:
            return
        last = batch[-1].pk
