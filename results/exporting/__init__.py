"""The export formats, by name. A new format is one file here, its test, and one line of the registry."""

from functools import cache
from importlib import import_module
from typing import IO, Any, Literal, Protocol

FORMATS = {
    "jsonl": "results.exporting.jsonl.Jsonl",
    "csv": "results.exporting.csv.Csv",
    "responses": "results.exporting.responses.Responses",
}


class Writer(Protocol):
    """One format. `rows` says which rows it takes: accepted instances, or every response."""

    title: str
    rows: Literal["instances", "responses"]
    filename: str
    """The end of its files' names, after the name of the study and a dash."""
    content_type: str

    def start(self, out: IO[str]) -> None:
        """Write what comes before the first row."""

    def write(self, row: Any, out: IO[str]) -> None:
        """Write one row of `results.exporting.rows`."""


@cache
def get_writer(name: str) -> Writer:
    """Return the writer of the format called `name`. Raises KeyError for a name that is not in the registry."""
    module, _, attribute = FORMATS[name].rpartition(".")
    writer: Writer = getattr(import_module(module), attribute)()
    return writer


__all__ = ["FORMATS", "Writer", "get_writer"]
