"""The table of statuses in prolific.md, section 3.3, row by row over HTTP."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError
from annotation.recruitment.prolific.statuses import RejectionCategory
from simulation.prolific_double.server import WORKSPACE
from tests.prolific import AUTOMATIC, BY_RESEARCHER, CODES, DONE, NO_CONSENT, NOON, TOKEN, Local, new_study

WHY = "Two of the three clearly marked instruction checks were answered incorrectly, so we cannot use this submission."
Reach = Callable[[Local, str], str]


def completed(local: Local, study: str) -> str:
    return local.completed(study)


def approved(local: Local, study: str) -> str:
    return local.completed(study, code=AUTOMATIC)


def returned(local: Local, study: str) -> str:
    submission = local.opened(study)
    local.play("return", submission=submission)
    return submission


def timed_out(local: Local, study: str) -> str:
    submission = local.opened(study)
    local.later(minutes=60)
    return submission


def rejected(local: Local, study: str) -> str:
    submission = local.completed(study)
    reject(local, submission)
    return submission


def reserved(local: Local, study: str) -> str:
    return local.taken(study)


def active(local: Local, study: str) -> str:
    return local.opened(study)


def open_(local: Local, submission: str) -> None:
    local.play("open", submission=submission)


def return_(local: Local, submission: str) -> None:
    local.play("return", submission=submission)


def complete(local: Local, submission: str) -> None:
    local.play("complete", submission=submission, code=DONE)


def complete_with_nothing(local: Local, submission: str) -> None:
    local.play("complete", submission=submission)


def complete_wrongly(local: Local, submission: str) -> None:
    local.play("complete", submission=submission, code="WRONG")


def complete_after_ten_minutes(local: Local, submission: str) -> None:
    local.later(minutes=10)
    local.play("complete", submission=submission, code=AUTOMATIC)


def complete_after_nine_minutes(local: Local, submission: str) -> None:
    local.later(minutes=9)
    local.play("complete", submission=submission, code=AUTOMATIC)


def approve(local: Local, submission: str) -> None:
    local.client.approve_submission(submission)


def reject(local: Local, submission: str) -> None:
    local.client.reject_submission(submission, category=RejectionCategory.FAILED_CHECK, message=WHY)


def undo_rejection(local: Local, submission: str) -> None:
    local.client.undo_rejection(submission)


def complete_for_them(local: Local, submission: str) -> None:
    local.client.complete_submission(submission, code=BY_RESEARCHER)


def wait(**time: float) -> Callable[[Local, str], None]:
    def let_pass(local: Local, submission: str) -> None:
        local.later(**time)

    return let_pass


@pytest.mark.parametrize(
    ("reach", "move", "to"),
    [
        (reserved, open_, "ACTIVE"),
        (reserved, wait(minutes=9, seconds=59), "RESERVED"),
        (reserved, wait(minutes=10), "TIMED-OUT"),
        (reserved, return_, "RETURNED"),
        (active, open_, "ACTIVE"),
        (active, return_, "RETURNED"),
        (active, wait(minutes=59), "ACTIVE"),
        (active, wait(minutes=60), "TIMED-OUT"),
        (active, complete, "AWAITING REVIEW"),
        (active, complete_wrongly, "AWAITING REVIEW"),
        (active, complete_with_nothing, "AWAITING REVIEW"),
        (active, complete_for_them, "AWAITING REVIEW"),
        (active, complete_after_ten_minutes, "APPROVED"),
        # Less than half of 20 minutes: reviewed by hand whatever the code says.
        (active, complete_after_nine_minutes, "AWAITING REVIEW"),
        (completed, approve, "APPROVED"),
        (completed, reject, "REJECTED"),
        (completed, return_, "RETURNED"),
        (completed, complete, "AWAITING REVIEW"),
        (completed, wait(days=20, hours=23), "AWAITING REVIEW"),
        (completed, wait(days=21), "APPROVED"),
        (rejected, undo_rejection, "AWAITING REVIEW"),
        (rejected, reject, "REJECTED"),
        (timed_out, complete, "AWAITING REVIEW"),
    ],
)
def test_a_submission_moves(local: Local, reach: Reach, move: Callable[[Local, str], None], to: str) -> None:
    submission = reach(local, local.published())
    move(local, submission)
    assert local.status(submission) == to


IMPOSSIBLE = {
    reserved: (complete, approve, reject, undo_rejection, complete_for_them),
    active: (approve, reject, undo_rejection),
    completed: (open_, undo_rejection, complete_for_them),
    approved: (open_, return_, reject, undo_rejection, complete_for_them),
    rejected: (open_, return_, approve, complete_for_them),
    returned: (open_, return_, complete, approve, reject, undo_rejection, complete_for_them),
    timed_out: (open_, return_, approve, reject, undo_rejection, complete_for_them),
}


@pytest.mark.parametrize(("reach", "move"), [(reach, move) for reach, moves in IMPOSSIBLE.items() for move in moves])
def test_no_other_move_is_possible(local: Local, reach: Reach, move: Callable[[Local, str], None]) -> None:
    submission = reach(local, local.published())
    before = local.status(submission)
    with pytest.raises((ProlificError, AssertionError), match=r"not possible|no longer be opened"):
        move(local, submission)
    assert local.status(submission) == before


def test_completing_without_a_code_shows_as_nocode(local: Local) -> None:
    submission = local.opened(local.published())
    complete_with_nothing(local, submission)
    assert local.client.read_submission(submission).entered_code == "NOCODE"


def test_a_code_can_ask_the_participant_to_return(local: Local) -> None:
    submission = local.completed(local.published(), code=NO_CONSENT)
    detail = local.client.read_submission(submission)
    assert (detail.status, detail.return_requested) == ("AWAITING REVIEW", NOON + timedelta(minutes=15))


def test_a_code_can_put_the_participant_in_a_group(local: Local) -> None:
    group = local.client.create_group(WORKSPACE, name="Trained", participants=[])
    code = bodies.CompletionCode(
        code="CTRAIN11",
        code_type="COMPLETED",
        actions=(bodies.ManuallyReview(), bodies.AddToGroup(participant_group=group.id)),
    )
    local.completed(local.published(completion_codes=(code,)), participant="a" * 24, code="CTRAIN11")
    assert local.client.list_group_members(group.id) == ["a" * 24]


def test_people_who_are_screened_out_get_a_fixed_amount_until_its_slots_are_used(local: Local) -> None:
    actions = (bodies.PayScreenedOut(fixed_screen_out_reward=14, slots=2),)
    code = bodies.CompletionCode(code="CSCREEN1", code_type="FIXED_SCREENOUT", actions=actions)
    study = local.published(completion_codes=(code,), total_available_places=5)
    first = local.completed(study, participant="a" * 24, code="CSCREEN1")
    assert (local.status(first), local.client.read_study(study).status) == ("SCREENED OUT", "ACTIVE")
    local.completed(study, participant="b" * 24, code="CSCREEN1")
    assert local.client.read_study(study).status == "PAUSED"
    # Twice 0.14, and a third of 0.28.
    assert local.client.read_balance(WORKSPACE).total_balance == 1_000_000 - 28 - 9


@pytest.mark.parametrize(
    ("pays", "why"),
    [([(400, 2)], "less than the reward"), ([(0, 2)], "less than the reward"), ([(14, 1), (20, 1)], "Only one code")],
)
def test_a_screen_out_pays_less_than_the_reward_and_is_one_code(
    local: Local, pays: list[tuple[int, int]], why: str
) -> None:
    codes = [
        bodies.CompletionCode(
            code=f"CSCREEN{number}",
            code_type="FIXED_SCREENOUT",
            actions=(bodies.PayScreenedOut(fixed_screen_out_reward=reward, slots=slots),),
        )
        for number, (reward, slots) in enumerate(pays)
    ]
    with pytest.raises(ProlificError, match=why):
        local.client.create_study(new_study(completion_codes=tuple(codes)))


def test_a_part_of_the_reward_is_paid(local: Local) -> None:
    code = bodies.CompletionCode(code="CPART111", code_type="OTHER", actor="researcher", actions=(bodies.PayInPart(),))
    submission = local.completed(local.published(completion_codes=(*CODES, code)))
    # Not through the checks of `tests.prolific`: the description has this status, and not in what a transition returns.
    client = Client(Connection(TOKEN, address=local.double.address))
    with pytest.raises(ProlificError, match="from 8 to 99"):
        client.pay_in_part(submission, code="CPART111", percent=100, message="Thank you.")
    for _ in range(2):
        changed = client.pay_in_part(submission, code="CPART111", percent=50, message="Thank you.")
        assert changed.status == "PARTIALLY APPROVED"
    # 2.00 and 0.67, once.
    assert client.read_balance(WORKSPACE).total_balance == 1_000_000 - 267


@pytest.mark.parametrize("reach", [returned, timed_out, rejected])
def test_a_place_that_is_lost_goes_to_somebody_else(local: Local, reach: Reach) -> None:
    study = local.published(total_available_places=1)
    reach(local, study)
    assert local.client.read_study(study).status == "ACTIVE"
    assert local.taken(study, participant="b" * 24)
    assert local.client.read_study(study).status == "AWAITING REVIEW"
    with pytest.raises(AssertionError, match="no open places"):
        local.taken(study, participant="c" * 24)


def test_nobody_finishes_late_once_the_place_is_taken(local: Local) -> None:
    study = local.published(total_available_places=1)
    submission = timed_out(local, study)
    local.taken(study, participant="b" * 24)
    with pytest.raises(AssertionError, match="somebody else has taken the place"):
        complete(local, submission)


def test_people_inside_finish_while_a_study_is_paused(local: Local) -> None:
    study = local.published()
    submission = local.opened(study)
    local.client.pause_study(study)
    with pytest.raises(AssertionError, match="no open places"):
        local.taken(study, participant="b" * 24)
    complete(local, submission)
    assert local.status(submission) == "AWAITING REVIEW"


def test_places_raised_while_paused_open_when_it_is_resumed(local: Local) -> None:
    study = local.published(total_available_places=1)
    local.client.pause_study(study)
    assert local.client.set_places(study, 2).status == "PAUSED"
    assert local.client.resume_study(study).status == "ACTIVE"


def test_more_places_reopen_a_study_that_is_over(local: Local) -> None:
    study = local.published(total_available_places=1)
    local.completed(study)
    local.client.stop_study(study)
    assert local.client.set_places(study, 2).status == "ACTIVE"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"maximum_allowed_time": 50}, "maximum_allowed_time: This must be at least 51"),
        ({"name": ""}, "name: This field is required"),
    ],
)
def test_a_study_that_prolific_would_refuse_is_refused(local: Local, change: dict[str, object], says: str) -> None:
    with pytest.raises(ProlificError, match=says):
        local.published(**change)


def test_codes_of_a_study_differ(local: Local) -> None:
    code = bodies.CompletionCode(code=DONE, code_type="COMPLETED", actions=(bodies.ManuallyReview(),))
    with pytest.raises(ProlificError, match="unique within a study"):
        local.published(completion_codes=(code, code))


def test_a_code_is_approved_or_reviewed(local: Local) -> None:
    both = (bodies.ManuallyReview(), bodies.AutomaticallyApprove())
    code = bodies.CompletionCode(code=DONE, code_type="COMPLETED", actions=both)
    with pytest.raises(ProlificError, match="either approved automatically or reviewed"):
        local.published(completion_codes=(code,))


def test_nobody_takes_part_twice(local: Local) -> None:
    study = local.published()
    local.completed(study)
    with pytest.raises(AssertionError, match="has taken part already"):
        local.taken(study)


def test_what_a_study_holds_back_is_freed_when_it_stops(local: Local) -> None:
    study = local.published()
    # 3 places at 4.00 with a fee of a third: 16.00.
    assert local.client.read_balance(WORKSPACE).available_balance == 1_000_000 - 1_600
    submission = local.completed(study)
    local.client.stop_study(study)
    assert local.client.read_balance(WORKSPACE).available_balance == 1_000_000 - 533
    local.client.approve_submission(submission)
    assert local.client.read_balance(WORKSPACE).available_balance == 1_000_000 - 533
