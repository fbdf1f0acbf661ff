"""The table of sessions here and submissions there, row by row (prolific.md, section 3.4)."""

import pytest

from annotation.actions.recruiting.reconciliation import TABLE, Here, Step, There, here_of, row_of, there_of
from annotation.models import SessionState
from annotation.recruitment.prolific.statuses import SubmissionStatus

CODE, OTHER = "CDONE7K2", "CATTN9QX"
NOTHING, END, COMPLETE = Step.NOTHING, Step.END_SESSION, Step.COMPLETE
KEPT = None
# Session here, status there -> what happens, and the flag afterwards.
ROWS = [
    (None, "RESERVED", NOTHING, ""),
    (None, "ACTIVE", NOTHING, ""),
    (None, "RETURNED", NOTHING, ""),
    (None, "TIMED-OUT", NOTHING, ""),
    (None, "REJECTED", NOTHING, ""),
    (None, "AWAITING REVIEW", NOTHING, "no_data"),
    (None, "APPROVED", NOTHING, "paid_without_data"),
    (None, "SCREENED OUT", NOTHING, "paid_without_data"),
    (None, "PARTIALLY APPROVED", NOTHING, ""),
    (None, "PROCESSING", NOTHING, KEPT),
    ("working", "RESERVED", NOTHING, ""),
    ("working", "ACTIVE", NOTHING, ""),
    ("working", "RETURNED", END, ""),
    ("working", "TIMED-OUT", END, ""),
    ("working", "REJECTED", END, ""),
    ("working", "AWAITING REVIEW", NOTHING, "no_data"),
    ("working", "APPROVED", NOTHING, "paid_without_data"),
    ("working", "SCREENED OUT", NOTHING, "paid_without_data"),
    ("working", "PARTIALLY APPROVED", NOTHING, ""),
    ("working", "UNKNOWN", NOTHING, KEPT),
    ("working", "PROCESSING", NOTHING, KEPT),
    ("working", "a new status", NOTHING, KEPT),
    ("finished", "RESERVED", COMPLETE, "redirect_lost"),
    ("finished", "ACTIVE", COMPLETE, "redirect_lost"),
    ("finished", "RETURNED", NOTHING, "place_lost"),
    ("finished", "TIMED-OUT", NOTHING, "place_lost"),
    ("finished", "REJECTED", NOTHING, ""),
    ("finished", "AWAITING REVIEW", NOTHING, ""),
    ("finished", "APPROVED", NOTHING, ""),
    ("finished", "SCREENED OUT", NOTHING, ""),
    ("finished", "PARTIALLY APPROVED", NOTHING, ""),
    ("finished", "UNKNOWN", NOTHING, KEPT),
    ("no_consent", "ACTIVE", NOTHING, ""),
    ("no_consent", "RETURNED", NOTHING, ""),
    ("no_consent", "REJECTED", NOTHING, ""),
    ("no_consent", "AWAITING REVIEW", NOTHING, ""),
    ("no_consent", "APPROVED", NOTHING, ""),
    ("no_consent", "PARTIALLY APPROVED", NOTHING, ""),
    ("no_consent", "PROCESSING", NOTHING, KEPT),
    ("returned", "ACTIVE", NOTHING, ""),
    ("returned", "RETURNED", NOTHING, ""),
    ("returned", "REJECTED", NOTHING, ""),
    ("returned", "AWAITING REVIEW", NOTHING, "no_data"),
    ("returned", "APPROVED", NOTHING, "paid_without_data"),
    ("returned", "PARTIALLY APPROVED", NOTHING, ""),
    ("returned", "PROCESSING", NOTHING, KEPT),
]


@pytest.mark.parametrize(("here", "there", "step", "flag"), ROWS)
def test_each_row_of_the_table(here: str | None, there: str, step: Step, flag: str | None) -> None:
    row = row_of(here_of(here, has_code=False), there_of(there), entered=CODE, codes=[CODE])
    assert (row.step, row.flag) == (step, flag)


def test_the_rows_above_are_all_rows_of_the_table() -> None:
    tried = {(here_of(here, has_code=False), there_of(there)) for here, there, _, _ in ROWS}
    assert tried == {(here, there) for here in Here for there in There}
    assert TABLE.keys() == set(Here)
    assert all(row.keys() == set(There) for row in TABLE.values())


@pytest.mark.parametrize("here", ["finished", "failed_checks", "left_out", "waited"])
@pytest.mark.parametrize(
    ("entered", "flag"),
    [(CODE, ""), (f" {CODE.lower()} ", ""), ("", ""), ("NOCODE", ""), (OTHER, "wrong_code"), ("123", "wrong_code")],
)
def test_another_code_than_those_that_fit_is_flagged(here: str, entered: str, flag: str) -> None:
    row = row_of(here_of(here, has_code=True), There.REVIEW, entered=entered, codes=["CSRVR5ZT", CODE])
    assert (row.step, row.flag) == (NOTHING, flag)


@pytest.mark.parametrize("there", [There.OPEN, There.LOST, There.PAID])
def test_a_code_is_compared_only_while_a_submission_waits_for_review(there: There) -> None:
    assert row_of(Here.FINISHED, there, entered=OTHER, codes=[CODE]) == TABLE[Here.FINISHED][there]


@pytest.mark.parametrize(
    ("state", "has_code", "here"),
    [
        ("lapsed", False, Here.LEFT),
        ("lapsed", True, Here.ENDED),
        ("given_up", True, Here.ENDED),
        ("superseded", False, Here.LEFT),
        ("withdrawn", False, Here.LEFT),
        ("stopped", False, Here.LEFT),
        ("waited", True, Here.FINISHED),
        ("consent", False, Here.WORKING),
        ("waiting", False, Here.WORKING),
    ],
)
def test_what_a_state_counts_as(state: str, has_code: bool, here: Here) -> None:
    assert here_of(state, has_code=has_code) == here


def test_every_state_and_every_published_status_is_known() -> None:
    assert {here_of(state, has_code=False) for state in SessionState} == set(Here) - {Here.ABSENT}
    unknown = [status for status in SubmissionStatus if there_of(status) == There.UNKNOWN]
    assert unknown == [SubmissionStatus.UNKNOWN]
