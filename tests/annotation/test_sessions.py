"""The life of a session, and the seats it holds."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, transaction
from django.test import Client

from annotation.actions import seats, sessions
from annotation.actions.answering import advance_session, responses
from annotation.errors import CannotTakePart, NothingLeft, OtherPerson
from annotation.models import Annotator, Seat, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES, OUTCOMES, SESSION_TRANSITIONS
from studies.actions.studies import change_state
from studies.models import Question, StudyState
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study
from tests.people import digest_of, make_annotator

pytestmark = pytest.mark.django_db
TOMORROW = NOON + timedelta(days=1)


def test_open_states_and_a_lapse_lead_on_and_no_other_state_does() -> None:
    assert set(SESSION_TRANSITIONS) == OPEN_STATES | {SessionState.LAPSED}
    assert set(OUTCOMES) & OPEN_STATES == set()


def test_the_link_of_a_session_leads_to_it_again_and_with_another_persons_id_changes_nothing() -> None:
    study = launch_study()
    assert arrive(study, "ann", session="s1").pk == arrive(study, "ann", session="s1").pk
    assert Seat.objects.filter(session__isnull=False).count() == 1
    with pytest.raises(OtherPerson):
        arrive(study, "ben", session="s1")
    assert Session.objects.get().annotator.provider_id == "ann"
    assert Annotator.objects.count() == 1


def test_a_new_submission_takes_over_the_seat_and_the_answers_stay() -> None:
    study = launch_study(instances=3)
    first = arrive_at_work(study, session="s1")
    send(first, next_slot(first))
    second = arrive_at_work(study, session="s2")
    assert (fresh(first).state, first.last_seat) == (SessionState.SUPERSEDED, second.seat)
    assert second.questions_total == 2


def test_a_keen_annotator_gets_another_survey_but_never_the_same_question() -> None:
    study = launch_study(instances=4, surveys={"size": 2}, answers=2, recruitment={"sessions_per_annotator": 0})
    asked: list[int] = []
    for number in range(2):
        session = arrive_at_work(study, session=f"s{number}")
        for slot in responses.open_slots(session=session, limit=10):
            asked.append(slot.question_id)
            send(session, slot)
    assert len(asked) == len(set(asked)) == 4
    with pytest.raises(NothingLeft):
        arrive(study, session="s3")


def test_no_seat_left_starts_nothing_and_neither_does_somebody_who_was_blocked_or_has_finished() -> None:
    study = launch_study(instances=1, answers=2)
    make_annotator("eve", blocked=True)
    with pytest.raises(CannotTakePart):
        arrive(study, "eve")
    done = arrive_at_work(study, "ann", session="s1")
    # The other seat would repeat her question.
    assert seats.claim(session=done, now=NOON) is None
    send(done, next_slot(done))
    with pytest.raises(CannotTakePart, match="already taken part"):
        arrive(study, "ann", session="s2")
    arrive(study, "ben")
    with pytest.raises(NothingLeft):
        arrive(study, "cleo")
    assert (Session.objects.count(), Annotator.objects.count()) == (2, 3)


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
def test_nobody_starts_in_a_study_that_is_not_open_but_whoever_is_inside_goes_on(state: StudyState) -> None:
    study = launch_study(answers=2)
    inside = arrive_at_work(study, "ann")
    change_state(study=study, to=state, by=TESTS, now=NOON)
    with pytest.raises(CannotTakePart):
        arrive(study, "ben")
    assert send(inside, next_slot(inside)).stored
    assert arrive(study, "ann").pk == inside.pk


def test_giving_up_returns_the_seat_with_only_the_open_questions() -> None:
    study = launch_study(instances=3)
    first = arrive_at_work(study, "ann")
    answered = next_slot(first)
    send(first, answered)
    sessions.leave(session=first, to=SessionState.GIVEN_UP, now=NOON)
    second = arrive_at_work(study, "ben")
    assert second.questions_total == 2
    assert answered.pk not in [slot.pk for slot in responses.open_slots(session=second, limit=10)]
    assert fresh(answered).annotator == first.annotator


def test_nobody_lapses_within_the_limit_and_its_grace_and_the_seat_is_given_back_once() -> None:
    session = arrive_at_work(launch_study(time={"estimated_minutes": 30, "limit_minutes": 100}))
    send(session, next_slot(session))
    assert [expire(minutes) for minutes in (110, 110.1, 200)] == [0, 1, 0]
    assert fresh(session).state == SessionState.LAPSED
    assert Seat.objects.get().session is None


def expire(minutes: float) -> int:
    """End the sessions that are over so many minutes after noon; return how many lapsed."""
    return advance_session.expire(by=TESTS, now=NOON + timedelta(minutes=minutes))


def test_coming_back_after_a_lapse_goes_on_where_it_stopped() -> None:
    study = launch_study(instances=3)
    session = arrive_at_work(study)
    send(session, next_slot(session))
    advance_session.expire(by=TESTS, now=TOMORROW)
    back = arrive(study, now=TOMORROW)
    assert (back.state, back.questions_answered, back.questions_total) == (SessionState.WORKING, 1, 3)
    assert len(responses.open_slots(session=back, limit=10)) == 2


@pytest.mark.parametrize("meanwhile", ["taken", "blocked", "closed"])
def test_nobody_comes_back_after_a_lapse_once_the_seat_is_gone_or_they_may_not(meanwhile: str) -> None:
    study = launch_study()
    session = arrive_at_work(study)
    slot = next_slot(session)
    advance_session.expire(by=TESTS, now=TOMORROW)
    if meanwhile == "taken":
        arrive(study, "ben", now=TOMORROW)
    elif meanwhile == "blocked":
        Annotator.objects.update(blocked=True)
    else:
        change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=TOMORROW)
    assert arrive(study, now=TOMORROW).state == SessionState.LAPSED
    assert not sessions.record_open_page(session=fresh(session), now=NOON + timedelta(minutes=21))
    assert fresh(session).state == SessionState.LAPSED
    assert not Seat.objects.filter(session__annotator=session.annotator).exists()
    assert send(session, slot).late


def test_an_older_link_does_not_start_again_beside_the_newer_session() -> None:
    study = launch_study(instances=4, surveys={"size": 2})
    arrive_at_work(study, session="older")
    advance_session.expire(by=TESTS, now=TOMORROW)
    arrive_at_work(study, "ben", now=TOMORROW)
    newer = arrive_at_work(study, session="newer", now=TOMORROW)
    sessions.leave(
        session=Session.objects.get(annotator__id_digest=digest_of("ben")), to=SessionState.GIVEN_UP, now=TOMORROW
    )
    assert arrive(study, session="older", now=TOMORROW).state == SessionState.LAPSED
    assert fresh(newer).state == SessionState.WORKING


def test_the_database_refuses_the_same_question_twice_for_one_annotator_and_half_a_claim() -> None:
    study = launch_study(answers=2, instances=1)
    session = arrive(study)
    with pytest.raises(IntegrityError), transaction.atomic():
        Slot.objects.filter(seat__session=None).update(annotator=session.annotator)
    with pytest.raises(IntegrityError), transaction.atomic():
        Seat.objects.filter(session=None).update(claimed_at=NOON)


def test_a_pair_shares_a_double_seat_survey() -> None:
    study = launch_study(instances=4, surveys={"size": 2, "double_seats": 1})
    ann, ben = arrive(study, "ann"), arrive(study, "ben")
    assert ann.seat.survey == ben.seat.survey
    shared = Question.objects.filter(slots__seat=ann.seat)
    assert set(shared.values_list("answers_wanted", flat=True)) == {2}


def test_whoever_agrees_has_the_whole_time_of_the_study() -> None:
    session = arrive(launch_study(consent="Agree?", time={"estimated_minutes": 30, "limit_minutes": 100}))
    sessions.consent(session=session, agreed=True, now=NOON + timedelta(minutes=14))
    sessions.record_open_page(session=session, now=NOON + timedelta(minutes=122))
    # 14 minutes, 100 minutes and the grace of 10.
    assert [expire(minutes) for minutes in (124, 125)] == [0, 1]


def test_every_look_at_the_page_keeps_the_seat_up_to_the_limit_of_the_study() -> None:
    session = arrive(launch_study(consent="Agree?", time={"estimated_minutes": 1, "limit_minutes": 20}))
    for minutes in range(5, 31, 5):
        assert expire(minutes) == 0
        sessions.record_visit(session=session, now=NOON + timedelta(minutes=minutes))
    # 20 minutes and the grace of 10.
    assert session.lease_until == NOON + timedelta(minutes=30)
    assert expire(31) == 1
    # The first time is never longer than the study gives: 1 minute and the grace of 10.
    short = launch_study(
        study="short", recruitment={"prolific": False}, time={"estimated_minutes": 1, "limit_minutes": 1}
    )
    assert arrive(short).lease_until == NOON + timedelta(minutes=11)


@pytest.mark.parametrize("agreed", [False, True], ids=["before the consent", "at the first question"])
@pytest.mark.parametrize("signs", [0, 11])
def test_a_place_without_an_answer_is_free_once_its_page_gives_no_sign(agreed: bool, signs: int) -> None:
    study = launch_study(consent="Agree?")
    session = arrive_at_work(study) if agreed else arrive(study)
    for minute in range(1, signs + 1):
        assert expire(minute) == 0
        assert sessions.record_open_page(session=session, now=NOON + timedelta(minutes=minute))
    assert [expire(minutes) for minutes in (signs + 5, signs + 5.1)] == [0, 1]
    assert (fresh(session).state, Seat.objects.get().session) == (SessionState.LAPSED, None)


@pytest.mark.parametrize("by", ["a sign", "an answer"])
def test_a_place_lost_for_want_of_a_sign_comes_back_while_it_is_free(by: str, session: Session, slot: Slot) -> None:
    expire(20)
    assert fresh(session).state == SessionState.LAPSED
    # The device slept, and its page is open again.
    if by == "a sign":
        assert sessions.record_open_page(session=session, now=NOON + timedelta(minutes=20))
    else:
        receipt = send(session, slot)
        assert (receipt.stored, receipt.late) == (True, False)
    assert (fresh(session).state, Seat.objects.get().session) == (SessionState.WORKING, session)


def test_a_forgotten_page_keeps_no_place_beyond_the_time_of_the_study() -> None:
    session = arrive_at_work(launch_study(time={"estimated_minutes": 5, "limit_minutes": 20}))
    until = session.lease_until
    for minutes in (10, 20):
        # Asleep for more than five minutes, then awake.
        expire(minutes)
        assert sessions.record_open_page(session=fresh(session), now=NOON + timedelta(minutes=minutes))
        assert fresh(session).lease_until == until
    later = until + timedelta(seconds=1)
    assert advance_session.expire(by=TESTS, now=later) == 1
    assert not sessions.record_open_page(session=fresh(session), now=later)
    assert session.state == SessionState.LAPSED


def test_the_page_gives_signs_until_the_first_answer(client: Client, session: Session) -> None:
    page = f"/s/{session.token}/"
    assert f'data-here="{page}here/"' in client.get(page).content.decode()
    assert client.post(f"{page}here/").json() == {"again": True}
    send(session, next_slot(session))
    assert "data-here" not in client.get(page).content.decode()
    assert client.post(f"{page}here/").json() == {"again": False}


def test_a_session_of_the_version_before_keeps_the_time_it_was_given() -> None:
    session = arrive(launch_study(consent="Agree?"))
    session.lease_until = NOON + timedelta(minutes=130)
    session.save()
    sessions.record_visit(session=session, now=NOON + timedelta(minutes=1))
    assert fresh(session).lease_until == NOON + timedelta(minutes=130)


def test_whoever_has_taken_part_since_does_not_go_on_in_a_session_that_lapsed() -> None:
    study = launch_study(instances=1, answers=2)
    lapsed = arrive_at_work(study, session="older")
    advance_session.expire(by=TESTS, now=TOMORROW)
    arrive(study, "ben", now=TOMORROW)
    done = arrive_at_work(study, session="newer", now=TOMORROW)
    send(done, next_slot(done))
    sessions.leave(
        session=Session.objects.get(annotator__id_digest=digest_of("ben")), to=SessionState.GIVEN_UP, now=TOMORROW
    )
    assert arrive(study, session="older", now=TOMORROW).pk == lapsed.pk
    assert fresh(lapsed).state == SessionState.LAPSED
    assert not sessions.can_revive(session=lapsed, now=NOON)


@pytest.mark.parametrize("code", ["40P01", "57014"])
def test_only_an_arrival_that_was_ended_for_a_deadlock_tries_again(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study, begin, ended = launch_study(), sessions._start, list[str]()

    class Ended(Exception):
        sqlstate = code

    def end_the_first(**told: Any) -> Session:
        if not ended:
            ended.append(code)
            raise OperationalError from Ended()
        return begin(**told)

    monkeypatch.setattr(sessions, "_start", end_the_first)
    if code == "40P01":
        assert arrive(study) == Session.objects.get()
    else:
        with pytest.raises(OperationalError):
            arrive(study)
