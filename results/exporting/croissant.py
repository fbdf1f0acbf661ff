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

RECORDS = "instances"
# As mlcroissant writes it for version 1.0.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

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


@dataclass(frozen=True)
class FileDescription:
    """A file with its own record set, in JSON-LD."""

    file: Mapping[str, Any]
    record_set: Mapping[str, Any]

    @property
    def path(self) -> str:
        return str(self.file["@id"])


def croissant(card: DatasetCard, files: Sequence[DataFile], others: Sequence[FileDescription] = ()) -> str:
    """Return the description of a dataset of these files as JSON-LD.

    Files with the same columns are parts of one record set, in order, unless `about` separates them. `others` have
    descriptions already; all are sorted by name.
    """
    metadata: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": card.name,
        "description": " ".join(filter(None, (card.description, card.notice))),
        "version": version_of(card.release),
        **_known(license=address(card.licence), citeAs=card.citation, datePublished=card.made_on),
        **_responsible(card),
    }
    parts = _parts(files)
    metadata["distribution"] = [_file_object(file) for file in files]
    metadata["distribution"] += [_file_set(name, part) for name, part in parts if len(part) > 1]
    metadata["recordSet"] = [_record_set(name, part) for name, part in parts]
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


def _known(**properties: str) -> dict[str, str]:
    return {name: value for name, value in properties.items() if value}


def _responsible(card: DatasetCard) -> dict[str, Any]:
    return {
        "rai:dataCollection": card.collection,
        "rai:dataAnnotationProtocol": list(card.protocol),
        "rai:dataAnnotationPlatform": ["Lineup, self-hosted"],
        "rai:annotationsPerItem": card.annotations_per_item,
        **({"rai:dataAnnotationAnalysis": list(card.analysis)} if card.analysis else {}),
        "rai:dataLimitations": list(card.limits),
        "rai:personalSensitiveInformation": [card.privacy],
    }


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


def _encoding(content_type: str) -> str:
    bare = content_type.partition(";")[0]
    return _ENCODINGS.get(bare, bare)


def _file_object(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _encoding(file.content_type),
        "sha256": file.sha256,
    }


def _file_set(name: str, files: Sequence[DataFile]) -> dict[str, Any]:
    # Without a container: mlcroissant then finds the files beside the description.
    return {
        "@type": "cr:FileSet",
        "@id": f"{name}-files",
        "name": f"{name}-files",
        "encodingFormat": _encoding(files[0].content_type),
        "includes": [file.path for file in files],
    }


def _record_set(name: str, files: Sequence[DataFile]) -> dict[str, Any]:
    source = {"fileSet": {"@id": f"{name}-files"}} if len(files) > 1 else {"fileObject": {"@id": files[0].path}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        **_known(description=files[0].about),
        "field": [_field(name, column, source) for column in files[0].columns],
    }


def _field(records: str, column: Column, source: dict[str, Any]) -> dict[str, Any]:
    # An embedded image is a struct of its bytes and its name.
    inside = {"transform": {"jsonPath": "bytes"}} if column.type == "sc:ImageObject" else {}
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column.name}",
        "name": f"{records}/{column.name}",
        "description": column.description,
        "dataType": column.type,
        "source": source | {"extract": {"column": column.name}} | inside,
    }
