"""Hard negatives by words that change places, or that others replace (`words:POLICY`).

Sources: Yuksekgonul et al. 2023, section 3 (NegCLIP): negative captions by swapping two nouns, adjectives, adverbs,
verbs or noun phrases of a caption. There a parser finds the phrases; here the parts of speech of neighbouring words do.
Section 2 (ARO): other orders of all words (`evaluation.word_order`). Park et al. 2024 (RoCOCO): one noun is replaced
(`evaluation.alterations`).
"""

import hashlib
import random
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, zip_longest
from typing import ClassVar, Literal

from pydantic import Field

from evaluation.alterations import Substitutes, elect_noun, replace_word
from evaluation.concept_groups import coco_substitutes
from evaluation.errors import BenchmarkError
from evaluation.model_scores import text_embedder
from evaluation.protocols.base import EmbedTexts
from evaluation.word_order import (
    NOUNS,
    permute_nouns_and_adjectives,
    permute_other_words,
    permute_threes,
    permute_within_threes,
    tokens_of,
)
from making.errors import CannotMake
from making.makers.base import LoadedMaker, MadeText, Maker, MakerIdentity, NothingMade, Request
from making.taggers import DEFAULT, Tagger, english_words, tagger_of
from predictions.scorers import CannotLoad, ModelIdentity, scorer_of

VERSION = "1"
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
SWAP, PHRASES, REPLACE = "swap", "swap-noun-phrases", "replace-"
_PARTS: Mapping[str, frozenset[str]] = {
    "swap-nouns": frozenset({"NOUN", "PROPN"}),
    "swap-adjectives": frozenset({"ADJ"}),
    "swap-adverbs": frozenset({"ADV"}),
    "swap-verbs": frozenset({"VERB"}),
}
# Parts of speech in a noun phrase: determiners and numbers, adjectives and nouns, and a noun at the end.
_LETTERS = {"DET": "D", "NUM": "D", "ADJ": "A", "NOUN": "N", "PROPN": "N"}
_PHRASE = re.compile("D*[AN]*N")
_NOUNS = {
    PHRASES: "noun phrases",
    "swap-nouns": "nouns",
    "swap-adjectives": "adjectives",
    "swap-adverbs": "adverbs",
    "swap-verbs": "verbs",
}
# Orders that a permutation may restore the original in; it is drawn again, at most so often per candidate.
TRIES = 50
# Order -> what is permuted, for people; how, from the tokens of a text; whether these need a tagger.
_ORDERS: Mapping[str, tuple[str, Callable[[Sequence[tuple[str, str]], random.Random], str], bool]] = {
    "order-nouns-and-adjectives": ("nouns and adjectives", permute_nouns_and_adjectives, True),
    "order-other-words": ("words that are no nouns or adjectives", permute_other_words, True),
    "order-within-trigrams": (
        "words within groups of three",
        lambda words, rng: permute_within_threes([word for word, _ in words], rng),
        False,
    ),
    "order-trigrams": (
        "groups of three words",
        lambda words, rng: permute_threes([word for word, _ in words], rng),
        False,
    ),
}
# RoCOCO's names of its policies.
_CONCEPTS = frozenset({"same_concept", "diff_concept"})


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
    """Makers that move or replace the words of a text.

    `tagger`: finds nouns and so on. The other options are of the policies that replace. `groups`: name -> nouns of one
    concept, `evaluation.concept_groups` without any. `vocabulary`: any words, those that the tagger HanTa knows without
    any. `danger`: name of a group -> the word that replaces all of it, "" for every other noun. `encoders`: specs of
    models that choose the noun by its influence on their embeddings, as RoCOCO's did; without any, the seed chooses.
    `spacing`: "tokens" separates words and marks by spaces, as in RoCOCO's files; "caption" leaves the rest of the text
    as it is.
    """

    policies: ClassVar[Mapping[str, str]] = {
        SWAP: "Swap two nouns, adjectives, adverbs or verbs.",
        "swap-nouns": "Swap two nouns.",
        "swap-adjectives": "Swap two adjectives.",
        "swap-adverbs": "Swap two adverbs.",
        "swap-verbs": "Swap two verbs.",
        PHRASES: "Swap two noun phrases, such as: a red ball.",
        **{order: f"Permute {what}." for order, (what, _, _) in _ORDERS.items()},
        "replace-same-concept": "Replace a noun by another of its group.",
        "replace-diff-concept": "Replace a noun by one of another group.",
        "replace-rand-voca": "Replace a noun by any word.",
        "replace-danger": "Replace a noun by one of danger.",
    }

    tagger: str = DEFAULT
    groups: dict[str, list[str]] = Field(default_factory=dict)
    vocabulary: list[str] = Field(default_factory=list)
    danger: dict[str, str] = Field(default_factory=dict)
    encoders: list[str] = Field(default_factory=list)
    spacing: Literal["tokens", "caption"] = "tokens"

    def load(self, policy: str) -> LoadedMaker:
        name = f"words:{policy}"
        if policy.startswith(REPLACE):
            return _Replacer(policy.removeprefix(REPLACE).replace("-", "_"), name, self)
        if policy in _ORDERS and not _ORDERS[policy][2]:
            return _Orderer(policy, None, MakerIdentity(name, VERSION))
        tagger = tagger_of(self.tagger)
        identity = MakerIdentity(name, f"{VERSION}; {tagger.name}")
        return _Orderer(policy, tagger, identity) if policy in _ORDERS else _Swapper(policy, tagger, identity)


class _Loaded(LoadedMaker):
    """Makes texts, each request with its own random numbers."""

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeText] | NothingMade]:
        return [self._make(request, random.Random(request.seed)) for request in requests]  # noqa: S311 (no secret)

    @abstractmethod
    def _make(self, request: Request, rng: random.Random) -> Sequence[MadeText] | NothingMade: ...


class _Swapper(_Loaded):
    def __init__(self, policy: str, tagger: Tagger, identity: MakerIdentity) -> None:
        self.identity = identity
        self._tagger = tagger
        self._policy = policy
        self._words = "words of the same part of speech" if policy == SWAP else _NOUNS[policy]

    def _make(self, request: Request, rng: random.Random) -> Sequence[MadeText] | NothingMade:
        swaps = [
            _Swap(first, second)
            for words in self._sorts(request.text)
            for first, second in combinations(words, 2)
            if first.text.casefold() != second.text.casefold()
        ]
        if not swaps:
            return NothingMade(f"The text does not have two different {self._words}.")
        chosen = rng.sample(swaps, min(request.count, len(swaps)))
        return [MadeText(_swapped(request.text, swap)) for swap in chosen]

    def _sorts(self, text: str) -> list[list[_Word]]:
        """Return the words or phrases that may change places with each other, by sort."""
        words = self._words_of(text)
        if self._policy == PHRASES:
            return [_phrases(text, words)]
        wanted = _PARTS.values() if self._policy == SWAP else [_PARTS[self._policy]]
        return [[word for word in words if word.part in parts] for parts in wanted]

    def _words_of(self, text: str) -> list[_Word]:
        found = [*_WORD.finditer(text)]
        parts = self._tagger.parts([match.group() for match in found])
        return [
            _Word(match.group(), match.start(), match.end(), part) for match, part in zip(found, parts, strict=True)
        ]


def _phrases(text: str, words: Sequence[_Word]) -> list[_Word]:
    """Return the noun phrases of a text; none goes beyond a mark."""
    runs: list[list[_Word]] = []
    for word in words:
        if runs and not text[runs[-1][-1].end : word.start].strip():
            runs[-1].append(word)
        else:
            runs.append([word])
    found = []
    for run in runs:
        for match in _PHRASE.finditer("".join(_LETTERS.get(word.part, "-") for word in run)):
            first, last = run[match.start()], run[match.end() - 1]
            found.append(_Word(text[first.start : last.end], first.start, last.end, first.part))
    return found


def _swapped(text: str, swap: _Swap) -> str:
    first, second = swap.first, swap.second
    into_first, into_second = second.text, first.text
    starts = not text[: first.start].strip()
    if starts and first.text[:1].isupper():
        into_first = into_first[:1].upper() + into_first[1:]
        if first.part != "PROPN" and first.text[1:].islower():
            into_second = into_second[:1].lower() + into_second[1:]
    return "".join((text[: first.start], into_first, text[first.end : second.start], into_second, text[second.end :]))


class _Orderer(_Loaded):
    def __init__(self, policy: str, tagger: Tagger | None, identity: MakerIdentity) -> None:
        self.identity = identity
        self._tagger = tagger
        self._what, self._permute, _ = _ORDERS[policy]

    def _make(self, request: Request, rng: random.Random) -> Sequence[MadeText] | NothingMade:
        text = request.text
        words = self._tagger.tokens(text) if self._tagger else [(token, "") for token in tokens_of(text)]
        found = {" ".join(word for word, _ in words): False}
        for _ in range(TRIES * request.count):
            found.setdefault(self._permute(words, rng), True)
            if len(found) > request.count:
                break
        made = [MadeText(order) for order, is_new in found.items() if is_new]
        return made or NothingMade(f"The text has no other order of its {self._what}.")


class _Replacer(_Loaded):
    """Replaces one noun: a word of a group or, where any noun will do and no group has a word, one of the tagger's."""

    def __init__(self, policy: str, name: str, options: Words) -> None:
        self._policy, self._options = policy, options
        self._tagger = None if policy in _CONCEPTS else tagger_of(options.tagger)
        default = coco_substitutes()
        self._substitutes = Substitutes(
            {group: [word.lower() for word in words] for group, words in options.groups.items()} or default.groups,
            options.vocabulary or (english_words() if policy == "rand_voca" else []),
            options.danger or default.danger,
        )
        loaded = [_encoder(spec) for spec in options.encoders]
        self._encoders = [embed for embed, _ in loaded]
        libraries = [self._tagger.name] if self._tagger else []
        version = "; ".join([VERSION, *libraries, *(f"noun chosen by {encoder.name}" for _, encoder in loaded)])
        weights = "".join(encoder.weights for _, encoder in loaded)
        digest = hashlib.sha256(weights.encode()).hexdigest() if len(loaded) > 1 else weights
        self.identity = MakerIdentity(name, version[:200], digest)

    def _make(self, request: Request, rng: random.Random) -> Sequence[MadeText] | NothingMade:
        words = tokens_of(request.text)
        nouns = self._substitutes.places_in(words) or self._tagged_nouns(request.text)
        if not nouns:
            return NothingMade(
                "The text has no noun." if self._tagger else "The text has no noun of a group of similar ones."
            )
        if self._encoders:
            try:
                nouns = [elect_noun(words, nouns, self._encoders)]
            except BenchmarkError as error:
                return NothingMade(str(error))
        chosen = list(dict.fromkeys(words[place] for place in nouns))
        rng.shuffle(chosen)
        offers = [self._offers(word, request.count, rng) for word in chosen]
        # Each noun once before one is replaced a second time.
        pairs = [pair for each in zip_longest(*offers) for pair in each if pair is not None]
        texts = dict.fromkeys(self._replaced(request.text, words, *pair) for pair in pairs)
        made = [MadeText(text) for text in islice(texts, request.count)]
        return made or NothingMade("There is no word to replace a noun of the text by.")

    def _tagged_nouns(self, text: str) -> list[int]:
        if self._tagger is None:
            return []
        nouns = {word for word, tag in self._tagger.tokens(text) if tag in NOUNS}
        return [place for place, word in enumerate(tokens_of(text)) if word in nouns]

    def _offers(self, word: str, count: int, rng: random.Random) -> list[tuple[str, str]]:
        others = self._substitutes.candidates(word, self._policy)
        return [(word, other) for other in rng.sample(others, min(count, len(others)))]

    def _replaced(self, text: str, words: Sequence[str], word: str, other: str) -> str:
        if self._options.spacing == "tokens":
            return replace_word(words, word, other)
        alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        start = len(text) - len(text.lstrip())
        return alone.sub(lambda found: _in_case_of(word, other, is_first=found.start() == start), text)


def _in_case_of(word: str, other: str, *, is_first: bool) -> str:
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if is_first and word[:1].isupper() else other


def _encoder(spec: str) -> tuple[EmbedTexts, ModelIdentity]:
    """Return how a model embeds texts, and what it is. Raises CannotMake."""
    try:
        model = scorer_of(spec)
    except CannotLoad as error:
        raise CannotMake(f"The encoder {spec} cannot be loaded: {error}") from error
    embed = text_embedder(model)
    if embed is None:
        raise CannotMake(f"The encoder {spec} embeds no texts. Name a contrastive model, such as CLIP.")
    return embed, model.identity
