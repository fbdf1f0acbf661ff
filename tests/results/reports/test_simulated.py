"""Tables that rest on a program's answers say so."""

from dataclasses import replace

from results.reports.build import report_of
from results.reports.of_study import report_of_study
from results.reports.simulated import ABOUT_PEOPLE, simulation_notice
from tests.results.reports.small import BASELINE, PROJECT, STEP_3

PLAYED = replace(STEP_3, simulated=1)
NOTICE = "Simulated: 1 of 2 annotators of step-3. They are a program, so this says nothing about people."


def test_people_need_no_notice() -> None:
    assert simulation_notice([STEP_3, BASELINE]) == ""
    assert not any("imulated" in note for table in report_of(PROJECT).tables for note in table.notes)


def test_every_table_about_people_carries_the_notice_and_the_others_do_not() -> None:
    report = report_of(replace(PROJECT, studies=[PLAYED, BASELINE]))
    assert {table.name for table in report.tables if NOTICE in table.notes} == {
        *("funnel", "pairs", "filtering", "scores", "intervals", "comparison", "cost")
    }


def test_the_results_of_a_study_carry_it_too() -> None:
    report = report_of_study(replace(PROJECT, studies=[PLAYED]), [])
    assert all(NOTICE in table.notes for table in report.tables if table.name in ABOUT_PEOPLE)
    assert NOTICE in report.table("decisions").notes
