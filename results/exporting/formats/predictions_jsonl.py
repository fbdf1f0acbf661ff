"""`predictions-jsonl`: what models answered, one JSON object a line, exactly as stored."""

import json
from typing import IO, Literal

from results.exporting.base import TextWriter
from results.exporting.column_descriptions import TYPED_PREDICTION_DESCRIPTIONS
from results.exporting.rows import GivenPrediction, prediction_record


class PredictionsJsonl(TextWriter):
    title = "All predictions of models, JSONL"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.jsonl"
    content_type = "application/jsonl"
    columns = TYPED_PREDICTION_DESCRIPTIONS

    def write(self, row: GivenPrediction, out: IO[str]) -> None:
        out.write(json.dumps(prediction_record(row), ensure_ascii=False) + "\n")
