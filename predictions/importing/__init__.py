"""Register the formats of predictions by name; a new format is one file, its test, and one line here."""

from functools import cache
from pkgutil import resolve_name

from predictions.importing.base import Answer, Reader, Row

FORMATS = {
    "bivlc-results": "predictions.importing.bivlc_results.read",
    "sugarcrepe-results": "predictions.importing.sugarcrepe_results.read",
    "sugarcrepe-answers": "predictions.importing.sugarcrepe_answers.read",
    "scores": "predictions.importing.scores.read",
}


@cache
def get_reader(name: str) -> Reader:
    """Return the reader of the format called `name`. Raises KeyError for a name that is not in the registry."""
    reader: Reader = resolve_name(FORMATS[name])
    return reader


__all__ = ["FORMATS", "Answer", "Reader", "Row", "get_reader"]
