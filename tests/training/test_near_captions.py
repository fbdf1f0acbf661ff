"""Near captions: by hand, and against comparing every pair."""

import random
from collections.abc import Sequence

import pytest

from training.near_captions import ChangedCaptions, NearCaptions, trigrams_of


def test_the_similarity_is_that_of_groups_of_three_characters() -> None:
    assert trigrams_of("A dog.") == {" a ", "a d", " do", "dog", "og "}
    # "a dog": 5 groups. "a dogs": " a ", "a d", " do", "dog", "ogs", "gs ": 6. Shared: 4 of 7.
    index = NearCaptions(["A DOG!", "a cat"], at_least=0.5)
    assert index.nearest(["a dogs", "a bird", "", "a\u00a0dog"]) == {0: (pytest.approx(4 / 7, abs=1e-3), 0), 3: (1, 0)}
    assert NearCaptions(["A DOG!"], at_least=0.6).nearest(["a dogs"]) == {}


def test_nothing_is_near_to_nothing() -> None:
    assert NearCaptions([]).nearest(["a dog"]) == {}
    assert NearCaptions(["a dog"]).nearest([]) == {}


@pytest.mark.parametrize("at_least", [0.5, 0.8, 1.0])
def test_no_pair_is_missed_and_the_nearest_is_found(at_least: float) -> None:
    dice = random.Random(at_least)

    def caption() -> str:
        return " ".join(dice.choice(["ab", "abc", "cab", "bca", "aab", "ca"]) for _ in range(dice.randint(1, 7)))

    known, asked = [caption() for _ in range(150)], [caption() for _ in range(150)]
    expected = {}
    for place, one in enumerate(map(trigrams_of, asked)):
        similarities = [len(one & other) / len(one | other) for other in map(trigrams_of, known)]
        if max(similarities) >= at_least:
            expected[place] = pytest.approx(max(similarities), abs=1e-3)
    assert len(expected) > 5
    found = NearCaptions(known, at_least=at_least).nearest(asked)
    assert {place: similarity for place, (similarity, _) in found.items()} == expected


def found_among(held: Sequence[str], *, owners: str = "", sets: str = "") -> ChangedCaptions:
    """Return what finds captions that are changed ones of `held`, each of its own thing or of that in `owners`."""
    things = [{each} for each in owners] if owners else [{str(number)} for number in range(len(held))]
    return ChangedCaptions(held, [{hash(each) for each in some} for some in things], list(sets) or [""] * len(held))


def changed(*captions: str, of: list[str], owners: str = "", sets: str = "") -> list[int]:
    """Return the places of the captions that are found."""
    return sorted(found_among(of, owners=owners, sets=sets).nearest(captions))


def test_one_changed_word_and_another_order_are_found() -> None:
    held = ["A dog runs over the wet grass.", "Two cats sleep on a red chair."]
    near = [
        "a dog runs over the wet sand",
        "A dog runs over wet grass",
        "A brown dog runs over the wet grass",
        "The dog runs over a wet grass?",
        "a grass runs over the wet dog",
        "runs over the wet grass a dog",
    ]
    # In the last one, two words are replaced.
    assert changed(*near, "A cat runs over the dry grass", of=held) == [0, 1, 2, 3, 4, 5]
    # Groups of three characters, by hand: " a ", "a c", " ca", "cat", "at " of "a cat"; "cat" has the last three.
    assert found_among(["a cat"]).nearest(["cat"]) == {0: (0.6, 0)}


def test_two_replaced_words_are_found_in_captions_of_ten_words_and_more() -> None:
    held = ["Two small dogs run over the wet green grass today.", "A cat sleeps on the old red chair again."]
    near = [
        "Two small cats run over the wet green sand today",
        # Three are replaced, then two and one is left out, and two of nine.
        "Two small cats run over the dry green sand today",
        "Two small cats run over the wet sand today",
        "A dog sleeps on the old blue chair again",
        # The first and the last word.
        "Ten small dogs run over the wet green grass again",
    ]
    assert [len(caption.split()) for caption in (held[0], held[1])] == [10, 9]
    assert changed(*near, of=held) == [0, 4]


def test_long_captions_that_differ_in_two_words_by_a_template_are_not_compared_so() -> None:
    """No two of them are a word apart."""
    template = [f"The {each} sees how {each}{each} birds sit on the old red roof" for each in "abcde"]
    asked = "The x sees how y birds sit on the old red roof"
    assert changed(asked, of=template) == []
    assert found_among(template).two_alike == 5
    # The captions of one item may be as near as they like, and four are so by chance.
    assert changed(asked, of=template, owners="aaaaa") == [0]
    assert changed(asked, of=template[:4]) == [0]


def test_captions_that_follow_a_template_are_not_compared_so() -> None:
    colours = ("red", "blue", "green", "black", "white")
    template = [f"a {colour} ball lies on the {other} box" for colour in colours for other in colours]
    assert found_among(template).alike == 25
    assert changed("a pink ball lies on the red box", of=template) == []
    # The captions of one item may be as near as they like.
    assert changed("a pink ball lies on the red box", of=template[:5], owners="aaaaa") == [0]
    # As few as four are alike by chance.
    assert changed("a pink ball lies on the red box", of=template[:4]) == [0]


def test_a_set_that_follows_a_template_hides_no_changed_words_in_others() -> None:
    colours = ("red", "blue", "green", "black", "white")
    template = [f"a {colour} ball lies on the {other} box" for colour in colours for other in colours]
    held = [*template, "Two cats sleep on a red chair."]
    asked = ("two dogs sleep on a red chair", "a pink ball lies on the red box")
    assert changed(*asked, of=held, sets="t" * 25 + "s") == [0]
    assert found_among(held, sets="t" * 25 + "s").alike == 25


def test_a_caption_about_several_things_is_like_those_of_each() -> None:
    """The rows of a test set with one photo, whose captions are a word apart, follow no template."""
    rows = [(f"a {each} dog runs over the grass", f"a {each} dog sits over the grass") for each in "abcdef"]
    captions = [caption for row in rows for caption in row]
    # Each caption is a word from the other one of its row, and from those of all other rows that have the same verb.
    apart = [{row} for row in range(6) for _ in range(2)]
    assert ChangedCaptions(captions, apart, [""] * 12).alike == 12
    on_one_photo = [{0, row} for row in range(6) for _ in range(2)]
    assert ChangedCaptions(captions, on_one_photo, [""] * 12).alike == 0
