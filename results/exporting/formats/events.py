"""`events`: who did what to the data, in sentences."""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import NotedEvent, moment
from results.exporting.spreadsheets import cell


class Events(TextWriter):
    title = "Who did what, CSV"
    rows: Literal["events"] = "events"
    filename = "events.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
        Column("at", "sc:DateTime", "When, UTC."),
        Column("who", "sc:Text", "A researcher, by the order in which they come here, or a command or program."),
        Column("what", "sc:Text", "What they did, as the rest of a sentence that begins with `who`."),
        Column("study", "sc:Text", "The study that it was done to; empty for the project as a whole."),
        Column("event", "sc:Text", "Which sort of event it is, for programs."),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow([column.name for column in self.columns])

    def write(self, row: NotedEvent, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in (moment(row.at), row.who, row.what, row.study, row.event)])
