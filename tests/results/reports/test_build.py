"""The report of the small project, every number worked out by hand."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from analytics.work.pay import PaidSession
from results.reports.base import Chart, Range, Report, Undefined
from results.reports.build import report_of, report_of_study
from results.reports.cards import StudyAnswers
from results.reports.facts import ModelFacts
from results.reports.page_tables import page_cards
from results.reports.sections.models import ModelShare, model_shares
from tests.results.reports.small import BASELINE, PROJECT, STEP_3, by_title

REPORT = report_of(PROJECT)
NOTHING = [None] * 8


def rows(name: str) -> list[list[Any]]:
    return [list(row) for row in REPORT.table(name).rows]


def test_the_report_has_the_tables_and_charts_of_the_papers() -> None:
    assert [table.name for table in REPORT.tables] == [
        *("dataset", "funnel", "protocol", "reliability", "filtering", "pairs"),
        *("compact", "intervals", "scores", "models", "comparison", "cost"),
    ]
    assert [chart.name for chart in REPORT.charts] == [*("funnel", "pairs", "scores", "models", "comparison", "wages")]
    assert [card.name for card in REPORT.cards] == [
        *("instances", "protocol", "agreement", "people", "models", "comparison", "cost")
    ]


def test_the_sentences_say_the_numbers_of_the_tables() -> None:
    said = {card.name: card.sentence for card in REPORT.cards}
    assert said["instances"] == "The dataset has 2 instances that step-3 accepted, from 4 instances of the project."
    assert said["people"].startswith("Humans get 50.0 % of groups right (95 % CI ")
    assert said["people"].endswith(
        ". On the same questions, the model CLIP_x gets 50.0 % (2 instances). Chance is 6.3 % for people, "
        "who answer each question separately, and 16.7 % for models."
    )
    assert said["cost"] == ("USD 28.00 for 2 studies, without fees. The median wage is USD 12.00 an hour (2 sessions).")


def test_the_funnel_counts_instances_per_type_and_subtype_in_the_order_of_the_pipeline() -> None:
    assert rows("funnel") == [
        ["imported", "", "all", "all", 4, *NOTHING],
        ["imported", "", "add", "obj", 2, *NOTHING],
        ["imported", "", "swap", "att", 2, *NOTHING],
        # Asked; unanswered, open, complete; none yet, agreed, conflicting, accepted, rejected.
        ["step-3", "filter", "all", "all", 4, 0, 0, 4, 0, None, 1, 2, 1],
        ["step-3", "filter", "add", "obj", 2, 0, 0, 2, 0, None, 1, 1, 0],
        ["step-3", "filter", "swap", "att", 2, 0, 0, 2, 0, None, 0, 1, 1],
        ["baseline", "baseline", "all", "all", 2, 0, 0, 2, 0, 2, 0, None, None],
        ["baseline", "baseline", "add", "obj", 1, 0, 0, 1, 0, 1, 0, None, None],
        ["baseline", "baseline", "swap", "att", 1, 0, 0, 1, 0, 1, 0, None, None],
    ]


def test_the_tables_and_sentences_count_what_a_researcher_settled() -> None:
    # A researcher settled instance 1 with an image, and instance 3 with None.
    first, second, third, fourth = STEP_3.questions
    settled = [replace(first, settled=True), second, replace(third, settled=True), fourth]
    filter_study = replace(STEP_3, questions=settled)
    report = report_of(replace(PROJECT, studies=[filter_study, BASELINE]))
    funnel = [row for row in by_title(report.table("funnel")) if row["Study"] == "step-3"]
    counts = [(row["Subtype"], row["Accepted, settled"], row["Rejected, settled"]) for row in funnel]
    assert counts == [("all", 1, 1), ("obj", 1, 0), ("att", 0, 1)]
    dataset = [list(row) for row in report.table("dataset").rows]
    assert dataset == [["all", "all", 2, 8, 1], ["add", "obj", 1, 4, 1], ["swap", "att", 1, 4, 0]]
    said = {card.name: card.sentence for card in report.cards}
    assert said["instances"] == (
        "The dataset has 2 instances that step-3 accepted, 1 of them settled by a researcher, "
        "from 4 instances of the project."
    )
    alone = report_of_study(replace(PROJECT, studies=[filter_study]), StudyAnswers([]))
    decisions = next(card for card in alone.cards if card.name == "decisions")
    assert decisions.sentence == (
        "Of 4 instances: 2 accepted, 1 of them settled by a researcher, "
        "1 rejected, settled by a researcher, 1 conflicting, 0 undecided so far."
    )
    # The parts of a bar are the outcomes, so that they add up to the instances.
    assert decisions.chart is not None
    assert [series.name for series in decisions.chart.series] == ["conflicting", "accepted", "rejected"]


def test_the_dataset_is_what_the_declared_study_accepted_whatever_was_launched_later() -> None:
    assert rows("dataset") == [["all", "all", 2, 8], ["add", "obj", 1, 4], ["swap", "att", 1, 4]]
    assert REPORT.table("dataset").notes[0].startswith("The dataset is what step-3 accepted.")
    later = replace(STEP_3, slug="pilot", purpose="pilot", questions=[], answers=[])
    report = report_of(replace(PROJECT, studies=[STEP_3, BASELINE, later]))
    assert list(report.table("dataset").rows[0]) == ["all", "all", 2, 8]
    undeclared = report_of(replace(PROJECT, dataset=""))
    assert list(undeclared.table("dataset").rows[0]) == ["all", "all", 4, 16]
    assert "No study is marked as the dataset" in undeclared.table("dataset").notes[0]
    # Retrieval examples are counted only where a baseline asks for them.
    without_baseline = report_of(replace(PROJECT, studies=[STEP_3]))
    assert list(without_baseline.table("dataset").rows[0]) == ["all", "all", 2]


def test_kappa_of_a_pair_tells_any_image_from_none() -> None:
    # Agreed on 3 of 4; ann says any image 3 times, ben twice: by chance 3/4 x 1/2 + 1/4 x 1/2 = 1/2. Any image: 2 x 2
    # of 3 + 2 times; none: 2 x 1 of 1 + 2. AC1: by chance 2 x 5/8 x 3/8 = .46875, (.75 - .46875) / .53125.
    pair, mean = rows("pairs")
    assert pair[:6] == ["step-3", "best_of_n", "places 1 and 2", 5, "any image / None", 4]
    assert pair[6:8] == [pytest.approx(0.75), pytest.approx(0.5)]
    assert pair[9:12] == pytest.approx([0.28125 / 0.53125, 4 / 5, 2 / 3])
    assert "Fewer than 10 questions: not in the mean." in pair[12]
    assert mean[2] == "mean of 0"
    assert mean[7] == Undefined("No pair answered 10 questions together.")
    assert mean[12] == "1 pair with fewer than 10 shared questions left out."


def test_agreement_before_and_after_filtering_stands_on_the_questions_it_names() -> None:
    found = {(row[2], row[3]): row[4:] for row in rows("filtering")}
    # Questions and value before filtering, and after it.
    before_and_after = {key: [*cells[:2], *cells[3:5]] for key, cells in found.items()}
    assert before_and_after["any image / None", "Percent agreement"] == [4, pytest.approx(0.75), 2, pytest.approx(1)]
    assert before_and_after["options", "Percent agreement"] == [4, pytest.approx(0.5), 2, pytest.approx(0.5)]
    # Of what was accepted nobody says None, which is declared: by chance 0, so that agreeing on all is 1 and defined.
    assert found["any image / None", "Gwet's AC1"][4] == 1
    interval = found["any image / None", "Percent agreement"][2]
    assert interval == Undefined("Fewer than 20 questions: too few for a reliable interval.")
    after, its_interval = found["any image / None", "Krippendorff's alpha"][4:6]
    assert isinstance(after, Undefined)
    assert isinstance(its_interval, Undefined)
    assert "Unanimous" in after.reason
    # The baseline is not asked.
    assert {row[0] for row in rows("filtering")} == {"step-3"}


def test_scores_of_people_and_of_the_model_on_the_same_instances() -> None:
    # Cleo answered about instance 1 and dora about 4: the mean of two people.
    found = {tuple(row[:4]): row[4:] for row in rows("scores")}
    assert found["baseline", "Humans", "all", "all"] == [2, 2, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.5]
    assert found["baseline", "Humans", "add", "all"] == [1, 1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert found["baseline", "Humans", "swap", "att"] == [1, 1, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert found["baseline", "CLIP_x", "all", "all"] == [None, 2, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.5]
    assert found["baseline", "CLIP_x", "add", "obj"][4] == 0.0
    assert rows("models")[0][:4] == ["CLIP_x", "all", "all", 2]


def test_people_against_the_model_pairs_the_instances() -> None:
    found = {row[2]: row for row in rows("comparison")}
    # People alone right about instance 1, the model alone about instance 4, each person one instance: exact p = 1.
    # Two instances of four questions, each with one answer.
    assert found["Group"][3:6] == [pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0)]
    assert found["Group"][7] == pytest.approx(1)
    assert found["Group"][9:] == ["McNemar", 2, 2, 8, 8, 1, 1]
    # I2T: nothing tells them apart, so that of three comparisons two were made.
    assert found["I2T"][7] == Undefined("No question tells the two apart.")
    assert "2 comparisons" in REPORT.table("comparison").notes[1]


def test_an_interval_names_people_instances_questions_and_answers() -> None:
    found = {(row[1], row[2]): row for row in rows("intervals")}
    assert found["Humans", "Group"][:4] == ["baseline", "Humans", "Group", 0.5]
    assert found["Humans", "Group"][6:11] == ["instance", 2, 2, 8, 8]
    assert found["Humans", "Ipos2T"][6:11] == ["question", 2, 2, 2, 2]
    assert found["CLIP_x", "Group"][6:11] == ["instance", None, 2, 8, None]
    assert isinstance(found["Humans", "Group"][4], Range)
    assert isinstance(found["CLIP_x", "Group"][4], Range)


def test_cost_and_wage() -> None:
    # 8.00 for 40 minutes is 12 an hour; two finished sessions cost 16.
    step_3, baseline = rows("cost")
    assert step_3[:5] == ["step-3", 2, 2, "USD", Decimal("8.00")]
    # Nothing for answers: 0 of them at 0, beside the sessions' 16.
    assert step_3[5:10] == [0, 0, Decimal("16.00"), 0, Decimal("16.00")]
    assert step_3[10:13] == ["2 at 8.00", 2, Decimal(12)]
    assert baseline[12] == Undefined("Nobody has finished yet.")


def test_tables_that_nothing_could_fill_are_left_out() -> None:
    report = report_of(replace(PROJECT, studies=[replace(STEP_3, answers=[])], models=[]))
    assert [table.name for table in report.tables] == ["dataset", "funnel", "protocol", "cost"]
    assert [chart.name for chart in report.charts] == ["funnel", "wages"]


def test_the_same_rows_make_the_same_report_without_an_id_of_an_annotator() -> None:
    assert report_of(PROJECT) == REPORT
    cells = {str(cell) for table in REPORT.tables for row in table.rows for cell in row}
    assert not cells & {"901", "902", "903", "904"}


def test_pages_leave_out_empty_columns_of_tables() -> None:
    (found,) = [table for card in page_cards(REPORT) for table in card.tables if table.name == "intervals"]
    titles = [heading.removesuffix(" (%)") for heading in found.headings]
    assert titles[:5] == ["Study", "Who", "Score", "Value", "95 % interval"]
    left_out = {column.title for column in REPORT.table("intervals").columns} - set(titles)
    assert left_out == {"95 % interval for this person"}
    assert {len(row) for row in found.cells} == {12}


def chart_of(report: Report, name: str) -> Chart:
    return {chart.name: chart for chart in report.charts}[name]


def test_the_bars_of_the_funnel_lead_to_the_instances_that_they_count() -> None:
    asked, accepted = chart_of(REPORT, "funnel").series
    assert [(point.label, point.value, point.link) for point in asked.points] == [
        ("imported", 4, "?counted=4"),
        ("step-3", 4, "?study=step-3&counted=4"),
        ("baseline", 2, "?study=baseline&counted=2"),
    ]
    assert accepted.name == "accepted"
    assert [(point.label, point.value, point.link) for point in accepted.points] == [
        ("step-3", 2, "?study=step-3&state=accepted&counted=2")
    ]


def test_the_decisions_of_a_study_are_drawn_by_category_and_outcome() -> None:
    report = report_of_study(replace(PROJECT, studies=[STEP_3]), StudyAnswers([]))
    found = {
        each.name: [(point.label, point.value) for point in each.points]
        for each in chart_of(report, "decisions").series
    }
    # Nothing is undecided, so that it has no part of a bar.
    assert found == {
        "conflicting": [("all", 1), ("add obj", 1), ("swap att", 0)],
        "accepted": [("all", 2), ("add obj", 1), ("swap att", 1)],
        "rejected": [("all", 1), ("add obj", 0), ("swap att", 1)],
    }
    links = [point.link for each in chart_of(report, "decisions").series for point in each.points]
    assert links[:3] == [
        "?study=step-3&state=conflicting&counted=1",
        "?study=step-3&state=conflicting&type=add&subtype=obj&counted=1",
        "",
    ]


def test_models_are_drawn_with_intervals_and_chance() -> None:
    """Of two instances one is right as a whole: Wilson's limits of 1 of 2 are .0945 and .9055."""
    chart = chart_of(REPORT, "models")
    (series,) = chart.series
    assert series.name == "CLIP_x"
    assert (series.points[0].label, series.points[0].value) == ("all", 0.5)
    assert [series.points[0].low, series.points[0].high] == pytest.approx([0.0945, 0.9055], abs=5e-5)
    assert [(line.name, line.value) for line in chart.references] == [("chance", 1 / 6)]
    table = REPORT.table("models")
    assert table.columns[-1].title == "95 % interval of Group"
    interval = table.rows[0][-1]
    assert isinstance(interval, Range)
    assert [interval.low, interval.high] == pytest.approx([0.0945, 0.9055], abs=5e-5)


def test_models_that_only_chose_captions_are_drawn_by_these() -> None:
    captions = replace(PROJECT, models=[ModelFacts("CLIP_x", {}, {1: True, 2: False, 3: True, 4: True})])
    chart = chart_of(report_of(captions), "models")
    assert chart.title == "How often models chose the caption of an image"
    assert [(point.label, point.value) for point in chart.series[0].points] == [
        *(("all", 0.75), ("add obj", 0.5), ("swap att", 1.0))
    ]
    assert [line.value for line in chart.references] == [0.5]


def test_people_minus_models_are_drawn_around_zero() -> None:
    chart = chart_of(REPORT, "comparison")
    assert [(series.name, [point.label for point in series.points]) for series in chart.series] == [
        ("CLIP_x", ["I2T", "T2I", "Group"])
    ]
    assert [point.value for point in chart.series[0].points] == pytest.approx([0, 0, 0])
    assert [line.value for line in chart.references] == [0]


def test_equal_wages_of_a_study_are_one_dot_and_other_currencies_are_left_out() -> None:
    """8.00 for 40 minutes is 12 an hour, twice, and 6.00 for 20 minutes is 18."""
    paid = replace(BASELINE, paid=[PaidSession(1200.0)], minimum_hourly_pay=Decimal("15.00"))
    chart = chart_of(report_of(replace(PROJECT, studies=[STEP_3, paid])), "wages")
    assert [(point.label, point.value) for point in chart.series[0].points] == [("step-3", 12.0), ("baseline", 18.0)]
    assert [line.name for line in chart.references] == ["minimum 15.00"]
    chart = chart_of(report_of(replace(PROJECT, studies=[STEP_3, replace(paid, currency="EUR")])), "wages")
    assert [point.label for point in chart.series[0].points] == ["step-3"]
    assert chart.method == "Left out of the chart because of another currency: baseline."


def test_the_share_of_a_model_is_that_of_the_dataset_or_else_of_captions() -> None:
    """Of the two instances of the dataset one is right as a whole; of four captions three are."""
    assert model_shares(REPORT)["CLIP_x"] == ModelShare("50.0 %", "9.5–90.5", "2 instances of the dataset, Group")
    captions = ModelFacts("SigLIP", {}, {1: True, 2: False, 3: True, 4: True})
    shares = model_shares(report_of(replace(PROJECT, models=[*PROJECT.models, captions])))
    # Wilson's limits of 3 of 4.
    assert shares["SigLIP"] == ModelShare("75.0 %", "30.1–95.4", "4 captions of imported instances")
    assert shares["CLIP_x"].share == "50.0 %"
