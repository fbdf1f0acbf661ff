"""What a study will be able to tell, from its plan."""

from results.reports.base import Range
from results.reports.outlook import ToCome, outlook_table


def test_a_baseline_is_told_its_human_score_with_other_numbers_of_people_and_questions() -> None:
    # 500 questions with one answer by 5 people: 100 each.
    table = outlook_table(ToCome(knows_answers=True, people=5, questions=500, answers=1))
    assert [row[:5] for row in table.rows] == [
        ("Human score", "as planned", 5, 500, 500),
        ("Human score", "half the people", 2, 200, 200),
        ("Human score", "twice the people", 10, 1000, 1000),
        ("Human score", "half the questions each", 5, 250, 250),
        ("Human score", "twice the questions each", 5, 1000, 1000),
    ]
    widths = [row[6] for row in table.rows if isinstance(row[6], float)]
    assert widths[2] < widths[0] < widths[1]
    assert widths[4] < widths[0] < widths[3]


def test_a_filter_in_pairs_is_told_its_agreement() -> None:
    table = outlook_table(ToCome(knows_answers=False, people=10, questions=400, answers=2))
    assert [row[:5] for row in table.rows] == [
        ("Krippendorff's alpha", "as planned", None, 400, 800),
        ("Krippendorff's alpha", "half the questions", None, 200, 400),
        ("Krippendorff's alpha", "twice the questions", None, 800, 1600),
    ]
    assert all(isinstance(row[5], Range) for row in table.rows)


def test_a_filter_with_one_answer_each_will_tell_neither() -> None:
    assert not outlook_table(ToCome(knows_answers=False, people=10, questions=400, answers=1)).rows


def test_a_study_whose_questions_come_later_has_nothing_to_be_told_yet() -> None:
    assert not outlook_table(ToCome(knows_answers=True, people=0, questions=0, answers=2)).rows
