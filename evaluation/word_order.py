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

# Caption -> its tokens, each with its Penn Treebank tag.
Tagger = Callable[[str], Sequence[tuple[str, str]]]


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

    In order: nouns are permuted among nouns and adjectives among adjectives; all other words are permuted; the words
    within each group of three are permuted; the groups of three are permuted. A permutation may restore the original: a
    caption with one noun and one adjective has no other.

    Source: Yuksekgonul et al. 2023, section 2; `dataset_zoo/perturbations.py` in
    mertyg/vision-language-models-are-bows. There all captions share the random generators, so the
    result depends on the whole run. Here each caption has its own.
    """
    tagged: list[str | None] = [None, None]
    if tagger is not None:
        words = tagger(caption)
        nouns, adjectives = (
            [place for place, (_, tag) in enumerate(words) if tag in tags] for tags in (NOUNS, ADJECTIVES)
        )
        others = [place for place in range(len(words)) if place not in {*nouns, *adjectives}]
        texts = [word for word, _ in words]
        tagged = [_permute(texts, [nouns, adjectives], rng), _permute(texts, [others], rng)]
    words_alone = tokens_of(caption)
    threes = [words_alone[start : start + TRIGRAM] for start in range(0, len(words_alone), TRIGRAM)]
    within = [rng.sample(three, len(three)) for three in threes]
    return [
        *tagged,
        *(" ".join(word for three in each for word in three) for each in (within, rng.sample(threes, len(threes)))),
    ]


def _permute(words: Sequence[str], groups: Sequence[Sequence[int]], rng: random.Random) -> str:
    """Return the sentence with the words at the positions of each group permuted."""
    changed = list(words)
    for places in groups:
        for place, source in zip(places, rng.sample(list(places), len(places)), strict=True):
            changed[place] = words[source]
    return " ".join(changed)
