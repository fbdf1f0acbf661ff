from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from annotation.actions.paying.payment_states import PAYMENT_TRANSITIONS
from annotation.models import Payment, ProlificAccount, Submission
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from background.sealed_secrets import seal
from simulation.prolific_double.switches import Switch
from tests.annotation.paying.stage import Stage, stage
from tests.prolific import DONE

pytestmark = pytest.mark.django_db
State = Payment.State


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as begun:
        yield begun


def test_rewards_are_approved_and_confirmed(paying: Stage) -> None:
    assert str(paying.approve()) == "3 payments ordered, USD 12.00 in all, without fees."
    paying.send()
    # In bulk, which Prolific does later.
    assert paying.states() == [State.REQUESTED] * 3
    paying.minute()
    assert paying.states() == [State.PAID] * 3
    assert paying.paid("reward") == [400, 400, 400]


def test_bonuses_are_paid_and_confirmed(paying: Stage) -> None:
    paying.bonus("1.50", "0.07")
    paying.send()
    assert paying.states() == [State.PAID] * 2
    assert paying.paid() == [150, 7, 0]


def test_the_same_order_again_changes_nothing(paying: Stage) -> None:
    paying.bonus("1.50")
    assert str(paying.bonus("1.50", "2.00")) == (
        "1 payment ordered, USD 2.00 in all, without fees. 1 was ordered before."
    )
    paying.send()
    paying.bonus("1.50", "2.00")
    paying.minute(2)
    assert paying.paid() == [150, 200, 0]


def test_several_bonuses_of_a_person_are_paid_one_after_another(paying: Stage) -> None:
    paying.bonus("1.50", "2.00")
    paying.bonus("0.30", "2.00", reason=Payment.Reason.ANSWERS)
    paying.minute(2)
    assert paying.states() == [State.PAID] * 4
    assert paying.paid() == [180, 400, 0]


@pytest.mark.parametrize("calls", range(1, 8))
def test_a_lost_reply_pays_nobody_twice(paying: Stage, calls: int) -> None:
    paying.approve()
    paying.bonus("1.50", "0.07", "2.00")
    # The first replies are lost, whatever they were to; reads are repeated.
    paying.local.switch(Switch.REPLY_LOST, str(calls))
    paying.minute(3)
    paying.local.switch(Switch.REPLY_LOST, "off")
    paying.settle()
    assert paying.paid("reward") == [400, 400, 400]
    assert paying.paid() == [150, 7, 200]
    assert paying.states() == [State.PAID] * 6


@pytest.mark.parametrize("switch", [Switch.AWAY, Switch.RATE_LIMITED, Switch.TOKEN_REVOKED])
def test_what_cannot_be_sent_now_is_sent_once_that_has_passed(paying: Stage, switch: Switch) -> None:
    paying.approve()
    paying.bonus("1.50", "0.07", "2.00")
    paying.local.switch(switch)
    for _ in range(3):
        paying.settle()
    assert paying.states() == [State.PLANNED] * 6
    assert all("Prolific" in problem for problem in Payment.objects.values_list("problem", flat=True))
    paying.local.switch(switch, "off")
    paying.minute(2)
    assert paying.states() == [State.PAID] * 6
    assert not any(Payment.objects.values_list("problem", flat=True))
    assert (paying.paid("reward"), paying.paid()) == ([400] * 3, [150, 7, 200])


@pytest.mark.parametrize("calls", range(1, 12))
@pytest.mark.parametrize("switch", [Switch.AWAY, Switch.RATE_LIMITED])
def test_a_platform_that_fails_some_calls_pays_everybody_once(paying: Stage, switch: Switch, calls: int) -> None:
    paying.approve()
    paying.bonus("1.50", "0.07", "2.00")
    paying.local.switch(switch, str(calls))
    paying.settle()
    held = Payment.objects.filter(state=State.UNCERTAIN)
    assert set(paying.states()) <= {State.PAID, State.UNCERTAIN}
    assert paying.paid("reward") == [400] * 3
    # A 503 to the call that pays does not say whether it paid: it is held, not repeated.
    assert paying.paid() == ([0, 0, 0] if held.exists() else [150, 7, 200])


def test_a_balance_that_is_too_low_refuses_with_the_platforms_sentence(paying: Stage) -> None:
    paying.bonus("1.50", "2.00")
    paying.local.switch(Switch.BALANCE_LOW)
    paying.minute()
    assert paying.states() == [State.REFUSED] * 2
    [problem] = set(Payment.objects.values_list("problem", flat=True))
    assert problem == (
        "Prolific refuses this (400): The balance of the workspace is too low for this. Top it up first."
    )
    assert paying.paid() == [0, 0, 0]


def test_an_approval_in_bulk_that_is_lost_is_asked_for_one_by_one(paying: Stage) -> None:
    paying.approve()
    paying.local.switch(Switch.BULK_APPROVAL_LOST)
    paying.minute(5)
    assert paying.states() == [State.REQUESTED] * 3
    paying.minute(10)
    assert paying.states() == [State.PAID] * 3
    assert paying.paid("reward") == [400] * 3
    # When it is done after all, nobody is paid again.
    paying.local.switch(Switch.BULK_APPROVAL_LOST, "off")
    paying.minute(2)
    assert paying.paid("reward") == [400] * 3


def test_payments_in_another_currency_are_refused(paying: Stage) -> None:
    paying.approve()
    paying.bonus("1.50")
    paying.local.switch(Switch.OTHER_CURRENCY)
    paying.minute()
    assert paying.states() == [State.REFUSED] * 4
    assert Payment.objects.values_list("problem", flat=True)[0].startswith(
        "The Prolific account pays in GBP, but this payment is in USD."
    )
    assert (paying.paid("reward"), paying.paid()) == ([0] * 3, [0] * 3)


def test_a_list_in_small_pages_is_read_to_its_end(tmp_path: Path) -> None:
    with stage(tmp_path, people=12) as paying:
        paying.local.switch(Switch.SMALL_PAGES)
        paying.approve()
        paying.minute(2)
        assert paying.states() == [State.PAID] * 12


def test_a_submission_that_is_still_open_waits_and_one_that_was_returned_is_refused(paying: Stage) -> None:
    later = paying.local.opened(paying.remote.remote_id, "somebody")
    Submission.objects.filter(session=paying.sessions[0]).update(sealed_id=seal(later))
    paying.local.play("return", submission=paying.ids[1])
    paying.approve()
    paying.minute(2)
    assert paying.states() == [State.PLANNED, State.REFUSED, State.PAID]
    waits, refused, _ = Payment.objects.order_by("session_id").values_list("problem", flat=True)
    assert waits == "The submission does not await review yet. This site tries again every minute."
    assert refused == "The submission is RETURNED on Prolific, so this is not possible. Pay a bonus instead."
    paying.local.play("complete", submission=later, code=DONE)
    paying.minute()
    assert paying.states()[0] == State.PAID


def test_a_submission_that_prolific_does_not_know_keeps_nobody_else_waiting(paying: Stage) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(sealed_id=seal("f" * 24))
    paying.bonus("1.50", "2.00")
    paying.minute(2)
    assert paying.states() == [State.REFUSED, State.PAID]
    problem = Payment.objects.order_by("session_id").values_list("problem", flat=True)[0]
    assert "These did not take part: (a submission)" in problem
    assert "ffff" not in problem


def test_an_unknown_status_breaks_nothing(tmp_path: Path) -> None:
    with stage(tmp_path, is_checked=False) as paying:
        paying.approve()
        paying.local.switch(Switch.UNKNOWN_STATUS)
        paying.minute(3)
        assert paying.states() == [State.PLANNED] * 3
        paying.local.switch(Switch.UNKNOWN_STATUS, "off")
        paying.minute(2)
        assert paying.states() == [State.PAID] * 3


def test_a_project_without_a_token_says_so(paying: Stage) -> None:
    ProlificAccount.objects.all().delete()
    paying.approve()
    paying.minute()
    assert paying.states() == [State.PLANNED] * 3
    assert "has no Prolific API token" in Payment.objects.values_list("problem", flat=True)[0]


def test_a_worker_that_was_taken_for_lost_does_not_pay(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    paying.bonus("1.50")
    set_up = Client.set_up_bonuses

    def slowly(client: Client, study: str, amounts: Mapping[str, Decimal]) -> bodies.Bonuses:
        """Set up, and stand still for longer than a claim lasts, while another worker comes."""
        batch = set_up(client, study, amounts)
        monkeypatch.setattr(Client, "set_up_bonuses", set_up)
        paying.local.later(minutes=6)
        paying.send()
        return batch

    monkeypatch.setattr(Client, "set_up_bonuses", slowly)
    paying.send()
    paying.minute(2)
    assert (paying.states(), paying.paid()) == ([State.PAID], [150, 0, 0])


def test_two_bonuses_of_the_same_amount_wait_for_each_other(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    paying.bonus("1.50")
    paying.bonus("1.50", reason=Payment.Reason.ANSWERS)
    # Prolific does not show what it has paid yet.
    with monkeypatch.context() as patch:
        patch.setattr("annotation.actions.paying.send_payments.confirm_bonuses", lambda *told: None)
        paying.minute(3)
        assert sorted(paying.states()) == [State.PLANNED, State.REQUESTED]
    paying.minute(2)
    assert (paying.states(), paying.paid()) == ([State.PAID] * 2, [300, 0, 0])


def test_what_prolific_accepted_and_does_not_show_for_a_day_is_held(
    paying: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    paying.bonus("1.50")
    monkeypatch.setattr(Client, "pay_bonuses", lambda client, bonuses: None)
    paying.send()
    assert paying.states() == [State.REQUESTED]
    paying.local.later(hours=23)
    paying.send()
    assert paying.states() == [State.REQUESTED]
    paying.local.later(hours=2)
    paying.send()
    assert paying.states() == [State.UNCERTAIN]
    assert Payment.objects.get().problem == "Prolific accepted this a day ago and does not show it."


def test_another_sum_than_was_ordered_is_not_paid(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    paying.bonus("1.50")
    other = bodies.Bonuses(id="66f0", amount=15000, fees=5000, total_amount=20000)
    monkeypatch.setattr(Client, "set_up_bonuses", lambda *told: other)
    paying.minute()
    assert paying.states() == [State.REFUSED]
    assert "a different total" in Payment.objects.get().problem


def test_every_state_has_its_next_ones() -> None:
    assert set(PAYMENT_TRANSITIONS) == set(State)
    assert PAYMENT_TRANSITIONS[State.PAID] == frozenset()
    # What may have been paid is only sent again after an owner's decision or a certain refusal.
    assert State.SENDING not in PAYMENT_TRANSITIONS[State.UNCERTAIN] | PAYMENT_TRANSITIONS[State.REQUESTED]


def test_a_submission_whose_id_is_lost_keeps_nobody_else_waiting(paying: Stage) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(sealed_id="under another key")
    Submission.objects.filter(session=paying.sessions[1]).update(sealed_id="")
    paying.approve()
    paying.bonus("1.50", "1.50", "1.50")
    paying.minute(2)
    states = Payment.objects.order_by("session_id", "pk").values_list("state", flat=True)
    assert list(states) == [State.REFUSED] * 4 + [State.PAID] * 2
    assert (paying.paid("reward"), paying.paid()) == ([0, 0, 400], [0, 0, 150])
