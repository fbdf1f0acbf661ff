"""Parts and screen-outs that Prolific paid without an order here: the books can be made equal."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from annotation.actions.ending.platform_outcome import code_for
from annotation.actions.paying import paid_elsewhere
from annotation.actions.paying.compare_with_platform import last_result, request_check
from annotation.actions.paying.order_payments import CannotPay
from annotation.actions.paying.paid_elsewhere import note_amount
from annotation.actions.paying.send_payments import projects_to_pay, send_project
from annotation.actions.recruiting import prolific_studies
from annotation.actions.recruiting.prolific_draft import ScreenOut
from annotation.actions.recruiting.submissions import read_study
from annotation.models import Payment, ProlificAccount, ProlificStudy, Session, SessionState, Submission
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection
from background.sealed_secrets import seal
from simulation.prolific_double.server import WORKSPACE
from studies.models import Event
from tests.annotation.paying.stage import Stage, stage
from tests.factories import (
    NOON,
    PROLIFIC_DRAFT,
    TESTS,
    launch_study,
    make_person,
    make_project,
    make_submission,
    sit_down,
)
from tests.jobs import run_now
from tests.prolific import CODES, TOKEN

pytestmark = pytest.mark.django_db
State, Reason = Payment.State, Payment.Reason
SCREENED_OUT = bodies.CompletionCode(
    code="CSCREEN1",
    code_type="FIXED_SCREENOUT",
    actions=(bodies.PayScreenedOut(fixed_screen_out_reward=50, slots=5),),
)
PART = bodies.CompletionCode(code="CPART111", code_type="OTHER", actor="researcher", actions=(bodies.PayInPart(),))


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path, people=2, completion_codes=(*CODES, SCREENED_OUT, PART)) as begun:
        yield begun


def screen_out(paying: Stage) -> Submission:
    """Return the submission of somebody who failed the practice and returned with its code."""
    id_ = paying.local.completed(paying.remote.remote_id, "somebody", code="CSCREEN1")
    session = sit_down(paying.study, "somebody", state=SessionState.FAILED_CHECKS)
    return make_submission(paying.remote, session, id_, status="SCREENED OUT")


def pay_in_part(paying: Stage, percent: int = 50) -> Submission:
    """Return the first submission, of whose reward a colleague paid a part on Prolific."""
    # Not through the checks of `tests.prolific`: the description does not have this status in a transition.
    client = Client(Connection(TOKEN, address=paying.local.double.address))
    client.pay_in_part(paying.ids[0], code="CPART111", percent=percent, message="Thank you.")
    Submission.objects.filter(session=paying.sessions[0]).update(status="PARTIALLY APPROVED")
    return paying.submission()


def test_who_was_screened_out_stands_in_the_ledger_within_a_minute(paying: Stage) -> None:
    submission = screen_out(paying)
    assert projects_to_pay() == [paying.study.project_id]
    paying.minute(2)
    row = Payment.objects.get()
    assert (row.session_id, row.reason, row.state) == (submission.session_id, Reason.SCREEN_OUT, State.PAID)
    assert (row.amount, row.currency, row.ordered_by) == (Decimal("0.50"), "USD", None)
    assert Event.objects.filter(what="rewards noted").count() == 1
    assert projects_to_pay() == []


def test_who_fails_the_practice_here_is_screened_out_there_and_the_books_agree(tmp_path: Path) -> None:
    """From the draft to the comparison: 0.50 for one person who failed."""
    with stage(tmp_path, people=1) as paying:
        owner = make_person("olga")
        asked = [{"instance": "vase-2", "right": "candidate-0"}]
        practice = {"questions": asked, "pass": 1, "rounds": 1}
        study = launch_study(make_project("birds"), instances=3, practice=practice)
        ProlificAccount.objects.create(
            project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
        )
        draft = replace(PROLIFIC_DRAFT, screen_out=ScreenOut(Decimal("0.50"), 5))
        row = prolific_studies.write_draft(study=study, draft=draft, by=owner, now=NOON)
        prolific_studies.publish(prolific_study=row, by=owner, now=NOON)
        row.refresh_from_db()
        id_ = paying.local.opened(row.remote_id, "5f0000000000000000000001")
        session = sit_down(study, "5f0000000000000000000001", state=SessionState.FAILED_CHECKS, **Session.seal_id(id_))
        code = code_for(session=session, now=NOON)
        assert paying.local.play("complete", submission=id_, code=code)["status"] == "SCREENED OUT"
        read_study(study=row.pk, now=paying.now())
        submission = Submission.objects.get(prolific_study=row)
        assert (submission.status, submission.flag, submission.session) == ("SCREENED OUT", "", session)
        send_project(project=study.project, now=paying.now)
        assert [str(payment.amount) for payment in Payment.objects.filter(study=study)] == ["0.50"]
        job, _ = request_check(project=study.project, by=owner, now=paying.now())
        assert run_now(job).error == ""
        done = last_result(study.project)
        assert done is not None
        assert (done.step["compared"], done.step["differences"]) == (1, [])


def test_a_part_that_was_paid_on_prolific_is_entered_up_to_what_prolific_tells(paying: Stage) -> None:
    submission = pay_in_part(paying)
    # Another reward, which is known, explains nothing of it.
    paying.local.client.approve_submission(paying.ids[1])
    Submission.objects.filter(session=paying.sessions[1]).update(status="APPROVED")
    for amount, why in (
        ("2.04", "at most USD 2.00 was paid"),
        ("0.30", "from 0.32 to 3.96"),
        ("2.01", "whole percent"),
    ):
        with pytest.raises(CannotPay, match=why):
            note_amount(submission=submission, amount=Decimal(amount), by=TESTS, now=paying.now())
    assert not Payment.objects.exists()
    note_amount(submission=submission, amount=Decimal("2.00"), by=TESTS, now=paying.now())
    row = Payment.objects.get()
    assert (row.session, row.reason, row.state, row.amount) == (
        *(paying.sessions[0], Reason.PART, State.PAID, Decimal("2.00")),
    )
    with pytest.raises(CannotPay, match=r"at most USD 0\.00"):
        note_amount(submission=submission, amount=Decimal("0.40"), by=TESTS, now=paying.now())


def test_two_who_enter_amounts_at_once_enter_no_more_than_prolific_tells(
    paying: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another draft was used, so that the pay for being screened out is not known.
    paying.remote.details = {}
    paying.remote.save()
    submission, other = pay_in_part(paying), screen_out(paying)
    read = paid_elsewhere._read_rewards

    def meanwhile(client: Client, row: ProlificStudy) -> int:
        total = read(client, row)
        monkeypatch.setattr(paid_elsewhere, "_read_rewards", read)
        note_amount(submission=other, amount=Decimal("1.00"), by=TESTS, now=paying.now())
        return total

    # 2.00 for the part and 0.50 for the screen-out.
    monkeypatch.setattr(paid_elsewhere, "_read_rewards", meanwhile)
    with pytest.raises(CannotPay, match=r"at most USD 1\.50"):
        note_amount(submission=submission, amount=Decimal("2.00"), by=TESTS, now=paying.now())
    assert [row.amount for row in Payment.objects.all()] == [Decimal("1.00")]


def test_an_amount_is_entered_only_for_a_part_or_a_screen_out(paying: Stage) -> None:
    with pytest.raises(CannotPay, match="neither a part nor a screen-out"):
        note_amount(submission=paying.submission(), amount=Decimal("2.00"), by=TESTS, now=paying.now())
    submission = pay_in_part(paying)
    submission.session = None
    submission.save()
    with pytest.raises(CannotPay, match="Nobody came here with this submission"):
        note_amount(submission=submission, amount=Decimal("2.00"), by=TESTS, now=paying.now())


def test_a_part_takes_the_place_of_one_that_was_refused(paying: Stage) -> None:
    submission = pay_in_part(paying)
    paying.bonus("2.00", reason=Reason.PART, note="Half.")
    Payment.objects.update(state=State.REFUSED)
    note_amount(submission=submission, amount=Decimal("2.00"), by=TESTS, now=paying.now())
    assert paying.states() == [State.PAID]
