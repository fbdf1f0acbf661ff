"""Texts as the n-grams of words and of characters that stand in them. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from predictions.scorers import NoPicture

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORD = re.compile(r"\w+|[^\w\s]")
WORDS, CHARACTERS = (1, 2), (1, 2, 3, 4)
# In fewer texts than this an n-gram tells nothing about others.
FEWEST_TEXTS = 2
# Before the first and after the last: a capital at the beginning and a full stop at the end are n-grams too.
EDGE = "\x02"


class Ngrams:
    """Whether n-grams of 1 and 2 words and of 1 to 4 characters stand in a text, and how long it is.

    Capitals, white space and both ends are kept as they are: how a text is written gives it away as much as what it
    says. The length is the logarithm of its number of characters, plus one, beside one.
    """

    def __init__(self) -> None:
        self._column: dict[tuple[str, ...], int] = {}

    def conditions(self) -> Mapping[str, Any]:
        return {"words": list(WORDS), "characters": list(CHARACTERS), "fewest_texts": FEWEST_TEXTS}

    def missing(self, options: Iterable[str]) -> Mapping[str, NoPicture]:
        return {}

    def fit(self, options: Sequence[str]) -> None:
        counts = Counter(ngram for text in dict.fromkeys(options) for ngram in set(_ngrams(text)))
        often = sorted(ngram for ngram, texts in counts.items() if texts >= FEWEST_TEXTS)
        self._column = {ngram: column for column, ngram in enumerate(often, start=1)}

    def rows(self, options: Sequence[str]) -> "csr_array":
        from scipy.sparse import csr_array

        starts, columns, values = [0], [], []
        for text in options:
            there = sorted({self._column[ngram] for ngram in _ngrams(text) if ngram in self._column})
            columns += [0, *there]
            values += [np.log1p(len(text)), *[1.0] * len(there)]
            starts.append(len(columns))
        return csr_array((values, columns, starts), shape=(len(options), len(self._column) + 1))


def _ngrams(text: str) -> Iterator[tuple[str, ...]]:
    words = [EDGE, *_WORD.findall(text), EDGE]
    for size in WORDS:
        yield from (("word", *words[start : start + size]) for start in range(len(words) - size + 1))
    characters = f"{EDGE}{text}{EDGE}"
    for size in CHARACTERS:
        yield from ((characters[start : start + size],) for start in range(len(characters) - size + 1))
