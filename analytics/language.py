"""Language statistics of descriptions: length, sentences, vocabulary and syntactic depth.

Counts of tokens differ between tokenisers by ten per cent and more, so ours are pinned, under a name with a version. A
rule in use is never changed: a new one gets a new name, and results name the rule that they were computed by.

`words-v1`: a token is a run of letters, digits and underscores, with apostrophes inside it ("don't" is one token,
"left-hand" three), or any other single character except a space. A word is a token with a letter or digit, in lower
case; marks are tokens but not words. Designed for scripts with spaces between words: separate vowel signs (Hindi)
become tokens, and a run without spaces (Chinese) is one token.

`sentences-v1`: a sentence ends with one or more of . ! ? …, with closing quotes or brackets after them, before a space
or the end; text after the last end is another sentence if it has a word. "e.g. this" ends a sentence, "3.5" does not.
"""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, lgamma, sqrt

TOKENS, SENTENCES = "words-v1", "sentences-v1"
_TOKEN = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")
_HAS_WORD = re.compile(r"[^\W_]")
_SENTENCE_END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)")
# Word types are compared among this many words.
AMONG = 1000

# For each sentence of a text the head of each of its tokens, by place from 0; the root is its own head.
Parse = Callable[[str], Sequence[Sequence[int]]]
NO_PARSER = "Not computed: no parser."
# The paper's own.
MODEL = "en_core_web_sm"


def tokens(text: str) -> list[str]:
    """Return the tokens of a text by `words-v1`, as written.

    Example: "The dog's 2 ears, left-hand." has the 9 tokens The dog's 2 ears , left - hand and the full stop.
    """
    return _TOKEN.findall(text)


def words(text: str) -> list[str]:
    """Return the tokens with a letter or digit by `words-v1`, in lower case.

    Example: "The dog's 2 ears, left-hand." has the, dog's, 2, ears, left and hand.
    """
    return _words_among(tokens(text))


def _words_among(found: Iterable[str]) -> list[str]:
    # A token that starts with a letter or digit needs no further check, and nearly all do.
    return [token.lower() for token in found if token[0].isalnum() or _HAS_WORD.search(token)]


def count_sentences(text: str) -> int:
    """Count the sentences of a text by `sentences-v1`; 0 in a text without words.

    Example: "He smiles. She (the left one) does not" has 2.
    """
    return sum(1 for part in _SENTENCE_END.split(text) if _HAS_WORD.search(part))


@dataclass(frozen=True)
class Lengths:
    """Mean, sample standard deviation (None under two texts) and maximum of whole numbers; all None without a text."""

    mean: float | None
    sd: float | None
    most: int | None


@dataclass(frozen=True)
class Language:
    """Statistics of texts: `texts` is their number, `tokens` the number of tokens.

    length: tokens per text. sentences: per text. types: different words. once: words that occur once in all texts.
    types_among: the expected number of different words among `AMONG` words drawn from all texts, for comparing sets of
    different sizes; None if there are fewer words.
    """

    texts: int
    tokens: int
    length: Lengths
    sentences: Lengths
    types: int
    once: int
    types_among: float | None


@dataclass
class Tally:
    """Counts of texts: tokens and sentences of each, and the frequency of each word.

    Tallies add up, so that each text is read once for all its groups.
    """

    lengths: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    vocabulary: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Tally") -> "Tally":
        both = Tally(self.lengths + other.lengths, self.sentences + other.sentences, self.vocabulary.copy())
        both.vocabulary.update(other.vocabulary)
        return both


def tally(texts: Iterable[str]) -> Tally:
    """Count `texts` by `words-v1` and `sentences-v1`; they are not kept."""
    found = Tally()
    for text in texts:
        of_text = tokens(text)
        found.lengths.append(len(of_text))
        found.sentences.append(count_sentences(text))
        found.vocabulary.update(_words_among(of_text))
    return found


def language_of(counted: Tally) -> Language:
    """Return the statistics of counted texts.

    Example: ["A dog.", "A dog runs. It runs"] has lengths 3 and 6, mean 4.5, 1.5 sentences, the 4 types a, dog, runs
    and it, of which "it" occurs once.
    """
    return Language(
        texts=len(counted.lengths),
        tokens=sum(counted.lengths),
        length=lengths_of(counted.lengths),
        sentences=lengths_of(counted.sentences),
        types=len(counted.vocabulary),
        once=sum(1 for times in counted.vocabulary.values() if times == 1),
        types_among=types_among(counted.vocabulary.values(), AMONG),
    )


def lengths_of(counts: Sequence[int]) -> Lengths:
    """Return mean, sample standard deviation and maximum of whole numbers.

    Example: 3 and 6: 4.5, sqrt(4.5) and 6.
    """
    if not counts:
        return Lengths(None, None, None)
    mean = sum(counts) / len(counts)
    squares = sum((count - mean) ** 2 for count in counts)
    return Lengths(mean, sqrt(squares / (len(counts) - 1)) if len(counts) > 1 else None, max(counts))


def types_among(times: Iterable[int], drawn: int) -> float | None:
    """Return the expected number of different words among `drawn` words, without replacement; None with fewer.

    times: how often each word occurs, at least 1. Unlike types per token, it does not fall as texts are added.
    Source: Hurlbert 1971, "The nonconcept of species diversity", equation 12.

    Example: of a, a, b two are drawn: one pair of three has one type and two have two, 5/3 on average.
    """
    counts = Counter(times)
    total = sum(each * words for each, words in counts.items())
    if drawn > total:
        return None
    found = 0.0
    for each, words in counts.items():
        missed, others = 0.0, total - each
        if others >= drawn:
            # C(others, drawn) / C(total, drawn), whose factorials are too large to write out.
            left = lgamma(others + 1) - lgamma(others - drawn + 1)
            missed = exp(left - lgamma(total + 1) + lgamma(total - drawn + 1))
        found += words * (1 - missed)
    return found


@dataclass(frozen=True)
class Depths:
    """Depth of the dependency trees of texts, each by its deepest sentence; `parser` is the name of the parser.

    mean, most: edges from the root to the farthest token. None exactly when `reason` says why.
    """

    mean: float | None
    most: int | None
    texts: int
    parser: str = ""
    reason: str | None = None


@dataclass(frozen=True)
class Parser:
    """A parser of texts, with its name and version."""

    name: str
    parse: Parse


def installed_parser() -> Parser | None:
    """Return spaCy with the paper's model, None if one is not installed.

    Loading takes seconds, parsing about five milliseconds per description.
    """
    try:
        nlp = importlib.import_module("spacy").load(MODEL)
    except (ImportError, OSError):
        return None

    def parse(text: str) -> list[list[int]]:
        sentences = nlp(text.strip()).sents
        return [[token.head.i - sentence.start for token in sentence] for sentence in sentences]

    return Parser(f"{MODEL} {nlp.meta['version']}", parse)


def depths_of(texts: Iterable[str], parser: Parser | None) -> Depths:
    """Return the syntactic depth of `texts` by `parser`; texts without a token are left out.

    parser: None where none is installed. Raises ValueError as `tree_depth`.
    Source: Krojer et al. 2022, appendix; `compare_dataset_statistics.py` in McGill-NLP/imagecode.
    """
    if parser is None:
        return Depths(None, None, 0, reason=NO_PARSER)
    deepest = [max(map(tree_depth, sentences)) for text in texts if (sentences := parser.parse(text))]
    if not deepest:
        return Depths(None, None, 0, parser.name, "There is no text to parse.")
    return Depths(sum(deepest) / len(deepest), max(deepest), len(deepest), parser.name)


def tree_depth(heads: Sequence[int]) -> int:
    """Return the number of edges from the root of a dependency tree to its farthest token.

    heads: the place of each token's head, from 0; the root is its own. Raises ValueError for heads that lead nowhere.

    Example: "The dog runs" with heads [1, 2, 2] is 2 deep: runs, dog, the.
    """
    if not heads:
        raise ValueError("A sentence without tokens has no tree.")
    return max(_distance(token, heads) for token in range(len(heads)))


def _distance(token: int, heads: Sequence[int]) -> int:
    steps = 0
    while heads[token] != token:
        token, steps = heads[token], steps + 1
        if steps == len(heads) or not 0 <= token < len(heads):
            raise ValueError("The heads of a sentence lead from every token to its root.")
    return steps
