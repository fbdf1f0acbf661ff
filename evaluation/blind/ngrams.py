"""Texts as n-grams of words and characters. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

WORDS, CHARACTERS = (1, 2), (1, 4)
# An n-gram in fewer texts cannot generalize.
FEWEST_TEXTS = 2
# Marks of the start and the end, so that a capital at the start and a final full stop are n-grams, too.
EDGE = "\x02"
# Replaces spaces, because scikit-learn merges repeated ones.
SPACE = "\x03"


class Ngrams:
    """Features of a text: presence of n-grams (1 and 2 words, 1 to 4 characters), and ln(length in characters + 1).

    Capitals, spaces and both ends count, because the form of a text can reveal the answer as much as its content.
    """

    def __init__(self) -> None:
        self._vectorizers: list[CountVectorizer] = []

    def conditions(self) -> Mapping[str, Any]:
        return {"words": list(WORDS), "characters": list(CHARACTERS), "fewest_texts": FEWEST_TEXTS}

    def missing(self, options: Iterable[str]) -> Mapping[str, Exception]:
        return {}

    def fit(self, options: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        shared: dict[str, Any] = {"lowercase": False, "binary": True, "min_df": FEWEST_TEXTS, "dtype": np.float64}
        self._vectorizers = [
            CountVectorizer(token_pattern=rf"\w+|[^\w\s{SPACE}]", ngram_range=WORDS, **shared),
            CountVectorizer(analyzer="char", ngram_range=CHARACTERS, **shared),
        ]
        for vectorizer in self._vectorizers:
            vectorizer.fit(map(_mark_edges, options))

    def rows(self, options: Sequence[str]) -> "csr_array":
        from scipy.sparse import csr_array, hstack

        texts = [_mark_edges(text) for text in options]
        lengths = csr_array(np.log1p([[len(text)] for text in options]))
        return csr_array(hstack([lengths, *(vectorizer.transform(texts) for vectorizer in self._vectorizers)]))


def _mark_edges(text: str) -> str:
    return f"{EDGE}{text.replace(' ', SPACE)}{EDGE}"
