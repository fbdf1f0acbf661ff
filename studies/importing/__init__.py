"""Registry of import formats. A new format is one file, its test, and one line here."""

from functools import cache
from pkgutil import resolve_name

from studies.importing.base import Importer, Note, Record, RowProblem, SourceImage

IMPORTERS = {
    "bivlc-manifest": "studies.importing.bivlc_manifest.read",
    "bivlc": "studies.importing.bivlc.read",
    "sugarcrepe": "studies.importing.sugarcrepe.read",
    "pairs": "studies.importing.pairs.read",
    "aro": "studies.importing.aro.read",
    "rococo": "studies.importing.rococo.read",
    "imagecode": "studies.importing.imagecode.read",
    "jsonl": "studies.importing.jsonl.read",
}


@cache
def get_importer(name: str) -> Importer:
    """Return the importer called `name`. Raises KeyError for a name that is not in the registry."""
    importer: Importer = resolve_name(IMPORTERS[name])
    return importer


def about(name: str) -> str:
    """Return the description of a format: the first line of its module's docstring."""
    module, _, _ = IMPORTERS[name].rpartition(".")
    return (resolve_name(module).__doc__ or "").strip().partition("\n")[0]


__all__ = ["IMPORTERS", "Importer", "Note", "Record", "RowProblem", "SourceImage", "about", "get_importer"]
