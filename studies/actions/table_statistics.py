"""What PostgreSQL's planner believes about the size of tables, put right after many rows came at once.

A vacuum that passes while a long import or launch is still open sees none of its rows and writes down that the table
is empty. Until the next one, a minute or more later, joins are planned for empty tables: one press of Send then reads
every question once for every slot (docs/decisions/0009).
"""

import logging
from collections.abc import Sequence
from functools import partial

from django.db import DatabaseError, connection, transaction
from django.db.models import Model

logger = logging.getLogger(__name__)


def refresh_statistics(*models: type[Model]) -> None:
    """Have the tables of `models` counted as soon as the running transaction is committed. SQLite needs none of it."""
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_analyze, models))


def _analyze(models: Sequence[type[Model]]) -> None:
    """Count the tables that hold anything. One that was found empty is planned for as if it stayed so, by whoever is
    connected then for as long as they are; one that was never counted is taken for ten pages at least."""
    try:
        filled = [model._meta.db_table for model in models if model._base_manager.exists()]
        if filled:
            with connection.cursor() as cursor:
                cursor.execute(f"ANALYZE {', '.join(map(connection.ops.quote_name, filled))}")
    except DatabaseError:
        # What was to be done is done and committed; the database will count by itself, later.
        logger.exception("The statistics of %s could not be refreshed.", ", ".join(m._meta.db_table for m in models))
