"""Measure whether a replay of BiVLC grows linearly with its rows, and stays as fast until its end.

    python -m benchmarks.replay [--rows 1000 2000] [--bivlc DIR]

Each size runs `replay_bivlc` as its own process on a new database of one PostgreSQL server, set up as in production,
with rows taken evenly from the real manifest. Times are per 1,000 rows or answers, and relative to the smallest size:
quadratic growth shows as 2.0 and more, whatever the speed of the machine.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.site import ROOT, machine
from tests.servers import postgresql_cluster

BIVLC = ROOT.parent / "shared/data/bivlc"
MANIFEST, ACCEPTED = "BiVLC_negative_imgs.csv", "accepted.csv"
STAGE = re.compile(r"(import|stand-ins|launch|steps 3 and 4|baseline|report) ([\d.]+) s")
# Seconds per 1,000 answers in the first and in the last quarter of the answers to steps 3 and 4.
QUARTERS = """
WITH numbered AS (
    SELECT received_at, ntile(4) OVER (ORDER BY response.id) AS quarter
    FROM annotation_response response JOIN studies_study study ON study.id = response.study_id
    WHERE study.slug LIKE '%step%'
)
SELECT 1000 * extract(epoch FROM max(received_at) - min(received_at)) / count(*)
FROM numbered WHERE quarter IN (1, 4) GROUP BY quarter ORDER BY quarter
"""


@dataclass(frozen=True)
class Measurement:
    """`seconds`: stage -> seconds per 1,000 rows. `first`, `last`: seconds per 1,000 answers in these quarters."""

    rows: int
    seconds: dict[str, float]
    first: float
    last: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 2000], help="sizes (7512 is the paper's)")
    parser.add_argument("--bivlc", type=Path, default=BIVLC, help="the folder with BiVLC's files")
    options = parser.parse_args()
    print(machine(), "\n")
    with postgresql_cluster(durable=True) as cluster:
        measured = [measure(cluster.url(f"rows_{rows}"), rows, options.bivlc) for rows in options.rows]
    show(measured)


def measure(database_url: str, rows: int, bivlc: Path) -> Measurement:
    with tempfile.TemporaryDirectory(prefix="lineup-benchmark-") as name:
        folder = Path(name)
        environment = os.environ | {"DATABASE_URL": database_url, "DATA_DIR": name, "LOG_LEVEL": "WARNING"}
        for file in (MANIFEST, ACCEPTED):
            take_evenly(bivlc / file, folder / file, rows)
        command = [sys.executable, "manage.py", "replay_bivlc", "--verbosity", "0", "--manifest"]
        subprocess.run([*command[:2], "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)
        replayed = subprocess.run(
            [*command, str(folder / MANIFEST), "--accepted", str(folder / ACCEPTED)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        replayed.check_returncode()
    stages = STAGE.findall(replayed.stdout.splitlines()[-1])
    with psycopg.connect(database_url) as connection:
        first, last = (float(row[0]) for row in connection.execute(QUARTERS))
    return Measurement(rows, {stage: 1000 * float(seconds) / rows for stage, seconds in stages}, first, last)


def take_evenly(source: Path, target: Path, rows: int) -> None:
    """Write `rows` evenly spaced rows of a CSV file, the same ones every time."""
    with source.open(encoding="utf-8", newline="") as file:
        header, *all_rows = csv.reader(file)
    with target.open("w", encoding="utf-8", newline="") as file:
        taken = [all_rows[number * len(all_rows) // rows] for number in range(rows)]
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, *taken])


def show(measured: list[Measurement]) -> None:
    floor = measured[0]
    print("| rows | stage | s per 1,000 | of the smallest |\n| ---: | --- | ---: | ---: |")
    for each in measured:
        for stage, seconds in each.seconds.items():
            print(f"| {each.rows:,} | {stage} | {seconds:.2f} | {seconds / floor.seconds[stage]:.2f} |")
    print("\n| rows | s per 1,000 answers, first quarter | last quarter | ratio |\n| ---: | ---: | ---: | ---: |")
    for each in measured:
        print(f"| {each.rows:,} | {each.first:.2f} | {each.last:.2f} | {each.last / each.first:.2f} |")


if __name__ == "__main__":
    main()
