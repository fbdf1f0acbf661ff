"""`responses`: every version of every answer as a long table that begins `task, worker, label`.

Analysis libraries read these three. Older versions and answers that came too late are in it too: keep the rows with
`counted` true to get what the decisions rest on. Cells are escaped as in `results.exporting.spreadsheets`.
"""

import csv
from typing import IO, Literal

from results.exporting.base import TextWriter
from results.exporting.rows import RESPONSE_COLUMNS, GivenResponse, response_record
from results.exporting.spreadsheets import cell


class Responses(TextWriter):
    title = "All responses, CSV (task, worker, label, ...)"
    rows: Literal["responses"] = "responses"
    filename = "responses.csv"
    content_type = "text/csv; charset=utf-8"

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(RESPONSE_COLUMNS)

    def write(self, row: GivenResponse, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in response_record(row).values()])
