"""Sending answers: once, in time, and counted for what they are."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DataError, connection

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import Submission
from annotation.errors import BadAnswer, NotYourQuestion
from annotation.models import Decision, Response, Session, SessionState, Slot
from tests.factories import NOON, arrive, arrive_at_work, fresh, launch_study

pytestmark = pytest.mark.django_db


def next_slot(session: Session) -> Slot:
    return responses.open_slots(session=session, limit=1)[0]


def send(
    session: Session, slot: Slot, value: str = "1", *, now: datetime = NOON, **more: Any
) -> responses.SubmissionResult:
    fields: dict[str, Any] = {"slot": slot.pk, "submission": uuid.uuid4(), "posted": {"choice": value}} | more
    return responses.submit(token=session.token, sent=Submission(**fields), now=now)


def test_an_answer_is_stored_by_the_identity_of_the_option_shown_in_that_place(session: Session, slot: Slot) -> None:
    shown = responses.order_for(session=session, question=slot.question)
    assert sorted(shown) == ["candidate-0", "candidate-1", "candidate-2", "candidate-3", "none"]
    # One answer that chose an image accepts the question.
    value = next(value for value in (1, 2) if shown[value - 1] != "none")
    send(session, slot, str(value))
    stored, decision = Response.objects.get(), Decision.objects.get(question=slot.question)
    assert (stored.choice, stored.shown_order) == (shown[value - 1], shown)
    assert (decision.state, decision.answers, decision.winner) == ("accepted", 1, stored.choice)
    assert decision.votes == {stored.choice: 1}


def test_the_same_submission_twice_is_stored_once_and_with_another_answer_the_first_stands(session: Session) -> None:
    slot, submission = next_slot(session), uuid.uuid4()
    send(session, slot, submission=submission)
    again = send(session, slot, submission=submission)
    assert (again.stored, again.first_kept) == (True, False)
    assert send(session, slot, "none", submission=submission).first_kept
    assert Response.objects.get().choice != "none"
    assert fresh(session).questions_answered == 1


def test_a_change_is_a_new_version_and_decides_again(session: Session, slot: Slot) -> None:
    send(session, slot, "1")
    send(session, slot, "none", replaces=1)
    versions = Response.objects.order_by("version").values_list("version", "is_current")
    assert list(versions) == [(1, False), (2, True)]
    assert Response.objects.get(version=2).choice == "none"
    assert Decision.objects.get(question=slot.question).state == "rejected"
    assert fresh(session).questions_answered == 1


def test_a_change_that_follows_one_which_arrived_after_its_page_was_made_is_taken(session: Session) -> None:
    slot, first, second = next_slot(session), uuid.uuid4(), uuid.uuid4()
    send(session, slot, "1", submission=first)
    send(session, slot, "2", replaces=1, submission=second, after=frozenset({first}))
    assert not send(session, slot, "none", replaces=1, after=frozenset({first, second})).newer_kept
    assert Response.objects.get(is_current=True).choice == "none"


def test_a_change_that_comes_once_more_after_a_newer_one_changes_nothing(session: Session) -> None:
    slot, change = next_slot(session), uuid.uuid4()
    send(session, slot, "1")
    send(session, slot, "2", replaces=1, submission=change)
    send(session, slot, "none", replaces=2)
    again = send(session, slot, "2", replaces=1, submission=change)
    assert (again.stored, again.first_kept, again.newer_kept) == (True, False, False)
    assert Response.objects.get(is_current=True).choice == "none"
    assert Response.objects.count() == 3


def test_a_change_sent_before_the_time_was_over_is_taken_after_it(session: Session, slot: Slot) -> None:
    send(session, slot, "1")
    sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)
    send(session, slot, "none", replaces=1)
    assert Response.objects.get(is_current=True).choice == "none"


def test_two_of_three_answers_for_one_image_decide() -> None:
    study = launch_study(answers=3, instances=1)
    for person in ("ann", "ben"):
        session = arrive_at_work(study, person)
        slot = next_slot(session)
        order = responses.order_for(session=session, question=slot.question)
        send(session, slot, str(order.index("candidate-2") + 1))
    decision = Decision.objects.get()
    assert (decision.state, decision.winner, decision.answers) == ("accepted", "candidate-2", 2)


def test_the_last_answer_finishes_the_session_and_fills_the_seat() -> None:
    session = arrive_at_work(launch_study(instances=2))
    send(session, next_slot(session))
    receipt = send(session, next_slot(session))
    assert receipt.state == SessionState.FINISHED
    assert fresh(session).ended_at == NOON
    assert session.seat.filled_at == NOON


def test_a_value_that_is_no_option_is_refused_and_nothing_is_stored(session: Session) -> None:
    for value in ("0", "5", "candidate-0", "A", "", "None"):
        with pytest.raises(BadAnswer):
            send(session, next_slot(session), value)
    assert Response.objects.count() == 0
    assert Slot.objects.filter(answered_at__isnull=False).count() == 0


def test_a_question_of_somebody_else_is_refused_and_an_answer_before_the_questions_have_begun_is_not_stored() -> None:
    study = launch_study(instances=2, surveys={"size": 1})
    mine, other = arrive_at_work(study, "ann"), arrive(study, "ben")
    slot = Slot.objects.select_related("question").get(seat=other.seat)
    with pytest.raises(NotYourQuestion):
        send(mine, slot)
    assert not send(other, slot).stored
    assert Response.objects.count() == 0


def test_a_late_answer_is_kept_but_not_counted_when_the_seat_has_gone() -> None:
    study = launch_study()
    session = arrive_at_work(study)
    slot = next_slot(session)
    tomorrow = NOON + timedelta(days=1)
    advance_session.expire(by="timetable", now=tomorrow)
    other = arrive_at_work(study, "ben", now=tomorrow)
    assert send(session, slot).late
    assert Response.objects.get(annotator=session.annotator).slot is None
    assert Decision.objects.get(question=slot.question).answers == 0
    send(other, slot)
    assert Decision.objects.get(question=slot.question).answers == 1


def test_a_late_answer_is_not_in_the_way_of_a_newer_session_that_asks_the_same() -> None:
    study = launch_study(instances=2, answers=2)
    given_up = arrive_at_work(study, "ann", session="first")
    slot = next_slot(given_up)
    sessions.leave(session=given_up, to=SessionState.GIVEN_UP, now=NOON)
    arrive_at_work(study, "ben")
    newer = arrive_at_work(study, "ann", session="second")
    assert not send(given_up, slot).stored
    for _ in range(2):
        receipt = send(newer, next_slot(newer))
    assert receipt.state == SessionState.FINISHED
    assert Response.objects.filter(session=newer, slot__isnull=False).count() == 2


@pytest.mark.once(on="postgresql", because="a file is never lost as a connection is; SQLite stores step by step")
@pytest.mark.django_db(transaction=True)
def test_an_answer_finds_out_by_itself_that_the_connection_was_lost() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("A file is never lost as a connection is.")
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    order = responses.order_for(session=session, question=slot.question)
    # As after a restart of the database: this side does not know yet, and has asked nothing since.
    connection.connection.close()
    connection.health_check_done = False  # type: ignore[attr-defined]
    send(session, slot, "3")
    assert Response.objects.get().choice == order[2]


@pytest.mark.once(on="postgresql", because="SQLite stores step by step, and takes a text of any length")
def test_a_value_that_no_column_takes_is_no_slot_that_was_taken() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite takes a text of any length.")
    session = arrive_at_work(launch_study())
    with pytest.raises(DataError, match="too long"):
        send(session, next_slot(session), measured={"unmeasured": "x" * 21})
    assert fresh(session).questions_answered == 0
    assert not Response.objects.exists()
