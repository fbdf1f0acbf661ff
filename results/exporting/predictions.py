"""`predictions`: what models answered, with the score of every option where there are scores."""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import PREDICTION_COLUMNS, GivenPrediction, prediction_record
from results.exporting.spreadsheets import cell


class Predictions(TextWriter):
    title = "All predictions of models, CSV"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
        Column("task", "sc:Text", "The question: the instance, and which question about it."),
        Column("model", "sc:Text", "The model."),
        Column("version", "sc:Text", "Its version."),
        Column("weights", "sc:Text", "What tells its weights apart."),
        Column("kind", "sc:Text", "The kind of question."),
        Column("variant", "sc:Text", "Which question of that kind about the instance."),
        Column("caption_rule", "sc:Text", "The rule that made the captions that the model read."),
        Column("is_right", "sc:Text", "Whether it was right, true or false; empty where nobody knows."),
        Column("scores", "sc:Text", "The score of every option, as a JSON object; empty where the source has none."),
        Column("key", "sc:Text", "The instance, as in the files of instances."),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(PREDICTION_COLUMNS)

    def write(self, row: GivenPrediction, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in prediction_record(row).values()])
