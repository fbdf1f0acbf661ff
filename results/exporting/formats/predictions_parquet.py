"""`predictions-parquet`: predictions of models, a Parquet file with typed columns; `scores` is a list."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from results.exporting.base import OneFile, ReadImage, Write, one_for_each
from results.exporting.columnar import TableFile
from results.exporting.columns import TYPED_PREDICTION
from results.exporting.rows import PREDICTION_COLUMNS, GivenPrediction, prediction_record

if TYPE_CHECKING:
    import pyarrow as pa


class PredictionsParquet(OneFile):
    title = "All predictions of models, Parquet"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.parquet"
    content_type = "application/vnd.apache.parquet"
    columns = TYPED_PREDICTION

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        with TableFile(path, _schema()) as table:
            yield one_for_each(lambda row: table.write(_record(row)))


def _record(row: GivenPrediction) -> dict[str, Any]:
    record = prediction_record(row)
    if row.scores is not None:
        record["scores"] = [{"option": option, "score": score} for option, score in record["scores"].items()]
    return record


def _schema() -> "pa.Schema":
    import pyarrow as pa

    types = {
        "is_right": pa.bool_(),
        "scores": pa.list_(pa.struct([("option", pa.string()), ("score", pa.float64())])),
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in PREDICTION_COLUMNS])
