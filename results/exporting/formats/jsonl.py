"""`jsonl`: accepted instances, one JSON object per line, UTF-8, unescaped. The canonical format."""

import json
from typing import IO, Literal

from results.exporting.base import TextWriter
from results.exporting.columns import INSTANCE
from results.exporting.rows import AcceptedInstance, instance_record


class Jsonl(TextWriter):
    title = "Accepted items, JSONL"
    rows: Literal["instances"] = "instances"
    filename = "instances.jsonl"
    content_type = "application/jsonl"
    columns = INSTANCE

    def write(self, row: AcceptedInstance, out: IO[str]) -> None:
        out.write(json.dumps(instance_record(row), ensure_ascii=False) + "\n")
