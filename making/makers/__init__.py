"""Registry of makers. A new maker is one file and one line here."""

from functools import cache
from pkgutil import resolve_name

from making.makers.base import (
    FoundImage,
    Images,
    LoadedMaker,
    Made,
    MadeImage,
    MadeText,
    Maker,
    MakerIdentity,
    NothingMade,
    Request,
)

MAKERS = {
    "words": "making.makers.words.Words",
    "diffusers": "making.makers.diffusers.Diffusers",
    "mix": "making.makers.image_alterations.Mix",
    "patch": "making.makers.image_alterations.Patch",
    "nearest": "making.makers.nearest.Nearest",
    "llm": "making.makers.llm.Llm",
}


@cache
def get_maker(family: str) -> type[Maker]:
    """Return the class of a family of makers. Raises KeyError for a name that is not in the registry."""
    maker: type[Maker] = resolve_name(MAKERS[family])
    return maker


def maker_names() -> list[str]:
    """Return the names of all makers, FAMILY:POLICY."""
    return [f"{family}:{policy}" for family in MAKERS for policy in get_maker(family).policies]


__all__ = [
    "MAKERS",
    "FoundImage",
    "Images",
    "LoadedMaker",
    "Made",
    "MadeImage",
    "MadeText",
    "Maker",
    "MakerIdentity",
    "NothingMade",
    "Request",
    "get_maker",
    "maker_names",
]
