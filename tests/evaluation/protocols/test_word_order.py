import random
from importlib import import_module
from typing import Any

import pytest

from evaluation.protocols import get_protocol
from evaluation.word_order import shuffle_caption, tokens_of
from tests.studies.real_data import REAL_DATA, needs_real_data

# "The red cat chases a small dog": determiners, adjectives, nouns, a verb.
TAGS = {"red": "JJ", "small": "JJ", "cat": "NN", "dog": "NN", "The": "DT", "a": "DT", "chases": "VBZ"}
CAPTION = "The red cat chases a small dog"


def tagger(caption: str) -> list[tuple[str, str]]:
    return [(word, TAGS[word]) for word in caption.split()]


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("The dog's ball.", ["The", "dog", "'s", "ball", "."]),
        ("They don't run, do they?", ["They", "do", "n't", "run", ",", "do", "they", "?"]),
        ("A two-story house (old).", ["A", "two-story", "house", "(", "old", ")", "."]),
        ("It's 3.5 m", ["It", "'s", "3.5", "m"]),
        ("", []),
        # As the Penn Treebank writes quotation marks, and takes apart what is written as one word.
        ('A "stop" sign', ["A", "``", "stop", "''", "sign"]),
        ("You cannot, gonna", ["You", "can", "not", ",", "gon", "na"]),
        ("50% of $5...", ["50", "%", "of", "$", "5", "..."]),
        ("a man-- and dogs' toys", ["a", "man", "--", "and", "dogs", "'", "toys"]),
    ],
)
def test_words_clitics_and_marks_are_tokens(caption: str, tokens: list[str]) -> None:
    assert tokens_of(caption) == tokens


def all_orders(caption: str) -> list[set[str]]:
    made = [shuffle_caption(caption, tagger=tagger, rng=random.Random(seed)) for seed in range(300)]
    return [{str(each[way]) for each in made} for way in range(4)]


def test_each_way_makes_every_order_that_it_can_and_no_other() -> None:
    nouns_and_adjectives, others, within, threes = all_orders(CAPTION)
    # Two adjectives and two nouns: each pair stays or changes places.
    assert nouns_and_adjectives == {
        f"The {first} {cat} chases a {second} {dog}"
        for first, second in (("red", "small"), ("small", "red"))
        for cat, dog in (("cat", "dog"), ("dog", "cat"))
    }
    # Three other words: The, chases, a.
    assert len(others) == 6
    assert "a red cat The chases small dog" in others
    # 3! x 3! x 1 orders within "The red cat", "chases a small" and "dog".
    assert len(within) == 36
    assert all(set(text.split()[:3]) == {"The", "red", "cat"} and text.endswith(" dog") for text in within)
    # The three pieces in any order.
    assert threes == {
        "The red cat chases a small dog",
        "The red cat dog chases a small",
        "chases a small The red cat dog",
        "chases a small dog The red cat",
        "dog The red cat chases a small",
        "dog chases a small The red cat",
    }


def test_a_shuffle_may_bring_back_the_order_that_was_and_two_are_not_made_without_a_tagger() -> None:
    assert shuffle_caption("cat", tagger=tagger, rng=random.Random(1)) == ["cat", "cat", "cat", "cat"]
    assert shuffle_caption("cat", tagger=None, rng=random.Random(1)) == [None, None, "cat", "cat"]


@needs_real_data
def test_the_captions_of_coco_have_the_tokens_of_nltk() -> None:
    """ARO's COCO-Order shuffles COCO's 25,010 test captions; an expression of our own differed in 147 of them."""
    tokenizer: Any = import_module("nltk.tokenize").NLTKWordTokenizer()
    captions = [text for texts in get_protocol("rococo").read(REAL_DATA / "rococo").captions for text in texts]
    assert len(captions) == 25_010
    assert [text for text in captions if tokens_of(text) != tokenizer.tokenize(text)] == []
