"""The outcomes of items and instances, from tables worked out by hand."""

import pytest

from analytics.outcomes import WHOLE, Outcome, outcome_of_instance, outcome_of_item, outcomes_of_items

YES, NO, OPEN = Outcome.ACCEPTED, Outcome.REJECTED, Outcome.NONE_YET
SPLIT, GONE, AGREED = Outcome.CONFLICTING, Outcome.UNDONE, Outcome.AGREED


@pytest.mark.parametrize(
    ("questions", "whole", "part"),
    [
        ([YES], YES, YES),
        ([YES, YES], YES, YES),
        ([YES, NO], NO, YES),
        ([NO, OPEN], NO, OPEN),
        ([NO, NO], NO, NO),
        ([YES, OPEN], OPEN, YES),
        ([OPEN, SPLIT], OPEN, OPEN),
        ([YES, SPLIT], SPLIT, YES),
        ([SPLIT, NO], NO, SPLIT),
        ([YES, GONE], GONE, YES),
        ([NO, GONE], GONE, NO),
        ([AGREED, AGREED], AGREED, AGREED),
        ([AGREED, SPLIT], SPLIT, AGREED),
    ],
)
def test_a_whole_instance_needs_all_its_questions_and_a_part_only_one(
    questions: list[Outcome], whole: Outcome, part: Outcome
) -> None:
    assert outcome_of_item(WHOLE, questions) == outcome_of_item(WHOLE, reversed(questions)) == whole
    assert outcome_of_item("image_3", questions) == outcome_of_item("image_3", reversed(questions)) == part


def test_a_rejected_description_takes_nothing_from_its_set_but_itself() -> None:
    questions = [("image_1", NO), ("image_4", YES), ("image_9", NO), ("image_9", YES)]
    assert outcomes_of_items(questions) == {"image_1": NO, "image_4": YES, "image_9": YES}
    assert outcome_of_instance(questions) is YES


def test_what_nobody_was_asked_about_has_no_outcome() -> None:
    with pytest.raises(ValueError, match="does not ask about"):
        outcome_of_item(WHOLE, [])
    with pytest.raises(ValueError, match="asks no question about"):
        outcome_of_instance([])
