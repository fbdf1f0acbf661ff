"""How a report is written, by name: each format makes named files of one report."""

from collections.abc import Callable, Mapping
from importlib import import_module

from results.reports.base import Report
from results.reports.charts import Drawing

FORMATS = {
    "md": "results.reports.formats.md.files",
    "json": "results.reports.formats.json.files",
    "tex": "results.reports.formats.tex.files",
    "html": "results.reports.formats.html.files",
}
# The files of a report: name -> content. The first is the report itself.
Files = Mapping[str, bytes]
# The drawn charts of a report, by name. A file says which charts are missing; without any it has no charts at all.
Drawings = Mapping[str, Drawing]
Writer = Callable[[Report, Drawings | None], Files]


def get_files(name: str) -> Writer:
    """Return the writer of the format called `name`. Raises KeyError for an unknown name."""
    module, _, attribute = FORMATS[name].rpartition(".")
    files: Writer = getattr(import_module(module), attribute)
    return files


__all__ = ["FORMATS", "Drawings", "Files", "Writer", "get_files"]
