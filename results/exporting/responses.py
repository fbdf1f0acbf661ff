"""`responses`: every version of every answer as a long table that begins `task, worker, label`.

Analysis libraries read these three. Older versions and answers that came too late are in it too: keep the rows with
`counted` true to get what the decisions rest on. Cells are escaped as in `results.exporting.spreadsheets`.
"""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import RESPONSE_COLUMNS, GivenResponse, response_record
from results.exporting.spreadsheets import cell


class Responses(TextWriter):
    title = "All responses, CSV (task, worker, label, ...)"
    rows: Literal["responses"] = "responses"
    filename = "responses.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
        Column("task", "sc:Text", "The question: the instance, and which question about it where there are several."),
        Column("worker", "sc:Text", "Who answered, under a random name."),
        Column("label", "sc:Text", "The option chosen, by its identity."),
        Column("counted", "sc:Boolean", "Whether a decision rests on it: not replaced by a newer version, not late."),
        Column("received_at", "sc:DateTime", "When the server had it, UTC."),
        Column("send_ms", "sc:Integer", "Milliseconds from shown to sent, as the browser measured."),
        Column("study", "sc:Text", "The study that asked."),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(RESPONSE_COLUMNS)

    def write(self, row: GivenResponse, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in response_record(row).values()])
