"""`csv`: accepted instances as a table, for people with a spreadsheet.

A view of the JSONL: text that a spreadsheet would run as a formula gets an apostrophe in front (see
`results.exporting.spreadsheets`), and the list of images becomes columns about the images of the pair, and the names of
the files of all images by role.
"""

from collections.abc import Iterable
from typing import Any, Literal

from results.exporting.base import Column, CsvWriter
from results.exporting.columns import INSTANCE, NESTED
from results.exporting.rows import IMAGE_COLUMNS, AcceptedInstance, instance_record

_ORIGIN = {"source": "The source", "licence": "The licence", "generator": "The generator"}
_NAMES = {"image": "the image", "negative_image": "the negative image"}
# In the order in which they were introduced: a column keeps its place.
_LAST = ("pair_roles", "target", "fields")
_NEWEST = ("soft_labels", "posterior", "posterior_method", "difficulty")
COLUMNS = (
    *(column for column in INSTANCE if column.name not in {"images", *_LAST, *_NEWEST}),
    *(
        Column(f"{column}_{about}", "sc:Text", f"{title} of {_NAMES[column]}.")
        for column in IMAGE_COLUMNS
        for about, title in _ORIGIN.items()
    ),
    *(column for column in INSTANCE if column.name in _LAST),
    *(
        Column(f"{column}_file", "sc:Text", f"The file of {_NAMES[column]} in the folder images of a release.")
        for column in IMAGE_COLUMNS
    ),
    Column("image_files", NESTED, "The files of all its images in the folder images of a release, by role."),
    *(column for column in INSTANCE if column.name in _NEWEST),
)


class Csv(CsvWriter):
    title = "Accepted items, CSV for spreadsheets"
    rows: Literal["instances"] = "instances"
    filename = "instances.csv"
    columns = COLUMNS

    def values(self, row: AcceptedInstance) -> Iterable[Any]:
        record = instance_record(row) | _about_images(row)
        return [record.get(column.name, "") for column in COLUMNS]


def _about_images(row: AcceptedInstance) -> dict[str, Any]:
    by_role: dict[str, list[str]] = {}
    for image in row.images:
        by_role.setdefault(image.role, []).append(image.file)
    about = {f"{column}_{name}": getattr(image, name) for column, image in row.pair_images.items() for name in _ORIGIN}
    files = {f"{column}_file": image.file for column, image in row.pair_images.items()}
    return about | files | {"image_files": dict(sorted(by_role.items()))}
