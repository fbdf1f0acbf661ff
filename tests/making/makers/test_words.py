"""Words that change places, by captions whose swaps were written down by hand."""

import pytest

from making.makers.base import MadeText, NothingMade, Request
from making.makers.words import Words


def made(policy: str, text: str, *, count: int = 100, seed: int = 0) -> set[str] | str:
    """Return all texts that a policy makes of `text`, or why there is none."""
    (result,) = Words().load(policy).make([Request(text, count, seed)])
    return (
        result.reason if isinstance(result, NothingMade) else {one.text for one in result if isinstance(one, MadeText)}
    )


@pytest.mark.parametrize(
    ("policy", "text", "expected"),
    [
        (
            "swap-nouns",
            "A dog is on a table next to a cup.",
            {
                "A table is on a dog next to a cup.",
                "A cup is on a table next to a dog.",
                "A dog is on a cup next to a table.",
            },
        ),
        ("swap-adjectives", "A red ball and a small box.", {"A small ball and a red box."}),
        ("swap-verbs", "A woman sings and a man eats.", {"A woman eats and a man sings."}),
        # The first word of the sentence stays a capital letter, and the other does not get one.
        ("swap-nouns", "Dogs look at cats.", {"Cats look at dogs."}),
        # A word with an apostrophe is one word.
        ("swap-adjectives", "A dog's old bone on a big box.", {"A dog's big bone on a old box."}),
    ],
)
def test_two_words_of_one_sort_change_places(policy: str, text: str, expected: set[str]) -> None:
    assert made(policy, text) == expected


def test_a_swap_of_any_sort_is_one_of_all_sorts() -> None:
    text = "A red ball and a small box."
    assert made("swap", text) == {"A small ball and a red box.", "A red box and a small ball."}


@pytest.mark.parametrize(
    ("policy", "text", "reason"),
    [
        ("swap-nouns", "A dog is asleep.", "The text does not have two different nouns."),
        ("swap-nouns", "A dog and a Dog.", "The text does not have two different nouns."),
        ("swap-adverbs", "A red ball and a small box.", "The text does not have two different adverbs."),
        ("swap", "Sleeping.", "The text does not have two different words of the same part of speech."),
        ("swap", "", "The text does not have two different words of the same part of speech."),
        ("swap", "?!", "The text does not have two different words of the same part of speech."),
    ],
)
def test_a_text_without_two_such_words_has_a_reason(policy: str, text: str, reason: str) -> None:
    assert made(policy, text) == reason


def test_no_more_are_made_than_asked_for_and_none_twice() -> None:
    text = "A dog, a cat, a cow and a hen."
    few = made("swap-nouns", text, count=2)
    assert isinstance(few, set)
    assert len(few) == 2
    # Four nouns have six pairs.
    assert len(made("swap-nouns", text)) == 6


def test_the_seed_decides_and_a_batch_does_not() -> None:
    maker = Words().load("swap-nouns")
    texts = ["A dog, a cat, a cow and a hen.", "A cup, a pot, a pan and a can."]
    together = maker.make([Request(text, 1, 7) for text in texts])
    assert together == [*maker.make([Request(texts[0], 1, 7)]), *maker.make([Request(texts[1], 1, 7)])]
    by_seed = {str(maker.make([Request(texts[0], 1, seed)])) for seed in range(20)}
    assert len(by_seed) > 1


def test_it_says_who_made_it() -> None:
    identity = Words().load("swap").identity
    assert (identity.name, identity.weights) == ("words:swap", "")
    assert identity.version.startswith("1; HanTa ")
    assert MadeText("a").prompt == ""
