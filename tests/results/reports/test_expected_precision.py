"""What a study will be able to tell, from its plan."""

import pytest

from results.reports.base import Range
from results.reports.expected_precision import Kind, PlannedStudy, expected_precision_tables

ONE_RIGHT = [Kind("image_to_text", 1, knows_answers=True)]
PICK = [Kind("best_of_n", 1, knows_answers=False)]


def test_a_baseline_is_told_its_human_score_with_other_numbers_of_people_and_questions() -> None:
    # 500 questions with one answer by 5 people: 100 each. Twice the people answer each question twice.
    (table,) = expected_precision_tables(PlannedStudy(kinds=ONE_RIGHT, people=5, instances=500, answers=1))
    assert [row[:5] for row in table.rows] == [
        ("Human score", "as planned", 5, 500, 500),
        ("Human score", "with half the people", 2, 200, 200),
        ("Human score", "with twice the people", 10, 500, 1000),
        ("Human score", "with half the questions each", 5, 250, 250),
        ("Human score", "with twice the questions each", 5, 1000, 1000),
    ]
    widths = [row[5].high - row[5].low for row in table.rows if isinstance(row[5], Range)]
    assert widths[2] < widths[0] < widths[1]
    assert widths[4] < widths[0] < widths[3]
    # Shares are shown in percent.
    assert table.columns[5].shown == "share"


def test_a_small_study_of_all_instances_is_told_nothing_that_cannot_be() -> None:
    """6 instances with 2 questions each; 2 people answer all 12. One person answers 12, and there is no 13th."""
    kinds = [Kind("text_to_image", 2, knows_answers=True)]
    planned = PlannedStudy(kinds=kinds, people=2, instances=6, answers=2, has_more=False)
    scores, agreement = expected_precision_tables(planned)
    assert [row[1:5] for row in scores.rows] == [
        ("as planned", 2, 12, 24),
        ("with twice the people", 4, 12, 48),
        ("with half the questions each", 2, 6, 12),
    ]
    assert scores.notes[0] == (
        "With half the people: only one person answered, so there is no interval for other people."
    )
    assert (agreement.rows, agreement.notes) == (
        [],
        ["Expected precision of agreement: no interval. Fewer than 20 questions: too few for a reliable interval."],
    )


def test_a_filter_in_pairs_is_told_its_agreement() -> None:
    (table,) = expected_precision_tables(PlannedStudy(kinds=PICK, people=10, instances=400, answers=2))
    assert [row[:4] for row in table.rows] == [
        ("Krippendorff's alpha", "as planned", 400, 800),
        ("Krippendorff's alpha", "with half the questions", 200, 400),
        ("Krippendorff's alpha", "with twice the questions", 800, 1600),
    ]
    assert all(isinstance(row[4], Range) for row in table.rows)


@pytest.mark.parametrize(
    "plan",
    [
        PlannedStudy(kinds=PICK, people=10, instances=400, answers=1),
        PlannedStudy(kinds=ONE_RIGHT, people=0, instances=0, answers=2),
    ],
    ids=["a filter with one answer each", "its questions come later"],
)
def test_a_study_that_will_tell_nothing_has_no_row(plan: PlannedStudy) -> None:
    assert not expected_precision_tables(plan)


def test_the_four_questions_are_told_as_the_instances_that_their_scores_count() -> None:
    # BiVLC's baseline: 500 instances, 20 people with 25 each, so that I2T, T2I and Group stand on 25 per person.
    four = [Kind(name, 2, knows_answers=True) for name in ("image_to_text", "text_to_image")]
    (table,) = expected_precision_tables(PlannedStudy(kinds=four, people=20, instances=500, answers=1))
    assert table.rows[0][:5] == ("Human score (I2T, T2I, Group)", "as planned", 20, 500, 500)
    assert len(table.rows) == 5


def test_every_kind_is_told_for_itself() -> None:
    # 40 instances with two image questions and one caption question each, two answers to each by 4 people.
    kinds = [Kind("image_to_text", 2, knows_answers=True), Kind("text_to_image", 1, knows_answers=True)]
    scores, agreement = expected_precision_tables(PlannedStudy(kinds=kinds, people=4, instances=40, answers=2))
    assert [row[:5] for row in scores.rows if row[1] == "as planned"] == [
        ("Human score (image_to_text)", "as planned", 4, 80, 160),
        ("Human score (text_to_image)", "as planned", 4, 40, 80),
    ]
    assert [row[:4] for row in agreement.rows if row[1] == "as planned"] == [
        ("Krippendorff's alpha (image_to_text)", "as planned", 80, 160),
        ("Krippendorff's alpha (text_to_image)", "as planned", 40, 80),
    ]


def test_agreement_is_told_of_the_surveys_that_two_people_answer() -> None:
    # BiVLC's step 3: 7,512 questions with one answer, of which 5 surveys of 100 have two.
    planned = PlannedStudy(kinds=PICK, people=80, instances=7512, answers=1, doubled=500, has_more=False)
    (table,) = expected_precision_tables(planned)
    assert table.rows[0][:4] == ("Krippendorff's alpha", "as planned", 500, 1000)
    # More of its surveys can be answered by two.
    assert table.rows[2][:4] == ("Krippendorff's alpha", "with twice the questions", 1000, 2000)
