"""Faults that concern one payment, and must not touch another one."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from annotation.actions.paying.order_payments import Order, cancel_payment, order_payments
from annotation.actions.paying.paid_elsewhere import note_rewards
from annotation.actions.paying.payment_decisions import note_unpaid, send_refused
from annotation.models import Payment, ProlificStudy, Submission
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from studies.models import Event
from tests.annotation.paying.stage import Stage, stage
from tests.factories import TESTS, fresh

pytestmark = pytest.mark.django_db
State = Payment.State


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as begun:
        yield begun


def ask_for_a_study_that_is_gone(paying: Stage, sessions: int) -> None:
    """Have the submissions of some sessions belong to a study that Prolific does not have (any more)."""
    fields = {"status": "ACTIVE", "places": 3, "reward": "4.00", "currency": "USD", "created_at": paying.now()}
    gone = ProlificStudy.objects.create(study=paying.study, remote_id="0" * 24, internal_name="gone", **fields)
    Submission.objects.filter(session__in=paying.sessions[:sessions]).update(prolific_study=gone)


def test_a_study_that_prolific_no_longer_has_keeps_nobody_elses_reward_waiting(paying: Stage) -> None:
    ask_for_a_study_that_is_gone(paying, 1)
    paying.approve()
    paying.minute(3)
    assert paying.states() == [State.PLANNED, State.PAID, State.PAID]
    assert paying.paid("reward") == [0, 400, 400]
    assert Payment.objects.order_by("session_id")[0].problem == (
        "Prolific does not have this, or hides it from the owner of the token."
    )


def test_a_reward_that_waits_in_a_lost_study_keeps_nobody_elses_payments_waiting(paying: Stage) -> None:
    ask_for_a_study_that_is_gone(paying, 1)
    paying.approve()
    Payment.objects.filter(session=paying.sessions[0]).update(state=State.REQUESTED)
    paying.bonus("1.50", "0.07")
    Payment.objects.filter(session=paying.sessions[0], reason="decided").delete()
    paying.minute(3)
    assert (paying.paid("reward"), paying.paid()) == ([0, 400, 400], [0, 7, 0])


def test_a_bonus_whose_submission_is_gone_keeps_nobody_elses_waiting(paying: Stage) -> None:
    from background.sealed_secrets import seal

    paying.bonus("1.50", "0.07")
    first = Payment.objects.filter(session=paying.sessions[0])
    first.update(state=State.REQUESTED, state_at=paying.now())
    Submission.objects.filter(session=paying.sessions[0]).update(sealed_id=seal("0" * 24))
    paying.minute(2)
    assert paying.paid() == [0, 7, 0]
    assert first.get().state == State.REQUESTED


def test_a_bonus_of_a_study_that_is_gone_keeps_nobody_elses_waiting(paying: Stage) -> None:
    ask_for_a_study_that_is_gone(paying, 1)
    paying.bonus("1.50", "0.07")
    paying.minute(3)
    assert paying.states() == [State.REFUSED, State.PAID]
    assert paying.paid() == [0, 7, 0]


def test_a_cancelled_bonus_that_prolific_paid_late_is_not_paid_again_when_it_is_ordered_again(
    paying: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = []

    def cut_off(client: Client, bonuses: str) -> None:
        batches.append(bonuses)
        raise ProlificError("Nothing was heard.", status=None, body=None, is_uncertain=True)

    paying.bonus("1.50")
    with monkeypatch.context() as patch:
        patch.setattr(Client, "pay_bonuses", cut_off)
        paying.send()
    paying.local.later(minutes=61)
    note_unpaid(payments=[Payment.objects.get()], by=TESTS, now=paying.now())
    cancel_payment(payment=Payment.objects.get(), by=TESTS, now=paying.now())
    # The call arrives after all.
    paying.local.client.pay_bonuses(batches[0])
    paying.bonus("1.50")
    paying.minute(3)
    assert paying.paid() == [150, 0, 0]
    assert paying.states() == [State.PAID]


def test_a_refused_reward_is_not_sent_again_beside_a_part_that_was_ordered_since(paying: Stage) -> None:
    paying.approve(paying.sessions[:1])
    Payment.objects.update(state=State.REFUSED)
    part = Order(paying.sessions[0].pk, Payment.Reason.PART, Decimal("2.00"), note="Half.")
    order_payments(study=paying.study, orders=[part], by=TESTS, now=paying.now())
    with pytest.raises(Exception, match="Another reward of this session was ordered"):
        send_refused(study=paying.study, payments=list(Payment.objects.all()), by=TESTS, now=paying.now())
    assert sorted(paying.states()) == [State.PLANNED, State.REFUSED]


def test_one_submission_that_prolific_refuses_in_bulk_keeps_no_others_from_being_approved(
    paying: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve = Client.approve_submission

    def refuse_all(client: Client, submissions: object) -> None:
        raise ProlificError("Prolific refuses this (400).", status=400, body=None)

    def refuse_the_first(client: Client, submission: str) -> bodies.ChangedSubmission:
        if submission == paying.ids[0]:
            raise ProlificError("Prolific refuses this (400).", status=400, body=None)
        return approve(client, submission)

    monkeypatch.setattr(Client, "approve_submissions", refuse_all)
    monkeypatch.setattr(Client, "approve_submission", refuse_the_first)
    paying.approve()
    paying.minute(2)
    assert paying.states() == [State.REFUSED, State.PAID, State.PAID]
    assert paying.paid("reward") == [0, 400, 400]


def test_a_cancelled_reward_that_prolific_approved_itself_is_noted_as_paid_once(paying: Stage) -> None:
    paying.approve(paying.sessions[:1])
    cancel_payment(payment=Payment.objects.get(), by=TESTS, now=paying.now())
    Submission.objects.filter(session=paying.sessions[0]).update(status="APPROVED")
    assert note_rewards(study=paying.study, by=TESTS, now=paying.now()) == 1
    assert Payment.objects.get().state == State.PAID
    assert note_rewards(study=paying.study, by=TESTS, now=paying.now()) == 0
    assert Event.objects.filter(what="rewards noted").count() == 1


def test_a_reward_whose_submission_was_erased_is_held_after_a_day(paying: Stage) -> None:
    paying.approve(paying.sessions[:1])
    Payment.objects.update(state=State.REQUESTED, state_at=paying.now())
    Submission.objects.filter(session=paying.sessions[0]).update(session=None)
    row = Payment.objects.get()
    paying.minute()
    assert fresh(row).state == State.REQUESTED
    paying.local.time += timedelta(days=1)
    paying.minute()
    assert (fresh(row).state, fresh(row).problem) == (
        State.UNCERTAIN,
        "Prolific accepted this a day ago and does not show it.",
    )
