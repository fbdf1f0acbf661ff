"""Every number worked out by hand."""

from dataclasses import replace

import pytest

from results.reports.sections.participants import people_numbers
from tests.results.reports.test_annotators import ANN, BEN


def test_people_are_compared_over_all_studies_and_kinds() -> None:
    """Two studies: in one ann and ben agree on 1 of 2 questions, in the other ann is right on 1 of 2 captions."""
    first = [
        *(replace(ANN, question=1, instance=1), replace(BEN, question=1, instance=1)),
        *(replace(ANN, question=2, instance=2, seconds=4.0), replace(BEN, question=2, instance=2, choice="none")),
    ]
    known = replace(ANN, kind="image_to_text", choice="caption", right="caption", seconds=9.0)
    second = [replace(known, question=3, instance=3), replace(known, question=4, instance=4, right="negative_caption")]
    found = people_numbers([first, second])
    ann, ben = found["A-ANN"], found["A-BEN"]
    assert (ann.answers, ann.agreement, ann.right, ann.seconds) == (4, 0.5, 0.5, 6.5)
    assert (ben.answers, ben.agreement, ben.right, ben.right_range, ben.seconds) == (2, 0.5, None, None, None)
    # Wilson's of 1 of 2: half a width of z / 2 / sqrt(2 + z^2) on either side of 0.5.
    assert ann.agreement_range == pytest.approx((0.0945, 0.9055), abs=5e-5)


def test_parts_are_compared_one_by_one_and_added_answers_with_none() -> None:
    """Ann and ben answer two parts of one question and agree on one; cleo was asked because they differ."""
    parts = replace(ANN, choice="", question=1, instance=1)
    found = people_numbers(
        [
            [
                replace(parts, units={"left": "cat", "right": "dog"}),
                replace(parts, annotator="A-BEN", units={"left": "cat", "right": "cat"}),
                replace(parts, annotator="A-CLEO", units={"left": "cat", "right": "dog"}, added=True),
            ]
        ]
    )
    assert [(name, numbers.answers, numbers.agreement) for name, numbers in found.items()] == [
        ("A-ANN", 1, 0.5),
        ("A-BEN", 1, 0.5),
        ("A-CLEO", 1, None),
    ]


def test_without_answers_there_is_nobody() -> None:
    assert people_numbers([[], []]) == {}
