"""Which options a prediction must score, by hand."""

import pytest

from predictions.options import NOT_ONE_OPTION, answered_options, options_of
from studies.kinds import get_kind

PICTURE = {"image": "0" * 64, "width": 8, "height": 6}
BEST_OF_TWO = {"caption": "A vase.", "options": [{"key": f"candidate-{place}", **PICTURE} for place in range(2)]}


@pytest.mark.parametrize(
    ("scored", "problem"),
    [
        ({"candidate-0", "candidate-1"}, ""),
        ({"candidate-0", "candidate-1", "none"}, ""),
        ({"candidate-0", "none"}, "the scores lack candidate-1"),
        ({"candidate-0", "candidate-1", "zz"}, "zz is not an option"),
        ({"candidate-0", "zz", "a"}, "the scores lack candidate-1; a, zz are not options"),
        ({"zz", "none"}, "the scores lack candidate-0, candidate-1; zz is not an option"),
        # Of many the first ten are named.
        (
            {"candidate-0", "candidate-1", *(f"z{number:02}" for number in range(12))},
            "z00, z01, z02, z03, z04, z05, z06, z07, z08, z09, and 2 more are not options",
        ),
    ],
)
def test_none_shows_nothing_so_a_model_may_leave_it_out(scored: set[str], problem: str) -> None:
    options = options_of(get_kind("best_of_n"), BEST_OF_TWO)
    expected = f"{problem} (its options: candidate-0, candidate-1, none)" if problem else ""
    assert options.problem(frozenset(scored)) == expected
    assert options.fit(frozenset(scored)) is not bool(problem)


def test_every_step_of_a_scale_needs_a_score_and_an_answer_in_words_none() -> None:
    scale = {"steps": 3, "lowest": "bad", "highest": "good", "level": "ordinal"}
    options = options_of(get_kind("rating"), {"caption": "A vase.", "images": [PICTURE], "scale": scale})
    assert options.problem(frozenset({"1", "2", "3"})) == ""
    assert options.problem(frozenset({"1", "3"})) == "the scores lack 2 (its options: 1, 2, 3)"
    content = {"images": [{"key": "image_1", **PICTURE}], "target": "image_1"}
    assert options_of(get_kind("describe"), content).problem(frozenset({"a", "b"})) == NOT_ONE_OPTION


def test_a_file_of_outcomes_is_about_what_the_kind_offers_by_default() -> None:
    assert answered_options("image_to_text", None) == {"caption", "negative_caption"}
    assert answered_options("image_to_text", {"a": 1.0, "b": 2.0}) == {"a", "b"}
