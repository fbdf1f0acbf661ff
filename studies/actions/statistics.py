"""What PostgreSQL's planner believes about the size of tables, put right after many rows came at once.

A vacuum that passes while a long import or launch is still open sees none of its rows and writes down that the table
is empty. Until the next one, a minute or more later, joins are planned for empty tables: one press of Send then reads
every question once for every slot (docs/decisions/0009).
"""

import logging
from functools import partial

from django.db import DatabaseError, connection, transaction
from django.db.models import Model

logger = logging.getLogger(__name__)


def refresh_statistics(*models: type[Model]) -> None:
    """Have the tables of `models` counted as soon as the running transaction is committed. SQLite needs none of it."""
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_analyze, [model._meta.db_table for model in models]))


def _analyze(tables: list[str]) -> None:
    names = ", ".join(connection.ops.quote_name(table) for table in tables)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {names}")
    except DatabaseError:
        # What was to be done is done and committed; the database will count by itself, later.
        logger.exception("The statistics of %s could not be refreshed.", names)
