"""Human scores of studies small enough to be counted by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import pi, sin, sqrt
from typing import Any

import pytest

from analytics.outcomes import Outcome
from analytics.scores import Score
from results.reports.base import Range, Reference, Report, Undefined
from results.reports.build import report_of
from results.reports.cells import range_over_instances, share_range
from results.reports.facts import AnswerFacts, ModelFacts, PartFacts, ProjectFacts, QuestionFacts, StudyFacts
from results.reports.sections.people import UnitScore
from results.reports.sections.scores import people_score
from tests.results.reports.kinds import KINDS
from tests.results.reports.small import BASELINE, PROJECT, four, rows

ANN, BEN, CLEO = 1, 2, 3
# What a person says to the four questions about an instance: right where "1".
FOUR_RIGHT = "1111"
WRONG = {
    "caption": "negative_caption",
    "negative_caption": "caption",
    "image": "negative_image",
    "negative_image": "image",
}


def study(said: Mapping[int, Mapping[int, str]], *, wanted: int = 1, slug: str = "baseline") -> StudyFacts:
    """Return a baseline. said: person -> instance -> what they said to its four questions, "." where nothing."""
    instances = sorted({instance for of in said.values() for instance in of})
    questions = [replace(one, wanted=wanted, winner="") for instance in instances for one in four(instance)]
    answers = [
        AnswerFacts(question.id, person, 1, question.right if right == "1" else WRONG[question.right], seat=person)
        for person, of in said.items()
        for instance, rights in of.items()
        for question, right in zip(four(instance), rights, strict=True)
        if right != "."
    ]
    counted = [replace(one, answers=sum(answer.question == one.id for answer in answers)) for one in questions]
    return replace(BASELINE, slug=slug, questions=counted, answers=answers, answers_wanted=wanted, max_answers=wanted)


def project(*studies: StudyFacts, models: Sequence[ModelFacts] = ()) -> ProjectFacts:
    categories = dict.fromkeys(range(1, 60), ("add", "obj"))
    return replace(PROJECT, categories=categories, studies=studies, models=models, dataset="")


def value(report: Report, score: str, *, of: str = "baseline") -> Any:
    """Return the human score as `intervals` has it."""
    (found,) = [row for row in rows(report, "intervals") if (row["Study"], row["Score"]) == (of, score)]
    return found["Value"]


def test_one_perfect_person_out_of_three_asked_is_right_always() -> None:
    report = report_of(project(study({ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT}}, wanted=3)))
    found = rows(report, "intervals")
    assert [row["Value"] for row in found] == [1.0] * 7
    # Nothing can be said of other people; of other questions to this one, Wilson's 2 of 2: 2 / (2 + 3.8415) to 1.
    group = found[2]
    assert group["95 % interval"] == Undefined("Only one person answered, so there is no interval for other people.")
    assert isinstance(group["95 % interval for this person"], Range)
    assert group["95 % interval for this person"].low == pytest.approx(2 / 5.8415, abs=1e-4)


def test_people_who_guess_get_fewer_groups_right_than_models_that_guess() -> None:
    """Of 2 x 2 x 2 x 2 ways to answer four questions one is right; without a model only that level is shown."""
    whole = study({ANN: {1: FOUR_RIGHT}})
    report = report_of(project(whole))
    assert [tuple(row[1:]) for row in report.table("compact").rows] == [
        ("Random chance, people", 1 / 4, 1 / 4, 1 / 16),
        ("Humans", 1.0, 1.0, 1.0),
    ]
    (card,) = [each for each in report.cards if each.name == "people"]
    assert card.sentence.endswith(". Chance is 6.3 %.")
    assert card.chart is not None
    assert card.chart.references == [Reference("chance", 1 / 16)]
    both = report_of(project(whole, models=[ModelFacts("CLIP", {1: (True,) * 4})]))
    (chart,) = [each for each in both.charts if each.name == "scores"]
    assert chart.references == [Reference("chance, people", 1 / 16), Reference("chance, models", 1 / 6)]


def test_the_chart_says_which_scores_have_no_interval_and_why() -> None:
    """Both people answered about instance 1, of one type, and only ann about 2, of another."""
    said = {ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT}, BEN: {1: FOUR_RIGHT}}
    whole = replace(project(study(said, wanted=2)), categories={1: ("add", "obj"), 2: ("swap", "att")})
    (chart,) = [each for each in report_of(whole).charts if each.name == "scores"]
    assert chart.axis == "Group score; lines: 95 % intervals"
    assert chart.method.endswith(
        " No interval: Humans, add obj. Only one question was answered, so there is no interval for other questions. "
        "No interval: Humans, swap att. Only one person answered, so there is no interval for other people."
    )
    assert [point.low is None for point in chart.series[0].points] == [False, True, True]


def test_rows_of_no_type_are_left_out_where_no_instance_has_a_type() -> None:
    whole = project(study({ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT}}))
    models = [ModelFacts("CLIP", {1: (True,) * 4})]
    untyped = report_of(replace(whole, categories=dict.fromkeys((1, 2), ("", "")), models=models))
    for name in ("scores", "funnel", "dataset", "models"):
        assert {(row["Type"], row["Subtype"]) for row in rows(untyped, name)} == {("all", "all")}
    (chart,) = [each for each in untyped.charts if each.name == "scores"]
    assert [point.label for series in chart.series for point in series.points] == ["all (n = 2)", "all (n = 2)"]
    # One with a type: the other stands for itself.
    typed = report_of(replace(whole, categories={1: ("add", ""), 2: ("", "")}))
    assert ("", "") in {(row["Type"], row["Subtype"]) for row in rows(typed, "scores")}


def test_what_was_said_of_instances_that_left_the_dataset_counts_and_is_said_to() -> None:
    whole = study({ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT}})
    left = [replace(one, outcome=Outcome.UNDONE) if one.instance == 2 else one for one in whole.questions]
    report = report_of(project(replace(whole, questions=left)))
    assert value(report, "Group") == 1
    (said,) = [note for note in report.table("scores").notes if "left the dataset" in note]
    assert said.startswith("Instances that have left the dataset")
    assert said.endswith("still count: 1.")
    (card,) = [each for each in report.cards if each.name == "people"]
    assert card.sentence.endswith(". 1 of the 2 instances is no longer in the dataset.")
    assert "the dataset" not in next(each for each in report_of(project(whole)).cards if each.name == "people").sentence
    assert not any("left the dataset" in note for note in report_of(project(whole)).table("scores").notes)


def test_group_is_the_mean_of_people_where_they_differ() -> None:
    # Ann has the group of 1 and 2 right, ben of 1 and 3: half of four each... ann 2 of 4, ben 3 of 4: 62.5.
    said = {
        ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT, 3: "1110", 4: "0111"},
        BEN: {1: FOUR_RIGHT, 2: "1011", 3: FOUR_RIGHT, 4: FOUR_RIGHT},
    }
    report = report_of(project(study(said, wanted=2)))
    assert value(report, "Group") == 0.625
    # I2T: ann 3 of 4, ben 3 of 4; T2I: ann 3 of 4, ben all; the negative image's caption: ben 3 of 4.
    assert [value(report, score) for score in ("I2T", "T2I", "Ineg2T", "Tneg2I")] == [0.75, 0.875, 0.875, 0.875]
    # By majority a question on which they differ has none: only instance 1 is decided, and three conflict.
    (majority,) = [row for row in rows(report, "majority") if row["Score"] == "Group"]
    assert (majority["Value by majority"], majority["Units counted"]) == (1.0, 1)
    assert (majority["Left out, open"], majority["Left out, conflicting"]) == (0, 3)


def test_i2t_takes_both_questions_of_one_person_and_group_all_four() -> None:
    # Ann left out the last question of 2, ben the first of 1: ann's I2T stands on both, her T2I and group on 1.
    said = {ANN: {1: FOUR_RIGHT, 2: "101."}, BEN: {1: ".111", 2: FOUR_RIGHT}}
    report = report_of(project(study(said, wanted=2)))
    found = {row["Score"]: row for row in rows(report, "intervals")}
    # I2T: ann's two instances and ben's second, each of two answers; Group: one of ann's and one of ben's, of four.
    counts = ("People", "Instances", "Questions", "Answers")
    assert [found["I2T"][title] for title in counts] == [2, 2, 4, 6]
    assert [found["T2I"][title] for title in counts] == [2, 2, 4, 6]
    assert [found["Group"][title] for title in counts] == [2, 2, 8, 8]
    assert [found["Ipos2T"][title] for title in counts] == [2, 2, 2, 3]
    # I2T: ann 1 of 2, ben 1 of 1. T2I: ann 1 of 1, ben 2 of 2. Ipos2T: ann 2 of 2, ben 1 of 1.
    assert [found[score]["Value"] for score in ("I2T", "T2I", "Group", "Ipos2T")] == [0.75, 1.0, 1.0, 1.0]


def test_what_a_researcher_settled_never_enters() -> None:
    tie = study({ANN: {1: FOUR_RIGHT}, BEN: {1: "1110"}}, wanted=2)
    settled = [replace(one, winner=one.right, outcome=Outcome.AGREED, settled=one.id == 103) for one in tie.questions]
    before, after = (report_of(project(replace(tie, questions=each))) for each in (tie.questions, settled))
    for name in ("scores", "intervals", "majority"):
        assert before.table(name).rows == after.table(name).rows
    assert value(after, "Tneg2I") == 0.5


def test_several_baselines_stand_each_for_itself() -> None:
    report = report_of(project(study({ANN: {1: FOUR_RIGHT}}, slug="first"), study({BEN: {2: "0000"}}, slug="second")))
    assert (value(report, "Group", of="first"), value(report, "Group", of="second")) == (1.0, 0.0)
    assert [row["Study"] for row in rows(report, "scores") if row["Type"] == "all"] == ["first", "second"]


def test_a_pilot_that_knows_answers_is_no_baseline_of_the_project() -> None:
    pilot = replace(study({BEN: {2: "0000"}}, slug="pilot"), purpose="pilot")
    report = report_of(project(study({ANN: {1: FOUR_RIGHT}}), pilot))
    assert {row["Study"] for row in rows(report, "scores")} == {"baseline"}


def test_a_baseline_of_other_kinds_has_its_share_right_per_kind_and_no_group() -> None:
    # Two questions of one kind: ann 2 of 2, ben 1 of 2; one person answered the other kind, wrongly.
    questions = [
        QuestionFacts(1, 1, "image_to_text", 0, "caption", Outcome.AGREED, "caption", 2, 2),
        QuestionFacts(2, 2, "image_to_text", 0, "caption", Outcome.CONFLICTING, "", 2, 2),
        QuestionFacts(3, 1, "odd_one", 0, "left", Outcome.NONE_YET, "", 1, 2),
    ]
    answers = [
        *(AnswerFacts(1, ANN, 1, "caption"), AnswerFacts(2, ANN, 1, "caption")),
        *(AnswerFacts(1, BEN, 1, "caption", 2), AnswerFacts(2, BEN, 1, "negative_caption", 2)),
        AnswerFacts(3, ANN, 1, "right"),
    ]
    parts = [PartFacts("image_to_text", "", 1, "", KINDS["image_to_text"]), PartFacts("odd_one", "", 1, "")]
    mixed = replace(BASELINE, questions=questions, answers=answers, parts=parts, answers_wanted=2, max_answers=2)
    report = report_of(project(mixed))
    found = {row["Score"]: (row["Value"], row["People"], row["Questions"]) for row in rows(report, "intervals")}
    assert found == {"Right (image_to_text)": (0.75, 2, 2), "Right (odd_one)": (0.0, 1, 1)}
    assert "I2T" not in {column.title for column in report.table("scores").columns}
    assert not any("I2T" in note for note in report.table("scores").notes)
    (odd,) = [row for row in rows(report, "majority") if row["Score"] == "Right (odd_one)"]
    assert (odd["Units counted"], odd["Left out, open"]) == (0, 1)


def test_people_against_a_model_are_compared_by_person() -> None:
    # Ann has the group of 1 to 4 right but one, ben of 5 to 8 but two; the model of 1 and 5 only. People .625 as 8
    # answers with 1 degree of freedom, the model .25 as 7 with 7; they correlate by .655 (tests/analytics has how).
    said = {
        ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT, 3: FOUR_RIGHT, 4: "0111"},
        BEN: {5: FOUR_RIGHT, 6: FOUR_RIGHT, 7: "0111", 8: "1101"},
    }
    outcomes = {instance: (True, instance in (1, 5), True, True) for instance in range(1, 9)}
    report = report_of(project(study(said), models=[ModelFacts("CLIP", outcomes)]))
    (found,) = [row for row in rows(report, "comparison") if row["Score"] == "Group"]
    assert (found["People"], found["Instances"], found["Test"]) == (2, 8, "clustered score test")
    assert found["People minus model"] == pytest.approx(0.375)
    interval = found["95 % interval"]
    assert isinstance(interval, Range)
    assert (interval.low, interval.high) == pytest.approx((-0.0840, 0.6566), abs=1e-4)
    assert isinstance(found["p"], float)
    assert 0.05 < found["p"] < 0.3
    # One person alone is right four times about 2, 3 and 6; the model alone about none.
    assert (found["Only people right"], found["Only model right"]) == (3, 0)
    made = [row for row in rows(report, "comparison") if isinstance(row["p"], float)]
    assert report.table("comparison").notes[1].endswith(f"{len(made)} comparisons.")


def test_a_baseline_nobody_has_answered_has_no_scores() -> None:
    report = report_of(project(study({ANN: {1: "...."}})))
    assert not {"scores", "intervals", "majority"} & {table.name for table in report.tables}


def test_questions_about_one_instance_are_one_draw_of_a_human_score() -> None:
    # Both people are right on both questions about the first of two instances and wrong about the second: the variance
    # of .5 is 1/4 with 1 degree of freedom, worth one answer. Wilson's limit is (1 - sin(.475 pi)) / 2.
    judged = [UnitScore(person, unit, unit // 2, unit < 2) for person in (ANN, BEN) for unit in range(4)]
    found = people_score(judged)
    assert (found.low, found.high) == pytest.approx(((1 - sin(0.475 * pi)) / 2, (1 + sin(0.475 * pi)) / 2))


def test_a_model_s_interval_over_questions_is_by_instance() -> None:
    # Right on both questions about each of two instances and wrong on both about two others: worth three answers, with
    # 3 degrees of freedom (t = 3.1824). With a question each it is Wilson's.
    rights, t = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], 3.18244631
    by_instance = range_over_instances(rights, [1, 1, 2, 2, 3, 3, 4, 4])
    assert isinstance(by_instance, Range)
    half = t * sqrt(t**2 + 3) / (2 * (3 + t**2))
    assert (by_instance.low, by_instance.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert range_over_instances(rights, list(range(8))) == share_range(Score(4, 8))
