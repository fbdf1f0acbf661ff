"""Words that change places or are replaced, by captions whose variants were written down by hand or published."""

import ast
import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evaluation.word_order import tokens_of
from making.errors import CannotMake
from making.makers.base import MadeText, NothingMade, Request
from making.makers.words import Words
from studies.importing.captions import retrieval
from tests.studies.real_data import REAL_DATA, needs_real_data


def made(policy: str, text: str, *, count: int = 100, seed: int = 0, **options: Any) -> set[str] | str:
    """Return all texts that a policy makes of `text`, or why there is none."""
    (result,) = Words(**options).load(policy).make([Request(text, count, seed)])
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
        # Published by NegCLIP's authors, without the capital letter and the full stop.
        (
            "swap-noun-phrases",
            "A little girl holding a kitten next to a blue fence.",
            {
                "A blue fence holding a kitten next to a little girl.",
                "A kitten holding a little girl next to a blue fence.",
                "A little girl holding a blue fence next to a kitten.",
            },
        ),
        ("swap-noun-phrases", "The two dogs, small cats", {"Small cats, the two dogs"}),
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
        ("swap-noun-phrases", "A dog is asleep.", "The text does not have two different noun phrases."),
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


# "The red cat sees a small dog": two adjectives, two nouns, and The, sees, a.
CAPTION = "The red cat sees a small dog"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (
            "order-nouns-and-adjectives",
            {
                "The red dog sees a small cat",
                "The small cat sees a red dog",
                "The small dog sees a red cat",
            },
        ),
        (
            "order-other-words",
            {
                "The red cat a sees small dog",
                "sees red cat The a small dog",
                "sees red cat a The small dog",
                "a red cat The sees small dog",
                "a red cat sees The small dog",
            },
        ),
        (
            "order-trigrams",
            {
                "The red cat dog sees a small",
                "sees a small The red cat dog",
                "sees a small dog The red cat",
                "dog The red cat sees a small",
                "dog sees a small The red cat",
            },
        ),
    ],
)
def test_each_order_is_made_once_and_the_original_is_none(policy: str, expected: set[str]) -> None:
    assert made(policy, CAPTION, count=10) == expected


def test_words_within_groups_of_three_change_places() -> None:
    found = made("order-within-trigrams", CAPTION, count=100)
    assert isinstance(found, set)
    # 3! x 3! x 1 orders, without the original.
    assert len(found) == 35
    assert all({*text.split()[:3]} == {"The", "red", "cat"} and text.endswith(" dog") for text in found)


def test_orders_separate_marks_from_words_as_aro_does() -> None:
    assert made("order-trigrams", "A dog's ball.") == {"ball . A dog 's"}


@pytest.mark.parametrize(
    ("policy", "text", "reason"),
    [
        ("order-nouns-and-adjectives", "A dog is asleep.", "The text has no other order of its nouns and adjectives."),
        (
            "order-other-words",
            "Dogs",
            "The text has no other order of its words that are no nouns or adjectives.",
        ),
        ("order-trigrams", "A dog barks", "The text has no other order of its groups of three words."),
        ("order-within-trigrams", "", "The text has no other order of its words within groups of three."),
        ("replace-same-concept", "Nobody is here.", "The text has no noun of a group of similar ones."),
        ("replace-danger", "They are here.", "The text has no noun."),
        ("replace-danger", "", "The text has no noun."),
    ],
)
def test_a_text_of_which_nothing_can_be_made_has_a_reason_too(policy: str, text: str, reason: str) -> None:
    assert made(policy, text) == reason


GROUPS = {"people": ["man", "woman"], "animals": ["dog", "cat", "hen"]}
LISTS: dict[str, Any] = {
    "groups": GROUPS,
    "vocabulary": ["war", "man"],
    "danger": {"people": "criminal", "": "weapon"},
}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("replace-same-concept", {"A woman feeds a dog .", "A man feeds a cat .", "A man feeds a hen ."}),
        (
            "replace-diff-concept",
            {
                "A dog feeds a dog .",
                "A cat feeds a dog .",
                "A hen feeds a dog .",
                "A man feeds a man .",
                "A man feeds a woman .",
            },
        ),
        ("replace-rand-voca", {"A war feeds a dog .", "A man feeds a war .", "A man feeds a man ."}),
        ("replace-danger", {"A criminal feeds a dog .", "A man feeds a weapon ."}),
    ],
)
def test_one_noun_is_replaced_as_the_policy_says(policy: str, expected: set[str]) -> None:
    assert made(policy, "A man feeds a dog.", **LISTS) == expected


def test_each_noun_is_replaced_before_one_is_replaced_again() -> None:
    for seed in range(20):
        found = made("replace-same-concept", "A man feeds a dog.", count=2, seed=seed, **LISTS)
        assert isinstance(found, set)
        assert "A woman feeds a dog ." in found


def test_a_noun_of_no_group_is_found_by_the_tagger_if_any_noun_will_do() -> None:
    assert made("replace-danger", "A spatula is here.", **LISTS) == {"A weapon is here ."}
    assert made("replace-rand-voca", "A spatula is here.", count=1, **{**LISTS, "vocabulary": ["war"]}) == {
        "A war is here ."
    }
    assert isinstance(made("replace-diff-concept", "A spatula is here.", **LISTS), str)


def test_a_caption_may_keep_its_spaces_and_capitals() -> None:
    def kept(text: str) -> set[str] | str:
        return made("replace-danger", text, spacing="caption", **LISTS)

    assert kept("Man, riding a wave.") == {"Criminal, riding a wave."}
    assert kept("A MAN IN THE SNOW!") == {"A CRIMINAL IN THE SNOW!"}
    # Not within other words, and wherever it stands.
    assert kept("A man's hat  on a man (a mannequin).") == {"A criminal's hat  on a criminal (a mannequin)."}


def test_without_lists_the_categories_of_coco_and_a_lexicon_are_used() -> None:
    assert made("replace-danger", "A man on a beach.") == {"A criminal on a beach .", "A man on a minefield ."}
    assert made("replace-same-concept", "A bus.") == {
        f"A {other} ." for other in ("airplane", "bicycle", "boat", "car", "motorcycle", "train", "truck")
    }
    assert len(made("replace-rand-voca", "A bus.")) == 100


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a model's embeddings turn by one word alone."""

    def use(word: str) -> None:
        def embed(texts: list[str]) -> list[list[float]]:
            return [[1.0, 9.0 * (word in text.split())] for text in texts]

        monkeypatch.setattr("making.makers.words.text_embedder", lambda model: embed)

    return use


def test_encoders_choose_the_noun_with_the_least_influence(encoder: Callable[[str], None]) -> None:
    encoder("man")
    options = {**LISTS, "encoders": ["onnx:demo"]}
    assert made("replace-danger", "A man feeds a dog.", **options) == {"A man feeds a weapon ."}
    encoder("dog")
    assert made("replace-danger", "A man feeds a dog.", **options) == {"A criminal feeds a dog ."}


def test_a_real_encoder_is_named_with_its_weights() -> None:
    options = {**LISTS, "encoders": ["onnx:demo"]}
    identity = Words(**options).load("replace-danger").identity
    assert "noun chosen by" in identity.version
    assert len(identity.weights) == 64
    both = {**LISTS, "encoders": ["onnx:demo", "onnx:demo"]}
    assert len(Words(**both).load("replace-same-concept").identity.weights) == 64
    assert made("replace-danger", "A red circle left of a dog.", **options) in (
        {"A red circle left of a weapon ."},
        "The embedding of 'A red circle left of a dog .', or of it without one of its words, has length 0.",
    )


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("onnx:/none", "The encoder onnx:/none cannot be loaded: onnx:/none cannot be read on the worker's machine"),
        ("nothing:x", "The encoder nothing:x cannot be loaded: "),
    ],
)
def test_an_encoder_that_cannot_be_used_is_named(spec: str, sentence: str) -> None:
    with pytest.raises(CannotMake) as refused:
        Words(encoders=[spec]).load("replace-danger")
    assert str(refused.value).startswith(sentence)


def published(policy: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield captions that RoCOCO's authors altered: original, word, what replaces it, altered caption.

    Without those that differ in several words or in the number of words, as "wocriminal" besides "criminal".
    """
    for item in json.loads((REAL_DATA / "rococo" / f"{policy}.json").read_text()):
        for original, altered in zip(item["caption"][:5], item["caption"][-5:], strict=True):
            before, after = retrieval(" ".join(tokens_of(original))).split(), retrieval(altered).split()
            changes = {pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]}
            if len(before) == len(after) and len(changes) == 1:
                yield original, *changes.pop(), altered


@needs_real_data
@pytest.mark.parametrize("policy", ["danger", "rand_voca"])
def test_published_captions_of_rococo_are_made_from_their_originals(policy: str) -> None:
    """Which noun was replaced, and by what, is chance; all the rest is not."""
    form = retrieval if policy == "rand_voca" else str
    cases = list(published(policy))[::50]
    assert len(cases) > 450
    others = []
    for original, word, other, altered in cases:
        lists: dict[str, Any] = {"groups": {"one": [word]}, "danger": {"": other}, "vocabulary": [other]}
        found = made(f"replace-{policy.replace('_', '-')}", original, **lists)
        if altered not in [form(text) for text in found]:
            others.append((original, altered, found))
    # The authors mended typing errors by hand, and replaced one of two equal words in a few captions.
    assert len(others) <= len(cases) / 100, others


def tokenized(text: str) -> tuple[str, ...]:
    return tuple(token.lower() for token in tokens_of(text))


def is_swap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two words change places, and nothing else."""
    changes = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(changes) == 2 and changes[0] == changes[1][::-1]


def is_swap_of_phrases(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the same words stand in another order, without being a swap of two words."""
    return one != other and sorted(one) == sorted(other) and not is_swap(one, other)


@needs_real_data
@pytest.mark.parametrize(
    ("policy", "is_wanted", "least", "share"),
    [("swap", is_swap, 500, 0.9), ("swap-noun-phrases", is_swap_of_phrases, 50, 0.75)],
)
def test_most_published_swaps_are_made(
    policy: str, is_wanted: Callable[[tuple[str, ...], tuple[str, ...]], bool], least: int, share: float
) -> None:
    """NegCLIP's authors used another tagger and a parser."""
    maker = Words().load(policy)
    swaps = made = 0
    with (REAL_DATA / "aro" / "valid_neg_clip.tsv").open(encoding="utf-8", newline="") as file:
        for row in list(csv.DictReader(file, delimiter="\t"))[::10]:
            caption = tokenized(row["title"])
            (result,) = maker.make([Request(row["title"], 100, 0)])
            ours = (
                set()
                if isinstance(result, NothingMade)
                else {tokenized(one.text) for one in result if isinstance(one, MadeText)}
            )
            theirs = {text for text in map(tokenized, ast.literal_eval(row["neg_caption"])) if is_wanted(caption, text)}
            swaps, made = swaps + len(theirs), made + len(theirs & ours)
    assert swaps > least
    assert made / swaps > share, (made, swaps)
