"""Questions scored in numbers of 16 bits, and again where these leave in doubt which option is best."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import inf, nan
from typing import Any

import pytest

from predictions.messages import Item, ScoredChunk
from predictions.scorers import ModelIdentity, NoPicture, OpenPicture, Scorer
from predictions.scoring import COMPARED, planned_speed, score_items

# A power of two, so that sums with it are exact.
TOLERANCE = 0.125


class Known(Scorer):
    """What it says of a text is known, whatever the picture; the picture "gone" cannot be had."""

    def __init__(self, scores: Mapping[str, float], tolerance: float = 0.0, speed: float = 1.0) -> None:
        self.identity = ModelIdentity("known", "", "w")
        self.scores = scores
        self.tolerance = tolerance
        self.speed = speed
        self.asked: list[set[str]] = []

    def conditions(self) -> Mapping[str, Any]:
        return {"dtype": "float16" if self.tolerance else "float32"}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        self.asked.append({text for text, _ in pairs})
        return [NoPicture("It is gone.") if picture == "gone" else self.scores[text] for text, picture in pairs]

    def pictures_per_second(self) -> float:
        return self.speed


def question(content: str, *texts: str, picture: str = "there") -> Item:
    return Item(content=content, matches={text: (text, picture) for text in texts})


def no_pictures(name: str) -> Any:
    raise AssertionError(name)


def scored(exact: Mapping[str, float], half: Mapping[str, float], *items: Item) -> tuple[ScoredChunk, Known]:
    scorer = Known(exact)
    return score_items(scorer, items, no_pictures, half=Known(half, TOLERANCE)), scorer


# In 16 bits b comes before a, as 0.05 is more than rounding leaves; c and d are far apart, each off by 0.01.
EXACT = {"a": 0.50, "b": 0.46, "c": 0.20, "d": 0.80}
HALF = {"a": 0.47, "b": 0.49, "c": 0.21, "d": 0.79}


def test_a_question_of_which_two_options_are_close_is_scored_again_and_listed() -> None:
    chunk, _ = scored(EXACT, HALF, question("close", "a", "d", "b"), question("clear", "c", "d"))
    close, clear = chunk["results"]
    assert close["scores"] == {"a": 0.50, "d": 0.80, "b": 0.46}
    assert clear["scores"] == {"c": 0.21, "d": 0.79}
    assert chunk["conditions"] == {"dtype": "float16"}
    assert chunk["again"] == {
        "contents": ["close"],
        "conditions": {"dtype": "float32", "again": {"in": "float16", "closer_than": TOLERANCE}},
    }
    # Without numbers of 16 bits nothing is scored twice.
    scorer = Known(EXACT)
    chunk = score_items(scorer, [question("close", "a", "b")], no_pictures)
    assert (len(scorer.asked), chunk["conditions"]) == (1, {"dtype": "float32"})
    assert "again" not in chunk


def test_exactly_as_far_apart_as_tolerated_is_not_close() -> None:
    edge, same = {"a": 0.5, "b": 0.5 - TOLERANCE}, {"a": 0.5, "b": 0.5}
    assert "again" not in scored(edge, edge, question("at the edge", "a", "b"))[0]
    assert scored(same, same, question("the same", "a", "b"))[0]["again"]["contents"] == ["the same"]


def test_where_scores_differ_by_more_than_supposed_all_are_scored_again() -> None:
    """Of the clear ones, 0.07 is more than half of what is tolerated: a question that was clear may not have been."""
    chunk, _ = scored(EXACT, HALF | {"c": 0.27}, question("clear", "c", "d"), question("other", "a", "d"))
    assert [result["scores"] for result in chunk["results"]] == [{"c": 0.20, "d": 0.80}, {"a": 0.50, "d": 0.80}]
    assert chunk["again"]["contents"] == ["clear", "other"]
    assert chunk["again"]["conditions"]["again"] == {
        "in": "float16",
        "closer_than": TOLERANCE,
        "differed_by_more_than": TOLERANCE / 2,
    }


def test_only_the_closest_of_what_is_clear_is_compared() -> None:
    """Computed twice, and what stands is still the first: it does not depend on what else is in the message."""
    exact = {
        f"{side}{number}": number if side == "left" else 0.0 for number in range(1, 21) for side in ("left", "right")
    }
    half = {text: score + 0.01 for text, score in exact.items()}
    items = [question(str(number), f"left{number}", f"right{number}") for number in range(1, 21)]
    chunk, scorer = scored(exact, half, *items)
    assert scorer.asked == [{f"{side}{number}" for number in range(1, COMPARED + 1) for side in ("left", "right")}]
    assert "again" not in chunk
    assert chunk["results"][0]["scores"] == {"left1": 1.01, "right1": 0.01}


@pytest.mark.parametrize("too_large", [inf, -inf, nan])
def test_what_is_too_large_for_16_bits_is_scored_again(too_large: float) -> None:
    chunk, _ = scored(EXACT, HALF | {"d": too_large}, question("large", "c", "d"))
    assert chunk["results"][0]["scores"] == {"c": 0.20, "d": 0.80}
    chunk, _ = scored(EXACT | {"d": too_large}, HALF | {"d": too_large}, question("large", "c", "d"))
    assert chunk["results"][0]["error"] == "The model's score is not a number. Check its weights."


def test_a_picture_that_cannot_be_had_is_not_asked_for_again() -> None:
    chunk, scorer = scored(EXACT, HALF, question("gone", "a", "b", picture="gone"), question("clear", "c", "d"))
    gone, clear = chunk["results"]
    assert gone["error"] == "It is gone."
    assert clear["scores"] == {"c": 0.21, "d": 0.79}
    assert scorer.asked == [{"c", "d"}]


@pytest.mark.parametrize(
    ("in_float32", "in_half", "speed"), [(10.0, None, 10.0), (10.0, 15.0, 15.0), (10.0, 80.0, 20.0)]
)
def test_a_chunk_that_is_scored_again_as_a_whole_takes_three_times_as_long_at_most(
    in_float32: float, in_half: float | None, speed: float
) -> None:
    """Of 80 a second, and 10 in float32: 20 pictures take 0.25 seconds and then 2, where 1 was counted on."""
    half = None if in_half is None else Known(HALF, TOLERANCE, in_half)
    assert planned_speed(Known(EXACT, speed=in_float32), half) == speed


class CountsOfSet(Known):
    """A score is the place of the image in its set, from 1, and the number of images in tenths."""

    sees_sets = True

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        sets = [list(pictures) for _, pictures in groupby(pairs, key=lambda pair: pair[0])]
        return [place + len(one) / 10 for one in sets for place in range(1, len(one) + 1)]


def test_questions_with_the_same_text_about_some_of_the_same_images_are_sets_of_their_own() -> None:
    """As descriptions of two sets that share an image. A set may also have an image twice."""
    sets = {"one": ("a dog", "xyz"), "two": ("a dog", "zv"), "three": ("a cat", "xx")}
    items = [
        Item(content=name, matches={str(place): (text, picture) for place, picture in enumerate(pictures)})
        for name, (text, pictures) in sets.items()
    ]
    found = {each["content"]: each["scores"] for each in score_items(CountsOfSet({}), items, no_pictures)["results"]}
    assert found == {
        "one": {"0": 1.3, "1": 2.3, "2": 3.3},
        "two": {"0": 1.2, "1": 2.2},
        "three": {"0": 1.2, "1": 2.2},
    }
