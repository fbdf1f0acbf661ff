from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.actions.paying.order_payments import CannotPay, cancel_payment
from annotation.actions.paying.payment_decisions import note_paid, note_unpaid, send_refused
from annotation.actions.paying.submission_decisions import ask_to_return, reject, undo_rejection
from annotation.models import Payment, Submission
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.statuses import RejectionCategory
from simulation.prolific_double.switches import Switch
from studies.models import Event
from tests.annotation.paying.stage import Stage, stage
from tests.annotation.test_rejection_rules import MESSAGE
from tests.factories import TESTS, fresh

pytestmark = pytest.mark.django_db
State = Payment.State


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as begun:
        yield begun


@pytest.fixture
def held(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> Payment:
    """A bonus whose call was cut off before Prolific had it."""
    paying.bonus("1.50")
    with monkeypatch.context() as patch:
        patch.setattr(Client, "pay_bonuses", cut_off)
        paying.send()
    row = Payment.objects.get()
    assert (row.state, row.problem) == (State.UNCERTAIN, "Nothing was heard.")
    return row


def cut_off(client: Client, bonuses: str) -> None:
    raise ProlificError("Nothing was heard.", status=None, body=None, is_uncertain=True)


def test_a_held_bonus_is_not_sent_again_by_itself(paying: Stage, held: Payment) -> None:
    # Every minute at first, then for three hours.
    paying.minute(6)
    for _ in range(6):
        paying.local.later(minutes=30)
        paying.send()
    assert paying.paid() == [0, 0, 0]
    assert fresh(held).state == State.UNCERTAIN


def test_an_owner_who_sees_that_it_was_not_paid_plans_it_again_after_an_hour(paying: Stage, held: Payment) -> None:
    paying.local.later(minutes=59)
    with pytest.raises(CannotPay, match="an hour after it was sent"):
        note_unpaid(payments=[held], by=TESTS, now=paying.now())
    paying.local.later(minutes=2)
    note_unpaid(payments=[held], by=TESTS, now=paying.now())
    assert fresh(held).state == State.PLANNED
    paying.minute(2)
    assert (fresh(held).state, paying.paid()) == (State.PAID, [150, 0, 0])


def test_what_prolific_shows_is_not_planned_again(paying: Stage, held: Payment) -> None:
    # A colleague paid it on Prolific's own page.
    client = paying.local.client
    client.pay_bonuses(client.set_up_bonuses(paying.remote.remote_id, {paying.ids[0]: held.amount}).id)
    paying.local.later(minutes=61)
    with pytest.raises(CannotPay, match="it was paid"):
        note_unpaid(payments=[held], by=TESTS, now=paying.now())
    assert fresh(held).state == State.PAID
    paying.minute(5)
    assert paying.paid() == [150, 0, 0]


def test_what_is_paid_between_the_decision_and_the_call_is_held_again(paying: Stage, held: Payment) -> None:
    paying.local.later(minutes=61)
    note_unpaid(payments=[held], by=TESTS, now=paying.now())
    client = paying.local.client
    client.pay_bonuses(client.set_up_bonuses(paying.remote.remote_id, {paying.ids[0]: held.amount}).id)
    paying.minute(3)
    assert (fresh(held).state, paying.paid()) == (State.PAID, [150, 0, 0])


def test_an_unclear_answer_decides_nothing(paying: Stage, held: Payment) -> None:
    paying.local.later(minutes=61)
    paying.local.switch(Switch.AWAY)
    with pytest.raises(CannotPay, match="Prolific could not be asked"):
        note_unpaid(payments=[held], by=TESTS, now=paying.now())
    assert fresh(held).state == State.UNCERTAIN


def test_an_owner_who_sees_that_it_was_paid_says_so(paying: Stage, held: Payment) -> None:
    note_paid(payments=[held], by=TESTS, now=paying.now())
    paying.minute(5)
    assert (fresh(held).state, paying.paid()) == (State.PAID, [0, 0, 0])
    with pytest.raises(CannotPay, match="not held"):
        note_paid(payments=[fresh(held)], by=TESTS, now=paying.now())


def test_refused_bonuses_are_sent_again_once_there_is_money(paying: Stage) -> None:
    paying.bonus("1.50", "2.00")
    paying.local.switch(Switch.BALANCE_LOW)
    paying.minute()
    paying.local.switch(Switch.BALANCE_LOW, "off")
    paying.minute(5)
    assert paying.paid() == [0, 0, 0]
    assert send_refused(study=paying.study, payments=list(Payment.objects.all()), by=TESTS, now=paying.now()) == 2
    paying.minute(2)
    assert (paying.states(), paying.paid()) == ([State.PAID] * 2, [150, 200, 0])
    with pytest.raises(CannotPay, match="nothing to send again"):
        send_refused(study=paying.study, payments=list(Payment.objects.all()), by=TESTS, now=paying.now())


def test_a_cancelled_payment_is_not_sent_and_can_be_ordered_with_another_amount(paying: Stage) -> None:
    paying.bonus("15.00")
    cancel_payment(payment=Payment.objects.get(), by=TESTS, now=paying.now())
    paying.minute()
    assert paying.paid() == [0, 0, 0]
    paying.bonus("1.50")
    paying.minute()
    assert (paying.states(), paying.paid()) == ([State.PAID], [150, 0, 0])
    with pytest.raises(CannotPay, match="no longer be cancelled"):
        cancel_payment(payment=Payment.objects.get(), by=TESTS, now=paying.now())


def submission(paying: Stage) -> Submission:
    return Submission.objects.select_related("prolific_study__study", "session").get(session=paying.sessions[0])


def test_a_submission_is_rejected_once_and_not_paid(paying: Stage) -> None:
    reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    assert paying.local.status(paying.ids[0]) == "REJECTED"
    assert submission(paying).status == "REJECTED"
    with pytest.raises(CannotPay, match="The submission is REJECTED on Prolific"):
        reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    with pytest.raises(CannotPay, match="None of these submissions can be approved now"):
        paying.approve(paying.sessions[:1], chosen=True)


def test_a_rejection_whose_reply_was_lost_is_read_again(paying: Stage) -> None:
    paying.local.switch(Switch.REPLY_LOST, "1")
    reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    assert submission(paying).status == "REJECTED"


def test_a_rejection_that_is_undone_awaits_review_and_is_paid(paying: Stage) -> None:
    with pytest.raises(CannotPay, match="no rejection to undo"):
        undo_rejection(submission=submission(paying), by=TESTS, now=paying.now())
    reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    paying.local.switch(Switch.REPLY_LOST, "1")
    undo_rejection(submission=submission(paying), by=TESTS, now=paying.now())
    assert submission(paying).status == paying.local.status(paying.ids[0]) == "AWAITING REVIEW"
    assert Event.objects.filter(what="rejection undone").count() == 1
    paying.approve(paying.sessions[:1], chosen=True)
    paying.minute(2)
    assert (paying.states(), paying.paid("reward")) == ([State.PAID], [400, 0, 0])


def test_a_reward_that_was_refused_for_a_rejection_is_ordered_again_once_that_is_undone(paying: Stage) -> None:
    paying.approve(paying.sessions[:1])
    # A colleague rejected it on Prolific's own page.
    paying.local.client.reject_submission(paying.ids[0], category=RejectionCategory.FAILED_CHECK, message=MESSAGE)
    paying.minute(2)
    assert paying.states() == [State.REFUSED]
    paying.local.client.undo_rejection(paying.ids[0])
    assert paying.approve(paying.sessions[:1]).made == 1
    paying.minute(2)
    assert (paying.states(), paying.paid("reward")) == ([State.PAID], [400, 0, 0])


def test_a_rejection_that_somebody_undid_and_approved_on_prolific_is_seen(paying: Stage) -> None:
    reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    paying.local.client.undo_rejection(paying.ids[0])
    paying.local.client.approve_submission(paying.ids[0])
    assert undo_rejection(submission=submission(paying), by=TESTS, now=paying.now()) == "APPROVED"
    assert submission(paying).status == "APPROVED"


def test_nobody_is_rejected_after_a_payment_was_ordered(paying: Stage) -> None:
    paying.approve()
    with pytest.raises(CannotPay, match="A payment was ordered"):
        reject(submission=submission(paying), category="FAILED_CHECK", message=MESSAGE, by=TESTS, now=paying.now())
    assert paying.local.status(paying.ids[0]) == "AWAITING REVIEW"


def test_somebody_is_asked_to_return(paying: Stage) -> None:
    ask_to_return(submission=submission(paying), reason="Withdrew consent", by=TESTS, now=paying.now())
    assert paying.local.client.read_submission(paying.ids[0]).return_requested is not None
    assert submission(paying).return_requested_at is not None
    # From now on they are looked at before they are approved.
    assert str(paying.approve()).startswith("2 payments ordered")


def test_events_tell_what_happened_and_no_id_of_prolifics(paying: Stage, held: Payment) -> None:
    paying.local.time += timedelta(hours=2)
    note_paid(payments=[held], by=TESTS, now=paying.now())
    told = Event.objects.order_by("pk").values_list("what", "details")
    assert [what for what, _ in told] == ["payments ordered", "payments held", "payment found paid"]
    assert told[1][1] == {"payments": 1, "amount": "1.50", "currency": "USD", "why": "Nothing was heard."}
    assert not any(id_ in str(details) for _, details in told for id_ in paying.ids)
