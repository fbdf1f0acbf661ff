"""Registry of import formats. A new format is one file, its test, and two lines here."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from pkgutil import resolve_name
from typing import BinaryIO

from studies.importing.base import Importer, Note, Record, RowProblem, SourceImage
from studies.importing.mapping import is_picture

IMPORTERS = {
    "bivlc-manifest": "studies.importing.bivlc_manifest.read",
    "bivlc": "studies.importing.bivlc.read",
    "sugarcrepe": "studies.importing.sugarcrepe.read",
    "pairs": "studies.importing.pairs.read",
    "aro": "studies.importing.aro.read",
    "rococo": "studies.importing.rococo.read",
    "imagecode": "studies.importing.imagecode.read",
    "jsonl": "studies.importing.jsonl.read",
    "table": "studies.importing.table.read",
}

TITLES = {
    "bivlc-manifest": "BiVLC, list for annotators",
    "bivlc": "BiVLC, as released",
    "sugarcrepe": "SugarCrepe",
    "pairs": "Pairs of images and captions",
    "aro": "ARO",
    "rococo": "RoCOCO",
    "imagecode": "ImageCoDe",
    "jsonl": "Lineup, JSON Lines",
    "table": "Any table, by its columns",
}

# The format that reads any table by a mapping of its columns.
TABLE = "table"
# Rows that are read to recognise the format of a file.
ROWS_RECOGNISED = 3


@cache
def get_importer(name: str) -> Importer:
    """Return the importer called `name`. Raises KeyError for a name that is not in the registry."""
    importer: Importer = resolve_name(IMPORTERS[name])
    return importer


def make_importer(name: str, mapping: Mapping[str, str], folder: str = "") -> Importer:
    """Return the importer called `name`; that of tables reads columns by `mapping`, in a file of `folder`."""
    if name != TABLE:
        return get_importer(name)
    read_table: Callable[..., Iterator[Record | Note | RowProblem]] = get_importer(name)
    return partial(read_table, mapping=mapping, folder=folder)


def likely_format(stream: BinaryIO) -> str:
    """Return the first format of the registry that reads the first rows of a file without a problem, or `table`.

    A format that leaves the pictures of a row unread does not count.
    """
    for name in IMPORTERS:
        found = _first_rows(name, stream)
        if found and not any(isinstance(item, RowProblem) or _leaves_pictures(item) for item in found):
            return name
    return TABLE


def problem_with_format(name: str, stream: BinaryIO) -> RowProblem | None:
    """Return the first problem of a file that has not one good row among the first in the format `name`."""
    found = _first_rows(name, stream)
    problems = [item for item in found if isinstance(item, RowProblem)]
    return problems[0] if problems and len(problems) == len(found) else None


def _first_rows(name: str, stream: BinaryIO) -> list[Record | Note | RowProblem]:
    stream.seek(0)
    return list(islice(get_importer(name)(stream), ROWS_RECOGNISED))


def _leaves_pictures(item: Record | Note) -> bool:
    if isinstance(item, Note) or item.images:
        return False
    return any(map(is_picture, item.reference.get("other", {}).values()))


def format_title(name: str) -> str:
    """Return a format in words with its name behind; the name alone for a format that is gone."""
    if name not in IMPORTERS:
        return name
    return f"{TITLES.get(name, name.replace('-', ' ').capitalize())} ({name})"


def describe_format(name: str) -> str:
    """Return the description of a format: the first line of its module's docstring."""
    module, _, _ = IMPORTERS[name].rpartition(".")
    return (resolve_name(module).__doc__ or "").strip().partition("\n")[0]


__all__ = [
    "IMPORTERS",
    "TABLE",
    "Importer",
    "Note",
    "Record",
    "RowProblem",
    "SourceImage",
    "describe_format",
    "format_title",
    "get_importer",
    "likely_format",
    "make_importer",
    "problem_with_format",
]
