"""Refresh PostgreSQL's table statistics after bulk inserts.

An autovacuum during a long import or launch sees none of the uncommitted rows and records the table as empty. Until the
next one, a minute or more later, joins are planned for empty tables: submitting one answer then reads every question
once per slot (docs/decisions/0009).
"""

import logging
from collections.abc import Sequence
from functools import partial

from django.db import DatabaseError, connection, transaction
from django.db.models import Model

logger = logging.getLogger(__name__)


def refresh_statistics(*models: type[Model]) -> None:
    """Run ANALYZE on the tables of `models` after the current transaction commits; not needed on SQLite."""
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_analyze, models))


def _analyze(models: Sequence[type[Model]]) -> None:
    """Run ANALYZE on tables that have rows.

    Open connections keep planning for an empty table after an ANALYZE of an empty one; a table never analysed is
    assumed to have at least ten pages.
    """
    try:
        filled = [model._meta.db_table for model in models if model._base_manager.exists()]
        if filled:
            with connection.cursor() as cursor:
                cursor.execute(f"ANALYZE {', '.join(map(connection.ops.quote_name, filled))}")
    except DatabaseError:
        # The work is committed; autovacuum will analyse the tables later.
        logger.exception("The statistics of %s could not be refreshed.", ", ".join(m._meta.db_table for m in models))
