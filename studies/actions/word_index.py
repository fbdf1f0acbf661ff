"""The index that finds words in the keys and captions of instances, on PostgreSQL: groups of three letters (pg_trgm).

Without it, and on SQLite, a search reads every instance of a project. What it finds is the same.
"""

from django.db import ProgrammingError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import NotSupportedError, OperationalError

NAME = "instance_words"
# As `icontains` and `captions_containing` write what they compare.
_INDEX = (
    "CREATE INDEX CONCURRENTLY {name} ON studies_instance USING gin "
    "(UPPER(key::text) {schema}.gin_trgm_ops, (captions::text) {schema}.gin_trgm_ops)"
)
_SCHEMA = (
    "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
    "WHERE extname = 'pg_trgm'"
)
_IS_WHOLE = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def create_word_index(connection: BaseDatabaseWrapper) -> str:
    """Create the index unless it is there; return "", or why not and what to do. Not within a transaction.

    People can write meanwhile. The extension comes with PostgreSQL, and since version 13 anybody who may
    create objects in the database may create it.
    """
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except (NotSupportedError, OperationalError, ProgrammingError) as error:
            return (
                f"Searches by word read every instance, because the extension pg_trgm of PostgreSQL is missing: "
                f"{str(error).splitlines()[0]}. Nothing else depends on it. To make them quick in a large project, "
                'have an administrator of the database run "CREATE EXTENSION pg_trgm", then run '
                '"manage.py index_words".'
            )
        cursor.execute(_IS_WHOLE, [NAME])
        found = cursor.fetchone()
        if found == (True,):
            return ""
        if found:
            # What an earlier attempt left that was cut off.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}")
        cursor.execute(_SCHEMA)
        (schema,) = cursor.fetchone()
        cursor.execute(_INDEX.format(name=NAME, schema=schema))
    return ""


def drop_word_index(connection: BaseDatabaseWrapper) -> None:
    """Drop the index. The extension stays: others may use it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {NAME}")
