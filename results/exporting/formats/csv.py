"""`csv`: accepted instances as a table, for people with a spreadsheet.

A view of the JSONL: text that a spreadsheet would run as a formula gets an apostrophe in front (see
`results.exporting.spreadsheets`), and the list of images becomes columns about the two images that have a role.
"""

import csv
from collections.abc import Iterable
from typing import IO, Any, Literal

from results.exporting.base import CsvWriter
from results.exporting.columns import TYPED_INSTANCE
from results.exporting.rows import IMAGE_ROLES, INSTANCE_COLUMNS, AcceptedInstance, instance_record

ORIGIN = ("source", "licence", "generator")
COLUMNS = (
    *(name for name in INSTANCE_COLUMNS if name != "images"),
    *(f"{role}_{about}" for role in IMAGE_ROLES for about in ORIGIN),
)


class Csv(CsvWriter):
    title = "Accepted items, CSV for spreadsheets"
    rows: Literal["instances"] = "instances"
    filename = "instances.csv"
    columns = TYPED_INSTANCE

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(COLUMNS)

    def values(self, row: AcceptedInstance) -> Iterable[Any]:
        record = instance_record(row) | _origins(row)
        return [record.get(name, "") for name in COLUMNS]


def _origins(row: AcceptedInstance) -> dict[str, Any]:
    return {
        f"{image.role}_{about}": getattr(image, about)
        for image in row.images
        if image.position == 0
        for about in ORIGIN
    }
