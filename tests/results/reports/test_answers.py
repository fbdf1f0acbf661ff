"""Every number worked out by hand."""

from dataclasses import replace
from math import pi, sin
from typing import Any

import pytest

from results.reports.base import Reference, Table, Undefined
from results.reports.facts import AnswerFacts, StudyFacts
from results.reports.sections.answers import (
    AnswerDetails,
    positions_chart,
    positions_table,
    rates_chart,
    rates_table,
    times_chart,
    times_table,
)
from results.reports.sentences import say_positions
from tests.results.reports.small import BASELINE, STEP_3

NONE = AnswerDetails(kind="best_of_n", category=("add", "obj"), position=None, positions=2, seconds=1.0)
FIRST = replace(NONE, position=0, seconds=3.0)
SECOND = replace(NONE, category=("swap", "att"), position=1, seconds=None)
RIGHT = AnswerDetails(kind="image_to_text", category=("add", "obj"), position=0, positions=2, seconds=100.0)
# Step 3 with a category for each of its four instances, two of a kind; None was said once of the first two and twice
# of the last two.
FILTER = replace(STEP_3, categories={1: ("add", "obj"), 2: ("add", "obj"), 3: ("swap", "att"), 4: ("swap", "att")})


def asked(*instances: int, right: str = "") -> StudyFacts:
    """Return a study of image to text with a question about each of `instances`, numbered from 0."""
    first = BASELINE.questions[0]
    questions = [replace(first, id=number, instance=instance, right=right) for number, instance in enumerate(instances)]
    return replace(BASELINE, questions=questions, answers=())


def answered(study: StudyFacts, *said: str) -> StudyFacts:
    """Return `study` with what each of several people said of its questions, in their order."""
    answers = [
        AnswerFacts(question.id, person, 1, choice)
        for person, choices in enumerate(said)
        for question, choice in zip(study.questions, choices.split(), strict=True)
    ]
    return replace(study, answers=answers)


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def test_none_is_counted_for_everything_and_per_category() -> None:
    counted = [row[1:7] for row in rows(rates_table(FILTER))]
    assert counted == [
        ["none", "all", "all", 8, 3, 0.375],
        ["none", "add", "obj", 4, 1, 0.25],
        ["none", "swap", "att", 4, 2, 0.5],
    ]


def test_equal_answers_counted_together_are_as_many_answers() -> None:
    together, apart = [NONE, replace(FIRST, times=3)], [NONE, FIRST, FIRST, FIRST]
    for make in (positions_table, times_table, positions_chart, times_chart):
        assert make(together) == make(apart)


def test_right_answers_are_counted_where_one_is_known() -> None:
    table = rates_table(answered(asked(1, 2, 3, 4, right="caption"), "caption caption caption negative_caption"))
    assert table.title == "How often the right option was chosen"
    assert rows(table)[0][:7] == ["image_to_text", "right", "all", "all", 4, 3, 0.75]
    assert rows(table)[0][7] == Undefined("Only one person answered, so there is no interval for other people.")


def test_questions_about_one_instance_are_one_draw() -> None:
    # Both people are right on both questions about the first of two instances, and on none about the second: a variance
    # of 1/4 with one degree of freedom, worth one answer. Of eight answers Wilson's would be 0.215 to 0.785.
    wrong = "negative_caption"
    study = answered(asked(1, 1, 2, 2, right="caption"), *[f"caption caption {wrong} {wrong}"] * 2)
    interval = rows(rates_table(study))[0][7]
    assert (interval.low, interval.high) == pytest.approx(((1 - sin(0.475 * pi)) / 2, (1 + sin(0.475 * pi)) / 2))


def test_places_are_tested_against_equal_chances() -> None:
    # Five times the first of two places and once the second: chi-squared (5-3)^2/3 + (1-3)^2/3 = 8/3, w = sqrt(4/9).
    # Of 64 outcomes 14 are as uneven; 3 are expected per place, so p is drawn, with a standard error of .004.
    whole, first, second = rows(positions_table([*[FIRST] * 5, SECOND, NONE]))
    assert whole[:4] == ["best_of_n", "all", 6, None]
    assert whole[4:] == [pytest.approx(8 / 3), pytest.approx(14 / 64, abs=0.02), pytest.approx(2 / 3)]
    assert (first[1:4], second[1:4]) == (["1", 5, 3.0], ["2", 1, 3.0])


def test_answers_that_could_not_show_a_bias_are_not_tested() -> None:
    # All five at the first of two places have the probability 2 / 32.
    table = positions_table([FIRST] * 5)
    reason = "5 answers are too few to tell: even all at one position give p = 0.06."
    assert rows(table)[0][5] == Undefined(reason)
    assert say_positions(table) == f"No test yet: {reason}"


def test_without_a_place_chosen_there_is_nothing_to_test() -> None:
    (whole,) = rows(positions_table([NONE]))
    assert whole[4:] == [Undefined("Nobody has chosen a place.")] * 3


def test_times_are_quantiles_of_those_that_were_measured() -> None:
    answers = [replace(NONE, seconds=float(second)) for second in range(11)]
    assert rows(times_table([*answers, SECOND])) == [["best_of_n", 11, 1.0, 2.5, 5.0, 7.5, 9.0]]
    assert isinstance(rows(times_table([SECOND]))[0][2], Undefined)


def test_the_plots_show_the_same_numbers() -> None:
    answers = [NONE, FIRST, SECOND, RIGHT]
    rates, positions, times = rates_chart(FILTER), positions_chart(answers), times_chart(answers)
    assert [series.name for series in rates.series] == ["best_of_n: none"]
    assert [point.value for point in rates.series[0].points] == [0.375, 0.25, 0.5]
    assert [point.label for point in rates.series[0].points] == ["all", "add obj", "swap att"]
    assert [(point.value, point.expected) for point in positions.series[0].points] == [(1, 1.0), (1, 1.0)]
    # 1 and 3 s of one kind, 100 s of the other: bins of 10 s, and the median is 3 s.
    assert [[(point.label, point.value) for point in each.points if point.value] for each in times.series] == [
        [("0 to 10 s", 2)],
        [("100 to 110 s", 1)],
    ]
    assert times.references == [Reference("median 3.0 s", 3.0)]


def test_nothing_answered_is_an_empty_table() -> None:
    assert [rows(table) for table in (rates_table(asked(1)), positions_table([]), times_table([]))] == [[], [], []]
