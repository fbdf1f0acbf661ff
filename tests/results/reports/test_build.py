"""The report of the small project, every number worked out by hand."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from analytics.outcomes import Outcome
from results.reports.base import Range, Undefined
from results.reports.build import report_of
from results.reports.facts import AnswerFacts
from tests.results.reports.small import ANN, BASELINE, PROJECT, STEP_3

REPORT = report_of(PROJECT)
NOTHING = [None] * 8


def rows(name: str) -> list[list[Any]]:
    return [list(row) for row in REPORT.table(name).rows]


def test_the_report_has_the_tables_and_plots_of_the_papers() -> None:
    assert [table.name for table in REPORT.tables] == [
        *("protocol", "funnel", "dataset", "pairs", "filtering", "scores", "intervals", "comparison", "models", "cost")
    ]
    assert [plot.name for plot in REPORT.plots] == ["funnel", "pairs", "scores"]


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


def test_the_dataset_is_what_the_declared_study_accepted_whatever_was_launched_later() -> None:
    later = replace(STEP_3, slug="pilot", purpose="pilot", questions=[], answers=[])
    report = report_of(replace(PROJECT, studies=[STEP_3, BASELINE, later]))
    assert list(report.table("dataset").rows[0]) == ["all", "all", 2, 8]
    undeclared = report_of(replace(PROJECT, dataset=""))
    assert list(undeclared.table("dataset").rows[0]) == ["all", "all", 4, 16]
    assert "No study was declared" in undeclared.table("dataset").notes[0]


def test_retrieval_examples_are_counted_only_where_a_baseline_asks_for_them() -> None:
    report = report_of(replace(PROJECT, studies=[STEP_3]))
    assert list(report.table("dataset").rows[0]) == ["all", "all", 2]


def test_the_dataset_is_counted_per_type_and_subtype() -> None:
    assert rows("dataset") == [["all", "all", 2, 8], ["add", "obj", 1, 4], ["swap", "att", 1, 4]]


def test_kappa_of_a_pair_tells_any_image_from_none() -> None:
    # Agreed on 3 of 4; ann says any image 3 times, ben twice: by chance 3/4 x 1/2 + 1/4 x 1/2 = 1/2.
    pair, mean = rows("pairs")
    assert pair[:4] == ["step-3", "1", "any image / None", 4]
    assert pair[4:6] == [pytest.approx(0.75), pytest.approx(0.5)]
    assert isinstance(pair[6], Range | Undefined)
    assert mean[1] == "mean of 1"
    assert mean[5] == pytest.approx(0.5)


def test_agreement_before_and_after_filtering_stands_on_the_questions_it_names() -> None:
    found = {(row[1], row[2]): row[3:] for row in rows("filtering")}
    assert _without_intervals(found["any image / None", "Percent agreement"]) == [
        *(4, pytest.approx(0.75), 2, pytest.approx(1))
    ]
    assert _without_intervals(found["options", "Percent agreement"]) == [4, pytest.approx(0.5), 2, pytest.approx(0.5)]


def _without_intervals(cells: list[Any]) -> list[Any]:
    return [*cells[:2], *cells[3:5]]


def test_agreement_before_filtering_has_its_interval_and_where_there_is_none_the_reason() -> None:
    found = {(row[1], row[2]): row[3:] for row in rows("filtering")}
    interval = found["any image / None", "Percent agreement"][2]
    assert 0 <= interval.low <= 0.75 <= interval.high <= 1
    assert isinstance(found["any image / None", "Krippendorff's alpha"][5], Undefined)


def test_agreement_on_what_was_filtered_is_undefined_with_its_reason() -> None:
    found = {(row[1], row[2]): row[3:] for row in rows("filtering")}
    after = found["any image / None", "Krippendorff's alpha"][4]
    assert isinstance(after, Undefined)
    assert "Unanimous" in after.reason


def test_the_baseline_is_not_asked_about_agreement_before_filtering() -> None:
    assert {row[0] for row in rows("filtering")} == {"step-3"}


def test_scores_of_people_and_of_the_model_on_the_same_instances() -> None:
    found = {tuple(row[:3]): row[3:] for row in rows("scores")}
    assert found["Humans", "all", "all"] == [2, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.5]
    assert found["Humans", "add", "all"] == [1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert found["Humans", "swap", "att"] == [1, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert found["CLIP_x", "all", "all"] == [2, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 0.5]
    assert found["CLIP_x", "add", "obj"][3] == 0.0


def test_models_are_scored_on_all_that_was_kept_too() -> None:
    assert rows("models")[0][:4] == ["CLIP_x", "all", "all", 2]


def test_people_against_the_model_pairs_the_instances() -> None:
    found = {row[1]: row for row in rows("comparison")}
    # People alone right about instance 1, the model alone about instance 4: no difference, exact p = 1.
    assert found["Group"][2:4] == [2, pytest.approx(0)]
    assert found["Group"][5:] == [1, 1, pytest.approx(1)]


def test_intervals_over_annotators_need_one_person_per_instance() -> None:
    assert rows("intervals")[0][5] is not None
    shared = replace(BASELINE, answers=[*BASELINE.answers, AnswerFacts(100, ANN, 7, "caption")])
    report = report_of(replace(PROJECT, studies=[STEP_3, shared]))
    assert report.table("intervals").rows[0][5] is None


def test_an_instance_with_an_unanswered_question_is_no_score() -> None:
    questions = [
        replace(q, answers=0, winner="", outcome=Outcome.NONE_YET) if q.id == 403 else q for q in BASELINE.questions
    ]
    report = report_of(replace(PROJECT, studies=[STEP_3, replace(BASELINE, questions=questions)]))
    assert report.table("scores").rows[0][3:6] == (1, 1.0, 1.0)


def test_cost_and_wage() -> None:
    # 8.00 for 40 minutes is 12 an hour; two finished sessions cost 16.
    step_3, baseline = rows("cost")
    assert step_3[:8] == ["step-3", 2, 2, "USD", Decimal("8.00"), Decimal("16.00"), 2, Decimal(12)]
    assert baseline[7] == Undefined("Nobody has finished yet.")


def test_tables_that_nothing_could_fill_are_left_out() -> None:
    report = report_of(replace(PROJECT, studies=[replace(STEP_3, answers=[])], models=[]))
    assert [table.name for table in report.tables] == ["protocol", "funnel", "dataset", "filtering", "cost"]
    assert [plot.name for plot in report.plots] == ["funnel"]


def test_the_same_rows_make_the_same_report() -> None:
    assert report_of(PROJECT) == REPORT


def test_no_id_of_an_annotator_is_in_the_report() -> None:
    assert not any(
        str(cell) in {"901", "902", "903", "904"} for table in REPORT.tables for row in table.rows for cell in row
    )
