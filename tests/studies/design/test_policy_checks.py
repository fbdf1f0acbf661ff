"""Policies that can never act, or that contradict each other, are refused with their line."""

import pytest

from studies.design import DesignRefused, read_design
from studies.design.policy_checks import check_policies
from studies.survey_plan import PlannedSurvey

PAID = "study: things\ntitle: Things\nkind: best_of_n\npay: {per_session: '2.00'}\n"
BY_ANSWER = "study: things\ntitle: Things\nkind: best_of_n\npay: {per_answer: '0.10'}\n"
UNPAID = "study: things\ntitle: Things\nkind: best_of_n\n\n"
KNOWN = "study: things\ntitle: Things\nkind: image_to_text\nask: {}\n"
# Each session has two gold questions.
GOLD = (
    "study: things\ntitle: Things\nkind: best_of_n\n"
    "checks: {gold: {per_survey: 2, questions: [{instance: a, right: none}, {instance: b, right: none}]}}\n"
)
# Ten surveys of five instances, one answer each: ten people.
SAMPLE = "instances: {sample: 50}\nsurveys: {size: 5}\n"


@pytest.mark.parametrize(
    ("file", "policies", "problem"),
    [
        (PAID, "[{policy: flagged, flagged_above: 1, sessions: 2}]", "No share of sessions is above 1"),
        (PAID, "[{policy: flagged, flagged_above: 20, sessions: 2}]", "it must be at most 1"),
        (PAID, "[{policy: flagged, flagged_above: 0.2}]", "`sessions` is missing"),
        (PAID, "[{policy: flagged, flagged_above: .nan, sessions: 2}]", "`policies.0.flagged_above` is nan, which is"),
        (KNOWN, "[{policy: precise, width: -.inf}]", "`policies.0.width` is -inf, which is no amount. Write digits"),
        (PAID, "[{policy: replace_excluded, sessions: 2}]", "`sessions` is not known here. Nothing can be set here."),
        (PAID, "[{policy: wage, wage_below: '0.00', sessions: 2}]", "No wage is below 0"),
        # 2.00 for 30 minutes are 4.00 an hour.
        (
            PAID,
            "[{policy: wage, wage_below: '4.01', sessions: 2}]",
            "The study pays USD 4.00 an hour at its estimated time, less than the bound of USD 4.01",
        ),
        (PAID, "[{policy: wage, wage_below: '-9.00', sessions: 2}]", "Write an amount"),
        (PAID, "[{policy: wage, wage_below: .inf, sessions: 2}]", "`policies.0.wage_below` is inf, which is no amount"),
        (PAID, "[{policy: wage, wage_below: '9.00', sessions: 0}]", "it must be at least 1"),
        (PAID, "[{policy: wage, wage_below: '1000000.00', sessions: 2}]", "Write an amount"),
        (PAID, "[{policy: cost, cost_above: 5 euros}]", "Write an amount"),
        (PAID, "[{policy: cost, cost_above: '-5.00'}]", "Write an amount"),
        (PAID, "[{policy: cost, cost_above: .nan}]", "`policies.0.cost_above` is nan, which is no amount"),
        (PAID, "[{policy: cost, cost_above: 0}]", "must be text (put it in quotes), not 0"),
        (PAID, "[{policy: cost, cost_above: '0.00'}]", "Every session costs more than 0, so this policy would act at"),
        (
            PAID,
            "[{policy: cost, cost_above: '1.99'}]",
            "One session costs USD 2.00, more than the bound of USD 1.99: the first session would pause the study",
        ),
        # 0.10 for each of 100 answers in 30 minutes.
        (BY_ANSWER, "[{policy: wage, wage_below: '20.01', sessions: 2}]", "pays USD 20.00 an hour"),
        (
            BY_ANSWER,
            "[{policy: cost, cost_above: '0.09'}]",
            "One session of at least 1 answer costs at least USD 0.10, more than the bound",
        ),
        (UNPAID, "[{policy: cost, cost_above: '5.00'}]", "The study pays nothing, so its cost never"),
        (UNPAID, "[{policy: wage, wage_below: '5.00', sessions: 2}]", "The study pays nothing, so there is no wage"),
        (PAID, "[{policy: precise, width: 0.1}]", "there is no human score"),
        (KNOWN, "[{policy: precise, width: 0}]", "No interval has a width of 0"),
        (KNOWN, "[{policy: precise, width: 1}]", "the interval is 1 wide already"),
        (PAID, "[{policy: gold, gold_below: 0.7, gold_answers: 5}]", "The study asks no gold questions."),
        (GOLD, "[{policy: gold, gold_below: 0, gold_answers: 5}]", "No share of right answers is below 0"),
        (GOLD, "[{policy: gold, gold_below: 0.7}]", "`gold_answers` is missing"),
        (PAID, "[{policy: unknown}]", "Choose one of: flagged, "),
        (
            PAID,
            "[{policy: wage, wage_below: '8.00', sessions: 2}, {policy: wage, wage_below: '9.00', sessions: 2}]",
            "The policy wage is listed twice, with two bounds that contradict each other. Keep one of them.",
        ),
        (
            # The 11th session makes 22.00, which is above 20.00: 11 people are seen, and 12 needed.
            PAID,
            "[{policy: cost, cost_above: '20.00'}, {policy: flagged, flagged_above: 0.2, sessions: 12}]",
            "The policies flagged and cost contradict each other: flagged acts from 12 finished sessions on, which "
            "cost at least USD 24.00, and cost pauses the study above USD 20.00.",
        ),
        (
            # Each session has an answer at least: 200 cost 20.00, and one more crosses the bound.
            BY_ANSWER,
            "[{policy: cost, cost_above: '20.00'}, {policy: flagged, flagged_above: 0.2, sessions: 202}]",
            "acts from 202 finished sessions on, which cost at least USD 20.20, and cost pauses the study above USD 20",
        ),
    ],
)
def test_it_is_refused_in_a_sentence(file: str, policies: str, problem: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design(f"{file}policies: {policies}\n")
    (found,) = refused.value.problems
    assert problem in found.message
    assert found.line == 5


@pytest.mark.parametrize(
    "policies",
    [
        "[{policy: cost, cost_above: '20.00'}, {policy: flagged, flagged_above: 0.2, sessions: 11}]",
        "[{policy: flagged, flagged_above: 0, sessions: 1}, {policy: replace_excluded}]",
        "[{policy: cost, cost_above: '2.00'}, {policy: replace_excluded}]",
        "[{policy: wage, wage_below: '4.00', sessions: 1}, {policy: cost, cost_above: '2.00'}]",
    ],
)
def test_policies_that_can_act_are_read(policies: str) -> None:
    assert len(read_design(f"{PAID}policies: {policies}\n").policies) == 2


@pytest.mark.parametrize(("sessions", "is_refused"), [(10, False), (11, True)])
def test_a_sample_tells_how_many_sessions_there_can_be(sessions: int, is_refused: bool) -> None:
    file = f"{PAID}{SAMPLE}policies: [{{policy: flagged, flagged_above: 0.2, sessions: {sessions}}}]\n"
    if not is_refused:
        read_design(file)
        return
    with pytest.raises(DesignRefused, match=r"acts from 11 finished sessions on, and the study has at most 10\."):
        read_design(file)


@pytest.mark.parametrize(("answers", "is_refused"), [(20, False), (21, True)])
def test_ten_sessions_with_two_gold_questions_have_twenty_answers(answers: int, is_refused: bool) -> None:
    file = f"{GOLD}{SAMPLE}policies: [{{policy: gold, gold_below: 0.7, gold_answers: {answers}}}]\n"
    if not is_refused:
        read_design(file)
        return
    with pytest.raises(DesignRefused, match=r"acts from 11 finished sessions on, and the study has at most 10\."):
        read_design(file)


@pytest.mark.parametrize(("width", "needed"), [(0.48, 0), (0.47, 11)])
def test_an_interval_that_so_few_people_cannot_have_is_refused(width: float, needed: int) -> None:
    """Ten people have an interval of 0.472 at best."""
    # Two questions about each instance.
    file = f"{KNOWN}{SAMPLE.replace('5}', '10}')}policies: [{{policy: precise, width: {width}}}]\n"
    if not needed:
        read_design(file)
        return
    with pytest.raises(DesignRefused, match=rf"acts from {needed} finished sessions on, and the study has at most 10"):
        read_design(file)


@pytest.mark.parametrize(("width", "is_refused"), [(0.48, False), (0.47, True)])
def test_an_interval_that_so_few_questions_cannot_have_is_refused(width: float, is_refused: bool) -> None:
    """Five instances with two questions each: ten questions, however many people answer them."""
    policy = f"policies: [{{policy: precise, width: {width}, per: question}}]\n"
    file = f"{KNOWN}answers: 40\ninstances: {{sample: 5}}\n{policy}"
    if not is_refused:
        read_design(file)
        return
    with pytest.raises(DesignRefused, match=r"at least 11 questions, and the study has 10 whose right answer is known"):
        read_design(file)


@pytest.mark.parametrize("pay", ["per_session: '2.00'", "per_answer: '0.10'"])
@pytest.mark.parametrize(("bound", "is_refused"), [("14.00", False), ("13.99", True)])
def test_precise_questions_cost_the_sessions_that_answer_them(pay: str, bound: str, is_refused: bool) -> None:
    """A width of 0.05 needs log(40) / log(1 + 0.05 / 0.95 / 2) = 142.01 values, so 143 questions.

    With 20 in each session these are 8 sessions. Up to 14.00 seven can be paid; the eighth crosses the bound.
    """
    precise = "{policy: precise, width: 0.05, per: question}"
    file = (
        f"{KNOWN}pay: {{{pay}}}\ninstances: {{sample: 100}}\nsurveys: {{size: 20}}\n"
        f"policies: [{precise}, {{policy: cost, cost_above: '{bound}'}}]\n"
    )
    if not is_refused:
        read_design(file)
        return
    with pytest.raises(
        DesignRefused, match=r"precise acts from 8 finished sessions on, which cost at least USD 16\.00"
    ):
        read_design(file)


def test_places_that_open_again_bring_more_sessions() -> None:
    flagged = "{policy: flagged, flagged_above: 0.2, sessions: 11}"
    design = read_design(f"{PAID}{SAMPLE}policies: [{flagged}, {{policy: replace_excluded}}]\n")
    assert [entry.policy for entry in design.policies] == ["flagged", "replace_excluded"]


@pytest.mark.parametrize(
    ("file", "bound", "cost"),
    [
        # Ten sessions of five questions.
        (PAID, "19.99", ""),
        (PAID, "20.00", "20.00"),
        (BY_ANSWER, "4.99", ""),
        (BY_ANSWER, "1000.00", "5.00"),
        # Undecided questions may get a second answer.
        (f"{PAID}max_answers: 2\n", "39.99", ""),
        (f"{PAID}max_answers: 2\n", "40.00", "40.00"),
        # With two gold questions in each session.
        (GOLD.replace("\nchecks", "\npay: {per_answer: '0.10'}\nchecks"), "6.99", ""),
        (GOLD.replace("\nchecks", "\npay: {per_answer: '0.10'}\nchecks"), "7.00", "7.00"),
    ],
)
def test_a_cost_that_all_places_together_do_not_have_is_refused(file: str, bound: str, cost: str) -> None:
    policy = f"{{policy: cost, cost_above: '{bound}'}}"
    # Places that open again cost more.
    assert len(read_design(f"{file}{SAMPLE}policies: [{policy}, {{policy: replace_excluded}}]\n").policies) == 2
    if not cost:
        read_design(f"{file}{SAMPLE}policies: [{policy}]\n")
        return
    with pytest.raises(DesignRefused, match=rf"The cost of [12]0 places is at most USD {cost}, so it is never above"):
        read_design(f"{file}{SAMPLE}policies: [{policy}]\n")


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("{policy: cost, cost_above: '0.49'}", "One session of at least 5 answers costs at least USD 0.50"),
        # 0.50 in 30 minutes.
        ("{policy: wage, wage_below: '1.01', sessions: 1}", "The study pays USD 1.00 an hour"),
    ],
)
def test_a_sample_tells_how_many_answers_a_session_is_paid_for(policy: str, problem: str) -> None:
    with pytest.raises(DesignRefused, match=problem):
        read_design(f"{BY_ANSWER}{SAMPLE}policies: [{policy}]\n")


def found_at_launch(policies: str, surveys: int, *, pay: str = "per_session: '2.00'") -> list[str]:
    """Return the problems of these policies with so many surveys of three instances, for one person each."""
    design = read_design(f"study: things\ntitle: Things\nkind: best_of_n\npay: {{{pay}}}\npolicies: {policies}\n")
    planned = [PlannedSurvey(("a", "b", "c"), seats=1)] * surveys
    return [sentence for _, sentence in check_policies(design, planned)]


def test_surveys_of_a_launch_limit_sessions_and_cost() -> None:
    flagged = "[{policy: flagged, flagged_above: 0.2, sessions: 5}]"
    assert found_at_launch(flagged, 5) == []
    (found,) = found_at_launch(flagged, 4)
    assert "acts from 5 finished sessions on, and the study has at most 4." in found
    cost = "[{policy: cost, cost_above: '10.00'}]"
    assert found_at_launch(cost, 6) == []
    (found,) = found_at_launch(cost, 5)
    assert found.startswith("The cost of 5 places is at most USD 10.00")
    # 0.10 for each of three answers, where the file suggests a hundred.
    (found,) = found_at_launch("[{policy: cost, cost_above: '10.00'}]", 9, pay="per_answer: '0.10'")
    assert found.startswith("The cost of 9 places is at most USD 2.70")
    # Eleven sessions are needed, but the fourth one crosses the bound.
    both = "[{policy: cost, cost_above: '1.00'}, {policy: flagged, flagged_above: 0.2, sessions: 11}]"
    (found,) = found_at_launch(both, 20, pay="per_answer: '0.10'")
    assert found.startswith("The policies flagged and cost contradict each other: flagged acts from 11 finished")
    # 0.30 in 30 minutes.
    (found,) = found_at_launch("[{policy: wage, wage_below: '0.61', sessions: 1}]", 9, pay="per_answer: '0.10'")
    assert found.startswith("The study pays USD 0.60 an hour")
