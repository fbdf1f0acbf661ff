"""`hf`: a Hugging Face dataset folder with the images inside, in the columns of the released BiVLC and four more.

`datasets.load_dataset(folder)` opens it. Images are embedded in Parquet shards as they are stored, one set of shards
per split; instances without a split are "test". `key` is what answers and decisions call the instance, too.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from results.exporting.base import DEFAULT_SPLIT, Column, ReadImage, Write, Writer, once_per_item
from results.exporting.rows import IMAGE_ROLES, AcceptedInstance, ExportedImage
from results.exporting.shards import Shards

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (
    Column("image", "sc:ImageObject", "The image that the caption describes."),
    Column("caption", "sc:Text", "The caption."),
    Column("negative_caption", "sc:Text", "The caption after a small change of meaning."),
    Column("negative_image", "sc:ImageObject", "The image that the negative caption describes."),
    Column("type", "sc:Text", "How the caption was changed."),
    Column("subtype", "sc:Text", "What was changed in it."),
    Column("key", "sc:Text", "The name of the instance, as in the annotations."),
    Column("simulated", "sc:Boolean", "Whether a program gave one of the counted answers."),
    Column("item", "sc:Text", "The part of the instance that was accepted, such as one image of a set; else empty."),
    Column("captions", "sc:Text", "All captions of the instance by role, as a JSON object."),
)
_DTYPES = {"sc:Text": "string", "sc:Boolean": "bool"}
# Metadata that tells the `datasets` library which columns hold images.
FEATURES: Mapping[str, Mapping[str, str]] = {
    column.name: {"_type": "Image"}
    if column.type == "sc:ImageObject"
    else {"dtype": _DTYPES[column.type], "_type": "Value"}
    for column in COLUMNS
}


class HuggingFace(Writer):
    title = "Accepted items, Hugging Face folder with images"
    rows: Literal["instances"] = "instances"
    filename = "hf"
    is_folder = True
    data_files = "data/*.parquet"
    content_type = "application/vnd.apache.parquet"
    columns = COLUMNS
    features = FEATURES

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        found = sorted({name.partition("-")[0] for name in names})
        return {split: f"data/{split}-*" for split in found}

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        (path / "data").mkdir(parents=True)
        splits: dict[str, Shards] = {}

        def write(row: AcceptedInstance) -> int:
            name = split_name(row.split)
            if name not in splits:
                splits[name] = _split(path / "data", name)
            record = _record(row, read_image)
            splits[name].write(record, sum(len(record[role]["bytes"]) for role in IMAGE_ROLES if record[role]))
            return 1

        try:
            yield once_per_item(write)
        finally:
            for split in splits.values():
                split.close()
        if not splits:
            _split(path / "data", DEFAULT_SPLIT).close()


def _split(folder: Path, name: str) -> Shards:
    return Shards(folder, name, _schema(), pictures=IMAGE_ROLES)


def split_name(split: str) -> str:
    """Return the queryable name of a split: letters, digits and underscores.

    Example: "" is "test", "val-2" is "val_2".
    """
    return re.sub(r"\W", "_", split) or DEFAULT_SPLIT


def _record(row: AcceptedInstance, read_image: ReadImage) -> dict[str, Any]:
    firsts = row.first_images
    pictures = {role: _picture(firsts.get(role), read_image) for role in IMAGE_ROLES}
    captions = {role: row.captions.get(role) or None for role in ("caption", "negative_caption")}
    about = {"type": row.type, "subtype": row.subtype, "key": row.key, "simulated": row.simulated, "item": row.item}
    by_role = json.dumps(row.captions, ensure_ascii=False, sort_keys=True)
    return pictures | captions | about | {"captions": by_role}


def _picture(image: ExportedImage | None, read_image: ReadImage) -> dict[str, Any] | None:
    if image is None or image.sha256 is None:
        return None
    return {"bytes": read_image(image.sha256), "path": Path(image.filename).name or image.sha256}


def _schema() -> "pa.Schema":
    import pyarrow as pa

    types: dict[str, Any] = {
        "sc:ImageObject": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
        "sc:Boolean": pa.bool_(),
    }
    features = {"info": {"features": FEATURES}}
    return pa.schema(
        [(column.name, types.get(column.type, pa.string())) for column in COLUMNS],
        metadata={"huggingface": json.dumps(features)},
    )
