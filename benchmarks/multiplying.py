"""Multiply a small launched study with PostgreSQL statements: seconds instead of hours of launching.

Copies all rows of the tables below with new ids, so that rows and indexes are as after launching that many instances.
Nobody may have taken part yet.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

# Table -> its foreign keys to other tables of this list, in an order in which they can be filled.
REFERENCES: dict[str, dict[str, str]] = {
    "studies_instance": {},
    "studies_instanceimage": {"instance_id": "studies_instance"},
    "studies_question": {"instance_id": "studies_instance"},
    "studies_survey": {},
    "studies_surveyquestion": {"survey_id": "studies_survey", "question_id": "studies_question"},
    "annotation_seat": {"survey_id": "studies_survey"},
    "annotation_slot": {"seat_id": "annotation_seat", "question_id": "studies_question"},
    "annotation_decision": {"question_id": "studies_question"},
}
# Other columns that must differ between copies; `copy` counts from 1.
OWN = {
    ("studies_instance", "key"): "key || '-' || copy",
    ("studies_survey", "number"): "number + copy * (SELECT max(number) FROM studies_survey WHERE id <= {last})",
}
# Definitions of what is slow to keep up to date row by row, in the order in which it can be dropped.
_FOREIGN_KEYS = "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
_UNIQUE = "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'u'"
_INDEXES = """
    SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index
     WHERE indrelid = ANY(%s::regclass[])
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
"""


@contextmanager
def without_indexes(url: str, tables: Sequence[str]) -> Iterator[None]:
    """Drop the indexes and foreign keys of `tables`, except primary keys, and create them again after the block."""
    names = [list(tables)]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        foreign, unique = (
            connection.execute(f"{query} AND conrelid = ANY(%s::regclass[])", names).fetchall()
            for query in (_FOREIGN_KEYS, _UNIQUE)
        )
        indexes = connection.execute(_INDEXES, names).fetchall()
        for table, name, _ in (*foreign, *unique):
            _run(connection, f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for name, _ in indexes:
            _run(connection, f"DROP INDEX {name}")
        yield
        for _, definition in indexes:
            _run(connection, definition)
        for table, name, definition in (*unique, *foreign):
            _run(connection, f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


def _run(connection: psycopg.Connection[Any], statement: str) -> None:
    # Names and definitions are PostgreSQL's own.
    connection.execute(statement.encode())


def multiply(url: str, copies: int) -> None:
    """Multiply the study in the database by `copies`."""
    with psycopg.connect(url, autocommit=True) as connection:
        # Ids of a copy are above those of earlier copies.
        strides = {table: _last_id(connection, table) for table in REFERENCES}
        for table in REFERENCES:
            connection.execute(_copy_statement(connection, table, strides), {"copies": copies - 1})
            connection.execute(
                sql.SQL("SELECT setval(pg_get_serial_sequence({}, 'id'), (SELECT max(id) FROM {}))").format(
                    sql.Literal(table), sql.Identifier(table)
                )
            )
        connection.execute("VACUUM ANALYZE")


def _last_id(connection: psycopg.Connection[Any], table: str) -> int:
    found = connection.execute(sql.SQL("SELECT max(id) FROM {}").format(sql.Identifier(table))).fetchone()
    assert found is not None
    return int(found[0] or 0)


def _copy_statement(connection: psycopg.Connection[Any], table: str, strides: dict[str, int]) -> sql.Composed:
    columns = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position", [table]
    )
    moved = {"id": table, **REFERENCES[table]}
    names: list[sql.Composable] = []
    values: list[sql.Composable] = []
    for (name,) in columns:
        column = sql.Identifier(name)
        names.append(column)
        if name in moved:
            values.append(sql.SQL("{} + copy * {}").format(column, sql.Literal(strides[moved[name]])))
        elif (table, name) in OWN:
            values.append(sql.SQL(OWN[table, name]).format(last=sql.Literal(strides[table])))
        else:
            values.append(column)
    # Copy after copy, which is in the order of ids without sorting them.
    return sql.SQL(
        "INSERT INTO {table} ({names}) SELECT {values} FROM generate_series(1, %(copies)s) copy, "
        "LATERAL (SELECT * FROM {table} WHERE id <= {last} ORDER BY id OFFSET 0) AS first"
    ).format(
        table=sql.Identifier(table),
        names=sql.SQL(", ").join(names),
        values=sql.SQL(", ").join(values),
        last=sql.Literal(strides[table]),
    )
