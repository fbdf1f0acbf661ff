"""People and models side by side on the same questions, and what is estimated from both, counted by hand."""

from dataclasses import replace

import pytest

from analytics.intervals.prediction_powered_inference import SMALL
from analytics.outcomes import Outcome
from results.reports.base import Undefined
from results.reports.build import report_of
from results.reports.facts import AnswerFacts, ModelFacts, PartFacts, ProjectFacts, QuestionFacts, StudyFacts
from results.reports.sections.human_model_comparison import differences_chart
from results.reports.sections.scores import baseline_of
from tests.results.reports.kinds import CAPTIONS, KINDS
from tests.results.reports.small import BASELINE, PROJECT, rows
from tests.results.reports.test_people import ANN, BEN, FOUR_RIGHT, project, study

MANY = range(1, 31)
CEM = 93


def test_the_compact_table_is_that_of_the_papers() -> None:
    """CLIP_x is right on all of 4 and on three of 1; people on all of 1 and on three of 4.

    Step 3 accepted just these two.
    """
    table = report_of(PROJECT).table("compact")
    assert [column.title for column in table.columns] == ["Study", "Who", "I2T", "T2I", "Group"]
    assert [tuple(row) for row in table.rows] == [
        ("baseline", "Random chance, models", 1 / 4, 1 / 4, 1 / 6),
        ("baseline", "Random chance, people", 1 / 4, 1 / 4, 1 / 16),
        ("baseline", "CLIP_x", 1.0, 0.5, 0.5),
        ("baseline", "Humans", 1.0, 0.5, 0.5),
        ("the dataset", "Random chance, models", 1 / 4, 1 / 4, 1 / 6),
        ("the dataset", "CLIP_x", 1.0, 0.5, 0.5),
    ]


def test_scores_of_a_part_of_the_dataset_say_which_part() -> None:
    """CLIP_x answered 1 and 4, and step 3 accepted a third instance, 2: it is right on one of two groups."""
    step_3, baseline = PROJECT.studies
    accepted = [replace(one, outcome=Outcome.ACCEPTED) if one.instance == 2 else one for one in step_3.questions]
    report = report_of(replace(PROJECT, studies=[replace(step_3, questions=accepted), baseline]))
    assert rows(report, "compact")[-1] == {
        "Study": "2 of the 3 instances of the dataset",
        "Who": "CLIP_x",
        "I2T": 1.0,
        "T2I": 0.5,
        "Group": 0.5,
    }
    (card,) = [card for card in report.cards if card.name == "models"]
    assert card.sentence == (
        "The model CLIP_x gets 50.0 % of groups right (2 of the 3 instances). "
        "Instances count whether or not people answered them."
    )


def captions_study(*, predicted: dict[str, dict[int, bool]]) -> StudyFacts:
    """Three questions: ann is right on 1 and 2 and not on 3, ben on 1 and not on 2; 3 he did not answer."""
    questions = [QuestionFacts(pk, pk, "image_to_text", 0, "caption", Outcome.NONE_YET, "", 2, 2) for pk in range(1, 4)]
    said = [(1, ANN, "caption"), (2, ANN, "caption"), (3, ANN, "negative_caption")]
    said += [(1, BEN, "caption"), (2, BEN, "negative_caption")]
    answers = [AnswerFacts(question, person, 1, choice, seat=person) for question, person, choice in said]
    parts = [PartFacts("image_to_text", "", 1, "", KINDS["image_to_text"])]
    return replace(
        BASELINE,
        questions=questions,
        answers=answers,
        parts=parts,
        answers_wanted=2,
        max_answers=2,
        predicted=predicted,
    )


def test_a_model_that_answered_some_questions_only_is_compared_on_these() -> None:
    """It is wrong on 1 and right on 2: ann is better by 1 and 0, ben by 1 and -1; the means .5 and 0 are .25."""
    report = report_of(project(captions_study(predicted={"CLIP": {1: False, 2: True}})))
    assert [tuple(row) for row in report.table("compact").rows] == [
        ("baseline", "Random chance", 1 / 2),
        ("baseline", "CLIP", 0.5),
        ("baseline", "Humans", pytest.approx((2 / 3 + 1 / 2) / 2)),
    ]
    (found,) = rows(report, "comparison")
    assert (found["Score"], found["People minus model"]) == ("Right (image_to_text)", 0.25)
    assert (found["People right"], found["Model right"]) == (0.75, 0.5)
    assert (found["People"], found["Instances"], found["Answers"]) == (2, 2, 4)
    assert (found["Only people right"], found["Only model right"]) == (2, 1)
    long = [(row["Who"], row["Instances"], row["Right (image_to_text)"]) for row in rows(report, "scores")]
    assert long[-1] == ("CLIP", 2, 0.5)
    (model,) = [row for row in rows(report, "intervals") if row["Who"] == "CLIP"]
    assert (model["Value"], model["Questions"], model["Unit"]) == (0.5, 2, "question")


def test_a_model_that_answered_nothing_that_people_did_stands_nowhere() -> None:
    report = report_of(project(captions_study(predicted={"CLIP": {9: True}})))
    assert [row["Who"] for row in rows(report, "compact")] == ["Random chance", "Humans"]
    assert "comparison" not in {table.name for table in report.tables}


def test_chance_is_unknown_where_questions_offer_differently_many_options() -> None:
    asked = captions_study(predicted={})
    parts = [replace(asked.parts[0], label_space=replace(CAPTIONS, same_for_all=False))]
    chance, _ = report_of(project(replace(asked, parts=parts))).table("compact").rows
    assert chance[2] == Undefined("Its questions do not all offer the same options.")


def shared(*, right: bool, instances: range = MANY) -> ProjectFacts:
    """Ann, ben and cem are all right on all of `instances`; the model always or never."""
    said = {person: dict.fromkeys(instances, FOUR_RIGHT) for person in (ANN, BEN, CEM)}
    model = ModelFacts("CLIP", dict.fromkeys(instances, (right,) * 4))
    return project(study(said, wanted=3), models=[model])


@pytest.mark.parametrize(("right", "share", "could"), [(True, 1.0, "yes"), (False, 0.0, "no")])
def test_a_model_that_agrees_with_everybody_could_stand_in_and_one_that_never_does_could_not(
    right: bool, share: float, could: str
) -> None:
    found = rows(report_of(shared(right=right)), "alternative")
    assert [(row["Score"], row["People"], row["People tested"]) for row in found] == [
        ("I2T", 3, 3),
        ("T2I", 3, 3),
        ("Group", 3, 3),
    ]
    assert {(row["Winning rate"], row["Advantage"], row["Could replace an annotator"]) for row in found} == {
        (share, share, could)
    }


@pytest.mark.parametrize("facts", [shared(right=True, instances=range(1, 30)), PROJECT], ids=["too few", "not shared"])
def test_a_table_that_tells_nothing_of_anybody_is_left_out(facts: ProjectFacts) -> None:
    assert "alternative" not in {table.name for table in report_of(facts).tables}


def test_people_on_all_of_the_dataset_with_the_help_of_a_model() -> None:
    """Group of people on 1 to 4: 1, 1, 0, 1; of the model 1, 0, 0, 1, and on eight others 1, 1, 0, 0, 1, 0, 1, 1.

    Covariance (1/2) / 3; the twelve predictions, seven of them 1, have a variance of 35/12 / 11; 1 + 4/8. Of instance
    13 ann answered three questions only, and of 14 the model was asked nothing.
    """
    said = {ANN: {1: FOUR_RIGHT, 2: FOUR_RIGHT, 3: "1110", 4: FOUR_RIGHT, 13: "111.", 14: FOUR_RIGHT}}
    group = dict(enumerate([True, False, False, True, True, True, False, False, True, False, True, True], start=1))
    model = ModelFacts("CLIP", {instance: (True, True, True, right) for instance, right in group.items()})
    report = report_of(project(study(said), models=[model]))
    (found,) = [row for row in rows(report, "powered") if row["Score"] == "Group"]
    weight = (0.5 / 3) / (1.5 * 35 / 132)
    assert found["Weight of the model"] == pytest.approx(weight)
    assert found["Estimate"] == pytest.approx(0.75 + weight * (5 / 8 - 1 / 2))
    assert (found["People alone"], found["Instances people answered"], found["Further instances"]) == (0.75, 4, 8)
    assert found["95 % interval"] == found["95 % interval, people alone"] == Undefined(SMALL)
    assert report.table("powered").title.startswith("Estimates")


def test_without_further_instances_there_is_nothing_to_carry_over() -> None:
    assert "powered" not in {table.name for table in report_of(shared(right=True)).tables}


def test_a_chart_shows_who_differs_from_which_model() -> None:
    """CLIP is wrong on 1 and right on 2: ann is right on both and differs on one, ben is the other way round on both.
    BLIP is right on 3, where only ann answered, wrongly."""
    asked = captions_study(predicted={"CLIP": {1: False, 2: True}, "BLIP": {3: True}})
    whole = project(asked)
    chart = differences_chart([baseline_of(asked, whole)])
    # Ben differs on 2 of 2, ann on 1 of 2 and 1 of 1.
    ben, ann = "Person 1 (2 questions)", "Person 2 (3 questions)"
    assert {series.name: [(point.label, point.value) for point in series.points] for series in chart.series} == {
        "CLIP": [(ben, 1.0), (ann, 0.5)],
        "BLIP": [(ben, None), (ann, 1.0)],
    }
    assert chart.description == "Only one of the two is right in 80.0 % of 5 comparisons."
    assert not differences_chart([]).has_points


def test_a_chart_names_people_who_have_a_pseudonym_and_leads_to_them() -> None:
    asked = replace(captions_study(predicted={"CLIP": {1: False, 2: True}}), names={BEN: "A-BENBE"})
    (series,) = differences_chart([baseline_of(asked, project(asked))]).series
    assert [(point.label, point.link) for point in series.points] == [
        ("A-BENBE (2 questions)", "A-BENBE"),
        ("Person 2 (2 questions)", ""),
    ]


def test_the_chart_of_differences_counts_questions_where_scores_combine_four() -> None:
    """Ann is right on all but one of 8 questions, the model on all but two others: 3 of 8 differ, and of 2 instances
    both."""
    whole = project(
        study({ANN: {1: FOUR_RIGHT, 2: "1110"}}), models=[ModelFacts("CLIP", {1: (True, False) * 2, 2: (True,) * 4})]
    )
    (point,) = differences_chart([baseline_of(whole.studies[0], whole)]).series[0].points
    assert (point.label, point.value) == ("Person 1 (8 questions)", 3 / 8)


def test_the_chart_of_differences_keeps_those_with_the_most_answers() -> None:
    asked = captions_study(predicted={"CLIP": {1: True, 2: True}})
    answers = [AnswerFacts(2 if person > 45 else 1, person, 1, "caption") for person in range(1, 51)]
    answers += [AnswerFacts(1, person, 1, "negative_caption") for person in range(46, 51)]
    asked = replace(asked, answers=answers)
    chart = differences_chart([baseline_of(asked, project(asked))])
    shown = [point.value for point in chart.series[0].points]
    assert shown == [0.5] * 5 + [0.0] * 35
    assert "The 40 with the most answers of 50 people." in chart.description
