"""`predictions`: what models answered, with the score of every option where there are scores."""

import csv
from typing import IO, Literal

from results.exporting.base import TextWriter
from results.exporting.column_descriptions import PREDICTION_DESCRIPTIONS
from results.exporting.rows import PREDICTION_COLUMNS, GivenPrediction, prediction_record
from results.exporting.spreadsheets import cell


class Predictions(TextWriter):
    title = "All predictions of models, CSV"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.csv"
    content_type = "text/csv; charset=utf-8"
    columns = PREDICTION_DESCRIPTIONS

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(PREDICTION_COLUMNS)

    def write(self, row: GivenPrediction, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in prediction_record(row).values()])
