"""The report of one study of the small project, every number worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest

from results.reports.base import Report, Undefined
from results.reports.build import report_of_study
from results.reports.cards import StudyAnswers
from tests.results.reports.small import BASELINE, PROJECT, STEP_3
from tests.results.reports.test_answers import FIRST, RIGHT

ALONE = replace(PROJECT, studies=[STEP_3])


def rows(report: Report, name: str) -> list[list[Any]]:
    return [list(row) for row in report.table(name).rows]


def test_the_report_of_a_filter_has_its_decisions_agreement_places_and_times() -> None:
    report = report_of_study(ALONE, StudyAnswers([FIRST]))
    names = [table.name for table in report.tables]
    assert names == ["decisions", "reliability", "pairs", "rates", "places", "times", "cost"]
    assert "Study" not in {table.columns[0].title for table in report.tables}
    # Asked; unanswered, open, complete; none yet, conflicting, accepted, rejected.
    assert rows(report, "decisions")[0] == ["all", "all", 4, 0, 0, 4, 0, 1, 2, 1]


def test_agreement_is_told_before_and_after_filtering_with_what_it_stands_on() -> None:
    # ann and ben: equal on 2 of 4 options, 3 of 4 when every image is one label; accepted are the first and the last.
    found = {tuple(row[1:4]): row[5:] for row in rows(report_of_study(ALONE, StudyAnswers([])), "reliability")}
    assert found["options", "Percent agreement", "before"][:4] == [4, 8, 2, pytest.approx(0.5)]
    assert found["any image / None", "Percent agreement", "before"][:4] == [4, 8, 2, pytest.approx(0.75)]
    assert found["any image / None", "Percent agreement", "after"][:4] == [2, 4, 2, pytest.approx(1)]
    alpha = found["any image / None", "Krippendorff's alpha", "after"][3]
    assert isinstance(alpha, Undefined)
    assert "Unanimous" in alpha.reason


def test_a_baseline_has_its_scores_with_models_beside_people_and_no_agreement() -> None:
    report = report_of_study(replace(PROJECT, studies=[BASELINE]), StudyAnswers([RIGHT]))
    assert rows(report, "scores")[0][:7] == ["Humans", "all", "all", 2, 2, 1.0, 0.5]
    assert [row[0] for row in rows(report, "scores") if row[1] == "all"] == ["Humans", "CLIP_x"]
    assert {row[0] for row in rows(report, "comparison")} == {"CLIP_x"}
    assert "scores" in {chart.name for chart in report.charts}
    assert "reliability" not in {table.name for table in report.tables}
