"""Part-of-speech taggers, by their spec in a pipeline file. Pure.

`hanta`: the Hanover Tagger (Wartena 2019), whose model of English is in its package. `spacy:NAME`: a model of spaCy
that is installed, such as spacy:en_core_web_sm, which ARO and NegCLIP used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from evaluation.word_order import TaggedWords, tokens_of
from making.errors import CannotMake

DEFAULT = "hanta"
HANTA_MODEL = "morphmodel_en.pgz"
SPACY = "spacy:"
# Tags of the British National Corpus (C5), by their beginning -> the universal part of speech, the Penn Treebank's tag.
_PARTS = {
    "NP": ("PROPN", "NNP"),
    "NN": ("NOUN", "NN"),
    "AJ": ("ADJ", "JJ"),
    "AV": ("ADV", "RB"),
    "VV": ("VERB", "VB"),
    "AT": ("DET", "DT"),
    "DT": ("DET", "DT"),
    "DP": ("DET", "DT"),
    "CR": ("NUM", "CD"),
}
_OTHER = ("X", "X")
_PROPER = "NP"


@dataclass(frozen=True)
class Tagger:
    """A tagger. `name`: with its version.

    `parts`: words -> the universal part of speech of each: NOUN, PROPN, ADJ, ADV, VERB, DET, NUM or another. `tokens`:
    a text -> its tokens, each with a tag of the Penn Treebank, of which singular and plural nouns, or degrees of
    adjectives, need not be told apart.
    """

    name: str
    parts: Callable[[Sequence[str]], Sequence[str]]
    tokens: Callable[[str], TaggedWords]


def tagger_of(spec: str) -> Tagger:
    """Return a tagger. Raises CannotMake."""
    if spec == DEFAULT:
        return _hanta()
    if spec.startswith(SPACY):
        return _spacy(spec.removeprefix(SPACY))
    raise CannotMake(f"The tagger {spec!r} is unknown. Write {DEFAULT}, or {SPACY}NAME with a model of spaCy.")


def english_words() -> list[str]:
    """Return the words of English that HanTa's model knows, in order: lower-case letters, at least three, no names."""
    model = _hanta_model()
    likeliest = {word: model.int2tag[max(found, key=lambda each: each[1])[0]] for word, found in model.cache.items()}
    return sorted(
        word
        for word, tag in likeliest.items()
        if len(word) > 2 and word.isalpha() and word.islower() and not tag.startswith(_PROPER)
    )


@cache
def _hanta_model() -> Any:
    # Imported here, because its model takes time and memory.
    return import_module("HanTa.HanoverTagger").HanoverTagger(HANTA_MODEL)


def _hanta() -> Tagger:
    model = _hanta_model()

    def tag(words: Sequence[str]) -> list[tuple[str, str]]:
        return [_PARTS.get(tag[:2], _OTHER) for _, _, tag in model.tag_sent(list(words))] if words else []

    def tokens(text: str) -> list[tuple[str, str]]:
        words = tokens_of(text)
        return [(word, penn) for word, (_, penn) in zip(words, tag(words), strict=True)]

    return Tagger(f"HanTa {version('HanTa')}", lambda words: [part for part, _ in tag(words)], tokens)


def _spacy(name: str) -> Tagger:
    try:
        spacy: Any = import_module("spacy")
        nlp: Any = spacy.load(name)
    except (ImportError, OSError) as error:
        raise CannotMake(
            f"The tagger {SPACY}{name} cannot be loaded here. Install spaCy and its model {name}, or use {DEFAULT}."
        ) from error

    def parts(words: Sequence[str]) -> list[str]:
        return [str(token.pos_) for token in nlp(spacy.tokens.Doc(nlp.vocab, words=list(words)))]

    def tokens(text: str) -> list[tuple[str, str]]:
        return [(token.text, str(token.tag_)) for token in nlp(text)]

    return Tagger(f"spaCy {spacy.__version__}, {name} {nlp.meta['version']}", parts, tokens)
