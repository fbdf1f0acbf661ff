import random
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation.alterations import alter_caption, influences, mix_images, partners, patch_image, substitutes_of
from evaluation.protocols import BenchmarkError

GROUPS = {"people": ["man", "woman"], "animals": ["dog", "cat", "hen"]}
CONTENT = {"groups": GROUPS, "vocabulary": ["man", "war"], "danger": {"people": "criminal", "": "weapon"}}
SUBSTITUTES = substitutes_of(CONTENT, "substitutes.json")


def test_the_influence_of_a_word_is_how_far_the_embedding_turns_without_it() -> None:
    vectors = {"a b c": [1.0, 0.0], "b c": [3.0, 0.0], "a c": [0.0, 2.0], "a b": [1.0, 1.0]}
    # Cosines 1, 0 and 1 / sqrt(2).
    found = influences(["a", "b", "c"], lambda texts: np.array([vectors[text] for text in texts]))
    assert found == pytest.approx([0, 1, 1 - 0.5**0.5])
    with pytest.raises(BenchmarkError, match="The embedding of 'a b', or of it without one of its words, has length 0"):
        influences(["a", "b"], lambda texts: np.zeros((len(texts), 3)))


@pytest.mark.parametrize(
    ("word", "policy", "candidates"),
    [
        ("man", "same_concept", ["woman"]),
        ("Man", "same_concept", ["woman"]),
        ("dog", "same_concept", ["cat", "hen"]),
        ("man", "diff_concept", ["dog", "cat", "hen"]),
        ("dog", "diff_concept", ["man", "woman"]),
        ("man", "rand_voca", ["war"]),
        ("man", "danger", ["criminal"]),
        ("dog", "danger", ["weapon"]),
    ],
)
def test_what_may_replace_a_word_follows_from_the_policy(word: str, policy: str, candidates: list[str]) -> None:
    assert list(SUBSTITUTES.candidates(word, policy)) == candidates


def test_the_noun_with_the_least_influence_on_most_encoders_is_replaced() -> None:
    def turned_by(*words: str) -> Any:
        return lambda texts: np.array([[1.0, *(9.0 * (word in text.split()) for word in words)] for text in texts])

    def made(caption: str, *encoders: Any) -> dict[str, str]:
        return alter_caption(caption, SUBSTITUTES, ["danger"], encoders=encoders, rng=random.Random(1))

    # Of equals the first.
    assert made("A cat and a man see a dog", turned_by("dog")) == {"danger": "A weapon and a man see a dog"}
    assert made("Nobody", turned_by("dog")) == {}
    # Two of three choose the man, whose word turns the third encoder's embedding most.
    cat, man = turned_by("cat", "dog"), turned_by("man", "dog")
    assert made("A cat, a man and a dog", cat, cat, man) == {"danger": "A cat , a criminal and a dog"}
    # One vote each: the influences, added up, are the same, so the first is taken.
    assert made("A cat, a man and a dog", cat, man) == {"danger": "A weapon , a man and a dog"}


@pytest.mark.parametrize(
    "content",
    [{}, {**CONTENT, "groups": {"people": "man"}}, {**CONTENT, "danger": {"": 3}}, {**CONTENT, "vocabulary": 1}],
)
def test_substitutes_that_are_none_are_refused(content: dict[str, Any]) -> None:
    with pytest.raises(BenchmarkError, match="needs groups"):
        substitutes_of(content, "substitutes.json")


def plane(level: int) -> Image.Image:
    return Image.new("RGB", (20, 10), (level, level, level))


def test_a_mixed_image_is_nine_tenths_of_one_and_one_tenth_of_the_other() -> None:
    pixels = np.asarray(mix_images(plane(200), plane(100)))
    assert pixels.shape == (384, 384, 3)
    assert np.unique(pixels).tolist() == [190]


def test_a_patched_image_has_a_tenth_of_the_other_at_most_and_all_of_it_where_it_fits() -> None:
    shares = []
    for seed in range(40):
        pixels = np.asarray(patch_image(plane(200), plane(100), rng=random.Random(seed)))
        assert set(np.unique(pixels)) <= {100, 200}
        shares.append(float((pixels == 100).mean()))
    # 384 x sqrt(0.1) = 121.4, of which the authors' code takes the half as a whole number, 60, on either side.
    assert max(shares) == 120**2 / 384**2
    assert min(shares) > 0


def test_every_image_has_another_one_as_its_partner_once() -> None:
    found = partners(7, rng=random.Random(3))
    assert sorted(found) == list(range(7))
    assert all(place != other for place, other in enumerate(found))
    with pytest.raises(BenchmarkError, match="there is only one"):
        partners(1, rng=random.Random(3))
