"""Makes small source files and images for the tests of importing, and imports them."""

import csv
import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image
from pyarrow import ipc, parquet

from studies.actions.imports.import_state import ImportSummary
from studies.actions.imports.importer import import_files
from studies.importing.bivlc_manifest import COLUMNS
from studies.models import Project
from tests.factories import NOON


class NamedBytes(BytesIO):
    """Bytes that come from a file of some name."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def picture_bytes(
    colour: str = "teal", *, size: tuple[int, int] = (40, 30), format: str = "JPEG", **save: Any
) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, colour).save(buffer, format, **save)
    return buffer.getvalue()


def manifest_row(index: int = 0, **cells: str) -> dict[str, str]:
    """Return a row of a BiVLC manifest whose images are 0.jpg to 3.jpg."""
    row = {
        "filename": "000000219578.jpg",
        "caption": "A cat on a couch.",
        "negative_caption": "A dog on a couch.",
        "type": "replace",
        "subtype": "obj",
        "index": str(index),
        **{f"hn_img_{number}": f"{number}.jpg" for number in range(4)},
    }
    return row | cells


def manifest_bytes(*rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> bytes:
    buffer = StringIO()
    writer = csv.DictWriter(buffer, columns, quoting=csv.QUOTE_ALL, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def json_lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def parquet_bytes(rows: list[dict[str, Any]], schema: Any = None, **how: Any) -> bytes:
    """Return a Parquet file; the other keywords are those of pyarrow's `write_table`."""
    out = BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema), out, **how)
    return out.getvalue()


def import_file(
    file: Path,
    images_dir: Path | None = None,
    *,
    to: Project | None = None,
    format: str = "bivlc-manifest",
    **more: Any,
) -> ImportSummary:
    """Import a file, into the project "cats" if no other is named."""
    project = to or Project.objects.get_or_create(slug="cats", name="Cats")[0]
    (summary,) = import_files(
        project=project, files=[file], format=format, by="tests", now=NOON, images_dir=images_dir, **more
    )
    return summary


def write_images(folder: Path) -> Path:
    """Write 0.jpg to 3.jpg, four different pictures."""
    folder.mkdir(exist_ok=True)
    for number, colour in enumerate(("red", "green", "blue", "white")):
        (folder / f"{number}.jpg").write_bytes(picture_bytes(colour))
    return folder


def arrow_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return an Arrow stream, as `save_to_disk` of the `datasets` library writes it."""
    table = pa.Table.from_pylist(rows)
    out = BytesIO()
    with ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    return out.getvalue()
