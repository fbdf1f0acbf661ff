"""How a report is written, by name: each format makes named files of one report."""

from collections.abc import Callable, Mapping
from importlib import import_module

from results.reports.base import Report

FORMATS = {
    "md": "results.reports.formats.md.files",
    "json": "results.reports.formats.json.files",
    "tex": "results.reports.formats.tex.files",
    "html": "results.reports.formats.html.files",
}
# The files of a report: name -> text. The first is the report itself.
Files = Mapping[str, str]


def get_files(name: str) -> Callable[[Report], Files]:
    """Return the writer of the format called `name`. Raises KeyError for an unknown name."""
    module, _, attribute = FORMATS[name].rpartition(".")
    files: Callable[[Report], Files] = getattr(import_module(module), attribute)
    return files


__all__ = ["FORMATS", "Files", "get_files"]
