"""`conditions`: what the scores of predictions were computed under, with the details as JSON."""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import PredictionConditions
from results.exporting.spreadsheets import cell


class Conditions(TextWriter):
    title = "Conditions of the predictions, CSV"
    rows: Literal["conditions"] = "conditions"
    filename = "conditions.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
        Column("digest", "sc:Text", "What predictions call it: the SHA-256 of the details as canonical JSON."),
        Column(
            "details",
            "sc:Text",
            "The model as it was loaded, the type of its numbers, the shape of its batches, preprocessing, libraries "
            "and device, as a JSON object.",
        ),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow([column.name for column in self.columns])

    def write(self, row: PredictionConditions, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(row.digest), cell(row.details)])
