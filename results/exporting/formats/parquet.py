"""`parquet`: accepted instances as one Parquet file with typed columns; images by name and SHA-256.

What the JSONL holds, with votes, roles and captions by role as lists, because a Parquet file has the same columns in
every row.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from results.exporting.columnar import ParquetWriter
from results.exporting.columns import INSTANCE
from results.exporting.rows import INSTANCE_COLUMNS, AcceptedInstance, instance_record

if TYPE_CHECKING:
    import pyarrow as pa


class Parquet(ParquetWriter):
    title = "Accepted items, Parquet"
    rows: Literal["instances"] = "instances"
    filename = "instances.parquet"
    columns = INSTANCE

    def record(self, row: AcceptedInstance) -> dict[str, Any]:
        record = instance_record(row)
        for name in ("original_captions", "captions"):
            record[name] = [{"role": role, "text": text} for role, text in record[name].items()]
        record["pair_roles"] = [{"column": column, "role": role} for column, role in record["pair_roles"].items()]
        record["votes"] = _votes(record["votes"])
        for name in ("soft_labels", "posterior"):
            record[name] = [{"option": option, "share": share} for option, share in record[name].items()]
        record["questions"] = [question | {"votes": _votes(question["votes"])} for question in record["questions"]]
        return record

    def schema(self) -> "pa.Schema":
        # Takes a quarter of a second and 40 MB, so the web process never loads it.
        import pyarrow as pa

        image = pa.struct(
            [
                *((name, pa.string()) for name in ("role", "filename", "sha256", "source", "licence", "generator")),
                *((name, pa.int32()) for name in ("position", "width", "height")),
                ("file", pa.string()),
            ]
        )
        votes = pa.list_(pa.struct([("option", pa.string()), ("answers", pa.int32())]))
        shares = pa.list_(pa.struct([("option", pa.string()), ("share", pa.float64())]))
        question = pa.struct(
            [
                *((name, pa.string()) for name in ("task", "kind", "variant", "rule", "winner")),
                *(("settled", pa.bool_()), ("answers", pa.int32()), ("votes", votes)),
            ]
        )
        captions = pa.list_(pa.struct([("role", pa.string()), ("text", pa.string())]))
        types = {
            "answers": pa.int32(),
            "source_row": pa.int64(),
            "settled": pa.bool_(),
            "simulated": pa.bool_(),
            "original_captions": captions,
            "captions": captions,
            "pair_roles": pa.list_(pa.struct([("column", pa.string()), ("role", pa.string())])),
            "votes": votes,
            "soft_labels": shares,
            "posterior": shares,
            "difficulty": pa.float64(),
            "questions": pa.list_(question),
            "images": pa.list_(image),
        }
        return pa.schema([(name, types.get(name, pa.string())) for name in INSTANCE_COLUMNS])


def _votes(votes: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"option": option, "answers": answers} for option, answers in votes.items()]
