"""Croissant 1.0, the machine-readable description of a dataset, with its responsible-AI extension as far as known.

See http://docs.mlcommons.org/croissant. `mlcroissant` validates it and loads the records by it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.exporting.base import Column
from results.exporting.dataset_card import DatasetCard
from results.exporting.licences import address
from results.exporting.text_templates import render

RECORDS = "instances"
# Croissant's own names where they are not the registered ones.
_ENCODINGS = {"application/vnd.apache.parquet": "application/x-parquet", "application/jsonl": "application/jsonlines"}


@dataclass(frozen=True)
class DataFile:
    """A file of the dataset. `columns`: those to describe; without any, the file is only listed.

    `about`: what its records are, if they are a separate record set; "" lets files share one.
    """

    path: str
    sha256: str
    size: int
    content_type: str
    columns: Sequence[Column] = ()
    about: str = ""

    @property
    def encoding(self) -> str:
        bare = self.content_type.partition(";")[0]
        return _ENCODINGS.get(bare, bare)


@dataclass(frozen=True)
class FileDescription:
    """A file with its own record set, in JSON-LD."""

    file: Mapping[str, Any]
    record_set: Mapping[str, Any]

    @property
    def path(self) -> str:
        return str(self.file["@id"])


def croissant(
    card: DatasetCard, files: Sequence[DataFile], others: Sequence[FileDescription] = (), *, images: str = ""
) -> str:
    """Return the description of a dataset of these files as JSON-LD.

    Files with the same columns are parts of one record set, in order, unless `about` separates them. `others` have
    descriptions already; all are sorted by name. images: pattern of the image files beside the data, or "".
    """
    text = render(
        "croissant.json.jinja",
        card=card,
        licence=address(card.licence),
        version=version_of(card.release),
        files=files,
        parts=_parts(files),
        images=images,
    )
    metadata = json.loads(text)
    if others:
        metadata["distribution"] = sorted([*metadata["distribution"], *(each.file for each in others)], key=_by_name)
        metadata["recordSet"] = sorted([*metadata["recordSet"], *(each.record_set for each in others)], key=_by_name)
    return json.dumps(metadata, ensure_ascii=False, indent=1) + "\n"


def read_descriptions(text: str) -> list[FileDescription]:
    """Return the files with their own record set in one of our descriptions; none for any other text."""
    try:
        metadata = json.loads(text)
        files = {file["@id"]: file for file in metadata["distribution"] if file["@type"] == "cr:FileObject"}
        return [
            FileDescription(files[source], found)
            for found in metadata["recordSet"]
            if (source := found["field"][0]["source"].get("fileObject", {}).get("@id")) in files
        ]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return []


def version_of(release: str) -> str:
    """Return the name of a release as a version of three numbers.

    Example: "v2" is "2.0.0"; a name that is no number, and none at all, are "0.0.0".
    """
    found = re.fullmatch(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?", release)
    return ".".join(str(int(number or 0)) for number in found.groups()) if found else "0.0.0"


def _parts(files: Sequence[DataFile]) -> list[tuple[str, list[DataFile]]]:
    """Return record set -> its files. The set of the first file has the name for the dataset's records.

    The same table in two formats is two record sets: one named after its file, the next after file and format.
    """
    own: list[tuple[str, list[DataFile]]] = []
    grouped: dict[tuple[str, str, Sequence[Column]], list[DataFile]] = {}
    for file in files:
        if file.columns and file.about:
            own.append((file.path.replace(".", "-"), [file]))
        elif file.columns:
            grouped.setdefault((file.path.rpartition("/")[0], file.content_type, file.columns), []).append(file)
    named: dict[str, list[DataFile]] = {}
    for found in grouped.values():
        filename = found[0].path.rpartition("/")[2]
        name = RECORDS if found[0] is files[0] else filename.partition(".")[0]
        named[name if name not in named else filename.replace(".", "-")] = found
    return [*own, *named.items()]


def _by_name(described: Mapping[str, Any]) -> str:
    return str(described["@id"])
