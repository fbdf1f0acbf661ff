"""Hard negatives by swapped words (`words:POLICY`).

Source: Yuksekgonul et al. 2023 (NegCLIP), section 3: negative captions by swapping two nouns, adjectives, adverbs or
verbs of a caption. There phrases are swapped too, which needs a parser; here single words are. `words:order-*` are
ARO's other orders of all words.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from making.makers.base import LoadedMaker, MadeText, Maker, MakerIdentity, NothingMade, Request
from making.taggers import DEFAULT, Tagger, tagger_of

VERSION = "1"
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_PARTS: Mapping[str, frozenset[str]] = {
    "swap-nouns": frozenset({"NOUN", "PROPN"}),
    "swap-adjectives": frozenset({"ADJ"}),
    "swap-adverbs": frozenset({"ADV"}),
    "swap-verbs": frozenset({"VERB"}),
}
_NOUNS = {"swap-nouns": "nouns", "swap-adjectives": "adjectives", "swap-adverbs": "adverbs", "swap-verbs": "verbs"}


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    part: str


@dataclass(frozen=True, slots=True)
class _Swap:
    first: _Word
    second: _Word


class Words(Maker):
    """Makers that move the words of a text."""

    policies: ClassVar[Mapping[str, str]] = {
        "swap": "Swap two nouns, adjectives, adverbs or verbs.",
        "swap-nouns": "Swap two nouns.",
        "swap-adjectives": "Swap two adjectives.",
        "swap-adverbs": "Swap two adverbs.",
        "swap-verbs": "Swap two verbs.",
    }

    tagger: str = DEFAULT

    def load(self, policy: str) -> LoadedMaker:
        tagger, name = tagger_of(self.tagger)
        return _Swapper(policy, tagger, MakerIdentity(f"words:{policy}", f"{VERSION}; {name}"))


class _Swapper(LoadedMaker):
    def __init__(self, policy: str, tagger: Tagger, identity: MakerIdentity) -> None:
        self.identity = identity
        self._tagger = tagger
        self._wanted = _PARTS if policy == "swap" else {policy: _PARTS[policy]}
        self._words = "words of the same part of speech" if policy == "swap" else _NOUNS[policy]

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeText] | NothingMade]:
        return [self._make(request) for request in requests]

    def _make(self, request: Request) -> Sequence[MadeText] | NothingMade:
        words = self._words_of(request.text)
        swaps = [
            _Swap(first, second)
            for parts in self._wanted.values()
            for first, second in combinations([word for word in words if word.part in parts], 2)
            if first.text.casefold() != second.text.casefold()
        ]
        if not swaps:
            return NothingMade(f"The text does not have two different {self._words}.")
        rng = random.Random(request.seed)  # noqa: S311 (no secret)
        chosen = rng.sample(swaps, min(request.count, len(swaps)))
        return [MadeText(_swapped(request.text, swap)) for swap in chosen]

    def _words_of(self, text: str) -> list[_Word]:
        found = [*_WORD.finditer(text)]
        parts = self._tagger([match.group() for match in found]) if found else []
        return [
            _Word(match.group(), match.start(), match.end(), part) for match, part in zip(found, parts, strict=True)
        ]


def _swapped(text: str, swap: _Swap) -> str:
    first, second = swap.first, swap.second
    into_first, into_second = second.text, first.text
    starts = not text[: first.start].strip()
    if starts and first.text[:1].isupper():
        into_first = into_first[:1].upper() + into_first[1:]
        if first.part != "PROPN" and first.text[1:].islower():
            into_second = into_second[:1].lower() + into_second[1:]
    return "".join((text[: first.start], into_first, text[first.end : second.start], into_second, text[second.end :]))
