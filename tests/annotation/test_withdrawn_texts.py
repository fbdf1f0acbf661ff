"""The author of a text withdraws while somebody looks for its image: that person is told the truth, goes on or waits,
and every answer that was taken from them is counted, or kept aside and paid."""

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.ending import platform_outcome
from annotation.errors import NotYourQuestion
from annotation.models import Response, Seat, Session, SessionState, Slot
from studies.models import CompletionCode, Question, Study
from tests.annotation.test_live_sessions import find, led, write
from tests.annotation.test_lobby import LOBBY, MINUTE, make_roles, wait
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study
from tests.removing import exclude, withdraw

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
JSON = {"accept": "application/json"}
# Of pages that would blame the images, or say that the question was never given.
FALSE = ("images of your questions", "practice images", "does not belong", "researchers have ended")
BY_AUTHOR = "The author of"


def look(session: Session) -> str:
    """Return the page where `session` is, which says nothing false."""
    page = Client().get(page_of(session), follow=True).content.decode()
    session.refresh_from_db()
    assert not [sentence for sentence in FALSE if sentence in page]
    return page


def nothing_is_left_over(study: Study) -> None:
    """No seat is held by a session that has ended, and an answered slot has its answer."""
    assert not Seat.objects.filter(study=study, filled_at=None, session__ended_at__isnull=False).exists()
    answered = Slot.objects.filter(question__study=study, answered_at__isnull=False)
    assert answered.count() == Response.objects.filter(study=study, slot__isnull=False, is_current=True).count()


def code_of(study: Study, outcome: str) -> str:
    return CompletionCode.objects.get(outcome=outcome, study=study).code


def test_whoever_looks_at_it_goes_on_to_what_is_ready() -> None:
    describe, _, session = led(sets=4)
    write(describe, "cleo")
    withdraw(describe.project, "ann")
    assert "The lid of cleo is open." in look(session)
    assert (session.state, session.questions_answered, session.questions_total) == (SessionState.WORKING, 0, 1)
    find(session)
    assert (session.state, session.questions_answered) == (SessionState.WAITING, 1)


def test_whoever_looks_at_it_waits_where_nothing_is_ready_and_is_paid_as_the_study_file_says() -> None:
    describe, study, session = led(sets=4)
    withdraw(describe.project, "ann")
    page = look(session)
    assert BY_AUTHOR in page
    assert "data-lobby" in page
    assert (session.state, session.questions_total) == (SessionState.WAITING, 0)
    late = NOON + 10 * MINUTE
    sessions.record_visit(session=session, now=late)
    advance_session.update_waiting(session=session, now=late)
    assert session.state == SessionState.WAITED
    page = look(session)
    assert BY_AUTHOR in page
    assert "you are paid US$\N{NO-BREAK SPACE}0.50 for it" in page
    assert platform_outcome.code_for(session=session, now=late) == code_of(study, "waited")
    nothing_is_left_over(study)


def test_a_study_without_a_lobby_lets_a_researcher_decide_about_the_pay() -> None:
    describe, study = make_roles(sets=4, find={"lobby": {"minutes": 0}})
    write(describe, "ann")
    session = arrive_at_work(study, "ben")
    withdraw(describe.project, "ann")
    assert "The author of the text in your question has withdrawn it" in look(session)
    assert session.state == SessionState.LEFT_OUT
    assert platform_outcome.code_for(session=session, now=NOON) == code_of(study, "left_out")
    nothing_is_left_over(study)


def test_whoever_reads_the_instructions_meanwhile_waits_afterwards() -> None:
    describe, study = make_roles(sets=4)
    write(describe, "ann")
    session = arrive(study, "ben")
    withdraw(describe.project, "ann")
    look(session)
    assert session.state == SessionState.INSTRUCTIONS
    advance_session.begin(session=session, part=0, now=NOON)
    assert BY_AUTHOR in look(session)
    assert session.state == SessionState.WAITING
    write(describe, "cleo")
    advance_session.update_waiting(session=session, now=NOON)
    assert (session.state, session.questions_total) == (SessionState.WORKING, 1)


@pytest.mark.parametrize("minutes", [0, 10])
@pytest.mark.parametrize("another_tab_looked", [False, True])
def test_an_answer_on_its_way_counts(client: Client, another_tab_looked: bool, minutes: int) -> None:
    describe, study = make_roles(sets=4, find={"lobby": LOBBY | {"minutes": minutes}, "surveys": {"size": 2}})
    write(describe, "ann", "cleo")
    session = arrive_at_work(study, "ben")
    slots = {slot.question.content["caption"]: slot for slot in responses.open_slots(session=session, limit=2)}
    slot = slots["The lid of ann is open."]
    withdraw(describe.project, "ann")
    if another_tab_looked:
        look(session)
    sent = {"slot": slot.pk, "submission": str(uuid.uuid4()), "choice": "1"}
    reply = client.post(f"{page_of(session)}answer/", sent, headers=JSON).json()
    assert (reply["saved"], reply["answered"]) == (True, 1)
    if another_tab_looked:
        page = client.get(reply["go"]).content.decode()
        assert "The author withdrew the text in question 1. Your answer is saved" in page
    assert "The lid of cleo is open." in look(session)
    find(session)
    assert (session.state, session.questions_answered) == (SessionState.FINISHED, 2)
    assert Response.objects.counted_in(study).filter(slot=slot).count() == 1
    # The same submission again changes nothing.
    assert client.post(f"{page_of(session)}answer/", sent, headers=JSON).json()["saved"]
    assert Response.objects.filter(study=study).count() == 2
    nothing_is_left_over(study)


def test_an_answer_comes_while_another_tab_waits_already() -> None:
    describe, study, session = led(sets=4)
    slot = next_slot(session)
    withdraw(describe.project, "ann")
    look(session)
    assert session.state == SessionState.WAITING
    assert send(session, slot).withdrawn
    assert (fresh(session).state, session.questions_answered, session.questions_total) == (SessionState.WAITING, 1, 1)
    # Of two tabs the first answer stands.
    assert send(session, slot).first_kept
    assert Response.objects.filter(study=study).count() == 1
    # They have done their part, whatever they do next.
    sessions.give_up(session=session, now=NOON)
    assert session.state == SessionState.FINISHED
    nothing_is_left_over(study)


def test_an_answer_from_a_browser_that_was_offline_until_the_sitting_ended_is_kept_aside_and_said() -> None:
    describe, study = make_roles(sets=4, find={"surveys": {"size": 2}, "pay": {"per_answer": "0.10"}})
    write(describe, "ann", "cleo")
    session = arrive_at_work(study, "ben")
    first, second = responses.open_slots(session=session, limit=2)
    withdraw(describe.project, "ann" if "ann" in first.question.content["caption"] else "cleo")
    look(session)
    send(session, second)
    advance_session.finish_if_done(session=Session.objects.get(pk=session.pk), now=NOON)
    receipt = send(session, first)
    assert (receipt.stored, receipt.late, receipt.state) == (True, True, SessionState.FINISHED)
    page = look(session)
    assert "Your answer is saved." in page
    assert "1 answer arrived after its question had been removed or had gone to somebody else" in page
    assert "It is saved and counts towards your pay." in page
    assert Response.objects.filter(session=session, slot=None, is_current=True).count() == 1


def test_what_a_browser_is_sent_ahead_holds_nothing_that_was_taken_back(client: Client) -> None:
    describe, study = make_roles(sets=5, find={"surveys": {"size": 3}})
    write(describe, "ann", "cleo", "dora")
    session = arrive_at_work(study, "ben")
    first, *_ = responses.open_slots(session=session, limit=3)
    for name in {"ann", "cleo", "dora"} - {first.question.content["caption"].split()[3]}:
        withdraw(describe.project, name)
    sent = {"slot": first.pk, "submission": str(uuid.uuid4()), "choice": "1", "have": ""}
    reply = client.post(f"{page_of(session)}answer/", sent, headers=JSON).json()
    assert (reply["next"], reply["go"]) == (None, page_of(session))
    assert BY_AUTHOR in look(session)
    assert (session.state, session.questions_answered) == (SessionState.WAITING, 1)


def test_the_last_question_of_a_survey_may_be_withdrawn() -> None:
    describe, study = make_roles(sets=4, find={"surveys": {"size": 2}})
    write(describe, "ann", "cleo")
    session = arrive_at_work(study, "ben")
    first, second = responses.open_slots(session=session, limit=2)
    send(session, first)
    withdraw(describe.project, "ann" if "ann" in second.question.content["caption"] else "cleo")
    assert BY_AUTHOR in look(session)
    # One of the two that a sitting takes is still to come.
    assert (session.state, session.questions_answered) == (SessionState.WAITING, 1)
    advance_session.finish_if_done(session=session, now=NOON)
    assert session.state == SessionState.FINISHED
    assert BY_AUTHOR in look(session)
    nothing_is_left_over(study)


def test_whoever_does_not_come_back_has_run_out_of_time() -> None:
    describe, _, session = led(sets=4)
    withdraw(describe.project, "ann")
    advance_session.expire(by=TESTS, now=fresh(session).lease_until + MINUTE)
    assert fresh(session).state == SessionState.LAPSED
    # With the same link they wait again.
    sessions.resume(session=session, now=NOON)
    look(session)
    assert session.state == SessionState.WAITING


def test_nobody_answers_what_they_were_never_given_and_whoever_withdraws_themselves_sends_nothing_more() -> None:
    describe, study, session = led(sets=4)
    slot = next_slot(session)
    withdraw(describe.project, "ann")
    with pytest.raises(NotYourQuestion):
        send(wait(study, "dora"), slot)
    withdraw(describe.project, "ben")
    assert not send(session, slot).stored
    assert not Response.objects.filter(study=study).exists()


def test_a_researcher_who_excludes_the_author_takes_nothing_from_whoever_looks() -> None:
    describe, study, session = led(sets=4)
    exclude(describe.project, "ann")
    assert "The lid of ann is open." in look(session)
    find(session)
    assert Response.objects.counted_in(study).count() == 1
    assert Question.objects.get(study=study).undone_at is not None


@pytest.mark.parametrize("is_about_a_text", [False, True])
def test_an_answer_asks_the_database_as_often_as_ever(is_about_a_text: bool) -> None:
    if is_about_a_text:
        describe, study = make_roles(sets=4, find={"surveys": {"size": 3}})
        write(describe, "ann", "cleo", "dora")
        # Two decisions: of the question, and of the description that it is about.
        most = 20
    else:
        study = launch_study(instances=3)
        # What is asked, a savepoint, and one statement for all of it, or six.
        most = 4 if connection.vendor == "postgresql" else 9
    session = arrive_at_work(study, "ben")
    slot = next_slot(session)
    with CaptureQueriesContext(connection) as asked:
        send(session, slot)
    assert len(asked) == most
