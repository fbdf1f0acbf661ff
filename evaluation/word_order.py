"""Put the words of captions into another order, in four ways (ARO's COCO-Order and Flickr30k-Order)."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

TRIGRAM = 3
TAGGER = "en_core_web_sm"
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
ADJECTIVES = frozenset({"JJ", "JJR", "JJS"})

# Tokens, each with its Penn Treebank tag.
TaggedWords = Sequence[tuple[str, str]]
# Caption -> its tokens.
Tagger = Callable[[str], TaggedWords]


def tokens_of(caption: str) -> list[str]:
    """Return the words and marks of a caption as nltk's NLTKWordTokenizer divides them, as ARO's authors did.

    Straight quotation marks become `` and ''. Example: "The dog's ball." is The, dog, 's, ball, and a full stop.
    """
    tokens: list[str] = _tokenizer().tokenize(caption)
    return tokens


@cache
def _tokenizer() -> Any:
    # Imported here, because it is slow and only needed here.
    return import_module("nltk.tokenize.destructive").NLTKWordTokenizer()


def installed_tagger() -> Tagger | None:
    """Return spaCy's small English tagger, which ARO used, None if it is not installed."""
    try:
        nlp: Any = import_module("spacy").load(TAGGER)
    except (ImportError, OSError):
        return None
    return lambda caption: [(token.text, token.tag_) for token in nlp(caption)]


def shuffle_caption(caption: str, *, tagger: Tagger | None, rng: random.Random) -> list[str | None]:
    """Return the four captions with other orders, None for those that need a tagger if there is none.

    In order: `permute_nouns_and_adjectives`, `permute_other_words`, `permute_within_threes`, `permute_threes`.

    Source: Yuksekgonul et al. 2023, section 2; `dataset_zoo/perturbations.py` in
    mertyg/vision-language-models-are-bows. There all captions share the random generators, so the
    result depends on the whole run. Here each caption has its own.
    """
    words = None if tagger is None else tagger(caption)
    tokens = tokens_of(caption)
    return [
        None if words is None else permute_nouns_and_adjectives(words, rng),
        None if words is None else permute_other_words(words, rng),
        permute_within_threes(tokens, rng),
        permute_threes(tokens, rng),
    ]


def permute_nouns_and_adjectives(words: TaggedWords, rng: random.Random) -> str:
    """Permute nouns among nouns, and adjectives among adjectives.

    This and the other orders separate tokens by spaces. A permutation may restore the original: a caption with one noun
    and one adjective has no other.
    """
    return _permute(words, [_places(words, NOUNS), _places(words, ADJECTIVES)], rng)


def permute_other_words(words: TaggedWords, rng: random.Random) -> str:
    """Permute all tokens but nouns and adjectives."""
    kept = {*_places(words, NOUNS), *_places(words, ADJECTIVES)}
    return _permute(words, [[place for place in range(len(words)) if place not in kept]], rng)


def permute_within_threes(tokens: Sequence[str], rng: random.Random) -> str:
    """Permute the tokens within each group of three."""
    return _joined([rng.sample(three, len(three)) for three in _threes(tokens)])


def permute_threes(tokens: Sequence[str], rng: random.Random) -> str:
    """Permute the groups of three tokens; the last may be smaller."""
    threes = _threes(tokens)
    return _joined(rng.sample(threes, len(threes)))


def _places(words: TaggedWords, tags: frozenset[str]) -> list[int]:
    return [place for place, (_, tag) in enumerate(words) if tag in tags]


def _threes(tokens: Sequence[str]) -> list[Sequence[str]]:
    return [tokens[start : start + TRIGRAM] for start in range(0, len(tokens), TRIGRAM)]


def _joined(threes: Sequence[Sequence[str]]) -> str:
    return " ".join(word for three in threes for word in three)


def _permute(words: TaggedWords, groups: Sequence[Sequence[int]], rng: random.Random) -> str:
    """Return the sentence with the words at the positions of each group permuted."""
    changed = [word for word, _ in words]
    for places in groups:
        for place, source in zip(places, rng.sample(list(places), len(places)), strict=True):
            changed[place] = words[source][0]
    return " ".join(changed)
