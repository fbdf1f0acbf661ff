"""What the report says of preferences, and of questions that ask several things at once. Counted by hand."""

from dataclasses import replace
from math import exp, log

import pytest

from analytics.intervals.bootstrap import SMALL
from analytics.outcomes import Outcome
from results.reports.base import Range, Undefined
from results.reports.build import report_of
from results.reports.facts import AnswerFacts, LabelSpace, PartFacts, ProjectFacts, QuestionFacts, StudyFacts
from results.reports.sections.multi_part_answers import units_chart, units_table
from results.reports.sections.preferences import preferences_chart, preferences_of, preferences_table
from tests.results.reports.small import STEP_3, by_title

SAME, FIT, NICE = "no difference", "Fits", "Is nicer"


def study(kind: str, label_space: LabelSpace, answers: list[AnswerFacts], **about: object) -> StudyFacts:
    questions = [
        QuestionFacts(question, question, kind, 0, "", Outcome.ACCEPTED, "", 2, 2)
        for question in dict.fromkeys(answer.question for answer in answers)
    ]
    part = PartFacts(kind, "Several at once", 1, "Look.", label_space)
    return replace(STEP_3, slug=kind, parts=[part], questions=questions, answers=answers, **about)  # type: ignore[arg-type]


# Two questions, three people: of fit a is preferred four times, b twice; nobody finds b nicer than a.
LIKES = study(
    "likes",
    LabelSpace(options=["a", "b", SAME], names={SAME: "No difference"}, has_one_label=False, is_preference=True),
    [
        AnswerFacts(question, person, 1, said, unit=criterion)
        for question, person, fit, nice in [
            *((1, 91, "a", "a"), (1, 92, "a", SAME), (1, 93, "b", "a")),
            *((2, 91, "a", "a"), (2, 92, "b", "a"), (2, 93, "a", SAME)),
        ]
        for criterion, said in ((FIT, fit), (NICE, nice))
    ],
    beside={1: ("a", "b"), 2: ("a", "b")},
)
FACTS = study(
    "facts",
    LabelSpace(options=["true", "false"], names={"true": "True"}, has_one_label=False),
    [AnswerFacts(1, 91, 1, "true", unit="It rains."), AnswerFacts(1, 92, 1, "false", unit="It rains.")],
)


def test_a_criterion_has_its_images_the_best_first_below_them_all() -> None:
    table = preferences_table(preferences_of(LIKES))
    rows = by_title(table)
    of_fit = [row for row in rows if row["Criterion"] == FIT]
    counted = [
        (row["Rank"], row["Image"], row["Comparisons"], row["Preferred"], row["No difference"]) for row in of_fit
    ]
    assert counted == [(None, "all", 6, 6, 0), (1, "a", 6, 4, 0), (2, "b", 6, 2, 0)]
    assert of_fit[1]["Score"] == pytest.approx(log(2) / 2)
    assert of_fit[1]["Share preferred"] == pytest.approx(4 / 6)
    # The root of 2 to 1.
    assert of_fit[1]["Against an average image"] == pytest.approx(2**0.5 / (1 + 2**0.5))
    assert of_fit[1]["95 % interval over questions"] == Undefined(SMALL)
    assert of_fit[1]["95 % interval over people and questions"] == Undefined("Needs at least 5 people; there are 3.")
    assert table.rests_on == ["likes"]


def test_a_criterion_that_no_score_fits_says_why_and_is_in_no_chart() -> None:
    found = preferences_of(LIKES)
    rows = [row for row in preferences_table(found).rows if NICE in row]
    assert [(row[4], *row[8:11]) for row in rows] == [("all", 6, 4, 2), ("a", 6, 4, 2), ("b", 6, 0, 2)]
    assert rows[1][5] == Undefined("Nothing else was ever preferred to a, so that no score is high enough.")
    chart = preferences_chart(found)
    assert [(series.name, [point.label for point in series.points]) for series in chart.series] == [(FIT, ["a", "b"])]
    # Two instances are too few for an interval.
    assert {(point.low, point.high) for point in chart.series[0].points} == {(None, None)}
    assert chart.method.endswith(f"No interval: {FIT}. {SMALL}")
    assert chart.axis == "Preferred to an average image, ties apart; no intervals: fewer than 20 questions"


def test_intervals_that_can_be_relied_on_are_in_table_and_chart() -> None:
    # Of 24 instances, every second one is an a to all three people, the others to one of them: 48 times a, 24 times b.
    said = {question: ("a", "a", "a") if question % 2 else ("a", "b", "b") for question in range(1, 25)}
    answers = [
        AnswerFacts(question, person, 1, choice, unit=FIT)
        for question, choices in said.items()
        for person, choice in enumerate(choices, start=91)
    ]
    found = preferences_of(study("likes", LIKES.parts[0].label_space, answers, beside=dict.fromkeys(said, ("a", "b"))))
    first = next(row for row in by_title(preferences_table(found)) if row["Rank"] == 1)
    interval = first["95 % interval over questions"]
    assert isinstance(interval, Range)
    assert interval.low < log(2) / 2 < interval.high
    chart = preferences_chart(found)
    assert chart.axis.endswith("; lines: 95 % intervals")
    point = chart.series[0].points[0]
    # A score s is preferred to one of 0 in 1 / (1 + e^-s) of all comparisons.
    assert [point.low, point.high] == pytest.approx([1 / (1 + exp(-end)) for end in (interval.low, interval.high)])


def test_labels_of_a_list_are_counted_by_what_was_asked() -> None:
    table = units_table([FACTS, LIKES])
    # What is preferred is in the other table.
    assert [row[:6] for row in table.rows] == [
        ("facts", "facts", "It rains.", "True", 2, 1),
        ("facts", "facts", "It rains.", "false", 2, 1),
    ]
    # Two answers of two people about one instance.
    assert {row[7] for row in table.rows} == {
        Undefined("All answers are about one instance, so there is no interval for other instances.")
    }
    assert [series.name for series in units_chart([FACTS]).series] == ["true", "false"]


def test_the_report_of_a_project_has_both() -> None:
    project = ProjectFacts("shelves", "Shelves", {1: ("", ""), 2: ("", "")}, [FACTS, LIKES])
    named = {table.name: table for table in report_of(project).tables}
    charts = {chart.name: chart for chart in report_of(project).charts}
    assert [series.name for series in charts["preferences"].series] == [FIT]
    assert [series.name for series in charts["units"].series] == ["true", "false"]
    assert named["units"].rests_on == ["facts"]
    assert named["preferences"].rests_on == ["likes"]


def test_charts_of_several_studies_name_the_study() -> None:
    again, more = replace(LIKES, slug="again"), replace(FACTS, slug="more")
    project = ProjectFacts("shelves", "Shelves", {1: ("", ""), 2: ("", "")}, [FACTS, LIKES, again, more])
    charts = {chart.name: chart for chart in report_of(project).charts}
    assert [series.name for series in charts["preferences"].series] == [f"likes: {FIT}", f"again: {FIT}"]
    labels = [[point.label for point in series.points] for series in charts["units"].series]
    assert labels == [["facts: It rains.", "more: It rains."]] * 2
