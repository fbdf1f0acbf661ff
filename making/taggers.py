"""Part-of-speech taggers, by their spec in a pipeline file. Pure.

`hanta`: the Hanover Tagger (Wartena 2019), whose model of English is in its package. `spacy:NAME`: a model of spaCy
that is installed, such as spacy:en_core_web_sm, which ARO and NegCLIP used.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from making.errors import CannotMake

DEFAULT = "hanta"
HANTA_MODEL = "morphmodel_en.pgz"
SPACY = "spacy:"
# Tags of the British National Corpus (C5), by their beginning -> the universal part of speech.
_UNIVERSAL = {"NP": "PROPN", "NN": "NOUN", "AJ": "ADJ", "AV": "ADV", "VV": "VERB"}

# Words -> the universal part of speech of each: NOUN, PROPN, ADJ, ADV, VERB or another.
Tagger = Callable[[Sequence[str]], Sequence[str]]


def tagger_of(spec: str) -> tuple[Tagger, str]:
    """Return a tagger, and its name with its version. Raises CannotMake."""
    if spec == DEFAULT:
        return _hanta(), f"HanTa {version('HanTa')}"
    if spec.startswith(SPACY):
        return _spacy(spec.removeprefix(SPACY))
    raise CannotMake(f"The tagger {spec!r} is unknown. Write {DEFAULT}, or {SPACY}NAME with a model of spaCy.")


def _hanta() -> Tagger:
    # Imported here, because its model takes time and memory.
    hanta: Any = import_module("HanTa.HanoverTagger").HanoverTagger(HANTA_MODEL)

    def tag(words: Sequence[str]) -> list[str]:
        return [_UNIVERSAL.get(tag[:2], "X") for _, _, tag in hanta.tag_sent(list(words))]

    return tag


def _spacy(name: str) -> tuple[Tagger, str]:
    try:
        spacy: Any = import_module("spacy")
        nlp: Any = spacy.load(name)
    except (ImportError, OSError) as error:
        raise CannotMake(
            f"The tagger {SPACY}{name} cannot be loaded here. Install spaCy and its model {name}, or use {DEFAULT}."
        ) from error

    def tag(words: Sequence[str]) -> list[str]:
        return [str(token.pos_) for token in nlp(spacy.tokens.Doc(nlp.vocab, words=list(words)))]

    return tag, f"spaCy {spacy.__version__}, {name} {nlp.meta['version']}"
