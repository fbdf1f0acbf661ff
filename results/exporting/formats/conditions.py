"""`conditions`: the conditions under which scores of predictions were computed, with details as JSON."""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import Column, CsvWriter
from results.exporting.rows import PredictionConditions


class Conditions(CsvWriter):
    title = "Conditions of the predictions, CSV"
    rows: Literal["conditions"] = "conditions"
    filename = "conditions.csv"
    columns = (
        Column("digest", "sc:Text", "Its name in predictions: the SHA-256 of the details as canonical JSON."),
        Column(
            "details",
            "sc:Text",
            "The model as it was loaded, the type of its numbers, the shape of its batches, preprocessing, libraries "
            "and device, as a JSON object.",
        ),
    )

    def values(self, row: PredictionConditions) -> Iterable[Any]:
        return (row.digest, row.details)
