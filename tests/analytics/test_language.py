import sys
from math import comb, sqrt
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from analytics.language import (
    NO_PARSER,
    Lengths,
    Parser,
    count_sentences,
    depths_of,
    installed_parser,
    language_of,
    tally,
    tokens,
    tree_depth,
    types_among,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog's 2 ears, left-hand.", ["The", "dog's", "2", "ears", ",", "left", "-", "hand", "."]),
        ("don\u2019t...", ["don\u2019t", ".", ".", "."]),
        ("  3.5 cm ", ["3", ".", "5", "cm"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("The Dog, the _ dog!", ["The", "Dog", ",", "the", "_", "dog", "!"]),
        ("", []),
        ("été über", ["été", "über"]),
    ],
)
def test_words_v1(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected
    # Marks are tokens and no words, which are in lower case.
    assert words(text) == [token.lower() for token in expected if any(map(str.isalnum, token))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He smiles. She (the left one) does not", 2),
        ('He says "stop!" She goes.', 2),
        ("It is 3.5 cm wide.", 1),
        ("What?! No... yes", 3),
        ("No end here", 1),
        ("...", 0),
        ("", 0),
        # Known, and pinned: an abbreviation ends a sentence.
        ("Some, e.g. this", 2),
    ],
)
def test_sentences_v1(text: str, expected: int) -> None:
    assert count_sentences(text) == expected


def test_statistics_of_two_texts() -> None:
    found = language_of(tally(["A dog.", "A dog runs. It runs"]))
    assert (found.texts, found.tokens, found.types, found.once) == (2, 9, 4, 1)
    assert (found.length.mean, found.length.most, found.sentences.mean, found.sentences.most) == (4.5, 6, 1.5, 2)
    assert (found.length.sd, found.sentences.sd) == pytest.approx((sqrt(4.5), sqrt(0.5)))
    assert found.types_among is None
    assert language_of(tally([])).length == Lengths(None, None, None)
    assert language_of(tally(["A dog."])).length == Lengths(3, None, 3)


def test_tallies_add_up_to_that_of_all_texts() -> None:
    first, second = tally(["A dog."]), tally(["A dog runs. It runs"])
    assert language_of(first + second) == language_of(tally(["A dog.", "A dog runs. It runs"]))
    # Neither is changed by it.
    assert (language_of(first).tokens, language_of(second).tokens) == (3, 6)


def test_types_among_so_many_words() -> None:
    # Of a, a, b two are drawn: a a, and twice a b.
    assert types_among([2, 1], 2) == pytest.approx(5 / 3)
    assert types_among([2, 1], 3) == pytest.approx(2)
    assert types_among([2, 1], 4) is None
    # A word that stands 30 times among 2000 is missing from 1000 with C(1970, 1000) / C(2000, 1000).
    missing = comb(1970, 1000) / comb(2000, 1000)
    assert types_among([30] * 66 + [20], 1000) == pytest.approx(
        66 * (1 - missing) + 1 - comb(1980, 1000) / comb(2000, 1000), rel=1e-9
    )


@pytest.mark.parametrize(("heads", "depth"), [([1, 2, 2], 2), ([0], 0), ([0, 0, 0], 1), ([1, 1, 1, 2, 3], 3)])
def test_the_depth_of_a_tree(heads: list[int], depth: int) -> None:
    assert tree_depth(heads) == depth


@pytest.mark.parametrize("heads", [[], [1, 0], [5], [-1, 0]])
def test_what_is_no_tree_is_refused(heads: list[int]) -> None:
    with pytest.raises(ValueError, match=r"sentence"):
        tree_depth(heads)


def test_a_text_is_as_deep_as_its_deepest_sentence() -> None:
    trees = {"one": [[0, 0]], "two": [[0], [1, 2, 2]], "": []}
    found = depths_of(trees, Parser("by hand 1", trees.__getitem__))
    assert (found.mean, found.most, found.texts, found.parser) == (1.5, 2, 2, "by hand 1")
    assert depths_of([""], Parser("by hand 1", trees.__getitem__)).reason == "There is no text to parse."


def refuse(name: str) -> Any:
    raise OSError(name)


@pytest.mark.parametrize("module", [None, SimpleNamespace(load=refuse)], ids=["no spaCy", "no model"])
def test_without_a_parser_depth_is_not_computed(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", module)
    assert installed_parser() is None
    found = depths_of(["A dog."], None)
    assert (found.mean, found.texts, found.reason) == (None, 0, NO_PARSER)


def test_an_installed_parser_is_asked_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sentence(list[Any]):
        """As spaCy has it: tokens whose heads are counted over the whole text."""

        def __init__(self, start: int, heads: list[int]) -> None:
            super().__init__(SimpleNamespace(head=SimpleNamespace(i=head)) for head in heads)
            self.start = start

    def nlp(text: str) -> Any:
        assert text == "The dog runs. It barks."
        return SimpleNamespace(sents=[Sentence(0, [1, 2, 2, 2]), Sentence(4, [5, 5, 5])])

    spacy: Any = ModuleType("spacy")
    nlp.meta = {"version": "3.8.0"}  # type: ignore[attr-defined]
    spacy.load = {"en_core_web_sm": nlp}.__getitem__
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    parser = installed_parser()
    assert parser is not None
    assert parser.name == "en_core_web_sm 3.8.0"
    assert parser.parse(" The dog runs. It barks. ") == [[1, 2, 2, 2], [1, 1, 1]]
    found = depths_of(["The dog runs. It barks."], parser)
    assert (found.mean, found.most) == (2, 2)
