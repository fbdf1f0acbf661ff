"""Multiply a small launched study with PostgreSQL statements: seconds instead of hours of launching.

Copies all rows of the tables below with new ids, so that rows and indexes are as after launching that many instances.
Nobody may have taken part yet.
"""

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
    return sql.SQL(
        "INSERT INTO {table} ({names}) SELECT {values} FROM {table}, generate_series(1, %(copies)s) copy "
        "WHERE id <= {last} ORDER BY copy, id"
    ).format(
        table=sql.Identifier(table),
        names=sql.SQL(", ").join(names),
        values=sql.SQL(", ").join(values),
        last=sql.Literal(strides[table]),
    )
