"""Cards that rest on a program's answers say so."""

from dataclasses import replace

from results.reports.build import report_of, report_of_study
from results.reports.cards import StudyAnswers
from results.reports.facts import SimulatedStudy
from results.reports.simulated_answers import simulation_notice
from tests.results.reports.small import BASELINE, PROJECT, STEP_3

PLAYED = replace(STEP_3, simulated=1)
NOTICE = "Simulated: 1 of 2 annotators of step-3. Simulated answers say nothing about people."


def test_people_need_no_notice() -> None:
    assert simulation_notice([STEP_3, BASELINE]) == ""
    assert not any(card.simulated for card in report_of(PROJECT).cards)


def test_every_card_that_rests_on_a_programs_answers_says_so() -> None:
    # Step 3 also decided about what the baseline and the models were asked.
    report = report_of(replace(PROJECT, studies=[PLAYED, replace(BASELINE, above=[SimulatedStudy("step-3", 1, 2)])]))
    marked = {card.name for card in report.cards if card.simulated == NOTICE}
    assert marked == {"instances", "agreement", "people", "comparison", "models", "cost"}


def test_what_rests_on_people_alone_carries_no_notice() -> None:
    played = replace(BASELINE, simulated=2)
    report = report_of(replace(PROJECT, studies=[STEP_3, played]))
    marked = {card.name for card in report.cards if card.simulated}
    assert {"people", "comparison", "instances", "cost"} <= marked
    assert not marked & {"models", "protocol"}


def test_the_results_of_a_study_carry_it_in_every_card() -> None:
    report = report_of_study(replace(PROJECT, studies=[PLAYED]), StudyAnswers([]))
    assert all(card.simulated == NOTICE for card in report.cards)
