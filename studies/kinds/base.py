"""What a kind of question is: how it is made from an instance, which options it has, and in what order."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class CannotAsk(Exception):
    """An instance lacks what the kind needs; the message says what, for the researcher."""


@dataclass(frozen=True)
class ImageFacts:
    """One image of an instance; `sha256` is None while its file is still awaited. Sizes in upright pixels."""

    sha256: str | None
    width: int
    height: int
    filename: str = ""


@dataclass(frozen=True)
class InstanceFacts:
    """An instance as kinds see it: captions by role, and the images of each role in order."""

    key: str
    captions: Mapping[str, str]
    images: Mapping[str, Sequence[ImageFacts]] = field(default_factory=dict)


class Kind(Protocol):
    """One kind of question. `content` is what `build` froze into the question at launch (plain JSON)."""

    name: str
    title: str
    instructions: str
    """The default instructions, Markdown."""
    rules: tuple[str, ...]
    """The acceptance rules that make sense for it; the first is the default."""
    ask_schema: Mapping[str, Any]
    """JSON Schema of the study file's `ask` section; defaults stand in it."""

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of the question about `instance`. Raises CannotAsk."""

    def shuffled_options(self, content: Mapping[str, Any]) -> list[str]:
        """Return the keys of the options whose order is random, in source order."""

    def fixed_options(self, content: Mapping[str, Any]) -> list[str]:
        """Return the keys of the options that always come last, in this order."""

    def accepted_value(self, content: Mapping[str, Any], winner: str) -> dict[str, Any]:
        """Return the columns that an accepted question adds to its instance, for export."""


def shown_order(kind: Kind, content: Mapping[str, Any], *, seed: str, annotator: int, question: int) -> list[str]:
    """Return all option keys in the order in which this annotator sees them.

    The same (seed, annotator, question) gives the same order on any machine and in any version of Python's
    hashing: the shuffle is seeded by a SHA-256 of the three.
    """
    digest = hashlib.sha256(f"{seed}|{annotator}|{question}".encode()).digest()
    keys = kind.shuffled_options(content)
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(keys)  # noqa: S311 (nothing secret hangs on the order)
    return keys + kind.fixed_options(content)


def posted_values(kind: Kind, content: Mapping[str, Any], order: Sequence[str]) -> dict[str, str]:
    """Return what a page posts for each option -> the option's key.

    Shuffled options post their place ("1", "2", ...), so that no page betrays which option is which; fixed ones
    post their own key.
    """
    fixed = kind.fixed_options(content)
    return {key if key in fixed else str(place): key for place, key in enumerate(order, start=1)}
