"""Export formats by name. A new format is one file of `formats`, its test, and one line of the registry."""

from functools import cache
from pkgutil import resolve_name

from results.exporting.base import Column, ReadImage, Write, Writer

FORMATS = {
    "jsonl": "results.exporting.formats.jsonl.Jsonl",
    "csv": "results.exporting.formats.csv.Csv",
    "parquet": "results.exporting.formats.parquet.Parquet",
    "hf": "results.exporting.formats.hf.HuggingFace",
    "harness": "results.exporting.formats.harness.Harness",
    "clip-benchmark": "results.exporting.formats.clip_benchmark.ClipBenchmark",
    "imagecode": "results.exporting.formats.imagecode.ImageCode",
    "responses": "results.exporting.formats.responses.Responses",
    "decisions": "results.exporting.formats.decisions.Decisions",
    "checks": "results.exporting.formats.checks.Checks",
    "ratings": "results.exporting.formats.ratings.Ratings",
    "predictions": "results.exporting.formats.predictions.Predictions",
    "predictions-jsonl": "results.exporting.formats.predictions_jsonl.PredictionsJsonl",
    "predictions-parquet": "results.exporting.formats.predictions_parquet.PredictionsParquet",
    "conditions": "results.exporting.formats.conditions.Conditions",
    "events": "results.exporting.formats.events.Events",
}


@cache
def get_writer(name: str) -> Writer:
    """Return the writer of the format called `name`. Raises KeyError for an unknown name."""
    writer: Writer = resolve_name(FORMATS[name])()
    return writer


__all__ = ["FORMATS", "Column", "ReadImage", "Write", "Writer", "get_writer"]
