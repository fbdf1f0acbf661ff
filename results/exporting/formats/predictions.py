"""`predictions`: predictions of models, with the score of every option if known."""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import CsvWriter
from results.exporting.columns import PREDICTION
from results.exporting.rows import GivenPrediction, prediction_record


class Predictions(CsvWriter):
    title = "All predictions of models, CSV"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.csv"
    columns = PREDICTION

    def values(self, row: GivenPrediction) -> Iterable[Any]:
        return prediction_record(row).values()
