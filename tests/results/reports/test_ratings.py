"""Ratings by image role, counted by hand."""

from dataclasses import replace
from math import sqrt

import pytest

from analytics.outcomes import Outcome
from results.reports.base import Range, Undefined
from results.reports.build import report_of
from results.reports.facts import AnswerFacts, LabelSpace, PartFacts, ProjectFacts, QuestionFacts, StudyFacts
from results.reports.sections.ratings import ratings_chart, ratings_of, ratings_table
from studies.kinds.base import Scale
from tests.results.reports.small import STEP_3, by_title

STEPS = ["1", "2", "3", "4", "5"]
ON_FIVE = LabelSpace(options=STEPS, last=STEPS, scale=Scale("interval", {step: float(step) for step in STEPS}))
ANN, BEN = 91, 92


def rated(*said: tuple[int, str, int, str]) -> StudyFacts:
    """Return a study in which somebody said something of an instance's image of a role: (instance, role, who, step)."""
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys((one[0], one[1]) for one in said), start=1)}
    questions = [
        QuestionFacts(number, instance, "rating", 0, "", Outcome.ACCEPTED, "", 2, role=role)
        for (instance, role), number in numbers.items()
    ]
    answers = [AnswerFacts(numbers[instance, role], who, 1, step) for instance, role, who, step in said]
    part = PartFacts("rating", "Rate", 2, "Look.", ON_FIVE)
    return replace(
        STEP_3,
        slug="rates",
        parts=[part],
        questions=questions,
        answers=answers,
        categories={1: ("a", ""), 2: ("b", "")},
    )


BOTH = rated(
    *((1, "drawn", ANN, "4"), (1, "drawn", BEN, "5"), (2, "drawn", ANN, "2"), (2, "drawn", BEN, "3")),
    *((1, "photo", ANN, "5"), (1, "photo", BEN, "5"), (2, "photo", ANN, "5"), (2, "photo", BEN, "4")),
)


def test_each_image_role_has_a_mean_and_a_spread_of_its_own() -> None:
    whole = {each.role: each for each in ratings_of(BOTH) if each.category == ("all", "all")}
    assert {role: each.mean.value for role, each in whole.items()} == {"drawn": 3.5, "photo": 4.75}
    # Squares around the means: 1/4 + 9/4 + 9/4 + 1/4 and 3/16 + 9/16, over three.
    assert whole["drawn"].distribution.sd == pytest.approx(sqrt(5 / 3))
    assert whole["photo"].distribution.sd == pytest.approx(0.5)
    assert whole["photo"].distribution.counts == [0, 0, 0, 1, 3]
    by_category = [each.mean.value for each in ratings_of(BOTH) if each.role == "drawn"]
    assert by_category == [3.5, 4.5, 2.5]


def test_the_interval_of_a_mean_rating_is_by_person_and_instance() -> None:
    (drawn,) = [each for each in ratings_of(BOTH) if (each.role, *each.category) == ("drawn", "all", "all")]
    # In shares of the scale .75 1 .25 .5, mean .625. Ann's mean is .5 and ben's .75: variance 1/32 / 2. By instance
    # both lie 1/16 + 1/16 above and below: 2 (1/32 - 1/64) 2 / 1 = 1/16. Together 5/64, worth 3 answers, and
    # (5/64)^2 / ((1/64)^2 + (4/64)^2) degrees of freedom: 25 / 17, with which t is 6.0.
    assert drawn.mean.low is not None
    assert drawn.mean.high is not None
    assert 1 < drawn.mean.low < 3.5 < drawn.mean.high < 5
    # Half of 4 t sqrt(t^2 + 4 x 3 x .625 x .375) / (t^2 + 3), a little more because of what grows near one half.
    assert drawn.mean.high - drawn.mean.low == pytest.approx(3.7, abs=0.2)


def test_the_table_and_the_plot_have_a_row_and_a_bar_for_each_role() -> None:
    table = ratings_table(ratings_of(BOTH))
    rows = by_title(table)
    means = {row["Image role"]: row for row in rows if row["Step"] == "all" and row["Type"] == "all"}
    assert {role: (row["Mean"], row["Answers"], row["People"]) for role, row in means.items()} == {
        "drawn": (3.5, 4, 2),
        "photo": (4.75, 4, 2),
    }
    assert isinstance(means["photo"]["95 % interval"], Range)
    steps = {row["Step"]: row["Times"] for row in rows if row["Image role"] == "photo" and row["Type"] == "all"}
    assert steps == {"all": 4, "1": 0, "2": 0, "3": 0, "4": 1, "5": 3}
    project = ProjectFacts("shelves", "Shelves", {1: ("a", ""), 2: ("b", "")}, [BOTH])
    assert report_of(project).table("ratings").rests_on == ["rates"]
    chart = ratings_chart(ratings_of(BOTH))
    assert [series.name for series in chart.series] == ["1", "2", "3", "4", "5"]
    assert [(point.label, point.value) for point in chart.series[4].points][1] == ("rating, photo", 0.75)
    assert chart.form == "diverging"


def test_one_person_has_a_mean_without_an_interval() -> None:
    alone = rated((1, "drawn", ANN, "4"), (2, "drawn", ANN, "2"))
    whole = ratings_table(ratings_of(alone)).rows[0]
    assert whole[12:15] == (
        *(3, "1 to 5"),
        Undefined("Only one person answered, so there is no interval for other people."),
    )
