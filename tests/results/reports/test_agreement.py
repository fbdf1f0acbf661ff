"""Agreement of studies small enough to be counted by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from analytics.outcomes import Outcome
from results.reports.base import Chart, Range, Report, Undefined
from results.reports.build import report_of
from results.reports.facts import AnswerFacts, PartFacts, QuestionFacts, StudyFacts
from tests.results.reports.kinds import with_options
from tests.results.reports.small import IMAGES, PROJECT, STEP_3, rows

ANN, BEN, CLEO = 1, 2, 3
OPTIONS = {"best_of_n": IMAGES, "image_to_text": ("caption", "negative_caption")}


def study(said: Mapping[str, Sequence[str]], **changed: Any) -> StudyFacts:
    """Return a study. said: kind -> per question what was answered, by ann on seat 1, ben on seat 2 and so on.

    Options are written by their place among the kind's, and "." where somebody did not answer.
    """
    questions: list[QuestionFacts] = []
    answers: list[AnswerFacts] = []
    for kind, of_kind in said.items():
        for choices in of_kind:
            number = len(questions) + 1
            given = [(person, choice) for person, choice in enumerate(choices, start=ANN) if choice != "."]
            questions.append(QuestionFacts(number, number, kind, 0, "", Outcome.NONE_YET, "", len(given), 2))
            answers += [AnswerFacts(number, who, 1, OPTIONS[kind][int(what)], who) for who, what in given]
    parts = [PartFacts(kind, "", 1, "", with_options(kind, *OPTIONS[kind])) for kind in said]
    return replace(STEP_3, parts=parts, questions=questions, answers=answers, **changed)


def report(of: StudyFacts) -> Report:
    categories = {question.instance: ("", "") for question in of.questions}
    return report_of(replace(PROJECT, studies=[of], models=[], categories=categories))


def measured(of: Report, kind: str, measure: str, labels: str = "options") -> dict[str, Any]:
    (found,) = [
        row
        for row in rows(of, "reliability")
        if (row["Kind"], row["Measure"], row["Labels"], row["Filtering"]) == (kind, measure, labels, "before")
        and not row["Answers used"].startswith("added")
    ]
    return found


def test_kinds_are_never_put_together() -> None:
    # Image to text: agreed on 10 of 20, each option as often: kappa 0. Best of n: any image and none, agreed on all 12.
    said = {"image_to_text": ["00", "11", "01", "10"] * 5, "best_of_n": ["00", "33"] * 6}
    found = report(study(said))
    pairs = [row for row in rows(found, "pairs") if row["Pair"].startswith("places")]
    assert [(row["Kind"], row["Questions"]) for row in pairs] == [("image_to_text", 20), ("best_of_n", 12)]
    assert [row["Cohen's kappa"] for row in pairs] == pytest.approx([0, 1])
    assert measured(found, "image_to_text", "Percent agreement")["Value"] == 0.5
    assert measured(found, "best_of_n", "Percent agreement")["Value"] == 1
    means = [row["Pair"] for row in rows(found, "pairs") if row["Pair"].startswith("mean")]
    assert means == ["mean of 1", "mean of 1"]
    (drawn,) = [chart for chart in found.charts if chart.name == "pairs"]
    pair = "places 1 and 2"
    assert [point.label for series in drawn.series for point in series.points] == [
        f"image_to_text, {pair}",
        f"best_of_n, {pair}",
    ]


def test_answers_that_were_added_where_the_others_differed_stand_apart() -> None:
    # Ten agree and ten do not; each of these ten has a third answer, which agrees with one of the two.
    whole = study({"image_to_text": ["00"] * 5 + ["11"] * 5 + ["010"] * 10}, answers_wanted=2, max_answers=3)
    added = [replace(answer, added=answer.annotator == CLEO) for answer in whole.answers]
    found = report(replace(whole, answers=added))
    percent = measured(found, "image_to_text", "Percent agreement")
    assert (percent["Value"], percent["Answers"], percent["Answers used"]) == (0.5, 40, "asked of every question")
    # All 40 first answers: caption 5 + 5 + 10 = 20 of 40, so alpha is 1 - 39 / 40 * .5 / .5 (n - 1 over n).
    assert measured(found, "image_to_text", "Krippendorff's alpha")["Value"] == pytest.approx(1 - 39 / 40)
    (apart,) = [row for row in rows(found, "reliability") if row["Answers used"].startswith("added")]
    assert (apart["Questions"], apart["Answers"], apart["Value"]) == (10, 10, 0.5)
    assert [row["Questions"] for row in rows(found, "pairs") if row["Pair"].startswith("places")] == [20]


def test_a_label_nobody_gave_is_a_category_all_the_same() -> None:
    found = report(study({"best_of_n": ["01"] * 20}))
    assert measured(found, "best_of_n", "Gwet's AC1", "any image / None")["Value"] == 1
    alpha = measured(found, "best_of_n", "Krippendorff's alpha", "any image / None")["Value"]
    assert isinstance(alpha, Undefined)


def test_a_low_kappa_for_want_of_a_rare_label_is_explained_in_one_sentence() -> None:
    # Ann says None once and ben once, on other questions: agreed on 22 of 24, chance agrees nearly as often.
    found = report(study({"best_of_n": ["00"] * 22 + ["03", "30"]}))
    pair = rows(found, "pairs")[0]
    assert pair["Agreed"] == pytest.approx(22 / 24)
    # By chance (23/24)^2 + (1/24)^2 = 530/576; (528 - 530) / (576 - 530).
    assert pair["Cohen's kappa"] == pytest.approx(-2 / 46)
    assert pair["Remark"].startswith("Low because only 2 answers of 48 differ from 'any image': chance alone agrees")
    assert [pair["Positive agreement"], pair["Negative agreement"]] == pytest.approx([44 / 46, 0])
    # AC1: by chance 2 * 46/48 * 2/48 = .07986.
    assert pair["Gwet's AC1"] == pytest.approx((22 / 24 - 184 / 2304) / (1 - 184 / 2304))
    # (11/12 - 23/288) / (265/288) = 241/265 = 0.909. Alpha: of 48 * 47 / 2 pairs of answers 2 * 46 differ, and 2 of 24
    # compared ones: 1 - (1/12) / (92/1128) = 1 - 94/92 = -0.02. Only 2 answers differ, so the sentence has no interval.
    (said,) = [card.sentence for card in found.cards if card.name == "agreement"]
    assert said.startswith(
        "any image / None: Gwet's AC1 is 0.91 (2 people, 24 questions). Krippendorff's alpha is -0.02, low "
        "because only 2 answers of 48 differ from 'any image'.\noptions: "
    )


def test_a_seat_given_up_halfway_leaves_pairs_that_are_named_and_do_not_count() -> None:
    # Ann has 12 questions of seat 1; ben left seat 2 after 6, cleo took it over.
    first = study({"best_of_n": ["00."] * 3 + ["33."] * 3 + ["0.3"] * 6})
    taken = [replace(answer, seat=min(answer.seat, 2)) for answer in first.answers]
    found = rows(report(replace(first, answers=taken)), "pairs")
    assert [(row["Pair"], row["Questions"]) for row in found[:2]] == [
        ("places 1 and 2 (person 1)", 6),
        ("places 1 and 2 (person 2)", 6),
    ]
    assert found[2]["Pair"] == "mean of 0"
    assert found[2]["Remark"] == "2 pairs with fewer than 10 shared questions left out."


def test_people_with_a_name_are_named_in_table_and_chart() -> None:
    said = study({"best_of_n": ["00", "33"] * 6}, names={ANN: "A-ANNAN", BEN: "A-BENBE"})
    found = report(said)
    assert (rows(found, "pairs")[0]["Pair"], rows(found, "pairs")[0]["Survey"]) == ("A-ANNAN and A-BENBE", 1)
    assert [point.label for point in drawn_pairs(found).series[0].points] == ["A-ANNAN and A-BENBE"]
    # Both shared another survey, too.
    elsewhere = [replace(one, question=one.question + 100, survey=2) for one in said.answers]
    questions = [*said.questions, *(replace(one, id=one.id + 100) for one in said.questions)]
    twice = report(replace(said, questions=questions, answers=[*said.answers, *elsewhere]))
    assert [(row["Pair"], row["Survey"]) for row in rows(twice, "pairs")[:2]] == [
        ("A-ANNAN and A-BENBE", 1),
        ("A-ANNAN and A-BENBE", 2),
    ]
    assert [point.label for point in drawn_pairs(twice).series[0].points] == [
        "A-ANNAN and A-BENBE, survey 1",
        "A-ANNAN and A-BENBE, survey 2",
        "mean of 2 pairs",
    ]
    # A name is never beside a place: who of the two has none could be told from it.
    half = report(replace(said, names={ANN: "A-ANNAN"}))
    assert rows(half, "pairs")[0]["Pair"] == "places 1 and 2"


def test_a_unanimous_pair_is_left_out_of_the_mean_and_said_to_be() -> None:
    varied, alike = (study({"best_of_n": said}) for said in (["00", "33"] * 6, ["00"] * 24))
    elsewhere = [
        replace(one, question=one.question + 100, annotator=one.annotator + 10, survey=2) for one in alike.answers
    ]
    questions = [*varied.questions, *(replace(one, id=one.id + 100) for one in alike.questions)]
    both = replace(varied, questions=questions, answers=[*varied.answers, *elsewhere])
    found = report(both)
    mean = rows(found, "pairs")[-1]
    assert (mean["Pair"], mean["Cohen's kappa"]) == ("mean of 1", 1)
    # Without a kappa there is nothing to draw.
    assert [point.label for point in drawn_pairs(found).series[0].points] == ["places 1 and 2, survey 1"]
    assert mean["Remark"] == "1 pair without a kappa left out (24 questions)."


def test_from_five_annotators_on_others_are_told_of_too() -> None:
    said = ["00000", "33333", "00003", "03333", "00033"] * 5
    found = measured(report(study({"best_of_n": said})), "best_of_n", "Krippendorff's alpha", "any image / None")
    assert (found["People"], found["Questions"], found["Answers"]) == (5, 25, 125)
    assert isinstance(found["95 % interval over people and questions"], Range)
    fewer = [choices[:4] for choices in said]
    found = measured(report(study({"best_of_n": fewer})), "best_of_n", "Krippendorff's alpha", "any image / None")
    assert found["95 % interval over people and questions"] == Undefined("Needs at least 5 annotators; there are 4.")


def test_questions_about_one_instance_do_not_stand_for_others() -> None:
    apart = study({"best_of_n": ["00000", "33333", "00003", "03333", "00033"] * 5})
    together = replace(apart, questions=[replace(one, instance=one.id // 9) for one in apart.questions])
    (by_question, by_instance) = (
        measured(report(each), "best_of_n", "Krippendorff's alpha", "any image / None") for each in (apart, together)
    )
    assert by_question["Value"] == by_instance["Value"]
    for name in ("95 % interval over questions", "95 % interval over people and questions"):
        assert by_question[name] != by_instance[name]
    alone = replace(apart, questions=[replace(one, instance=1) for one in apart.questions])
    found = measured(report(alone), "best_of_n", "Krippendorff's alpha", "any image / None")
    assert found["95 % interval over questions"] == Undefined(
        "All questions that can be compared are about one instance, so there is no interval for other instances."
    )


def drawn_pairs(of: Report) -> Chart:
    (chart,) = [chart for chart in of.charts if chart.name == "pairs"]
    return chart


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["00", "11", "22", "33", "01"] * 3 + ["23"] * 4, "Fewer than 20 questions: too few for a reliable interval."),
        # Of 40 answers 31 are None, so 9 differ from it.
        (
            ["33"] * 14 + ["30"] * 3 + ["00"] * 3,
            "Fewer than 10 answers differ from the commonest one: too few for a reliable interval.",
        ),
    ],
    ids=["19 questions", "9 other answers"],
)
def test_an_interval_that_cannot_be_relied_on_is_in_no_table_sentence_or_chart(said: list[str], reason: str) -> None:
    found = report(study({"best_of_n": said}))
    agreed = measured(found, "best_of_n", "Percent agreement")
    assert (agreed["95 % interval over questions"], agreed["Remark"]) == (Undefined(reason), "")
    pair = rows(found, "pairs")[0]
    assert (pair["95 % interval"], pair["Remark"]) == (Undefined(reason), "")
    filtered = {row["Measure"]: row["95 % interval before"] for row in rows(found, "filtering")}
    assert filtered["Percent agreement"] == Undefined(reason)
    (sentence,) = [card.sentence for card in found.cards if card.name == "agreement"]
    assert "95 % CI" not in sentence
    chart, short = drawn_pairs(found), reason.partition(":")[0].replace("Fewer", "fewer")
    (point,) = chart.series[0].points
    assert (point.value, point.low, point.high) == (pair["Cohen's kappa"], None, None)
    assert chart.axis == f"Dots: Cohen's kappa; no intervals: {short}"
    assert chart.method.endswith(f"No interval: places 1 and 2. {reason}")
    assert chart.description == f"Cohen's kappa: places 1 and 2 {point.value:.2f}."


def test_from_20_questions_with_10_other_answers_on_there_is_an_interval_everywhere() -> None:
    # Of 40 answers 30 are None, and ten are image A.
    found = report(study({"best_of_n": ["33"] * 13 + ["30"] * 2 + ["03"] * 2 + ["00"] * 3}))
    interval = rows(found, "pairs")[0]["95 % interval"]
    assert isinstance(interval, Range)
    assert isinstance(measured(found, "best_of_n", "Percent agreement")["95 % interval over questions"], Range)
    (sentence,) = [card.sentence for card in found.cards if card.name == "agreement"]
    assert "95 % CI" in sentence
    chart = drawn_pairs(found)
    (point,) = chart.series[0].points
    assert (point.low, point.high) == (interval.low, interval.high)
    assert chart.axis == "Dots: Cohen's kappa; lines: 95 % intervals"
    assert chart.description.startswith("Cohen's kappa with 95 % intervals: places 1 and 2")


@pytest.mark.parametrize(
    ("purpose", "rejected", "is_there"),
    [("filter", False, True), ("collection", False, False), ("collection", True, True)],
)
def test_before_and_after_filtering_is_left_out_where_a_collection_filters_nothing(
    purpose: str, rejected: bool, is_there: bool
) -> None:
    said = study({"best_of_n": ["00", "33", "03", "00"] * 6}, purpose=purpose, accepts=True)
    outcomes = [Outcome.REJECTED if rejected and question.id == 1 else Outcome.ACCEPTED for question in said.questions]
    questions = [replace(question, outcome=outcome) for question, outcome in zip(said.questions, outcomes, strict=True)]
    found = report(replace(said, questions=questions))
    assert ("filtering" in {table.name for table in found.tables}) is is_there
    whens = {row["Filtering"] for row in rows(found, "reliability")}
    assert whens == ({"before", "after"} if is_there else {"before"})
