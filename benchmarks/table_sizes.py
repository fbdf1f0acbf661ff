"""Measure what an answer takes on disk, to reckon what many take: python -m benchmarks.table_sizes.

A study of `best_of_n` with three answers a question is launched, multiplied and answered directly in PostgreSQL. Prints
bytes per answer of every table, with its indexes; the levels of the largest indexes; and how long a vacuum and a dump
take. Answers of real browsers also say how each image was shown (`images_seen`): its size is printed beside them.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.load import SEEN
from benchmarks.results_pages import make_study
from benchmarks.site import machine
from tests.servers import postgresql_cluster, postgresql_program

LEAST_BYTES = 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--responses", type=int, default=300_000)
    options = arguments.parse_args()
    with postgresql_cluster(durable=True) as cluster, tempfile.TemporaryDirectory() as folder:
        url = cluster.url("sizes")
        environment = {"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": url, "DATA_DIR": folder}
        answers = make_study(responses=options.responses, folder=Path(folder), environment=environment)
        print(f"{machine()}; {answers:,} answers")
        with psycopg.connect(url, autocommit=True) as connection:
            _print_sizes(connection, answers)
            _print_levels(connection)
            began = time.perf_counter()
            connection.execute("VACUUM (FREEZE, ANALYZE) annotation_response")
            print(f"\nvacuum of the answers: {time.perf_counter() - began:.1f} s")
        _print_dump(url, Path(folder) / "dump", answers)


def _print_sizes(connection: psycopg.Connection[Any], answers: int) -> None:
    rows = connection.execute(
        "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC"
    ).fetchall()
    print("\n| table | bytes per answer | of these indexes |\n| --- | ---: | ---: |")
    for name, table, indexes in rows:
        if table + indexes >= answers * LEAST_BYTES:
            print(f"| {name} | {(table + indexes) / answers:.0f} | {indexes / answers:.0f} |")
    print(f"| all | {sum(table + indexes for _, table, indexes in rows) / answers:.0f} | |")
    seen = connection.execute("SELECT pg_column_size(%s::jsonb)", [json.dumps(json.loads(SEEN))]).fetchone()
    assert seen is not None
    print(f"`images_seen` of four images: {seen[0]} bytes more")


def _print_levels(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
    rows = connection.execute(
        "SELECT index.relname, index.reltuples, pg_relation_size(index.oid), (bt_metap(index.relname)).level + 1 "
        "FROM pg_class index JOIN pg_am am ON am.oid = index.relam "
        "WHERE am.amname = 'btree' AND index.relnamespace = 'public'::regnamespace "
        "ORDER BY pg_relation_size(index.oid) DESC LIMIT 6"
    ).fetchall()
    print("\n| index | entries | bytes per entry | levels |\n| --- | ---: | ---: | ---: |")
    for name, entries, size, levels in rows:
        print(f"| {name} | {entries:,.0f} | {size / max(1, entries):.0f} | {levels} |")


def _print_dump(url: str, file: Path, answers: int) -> None:
    began = time.perf_counter()
    dump = [postgresql_program("pg_dump"), "--format", "custom", "--file", str(file), "--dbname", url]
    subprocess.run(dump, check=True)
    seconds = time.perf_counter() - began
    print(f"dump: {seconds:.1f} s, {file.stat().st_size / answers:.0f} bytes per answer")


if __name__ == "__main__":
    main()
