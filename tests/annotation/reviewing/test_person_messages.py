"""Messages to annotators: stored before they are sent, and sent at most once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.actions.reviewing import person_messages
from annotation.actions.reviewing.person_messages import CannotWrite, find_channel, write_message
from annotation.models import Annotator, PanelMember, PersonMessage, ProlificAccount
from background.sealed_secrets import seal
from simulation.prolific_double.switches import Switch
from studies.models import Study
from tests.annotation.paying.stage import Stage, stage
from tests.factories import NOON, TESTS, launch_study, sit_down

State = PersonMessage.State
pytestmark = pytest.mark.django_db


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[Stage]:
    """Three people who came from the local platform."""
    with stage(tmp_path) as found:
        yield found


def write(found: Stage, text: str = "Thank you. Two answers puzzle us.") -> PersonMessage:
    session = found.sessions[0]
    return write_message(
        annotator=Annotator.objects.get(pk=session.annotator_id),
        project=found.study.project,
        text=text,
        by=TESTS,
        now=found.now(),
    )


def send(found: Stage, *, mails: list[tuple[str, str]] | None = None, fails: bool = False) -> None:
    def mail(message: PersonMessage, address: str, study: Study) -> bool:
        if fails:
            raise OSError("The line was cut.")
        assert mails is not None
        mails.append((address, message.text))
        return True

    person_messages.send_planned(mail=mail, can_mail=lambda: True, now=found.now)


def delivered(found: Stage) -> list[tuple[str, str]]:
    return [(each["channel_id"], each["body"]) for each in found.local.double.store.list("message")]


def state() -> tuple[str, str]:
    message = PersonMessage.objects.get()
    return message.state, message.problem


def test_a_message_is_stored_then_sent_by_prolific_once(paid: Stage) -> None:
    write(paid)
    assert state() == (State.PLANNED, "")
    assert delivered(paid) == []
    send(paid)
    send(paid)
    assert delivered(paid) == [("person-0", "Thank you. Two answers puzzle us.")]
    assert state() == (State.SENT, "")


def test_a_form_that_is_sent_twice_is_one_message(paid: Stage) -> None:
    first = write(paid)
    assert write(paid) == first
    send(paid)
    assert write(paid) == first
    other = write(paid, "Which image is broken?")
    assert other != first
    send(paid)
    assert len(delivered(paid)) == 2
    PersonMessage.objects.filter(pk=first.pk).update(at=first.at - person_messages.SENT_TWICE)
    assert write(paid) not in (first, other)


def test_after_429_it_waits_and_is_sent_later(paid: Stage) -> None:
    write(paid)
    paid.local.switch(Switch.RATE_LIMITED, "1")
    send(paid)
    assert state()[0] == State.PLANNED
    assert "This site tries again every minute." in state()[1]
    assert delivered(paid) == []
    send(paid)
    assert state() == (State.SENT, "")
    assert len(delivered(paid)) == 1


def test_a_lost_reply_is_uncertain_and_never_repeated(paid: Stage) -> None:
    write(paid)
    paid.local.switch(Switch.REPLY_LOST, "1")
    send(paid)
    assert state()[0] == State.UNCERTAIN
    assert "It is not sent again." in state()[1]
    paid.local.later(minutes=60)
    send(paid)
    assert len(delivered(paid)) == 1
    assert state()[0] == State.UNCERTAIN


def test_a_worker_lost_before_the_call_costs_nothing(paid: Stage) -> None:
    write(paid)
    PersonMessage.objects.update(state=State.SENDING, state_at=paid.now())
    send(paid)
    assert state()[0] == State.SENDING
    paid.local.later(minutes=6)
    send(paid)
    assert state()[0] == State.SENT
    assert len(delivered(paid)) == 1


def test_of_somebody_whose_id_was_deleted_it_is_refused_with_a_sentence(paid: Stage) -> None:
    write(paid)
    Annotator.objects.update(sealed_id="", id_digest=None)
    send(paid)
    assert state() == (State.REFUSED, person_messages.NO_ID)
    assert delivered(paid) == []


def test_without_an_account_or_a_text_nothing_is_stored(paid: Stage) -> None:
    with pytest.raises(CannotWrite, match="The message is empty"):
        write(paid, " ")
    with pytest.raises(CannotWrite, match="at most 2,000 fit"):
        write(paid, "x" * 2001)
    ProlificAccount.objects.all().delete()
    with pytest.raises(CannotWrite, match="Connect this project to its account"):
        write(paid)
    assert not PersonMessage.objects.exists()


def test_people_of_a_panel_get_a_mail(paid: Stage) -> None:
    _put_in_panel(paid)
    write(paid)
    mails: list[tuple[str, str]] = []
    send(paid, mails=mails)
    send(paid, mails=mails)
    assert mails == [("ann@example.org", "Thank you. Two answers puzzle us.")]
    assert delivered(paid) == []
    assert state() == (State.SENT, "")


def test_a_mail_of_which_nothing_was_heard_is_not_repeated(paid: Stage) -> None:
    _put_in_panel(paid)
    write(paid)
    send(paid, fails=True)
    mails: list[tuple[str, str]] = []
    send(paid, mails=mails)
    assert mails == []
    assert state()[0] == State.UNCERTAIN


def _put_in_panel(found: Stage) -> None:
    PanelMember.objects.create(
        project=found.study.project,
        annotator=found.sessions[0].annotator,
        sealed_address=seal("ann@example.org"),
        address_digest="ann",
        added_at=NOON,
    )


def test_somebody_invited_cannot_be_written_to() -> None:
    study = launch_study()
    session = sit_down(study, "ann")
    Annotator.objects.update(provider="invite")
    with pytest.raises(CannotWrite, match="They came by an invitation link"):
        find_channel(annotator=Annotator.objects.get(pk=session.annotator_id), project=study.project)
