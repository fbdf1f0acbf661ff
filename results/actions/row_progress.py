"""Write rows one by one and report progress."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results.exporting import Write

# About how often progress is reported.
REPORTS = 50
MOST_ROWS_BETWEEN_REPORTS = 1000
# Takes the rows done and the rows in all.
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class WrittenFile:
    path: Path
    rows: int


def write_rows(write: Write, rows: Iterable[Any], total: int, report: Report) -> int:
    """Write the rows; return the number of rows in the data, which may differ from the number given."""
    written = 0
    step = max(1, min(total // REPORTS, MOST_ROWS_BETWEEN_REPORTS))
    report(0, total)
    for done, row in enumerate(rows, start=1):
        written += write(row)
        if done % step == 0:
            report(done, total)
    return written
