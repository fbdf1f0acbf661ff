"""Whether two texts are nearly equal: an article, a plural or a typing error apart."""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import normalize

# Two texts are near if they share this part of the groups of three characters that either has (Jaccard). Measured on
# captions with one small change: see `training.near_captions`, which has the same limit.
NEAR_AT_LEAST = 0.8
# Shorter texts are equal by chance: two terse people both write "A man in a red hat."
FEWEST_WORDS = 8
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=20_000)
def trigrams_of(text: str) -> frozenset[str]:
    """Return the groups of three characters in a text, without case and punctuation; a space stands at both ends."""
    spaced = f" {' '.join(_WORD.findall(normalize('NFKC', text).casefold()))} "
    return frozenset(spaced[start : start + 3] for start in range(len(spaced) - 2))


@lru_cache(maxsize=20_000)
def words_of(text: str) -> frozenset[str]:
    """Return the words in a text, without case and punctuation."""
    return frozenset(_WORD.findall(normalize("NFKC", text).casefold()))


def is_long_enough(text: str) -> bool:
    """Whether `text` has enough words to be compared; without spaces, 15 characters count as a word."""
    return max(len(_WORD.findall(text)), len(text) // 15) >= FEWEST_WORDS


def is_near(text: str, others: Iterable[str]) -> bool:
    """Whether `text` is nearly equal to any of `others`."""
    mine = trigrams_of(text)
    return any(_similarity(mine, trigrams_of(other)) >= NEAR_AT_LEAST for other in others)


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    smaller, larger = sorted((len(one), len(other)))
    if smaller < NEAR_AT_LEAST * larger:
        return 0.0
    return len(one & other) / len(one | other)
