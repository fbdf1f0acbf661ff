"""`predictions-parquet`: predictions of models, a Parquet file with typed columns; `scores` is a list."""

from typing import TYPE_CHECKING, Any, Literal

from results.exporting.columnar import ParquetWriter
from results.exporting.columns import TYPED_PREDICTION
from results.exporting.rows import PREDICTION_COLUMNS, GivenPrediction, prediction_record

if TYPE_CHECKING:
    import pyarrow as pa


class PredictionsParquet(ParquetWriter):
    title = "All predictions of models, Parquet"
    rows: Literal["predictions"] = "predictions"
    filename = "predictions.parquet"
    columns = TYPED_PREDICTION

    def record(self, row: GivenPrediction) -> dict[str, Any]:
        record = prediction_record(row)
        if row.scores is not None:
            record["scores"] = [{"option": option, "score": score} for option, score in record["scores"].items()]
        return record

    def schema(self) -> "pa.Schema":
        import pyarrow as pa

        types = {
            "is_right": pa.bool_(),
            "trained_here": pa.bool_(),
            "scores": pa.list_(pa.struct([("option", pa.string()), ("score", pa.float64())])),
        }
        return pa.schema([(name, types.get(name, pa.string())) for name in PREDICTION_COLUMNS])
