"""The export formats, by name. A new format is one file here, its test, and one line of the registry."""

from functools import cache
from importlib import import_module

from results.exporting.base import Column, ReadImage, Write, Writer

FORMATS = {
    "jsonl": "results.exporting.jsonl.Jsonl",
    "csv": "results.exporting.csv.Csv",
    "parquet": "results.exporting.parquet.Parquet",
    "hf": "results.exporting.hf.HuggingFace",
    "harness": "results.exporting.harness.Harness",
    "clip-benchmark": "results.exporting.clip_benchmark.ClipBenchmark",
    "imagecode": "results.exporting.imagecode.ImageCode",
    "responses": "results.exporting.responses.Responses",
    "decisions": "results.exporting.decisions.Decisions",
    "ratings": "results.exporting.ratings.Ratings",
    "predictions": "results.exporting.predictions.Predictions",
    "predictions-jsonl": "results.exporting.predictions_jsonl.PredictionsJsonl",
    "predictions-parquet": "results.exporting.predictions_parquet.PredictionsParquet",
    "conditions": "results.exporting.conditions.Conditions",
    "events": "results.exporting.events.Events",
}


@cache
def get_writer(name: str) -> Writer:
    """Return the writer of the format called `name`. Raises KeyError for a name that is not in the registry."""
    module, _, attribute = FORMATS[name].rpartition(".")
    writer: Writer = getattr(import_module(module), attribute)()
    return writer


__all__ = ["FORMATS", "Column", "ReadImage", "Write", "Writer", "get_writer"]
