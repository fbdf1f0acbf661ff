import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotation.actions.paying.compare_with_platform import last_result
from annotation.actions.paying.order_payments import Order, order_payments
from annotation.models import Payment, ProlificAccount, ProlificStudy, Submission
from annotation.recruitment.prolific.client import Client as Prolific
from annotation.recruitment.prolific.connection import Connection, ProlificError
from background.models import Job
from background.sealed_secrets import seal
from results.queries.paying.wages import study_wages
from simulation.prolific_double.switches import Switch
from studies.models import Event
from tests.annotation.paying.stage import Stage, stage
from tests.factories import NOON, TESTS, fresh, make_member, make_project, make_study
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.prolific import TOKEN

PAGE = "/projects/vases/money/"
CHECK = f"{PAGE}prolific/"
State = Payment.State


def compare(owner: Client) -> str:
    owner.post(CHECK)
    job = run_now(Job.objects.latest("pk"))
    assert job.error == ""
    return words_of(owner.get(CHECK))


def test_the_ledger_and_prolific_agree_to_the_cent(paying: Stage, owner: Client) -> None:
    paying.approve()
    paying.bonus("1.50", "0.07")
    paying.minute(2)
    assert "<strong>The ledger and Prolific agree to the cent</strong> on 3 submissions." in compare(owner)
    assert [event.what for event in Event.objects.order_by("pk")][-1] == "ledger compared"


def test_what_was_paid_on_prolifics_own_page_is_a_difference(paying: Stage, owner: Client) -> None:
    paying.bonus("1.50")
    paying.minute()
    client = paying.local.client
    client.pay_bonuses(client.set_up_bonuses(paying.remote.remote_id, {paying.ids[0]: Payment.objects.get().amount}).id)
    client.approve_submission(paying.ids[1])
    page = compare(owner)
    assert "2 of 3 submissions differ." in page
    done = last_result(paying.study.project)
    assert done is not None
    told = [(each["session"], each["here"], each["there"], each["why"]) for each in done.step["differences"]]
    assert told == [
        (paying.sessions[0].pk, 150, 300, "Paid on Prolific, but not ordered here."),
        (paying.sessions[1].pk, 0, 400, "Paid on Prolific, but not ordered here."),
    ]
    assert not any(id_ in page for id_ in paying.ids)


def test_a_submission_that_prolific_does_not_have_is_a_difference_only_if_it_was_paid_here(
    paying: Stage, owner: Client
) -> None:
    paying.approve(paying.sessions[:1])
    paying.minute(2)
    for session, id_ in ((paying.sessions[0], "0" * 24), (paying.sessions[1], "1" * 24)):
        Submission.objects.filter(session=session).update(sealed_id=seal(id_))
    assert "1 of 3 submissions differs." in compare(owner)
    done = last_result(paying.study.project)
    assert done is not None
    told = [(each["session"], each["here"], each["there"], each["why"]) for each in done.step["differences"]]
    assert told == [
        (paying.sessions[0].pk, 400, 0, "Paid in the ledger, but Prolific does not have this submission."),
    ]


def test_rewards_that_prolific_approved_itself_are_added_to_the_ledger(paying: Stage, owner: Client) -> None:
    paying.local.client.approve_submission(paying.ids[1])
    compare(owner)
    page = owner.post(f"{CHECK}rewards/", follow=True)
    assert "1 reward added to the ledger as paid." in words_of(page)
    row = Payment.objects.get()
    assert (row.session, row.state, row.reason, str(row.amount)) == (paying.sessions[1], State.PAID, "reward", "4.00")
    owner.post(f"{CHECK}rewards/")
    assert Payment.objects.count() == 1
    assert "agree to the cent" in compare(owner)


def test_an_owner_enters_the_part_that_prolific_does_not_tell(paying: Stage, owner: Client) -> None:
    study = paying.local.double.store.find("study", paying.remote.remote_id)
    assert study is not None
    code = {"code": "CPART111", "code_type": "OTHER", "actor": "researcher", "actions": [{"action": "DYNAMIC_PAYMENT"}]}
    study["completion_codes"].append(code)
    paying.local.double.store.write("study", study)
    client = Prolific(Connection(TOKEN, address=paying.local.double.address))
    client.pay_in_part(paying.ids[1], code="CPART111", percent=50, message="Thank you.")
    page = compare(owner)
    assert "1 of 3 submissions differs." in page
    assert "Paid in part on Prolific, which does not say how much." in page
    assert "Prolific’s total leaves USD 2.00 for all submissions like this in birds-step-3." in page
    asked = {"submission": Submission.objects.get(session=paying.sessions[1]).pk, "amount": "two"}
    assert "Enter an amount such as 1.50." in words_of(owner.post(f"{CHECK}amount/", asked, follow=True))
    assert "Added to the ledger as paid." in words_of(
        owner.post(f"{CHECK}amount/", asked | {"amount": "2.00"}, follow=True)
    )
    assert "agree to the cent" in compare(owner)
    stranger = signed_in(make_member(make_project("birds"), "owner", name="nobody"))
    assert stranger.post("/projects/birds/money/prolific/amount/", asked).status_code == 404


def test_a_comparison_that_prolific_cannot_answer_says_so(
    paying: Stage, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paying.local.switch(Switch.TOKEN_REVOKED)
    owner.post(CHECK)
    run_now(Job.objects.get())
    assert "Prolific could not be asked. Prolific does not accept the token." in words_of(owner.get(CHECK))
    ProlificAccount.objects.all().delete()
    assert "The project has no Prolific API token." in words_of(owner.post(CHECK, follow=True))


def test_a_comparison_counts_no_submission_twice_after_its_worker_was_lost(paying: Stage, owner: Client) -> None:
    paying.local.client.approve_submission(paying.ids[1])
    owner.post(CHECK)
    job = Job.objects.get()
    run_now(job)
    # As if the worker had been lost after its last report.
    Job.objects.update(state="waiting", finished_at=None)
    run_now(fresh(job))
    assert fresh(job).step["compared"] == 3
    assert len(fresh(job).step["differences"]) == 1


def test_the_ledger_is_filtered(paying: Stage, owner: Client) -> None:
    paying.approve()
    paying.bonus("1.50")
    paying.minute()
    Payment.objects.filter(reason="decided").update(ordered_at=paying.now().replace(month=10))
    assert "4 payments, without fees" in words_of(owner.get(PAGE))
    for query, number in (
        ("state=paid", "1 payment,"),
        ("state=requested", "3 payments,"),
        ("study=birds-step-3", "4 payments,"),
        ("study=another", "No payments with these filters"),
        ("month=2026-10", "1 payment,"),
        ("month=2026-11&state=paid", "No payments with these filters"),
        ("month=x&state=y", "4 payments,"),
        ("person=A-NOBODY", "No payments with these filters"),
    ):
        assert number in words_of(owner.get(f"{PAGE}?{query}")), query


def test_the_statement_of_a_month_is_a_csv_file_without_ids_of_people(paying: Stage, owner: Client) -> None:
    paying.approve(paying.sessions[:1])
    paying.bonus("1.50", note="Careful, and quick")
    paying.minute()
    answer = owner.get(f"{PAGE}statement.csv?month=2026-11")
    assert answer["Content-Disposition"] == 'attachment; filename="vases-payments-2026-11.csv"'
    text = answer.content.decode()
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["month"], first["study"], first["reason"], first["amount"], first["currency"]) == (
        *("2026-11", "birds-step-3", "reward", "4.00", "USD"),
    )
    assert (second["state"], second["note"], second["annotator"][:2]) == ("paid", "Careful, and quick", "A-")
    assert second["remote_id"] == Payment.objects.get(reason="decided").remote_id != ""
    assert not any(id_ in text for id_ in paying.ids)
    assert owner.get(f"{PAGE}statement.csv?month=2026-10").content.decode().count("\n") == 1


def test_an_owner_decides_about_a_held_payment_beside_what_prolific_shows(paying: Stage, owner: Client) -> None:
    paying.bonus("1.50")
    held = Payment.objects.all()
    # Sent two hours ago by the clock of this machine, which the pages have.
    held.update(state=State.UNCERTAIN, state_at=timezone.now() - timedelta(hours=2))
    page = words_of(owner.get(f"{PAGE}payments/{held.get().pk}/"))
    assert "Submission awaiting review. Bonuses: none." in page
    owner.post(f"{PAGE}payments/{held.get().pk}/", {"do": "unpaid"})
    assert held.get().state == State.PLANNED
    held.update(state=State.UNCERTAIN, state_at=timezone.now())
    answer = owner.post(f"{PAGE}payments/{held.get().pk}/", {"do": "unpaid"})
    assert (answer.status_code, "an hour after it was sent" in words_of(answer)) == (409, True)
    owner.post(f"{PAGE}payments/{held.get().pk}/", {"do": "paid"})
    assert held.get().state == State.PAID


def test_a_bonus_that_was_paid_before_is_not_taken_for_a_held_one_of_the_same_amount(
    paying: Stage, owner: Client
) -> None:
    paying.bonus("1.50", reason=Payment.Reason.WAITING)
    paying.minute(2)
    assert paying.paid() == [150, 0, 0]
    paying.bonus("1.50")
    held = Payment.objects.filter(reason="decided")
    held.update(state=State.UNCERTAIN, state_at=timezone.now() - timedelta(hours=2))
    address = f"{PAGE}payments/{held.get().pk}/"
    assert 'value="unpaid">' in words_of(owner.get(address))
    paying.local.client.pay_bonuses(
        paying.local.client.set_up_bonuses(paying.remote.remote_id, {paying.ids[0]: held.get().amount}).id
    )
    assert 'value="unpaid" disabled>' in words_of(owner.get(address))


@pytest.fixture
def batch(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> list[Payment]:
    """Three bonuses whose call was cut off before Prolific had it, two hours ago by the clock that pages have."""

    def cut_off(client: Prolific, bonuses: str) -> None:
        raise ProlificError("Nothing was heard.", status=None, body=None, is_uncertain=True)

    paying.bonus("1.50", "0.07", "2.00")
    with monkeypatch.context() as patch:
        patch.setattr(Prolific, "pay_bonuses", cut_off)
        paying.send()
    Payment.objects.update(state_at=timezone.now() - timedelta(hours=2))
    return list(Payment.objects.order_by("pk"))


def test_a_held_batch_that_prolific_has_not_paid_is_planned_again_at_once(
    paying: Stage, owner: Client, batch: list[Payment]
) -> None:
    address = f"{PAGE}payments/{batch[0].pk}/"
    page = words_of(owner.get(address))
    assert "They are USD 3.57 in all. Prolific says that the bonuses of this study cost USD 0.00 so far." in page
    assert "None of the 3 was paid: plan all again" in page
    # Not what the total says.
    assert owner.post(address, {"do": "all_paid"}).status_code == 409
    assert "3 payments are planned again." in words_of(owner.post(address, {"do": "all_unpaid"}, follow=True))
    paying.minute(2)
    assert (paying.paid(), paying.states()) == ([150, 7, 200], [State.PAID] * 3)
    assert Event.objects.filter(what="payment found unpaid", details__payments=3).count() == 1


def test_a_held_batch_that_prolific_has_paid_is_settled_at_once(
    paying: Stage, owner: Client, batch: list[Payment]
) -> None:
    paying.local.client.pay_bonuses(batch[0].remote_id)
    address = f"{PAGE}payments/{batch[1].pk}/"
    assert "All 3 were paid" in words_of(owner.get(address))
    assert owner.post(address, {"do": "all_unpaid"}).status_code == 409
    assert "3 payments are marked as paid." in words_of(owner.post(address, {"do": "all_paid"}, follow=True))
    paying.minute(2)
    assert (paying.paid(), paying.states()) == ([150, 7, 200], [State.PAID] * 3)


def test_a_held_batch_of_which_one_was_paid_on_prolific_is_decided_one_by_one(
    paying: Stage, owner: Client, batch: list[Payment]
) -> None:
    client = paying.local.client
    client.pay_bonuses(client.set_up_bonuses(paying.remote.remote_id, {paying.ids[0]: batch[0].amount}).id)
    page = words_of(owner.get(f"{PAGE}payments/{batch[0].pk}/"))
    assert "This total does not mean that all of them were paid, or none." in page
    for doing in ("all_paid", "all_unpaid"):
        assert owner.post(f"{PAGE}payments/{batch[0].pk}/", {"do": doing}).status_code == 409
    assert paying.states() == [State.UNCERTAIN] * 3


def test_one_of_a_held_batch_is_decided_although_prolific_does_not_tell_the_total(
    owner: Client, batch: list[Payment], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(client: Prolific, study: str) -> None:
        raise ProlificError("Prolific refuses this (404).", status=404, body=None)

    monkeypatch.setattr(Prolific, "read_cost", fail)
    page = words_of(owner.get(f"{PAGE}payments/{batch[0].pk}/"))
    assert "cannot be decided together. Prolific could not be asked. Prolific refuses this (404)." in page
    assert 'value="unpaid">' in page


def test_refused_payments_are_sent_again_from_the_studys_page(paying: Stage, owner: Client) -> None:
    paying.bonus("1.50", "2.00")
    paying.local.switch(Switch.BALANCE_LOW)
    paying.minute()
    assert "2 payments were refused." in words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    page = owner.post(f"{PAGE}refused/", {"study": "birds-step-3"}, follow=True)
    assert "2 payments planned again." in words_of(page)
    assert paying.states() == [State.PLANNED] * 2


def test_the_studys_page_says_what_is_owed_paid_ordered_and_held(paying: Stage, owner: Client) -> None:
    # Three sessions of 4.00 are owed.
    paying.approve(paying.sessions[:2])
    paying.bonus("1.50")
    paying.minute()
    paying.approve(paying.sessions[:1])
    Payment.objects.filter(session=paying.sessions[1]).update(state=State.UNCERTAIN)
    page = words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    for label, amount in (("Owed", "12.00"), ("Paid", "1.50"), ("Ordered", "4.00"), ("Held", "4.00")):
        assert f">{label}</dt><dd>USD {amount}</dd>" in page
    assert "Not ordered</dt><dd>USD 4.00</dd>" in page
    assert "1 payment is held" in page


def test_wages_and_the_cost_to_finish_are_shown_without_an_alarm_before_the_fifth_session(
    paying: Stage, owner: Client
) -> None:
    Submission.objects.update(started_at=NOON - timedelta(hours=1), completed_at=NOON)
    page = words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    assert '<td data-title="Median" class="number">4.00</td>' in page
    assert '<td data-title="Under 8.00" class="number">100 %</td>' in page
    # Six places, none of which is known to be taken, at 4.00, and 33.33 % of 24.00.
    assert "Filling 6 open places on Prolific costs about <strong>USD 32.00</strong>" in page
    assert "The median wage is below" not in page
    # Nothing is told of places once all are taken.
    ProlificStudy.objects.update(places_taken=F("places"))
    assert "open places on Prolific" not in words_of(owner.get("/studies/vases/birds-step-3/owed/"))


def test_wages_are_compared_with_what_prolific_requires_in_their_currency(db: None) -> None:
    pounds, francs = (
        make_study(make_project(name), pay={"currency": name, "per_session": "4.00"}) for name in ("GBP", "CHF")
    )
    assert study_wages(pounds).limits == (Decimal(6), Decimal(9))
    assert study_wages(francs).limits == ()


@pytest.fixture
def many(db: None, tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path, people=5) as begun:
        yield begun


def test_five_sessions_under_the_floor_raise_the_alarm(many: Stage) -> None:
    owner = signed_in(make_member(many.study.project, "owner", name="olga"))
    Submission.objects.update(started_at=NOON - timedelta(hours=1), completed_at=NOON)
    sentence = "The median wage is below USD 8.00 an hour."
    assert sentence in words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    assert sentence in words_of(owner.get(PAGE))
    many.bonus("4.00", "4.00", "4.00")
    assert sentence not in words_of(owner.get("/studies/vases/birds-step-3/owed/"))


def test_a_viewer_sees_the_ledger_and_decides_nothing(paying: Stage) -> None:
    paying.bonus("1.50")
    viewer = signed_in(make_member(paying.study.project, "viewer"))
    assert "1 payment, without fees: planned USD 1.50" in words_of(viewer.get(PAGE))
    assert viewer.get(f"{PAGE}payments/{Payment.objects.get().pk}/").status_code == 403
    assert viewer.post(CHECK).status_code == 403
    stranger = signed_in(make_member(make_project("birds"), "owner", name="nobody"))
    for address in (PAGE, CHECK, f"{PAGE}payments/{Payment.objects.get().pk}/", f"{PAGE}statement.csv"):
        assert stranger.get(address).status_code == 404


def test_a_payment_of_another_project_is_not_found(paying: Stage) -> None:
    paying.bonus("1.50")
    other = signed_in(make_member(make_project("birds"), "owner", name="nobody"))
    assert other.get(f"/projects/birds/money/payments/{Payment.objects.get().pk}/").status_code == 404


def test_a_comparison_flags_a_place_that_was_lost_meanwhile(paying: Stage, owner: Client) -> None:
    paying.local.play("return", submission=paying.ids[0])
    compare(owner)
    found = Submission.objects.get(session=paying.sessions[0])
    assert (found.status, found.flag) == ("RETURNED", Submission.Flag.PLACE_LOST)
    told = {"session": paying.sessions[0].pk, "flag": "place_lost"}
    assert Event.objects.filter(what="submission flagged", details=told).count() == 1


@pytest.mark.parametrize("month", ["9999-12", "0000-01", "2026-13", "9" * 5000])
def test_a_month_that_is_none_selects_everything(paying: Stage, owner: Client, month: str) -> None:
    assert owner.get(PAGE, {"month": month}).status_code == 200


def not_ordered(owner: Client) -> str:
    page = words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    return page.split("Not ordered</dt><dd>")[1].split("</dd>")[0]


def test_a_part_or_a_rejection_leaves_nothing_of_the_reward_to_order(paying: Stage, owner: Client) -> None:
    # Three sessions of 4.00 are owed.
    part = Order(paying.sessions[0].pk, Payment.Reason.PART, Decimal("2.00"), note="Half.")
    order_payments(study=paying.study, orders=[part], by=TESTS, now=paying.now())
    assert not_ordered(owner) == "USD 8.00"
    Submission.objects.filter(session=paying.sessions[1]).update(status="REJECTED")
    assert not_ordered(owner) == "USD 4.00"


def test_what_one_person_gets_more_is_not_missing_from_what_another_is_owed(paying: Stage, owner: Client) -> None:
    ProlificStudy.objects.update(reward="6.00")
    paying.approve(paying.sessions[:1])
    assert not_ordered(owner) == "USD 8.00"


def test_a_bonus_for_who_lost_the_place_is_the_reward_that_was_owed(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(status="TIMED-OUT")
    paying.bonus("4.00", "0.50")
    assert not_ordered(owner) == "USD 8.00"


def test_payments_in_another_currency_are_not_added_to_those_of_the_study(paying: Stage, owner: Client) -> None:
    paying.approve(paying.sessions[:2])
    Payment.objects.update(state=State.PAID)
    Payment.objects.filter(session=paying.sessions[0]).update(currency="GBP")
    page = words_of(owner.get("/studies/vases/birds-step-3/owed/"))
    assert "<dt>Paid</dt><dd>USD 4.00</dd>" in page
    assert "also paid GBP 4.00" in page
