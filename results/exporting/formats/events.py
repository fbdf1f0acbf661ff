"""`events`: who did what to the data, as sentences."""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import Column, CsvWriter
from results.exporting.rows import NotedEvent, moment


class Events(CsvWriter):
    title = "Who did what, CSV"
    rows: Literal["events"] = "events"
    filename = "events.csv"
    columns = (
        Column("at", "sc:DateTime", "When, UTC."),
        Column("who", "sc:Text", "A researcher, numbered in order of appearance, or a command or program."),
        Column("what", "sc:Text", "What they did, as the rest of a sentence that begins with `who`."),
        Column("study", "sc:Text", "The study that the event is about; empty for the project as a whole."),
        Column("event", "sc:Text", "The type of event."),
    )

    def values(self, row: NotedEvent) -> Iterable[Any]:
        return (moment(row.at), row.who, row.what, row.study, row.event)
