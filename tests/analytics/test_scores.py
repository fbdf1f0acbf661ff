"""Scores against hand computation; the papers' numbers are in test_metrics."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from analytics.imagecode import count_sets, phenomenon
from analytics.scores import (
    Mean,
    Outcomes,
    Score,
    drop_rate,
    false_recall,
    is_below,
    macro,
    outcomes_of_detectors,
    outcomes_of_scores,
    ranks,
    right_choices,
    score,
    scores_by,
    sum_of_scores,
    wilson_interval,
)
from tests.analytics.published import outcomes, patterns

ALL_RIGHT: Any = [[0.3, 0.2], [0.25, 0.4]]


@pytest.mark.parametrize(
    ("scores", "pattern"),
    [
        (ALL_RIGHT, "1111"),
        # [image][caption]: each tie makes one question wrong.
        ([[0.3, 0.3], [0.25, 0.4]], "0111"),
        ([[0.3, 0.2], [0.4, 0.4]], "1001"),
        ([[0.3, 0.2], [0.3, 0.4]], "1101"),
        ([[0.3, 0.4], [0.25, 0.4]], "0110"),
        ([[0, 0], [0, 0]], "0000"),
        ([[0, 1], [1, 0]], "0000"),
    ],
)
def test_a_question_is_right_when_the_right_score_is_strictly_higher(scores: Any, pattern: str) -> None:
    assert patterns(outcomes_of_scores([scores])) == [pattern]


def test_i2t_needs_both_images_t2i_both_captions_and_group_all_four() -> None:
    scores = outcomes("1111", "1110", "1101", "1011", "0111").scores()
    counts = {name: each.count for name, each in scores.items()}
    assert counts == {"I2T": 3, "T2I": 3, "Group": 1, "Ipos2T": 4, "Ineg2T": 4, "Tpos2I": 4, "Tneg2I": 4}
    assert {each.n for each in scores.values()} == {5}


def test_scores_are_split_by_labels_in_order_of_appearance() -> None:
    by = outcomes("1111", "0000", "1100").scores_by(["swap", "add", "swap"], ["obj", "obj", "obj"])
    assert list(by) == [("swap", "obj"), ("add", "obj")]
    assert by["swap", "obj"]["I2T"] == Score(2, 2)
    assert by["swap", "obj"]["T2I"] == Score(1, 2)
    assert by["add", "obj"]["I2T"] == Score(0, 1)


def test_a_percentage_is_rounded_half_up_from_the_exact_fraction() -> None:
    assert Score(1, 16).percent(1) == Decimal("6.3")
    assert Score(1, 16).percent() == Decimal("6.25")
    assert Score(2, 3).percent() == Decimal("66.67")
    assert Score(2, 3).share == 2 / 3
    empty = outcomes_of_scores(np.empty((0, 2, 2))).scores()["Group"]
    assert (empty.share, empty.percent(), empty.n, empty.reason) == (None, None, 0, "There is nothing to count.")


@pytest.mark.parametrize(
    ("text", "image", "pattern"),
    [
        ([0.4, 0.6], [0.1, 0.9], "1111"),
        ([0.6, 0.4], [0.1, 0.9], "0000"),  # The text sides are swapped: nothing can be told from captions.
        ([0.1, 0.4], [0.1, 0.9], "1110"),  # The negative caption looks natural.
        ([0.6, 0.7], [0.1, 0.9], "1101"),  # The positive caption looks synthetic.
        ([0.4, 0.6], [0.9, 0.1], "0000"),
        ([0.5, 0.5], [0.1, 0.9], "0010"),  # Equal texts; 0.5 rounds to natural.
    ],
)
def test_detectors_are_right_when_they_see_the_side_and_order_the_two(text: Any, image: Any, pattern: str) -> None:
    assert patterns(outcomes_of_detectors([text], [image])) == [pattern]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: outcomes_of_scores([[1, 2], [3, 4]]), "n x 2 x 2"),
        (lambda: outcomes_of_scores([ALL_RIGHT, [[float("nan"), 1], [1, 1]]]), "instance 1 "),
        (lambda: outcomes_of_detectors([[0.1, 0.2]], [[0.1, 0.2], [0.3, 0.4]]), "n x 2"),
        (lambda: Outcomes(*(np.zeros(length, dtype=bool) for length in (1, 1, 1, 2))), "same length"),
        (lambda: right_choices([[1, 2]], 2), "one of 0 to 1"),
        (lambda: right_choices([1, 2], 0), "n x options"),
        (lambda: drop_rate(Score(1, 2), Score(1, 3)), "same queries"),
        (lambda: ranks([[1, 2]], [[True]]), "queries x gallery"),
        (lambda: ranks([[1, 2]], [[False, False]]), "Query 0 has no relevant item"),
        (lambda: false_recall([[1, 2]], [True]), "queries x gallery"),
        (lambda: count_sets({"flickr-1": []}), "starts with none of"),
        (lambda: outcomes("1111", "0000").scores_by(["swap"]), "one label for each of the 2 instances"),
        (lambda: wilson_interval(5, 3), "count must be from 0 to n"),
        (lambda: wilson_interval(-1, 3), "count must be from 0 to n"),
        (lambda: is_below(-0.1, 1, 2), "bound must be from 0 to 1"),
        (lambda: is_below(1.1, 1, 2), "bound must be from 0 to 1"),
        (lambda: is_below(0.5, 3, 2), "count must be from 0 to n"),
        *(
            (lambda wrong=wrong: score([True, wrong]), "neither true nor false")
            for wrong in (float("nan"), "False", "", None, 0.5)
        ),
        (lambda: sum_of_scores([0.5, 2]), r"Value 1 .*2\.0, neither true nor false, nor a score from 0 to 1"),
    ],
)
def test_what_has_the_wrong_shape_or_value_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_micro_and_macro_averages_differ_when_groups_do() -> None:
    correct, relations = [True, False, True], ["on", "on", "under"]
    assert score(correct).share == pytest.approx(2 / 3)
    by_relation = scores_by(correct, relations)
    assert macro(by_relation) == Mean(0.75, 2)
    assert macro(by_relation, minimum=2) == Mean(0.5, 1)
    assert macro(by_relation, minimum=3).reason == "No group has at least 3 questions."
    assert macro([]).value is None


def test_the_right_option_must_beat_every_other_one() -> None:
    scores = [[0.1, 0.2, 0.0], [0.3, 0.3, 0.1], [0.1, 0.9, 0.95]]
    assert right_choices(scores, 1).tolist() == [True, False, False]
    assert right_choices(scores, [1, 2, 2]).tolist() == [True, False, True]


def test_ties_push_the_relevant_item_back_and_fool() -> None:
    scores = [[0.9, 0.5, 0.5], [0.1, 0.2, 0.3], [0.4, 0.4, 0.1]]
    relevant = [[False, False, True], [False, True, True], [True, True, False]]
    assert ranks(scores, relevant).tolist() == [3, 1, 1]
    assert false_recall([[0.2, 0.9], [0.8, 0.1], [0.5, 0.5]], [False, True]) == Score(2, 3)


def test_drop_rate_is_relative_to_what_was_found_before() -> None:
    # RoCOCO's abstract: BLIP's recall at 1 falls from 81.9 to 48.4 percent.
    assert drop_rate(Score(819, 1000), Score(484, 1000)).value == pytest.approx(335 / 819)
    assert drop_rate(Score(1, 4), Score(2, 4)).value == -1
    assert drop_rate(Score(0, 4), Score(0, 4)) == Mean(None, 4, "Nothing was found before, so nothing can be lost.")


def test_only_coded_descriptions_count_for_a_phenomenon() -> None:
    annotations = ["s,con", ",s", *[""] * 198, *["s,con"] * 803]
    assert phenomenon(annotations, "s") == Score(2, 200)
    assert phenomenon(annotations, "con") == Score(803, 1002)
    assert phenomenon(annotations[:3], "s") == Score(2, 3)


def test_sets_are_static_when_they_come_from_open_images() -> None:
    counts = count_sets({"open-images-1_a": {"0": "a", "3": "b"}, "MSR-VTT-video1_0": ["c"]})
    assert (counts.sets, counts.static_sets, counts.video_sets) == (2, 1, 1)
    assert (counts.descriptions, counts.static_descriptions, counts.video_descriptions) == (3, 2, 1)
    assert counts.sets_by_source == {"open-images": 1, "MSR-VTT": 1}


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    # Newcombe 1998, Statistics in Medicine 17, Table I, method 3; the last is 0 of 20 turned round.
    [
        *((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)),
        (20, 20, 1 - 0.1611, 1.0),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(count: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(count, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(
    ("bound", "right", "of", "below"),
    [
        # Wilson's upper ends: 5 of 10 0.7634; 0 of 2 z^2 / (2 + z^2) = 0.6576; 20 of 20 1; 90 of 100 0.9448.
        (0.77, 5, 10, True),
        (0.76, 5, 10, False),
        (0.66, 0, 2, True),
        (0.65, 0, 2, False),
        (1.0, 20, 20, False),
        (0.945, 90, 100, True),
        (0.944, 90, 100, False),
        (1.0, 0, 0, False),
    ],
)
def test_somebody_is_below_a_bound_where_the_whole_interval_is(bound: float, right: int, of: int, below: bool) -> None:
    assert is_below(bound, right, of) is below


def test_scores_between_0_and_1_are_added_up() -> None:
    found = sum_of_scores([1, 0.5, 0])
    assert (found.count, found.n, found.share) == (1.5, 3, 0.5)
    assert isinstance(sum_of_scores([True, False]).count, int)
    assert score([1, 0, 1.0]) == Score(2, 3)
    assert score([]) == Score(0, 0)
