"""Study files that come with the platform: protocols of papers to copy and change. Pure."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from studies.design import read_design

_FOLDER = Path(__file__).resolve().parent / "designs"
# Line that tells editors where the schema is; the path is wrong in a copy.
_FOR_EDITORS = "# yaml-language-server:"
# How the line after it begins, which has the name on pages.
_NAME = "# Name: "


class ShippedDesign(NamedTuple):
    """A study file to copy.

    name: its file name without ending, used in addresses. label: its name on pages. kind: that of its first part.
    title: as annotators read it. about: its opening comment. source: its text.
    """

    name: str
    label: str
    kind: str
    title: str
    about: str
    source: str


@lru_cache(maxsize=1)
def shipped_designs() -> dict[str, ShippedDesign]:
    """Return the study files of `studies/designs`, sorted: name -> file."""
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.yaml"))}


def _read(path: Path) -> ShippedDesign:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(_FOR_EDITORS)]
    label = lines.pop(0).removeprefix(_NAME)
    first = next(place for place, line in enumerate(lines) if not line.startswith("#"))
    about = " ".join(line.removeprefix("#").strip() for line in lines[:first])
    source = "\n".join(lines) + "\n"
    design = read_design(source)
    return ShippedDesign(path.stem, label, design.parts[0].kind, design.title, about, source)
