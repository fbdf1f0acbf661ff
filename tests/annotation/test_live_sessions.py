"""Live sessions take up questions that became ready after they began, wait for more, and end with what is there."""

import uuid
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotation.actions import seats, sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import Submission, SubmissionResult
from annotation.actions.ending import platform_outcome
from annotation.errors import CannotTakePart, NothingLeft
from annotation.models import Annotator, Response, Seat, Session, SessionState, Slot
from studies.models import CompletionCode, Question, Study, StudyState
from tests.annotation.test_lobby import LOBBY, MINUTE, make_roles, update, wait
from tests.annotation.test_repetitions import say
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh
from tests.removing import exclude, include, reopen
from tests.together import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
JSON = {"accept": "application/json"}


def write(describe: Study, *people: str) -> None:
    """Let each of `people` describe one image, of another set each."""
    for person in people:
        say(arrive_at_work(describe, person), f"The lid of {person} is open.")


def find(session: Session, *, times: int = 1, now: datetime = NOON) -> SubmissionResult:
    """Find the images of the descriptions that `session` is asked about; return the last result."""
    for _ in range(times):
        slot = next_slot(session)
        order = responses.order_for(session=session, question=slot.question)
        receipt = send(session, slot, str(order.index(slot.question.right) + 1), now=now)
    session.refresh_from_db()
    return receipt


def led_on(describe: Study, study: Study, person: str = "ben", *, by: str = "ann") -> Session:
    """Return a session that has waited, and has just been led on to the description that `by` wrote."""
    session = wait(study, person)
    write(describe, by)
    assert (update(session), session.questions_total) == (SessionState.WORKING, 1)
    return session


def led(*, sets: int, **find: Any) -> tuple[Study, Study, Session]:
    """Return the two studies, and a session of ben's that was led on in the second."""
    describe, study = make_roles(sets=sets, find=find)
    return describe, study, led_on(describe, study)


def test_what_became_ready_meanwhile_is_taken_up_with_the_last_answer_until_nothing_more_can_come() -> None:
    describe, study, session = led(sets=4)
    write(describe, "cleo", "dora")
    receipt = find(session)
    assert (receipt.state, receipt.answered, receipt.total) == (SessionState.WORKING, 1, 3)
    find(session, times=2)
    # The fourth set is still described by nobody.
    assert (session.state, session.questions_answered) == (SessionState.WAITING, 3)
    assert Question.objects.filter(study=study).count() == 3
    assert Seat.objects.filter(session=session, filled_at=NOON).count() == 2
    write(describe, "eve")
    update(session)
    assert find(session).state == SessionState.FINISHED
    assert (session.ended_at, session.questions_answered) == (NOON, 4)


def test_whoever_waits_for_more_is_led_on_and_keeps_what_they_have() -> None:
    describe, _, session = led(sets=3)
    find(session)
    assert (session.state, session.lease_until) == (SessionState.WAITING, NOON + 10 * MINUTE)
    write(describe, "cleo")
    assert (update(session, minutes=3), session.questions_total) == (SessionState.WORKING, 2)
    assert session.first_question_at == NOON
    find(session, now=NOON + 3 * MINUTE)
    assert (session.state, session.questions_answered) == (SessionState.WAITING, 2)
    assert Response.objects.filter(slot__seat__session=session).count() == 2


def test_it_ends_at_the_size_of_a_survey_also_if_it_began_with_questions() -> None:
    describe, study = make_roles(sets=4, find={"surveys": {"size": 2}})
    write(describe, "ann")
    session = arrive_at_work(study, "ben")
    write(describe, "cleo", "dora")
    # Of the two that are ready there is room for one.
    assert find(session).total == 2
    assert find(session).state == SessionState.FINISHED
    assert arrive_at_work(study, "eve").questions_total == 1


@pytest.mark.parametrize("waits", [False, True])
def test_of_a_free_place_it_takes_as_many_questions_as_there_is_room_for(waits: bool) -> None:
    describe, study, session = led(sets=5, surveys={"size": 3})
    if waits:
        find(session)
    write(describe, "cleo", "dora", "eve")
    sessions.leave(session=arrive_at_work(study, "finn"), to=SessionState.GIVEN_UP, now=NOON)
    if waits:
        update(session)
    else:
        find(session)
    assert (session.state, session.questions_total) == (SessionState.WORKING, 3)
    # The one that is left is free at once, and there are as many places as before.
    assert arrive_at_work(study, "gil").questions_total == 1
    assert Slot.objects.filter(question__study=study).count() == 4
    find(session, times=2)
    assert session.state == SessionState.FINISHED
    assert not Seat.objects.filter(session=session, filled_at=None).exists()


def test_two_people_alone_leave_nothing_that_each_is_kept_from_by_another_question_of_the_place() -> None:
    describe, study = make_roles(sets=5, find={"answers": 2, "surveys": {"size": 4}})
    ben, cleo = wait(study, "ben"), wait(study, "cleo")
    write(describe, "ann", "dora", "eve", "finn")
    # Two places with the same four questions, a to d.
    sessions.leave(session=arrive_at_work(study, "gil"), to=SessionState.GIVEN_UP, now=NOON)
    for session, room in ((ben, 2), (cleo, 1)):
        with transaction.atomic():
            given = seats.claim(session=session, now=NOON, room=room)
        sessions.move(session=session, to=SessionState.WORKING, now=NOON, questions_total=given, first_question_at=NOON)
    # Ben has a and b of the first place, cleo a of the second; c and d are free, and b to d of the second.
    for session in (cleo, ben):
        find(session, times=4)
        assert (session.state, session.questions_answered) == (SessionState.FINISHED, 4)
    assert Response.objects.counted_in(study).count() == Slot.objects.filter(question__study=study).count() == 8


def test_nobody_is_asked_about_what_they_wrote_or_met_when_their_sitting_grows() -> None:
    describe, _, session = led(sets=3)
    write(describe, "ben", "cleo")
    find(session)
    (slot,) = responses.open_slots(session=session, limit=9)
    assert slot.question.content["caption"] == "The lid of cleo is open."


@pytest.mark.parametrize("is_open", [True, False])
def test_after_the_longest_wait_it_is_finished_with_what_it_has_whether_or_not_the_page_is_open(is_open: bool) -> None:
    _, study, session = led(sets=3)
    find(session)
    late = NOON + 11 * MINUTE
    if is_open:
        sessions.record_visit(session=session, now=late)
        update(session, minutes=11)
    else:
        assert advance_session.expire(by=TESTS, now=late) == 0
    assert (fresh(session).state, session.ended_at, session.questions_answered) == (SessionState.FINISHED, late, 1)
    code = CompletionCode.objects.get(study=study, outcome="finished").code
    assert platform_outcome.show_completion_code(session=session, now=late) == code


def test_it_takes_up_nothing_and_waits_for_nothing_once_its_time_on_the_platform_is_over() -> None:
    time = {"estimated_minutes": 10, "limit_minutes": 60}
    describe, _, session = led(sets=5, time=time)
    find(session, now=NOON + 55 * MINUTE)
    # It waits no longer than that either.
    assert (session.state, session.lease_until) == (SessionState.WAITING, NOON + 60 * MINUTE)
    write(describe, "cleo")
    advance_session.update_waiting(session=session, now=NOON + 58 * MINUTE)
    # What is taken up at the end may still be answered: in a quarter of an hour, and ten minutes of grace.
    assert session.lease_until == NOON + 83 * MINUTE
    write(describe, "dora")
    assert find(session, now=NOON + 61 * MINUTE).state == SessionState.FINISHED


def test_a_study_that_closes_or_pauses_lets_it_end() -> None:
    describe, study = make_roles(sets=4)
    waiting = led_on(describe, study)
    find(waiting)
    working = led_on(describe, study, "cleo", by="dora")
    write(describe, "eve")
    Study.objects.filter(pk=study.pk).update(state=StudyState.PAUSED)
    assert find(working).state == SessionState.FINISHED
    Study.objects.filter(pk=study.pk).update(state=StudyState.CLOSED, closed_at=NOON)
    waiting = Session.objects.get(pk=waiting.pk)
    assert update(waiting) == SessionState.FINISHED


@pytest.mark.parametrize("how", ["stops", "is not seen again"])
def test_whoever_leaves_what_came_later_has_finished_and_it_goes_to_somebody_else(how: str) -> None:
    describe, study = make_roles(sets=4)
    other = led_on(describe, study, "eve", by="finn")
    session = led_on(describe, study)
    write(describe, "cleo")
    assert find(session).total == 2
    if how == "stops":
        sessions.give_up(session=session, now=NOON)
    else:
        find(other)
        assert advance_session.expire(by=TESTS, now=session.lease_until + MINUTE) == 0
    assert (fresh(session).state, session.questions_answered) == (SessionState.FINISHED, 1)
    assert arrive_at_work(study, "dora").questions_total == 1
    if how == "stops":
        # Whoever leaves what they were given at first has given up as ever.
        sessions.give_up(session=other, now=NOON)
        assert other.state == SessionState.GIVEN_UP


@pytest.mark.parametrize(
    ("design", "state"),
    [
        ({"lobby": {"minutes": 0}}, SessionState.FINISHED),
        # It is at its last look.
        ({"answering": {"last_look": True}}, SessionState.WORKING),
    ],
)
def test_a_study_without_a_lobby_or_with_a_last_look_does_not_grow(design: dict[str, Any], state: SessionState) -> None:
    describe, study = make_roles(sets=3, find=design)
    write(describe, "ann")
    session = arrive_at_work(study, "ben")
    write(describe, "cleo")
    receipt = find(session)
    assert (receipt.total, receipt.state, session.state) == (1, state, state)


def test_a_worker_that_was_lost_after_the_last_answer_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    describe, study = make_roles(sets=4)
    lost = {}
    for way in ("page", "repeated", "time"):
        session = led_on(describe, study, f"ben-{way}", by=f"ann-{way}")
        (slot,) = responses.open_slots(session=session, limit=1)
        sent = Submission(slot.pk, uuid.uuid4(), {"choice": "1"})
        with monkeypatch.context() as killed:
            killed.setattr(advance_session, "advance", lambda **_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                responses.submit(token=session.token, sent=sent, now=NOON)
        lost[way] = session, sent
    session, _ = lost["page"]
    assert "data-lobby" in Client().get(page_of(session), follow=True).content.decode()
    session, sent = lost["repeated"]
    assert responses.submit(token=session.token, sent=sent, now=NOON).state == SessionState.WAITING
    session, _ = lost["time"]
    assert advance_session.expire(by=TESTS, now=NOON + timedelta(days=1)) == 0
    session.refresh_from_db()
    assert (session.state, session.questions_answered) == (SessionState.FINISHED, 1)
    assert Response.objects.filter(study=study).count() == 3


def test_the_page_leads_from_answer_to_answer_and_says_what_one_may_do(client: Client) -> None:
    describe, study, session = led(sets=4, lobby=LOBBY | {"either_role": True})
    write(describe, "cleo")
    page = page_of(session)

    assert "not paid" in client.get(f"{page}give-up/").content.decode()

    def answer() -> dict[str, Any]:
        slot = responses.open_slots(session=session, limit=1)[0].pk
        sent = {"slot": slot, "submission": str(uuid.uuid4()), "choice": "1"}
        reply: dict[str, Any] = client.post(f"{page}answer/", sent, headers=JSON).json()
        return reply

    assert answer() | {"submission": ""} == {
        "submission": "", "saved": True, "slot": Slot.objects.get(seat__session=session, answered_at=NOON).pk,
        "answered": 1, "total": 2, "next": None, "go": page,
    }  # fmt: skip
    assert "Question 2 of 2" in client.get(page).content.decode()
    assert "not paid" not in client.get(f"{page}give-up/").content.decode()
    assert answer()["go"] == page
    shown = client.get(page).content.decode()
    assert "No more questions are ready at the moment" in shown
    assert "All 2 of your answers are saved." in shown
    assert "You will wait for 10 more minutes at most." in shown
    # Neither what is paid to whoever waited in vain, nor what would end this submission elsewhere.
    assert "for waiting" not in shown
    assert "other part" not in shown
    assert client.post(f"{page}other-role/")["Location"] == page
    end = client.post(f"{page}finish/", follow=True).content.decode()
    assert "All 2 of your answers are saved." in end
    assert CompletionCode.objects.get(study=study, outcome="finished").code in end


def test_answers_of_each_of_its_places_come_back_when_somebody_is_let_back() -> None:
    describe, study, session = led(sets=3)
    write(describe, "cleo")
    find(session, times=2)
    advance_session.finish_if_done(session=session, now=NOON)
    exclude(study.project, "ben")
    assert reopen(study.project, "ben") == 2
    assert include(study.project, "ben").without_place == 0
    assert Response.objects.counted_in(study).count() == 2
    assert Seat.objects.filter(study=study, filled_at=None).count() == 0


def test_whoever_was_blocked_or_excluded_takes_up_nothing_more() -> None:
    describe, study = make_roles(sets=5)
    blocked, excluded = led_on(describe, study, "ben", by="ann"), led_on(describe, study, "cleo", by="dora")
    find(excluded)
    Annotator.objects.filter(pk=blocked.annotator_id).update(blocked=True)
    write(describe, "eve")
    assert find(Session.objects.get(pk=blocked.pk)).state == SessionState.FINISHED
    exclude(study.project, "cleo")
    assert update(fresh(excluded)) == SessionState.STOPPED
    assert Question.objects.filter(study=study).count() == 2


@pytest.mark.parametrize("most", [0, 1])
def test_whoever_comes_under_another_submission_while_waiting_for_more_has_finished_the_first(most: int) -> None:
    describe, study, session = led(sets=4, recruitment={"sessions_per_annotator": most})
    find(session)
    write(describe, "cleo")
    if most:
        with pytest.raises(CannotTakePart, match="already taken part"):
            arrive(study, "ben", session="another")
        # Nothing has changed: they may go on.
        assert fresh(session).state == SessionState.WAITING
    else:
        assert arrive(study, "ben", session="another").questions_total == 1
        session.refresh_from_db()
        assert (session.state, session.questions_answered) == (SessionState.FINISHED, 1)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(3))
def test_nobody_gets_both_roles_for_one_set_at_the_same_moment(attempt: int) -> None:
    describe, study = make_roles(sets=2, answers=2)
    session = led_on(describe, study)
    (first,) = Slot.objects.filter(seat__session=session).values_list("question__instance", flat=True)
    # The other set has been described once, and is free to be described once more.
    for person in ("cleo", "dora"):
        writing = arrive_at_work(describe, person)
        about = responses.open_slots(session=writing, limit=1)[0].question.instance_id
        say(writing, f"The lid of {person} is open.")
        if about != first:
            break

    def describe_too() -> None:
        with suppress(NothingLeft):
            arrive_at_work(describe, "ben")

    at_once(describe_too, lambda: find(session))
    held = Slot.objects.filter(annotator=session.annotator)
    of_study = [set(held.filter(question__study=each).values_list("question__instance")) for each in (describe, study)]
    assert not of_study[0] & of_study[1]
    assert len(of_study[0] | of_study[1]) == 2


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_two_sittings_that_grow_at_the_same_moment_one_gets_what_there_is() -> None:
    describe, study = make_roles(sets=5)
    first, second = led_on(describe, study, "ben", by="ann"), led_on(describe, study, "cleo", by="dora")
    write(describe, "eve")
    receipts = at_once(lambda: find(first), lambda: find(second))
    assert sorted(receipt.total for receipt in receipts) == [1, 2]
    assert {receipt.state for receipt in receipts} == {SessionState.WORKING, SessionState.WAITING}
    assert Slot.objects.filter(question__study=study).count() == 3


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_finishing_and_being_led_on_at_the_same_moment_leaves_no_place_held() -> None:
    describe, _, session = led(sets=4)
    find(session)
    write(describe, "cleo")
    one, other = Session.objects.get(pk=session.pk), Session.objects.get(pk=session.pk)
    at_once(
        lambda: advance_session.update_waiting(session=one, now=NOON),
        lambda: advance_session.finish_if_done(session=other, now=NOON),
    )
    session.refresh_from_db()
    held = Seat.objects.filter(session=session, filled_at=None).count()
    assert (session.state, held) in {(SessionState.FINISHED, 0), (SessionState.WORKING, 1)}
