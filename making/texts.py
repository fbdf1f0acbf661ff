"""Comparison of texts. Pure."""

import hashlib
import re
from unicodedata import normalize

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation. Example: "A dog's ball." -> a, dog, s, ball."""
    return _WORD.findall(normalize("NFKC", text).casefold())


def comparable(text: str) -> str:
    """Return a text such that two texts with the same words are equal, whatever their case and punctuation."""
    return " ".join(words_of(text))


def digest_of_words(text: str) -> str:
    """Return 32 hexadecimal digits by which rows are found: equal for texts that `comparable` writes alike."""
    return hashlib.sha256(comparable(text).encode()).hexdigest()[:32]
