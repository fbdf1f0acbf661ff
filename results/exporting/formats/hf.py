"""`hf`: a Hugging Face dataset folder with the images inside, in the columns of the released BiVLC and some more.

`datasets.load_dataset(folder)` opens it. Images are embedded in Parquet shards as they are stored, one set of shards
per split; instances without a split are "test". `key` is what answers and decisions call the instance, too. Images that
are in no column of the pair are in the list `other_images`, with their roles.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from results.exporting.base import DEFAULT_SPLIT, Column, ReadImage, Write, Writer, once_per_item
from results.exporting.columns import DIFFICULTY, NESTED, OF_SOURCE, POSTERIOR_METHOD
from results.exporting.rows import IMAGE_COLUMNS, AcceptedInstance, ExportedImage, instance_record
from results.exporting.shards import Shards

if TYPE_CHECKING:
    import pyarrow as pa

OTHER_IMAGES = "other_images"
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
    Column(
        OTHER_IMAGES,
        NESTED,
        "All images of the instance that are not in image or negative_image: role, position, file name and image.",
    ),
    Column(
        "pair_roles",
        "sc:Text",
        "The roles of what the columns image, caption, negative_image and negative_caption hold, as a JSON object.",
    ),
    *OF_SOURCE,
    Column("soft_labels", "sc:Text", "Option -> share of the counted answers, as a JSON object."),
    Column("posterior", "sc:Text", "Option -> probability that it is right, as a JSON object."),
    POSTERIOR_METHOD,
    DIFFICULTY,
)
_DTYPES = {"sc:Text": "string", "sc:Boolean": "bool", "sc:Float": "float64"}
_OTHER_IMAGE: Mapping[str, Mapping[str, str]] = {
    "role": {"dtype": "string", "_type": "Value"},
    "position": {"dtype": "int32", "_type": "Value"},
    "filename": {"dtype": "string", "_type": "Value"},
    "image": {"_type": "Image"},
}
# Metadata that tells the `datasets` library which columns hold images.
FEATURES: Mapping[str, Any] = {
    column.name: {"_type": "Image"}
    if column.type == "sc:ImageObject"
    # A list of one is how every version of `datasets` reads a list.
    else [_OTHER_IMAGE]
    if column.name == OTHER_IMAGES
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
            splits[name].write(record, _size(record))
            return 1

        try:
            yield once_per_item(write)
        finally:
            for split in splits.values():
                split.close()
        if not splits:
            _split(path / "data", DEFAULT_SPLIT).close()


def _split(folder: Path, name: str) -> Shards:
    return Shards(folder, name, _schema(), pictures=(*IMAGE_COLUMNS, OTHER_IMAGES))


def split_name(split: str) -> str:
    """Return the queryable name of a split: letters, digits and underscores.

    Example: "" is "test", "val-2" is "val_2".
    """
    return re.sub(r"\W", "_", split) or DEFAULT_SPLIT


def _record(row: AcceptedInstance, read_image: ReadImage) -> dict[str, Any]:
    shown = row.pair_images
    pictures = {column: _picture(shown.get(column), read_image) for column in IMAGE_COLUMNS}
    captions = {column: caption or None for column, caption in row.pair_captions.items()}
    others = [
        {"role": image.role, "position": image.position, "filename": image.filename}
        | {"image": _picture(image, read_image)}
        for image in row.other_images
    ]
    about = {name: getattr(row, name) for name in ("type", "subtype", "key", "simulated", "item", "target", "fields")}
    by_role = {name: _json(getattr(row, name)) for name in ("captions", "pair_roles")}
    record = instance_record(row)
    labels = {name: _json(record[name]) for name in ("soft_labels", "posterior")}
    estimated = {"posterior_method": row.posterior_method, "difficulty": row.difficulty}
    return pictures | captions | about | by_role | labels | estimated | {OTHER_IMAGES: others}


def _json(by_role: Mapping[str, Any]) -> str:
    return json.dumps(by_role, ensure_ascii=False, sort_keys=True)


def _size(record: Mapping[str, Any]) -> int:
    """Return the number of bytes of the images in a record."""
    pictures = [*(record[column] for column in IMAGE_COLUMNS), *(each["image"] for each in record[OTHER_IMAGES])]
    return sum(len(picture["bytes"]) for picture in pictures if picture)


def _picture(image: ExportedImage | None, read_image: ReadImage) -> dict[str, Any] | None:
    if image is None or image.sha256 is None:
        return None
    return {"bytes": read_image(image.sha256), "path": Path(image.filename).name or image.sha256}


def _schema() -> "pa.Schema":
    import pyarrow as pa

    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    other = pa.struct([("role", pa.string()), ("position", pa.int32()), ("filename", pa.string()), ("image", picture)])
    types: dict[str, Any] = {
        "sc:ImageObject": picture,
        "sc:Boolean": pa.bool_(),
        "sc:Float": pa.float64(),
        NESTED: pa.list_(other),
    }
    features = {"info": {"features": FEATURES}}
    return pa.schema(
        [(column.name, types.get(column.type, pa.string())) for column in COLUMNS],
        metadata={"huggingface": json.dumps(features)},
    )
