"""`predictions-jsonl`: predictions of models, one JSON object per line, unescaped."""

import json
from typing import IO, Literal

from results.exporting.base import TextWriter
from results.exporting.columns import TYPED_PREDICTION
from results.exporting.rows import GivenPrediction, prediction_record


class PredictionsJsonl(TextWriter):
    title = "All predictions of models, JSONL"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.jsonl"
    content_type = "application/jsonl"
    columns = TYPED_PREDICTION

    def write(self, row: GivenPrediction, out: IO[str]) -> None:
        out.write(json.dumps(prediction_record(row), ensure_ascii=False) + "\n")
