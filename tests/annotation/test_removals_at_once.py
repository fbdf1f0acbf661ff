"""A removal at the same moment as an answer, an arrival, a draw or the last answer of somebody else."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.removing.removals import CannotRemove, RemovalEffects
from annotation.errors import AnnotationError
from annotation.models import Decision, Removal, Response, Seat, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import Project, Question
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study
from tests.removing import REMOVED, exclude, include, person, reopen, withdraw
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
ATTEMPTS = range(5)


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize(("remove", "why"), [(withdraw, "withdrawn"), (exclude, "excluded")])
def test_an_answer_that_arrives_while_its_person_is_taken_out_is_marked_or_not_kept(
    remove: Callable[[Project, str], RemovalEffects], why: str, attempt: int
) -> None:
    study = launch_study(instances=5)
    session = arrive_at_work(study, "ann")
    slots = responses.open_slots(session=session, limit=4)
    send(session, slots[0], now=REMOVED)
    answers = [lambda slot=slot: send(session, slot, now=REMOVED) for slot in slots[1:]]
    at_once(answers[0], lambda: remove(study.project, "ann"), *answers[1:])
    assert set(Response.objects.values_list("left_out", flat=True)) == {why}
    assert not Response.objects.counted().exists()
    assert set(Decision.objects.values_list("answers", "state")) == {(0, "undecided")}
    assert not Session.objects.filter(state__in=OPEN_STATES).exists()
    assert not Seat.objects.filter(session__isnull=False).exists()
    open_slots = Slot.objects.filter(annotator=None, answered_at=None).count()
    assert open_slots + Response.objects.filter(slot__isnull=False).count() == 5


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_whoever_arrives_while_they_are_taken_out_has_no_open_session_afterwards(attempt: int) -> None:
    study = launch_study(instances=1, answers=2)
    other = launch_study(study.project, study="other")
    answer_all(arrive_at_work(study, "ann"), "none")
    lapsing = arrive_at_work(other, "ann", session="lapsing")
    advance_session.expire(by=TESTS, now=NOON + timedelta(days=1))

    def come(session: str) -> None:
        with suppress(AnnotationError):
            arrive(other, "ann", session=session)

    def leave() -> RemovalEffects:
        return withdraw(study.project, "ann")

    at_once(lambda: come("new"), leave, lambda: come("lapsing"), leave)
    assert not Session.objects.filter(state__in=OPEN_STATES).exists()
    assert Removal.objects.count() == 1
    assert fresh(lapsing).state in {SessionState.WITHDRAWN, SessionState.SUPERSEDED}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_is_drawn_while_its_acceptance_is_undone_is_undone_too(attempt: int) -> None:
    project = make_pipeline_project(2)
    step_3, step_4 = launch_study(project, instances=2), make_step_4(project)
    answer_all(arrive_at_work(step_3, "ann"), "candidate-1")

    def come() -> None:
        with suppress(AnnotationError):
            arrive(step_4, "ben")

    at_once(come, lambda: withdraw(project, "ann"))
    assert not Question.objects.filter(study=step_4, undone_at=None).exists()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_slots_opened_while_somebody_sends_their_last_answer_are_on_offer_afterwards(attempt: int) -> None:
    study = launch_study(instances=2)
    ann = arrive_at_work(study, "ann")
    send(ann, next_slot(ann), "1")
    sessions.leave(session=ann, to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(study, "ben")
    last = next_slot(ben)
    exclude(study.project, "ann")
    at_once(lambda: send(ben, last, now=REMOVED), lambda: reopen(study.project, "ann"))
    assert arrive(study, "cleo").questions_total == 1


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_slot_goes_to_who_arrives_or_back_to_who_is_let_back_and_never_to_both(attempt: int) -> None:
    study = launch_study(instances=1)
    answer_all(arrive_at_work(study, "ann"), "none")
    exclude(study.project, "ann")
    reopen(study.project, "ann")

    def come() -> bool:
        try:
            return bool(arrive(study, "ben").questions_total)
        except AnnotationError:
            return False

    came, followed = at_once(come, lambda: include(study.project, "ann"))
    assert (came, followed.answers, followed.without_place) in {(True, 0, 1), (False, 1, 0)}
    assert Slot.objects.get().annotator == person("ben" if came else "ann")


def test_two_researchers_at_once_exclude_once() -> None:
    study = launch_study(instances=2)
    answer_all(arrive_at_work(study, "ann"), "none")

    def let_back() -> int:
        try:
            return include(study.project, "ann").answers
        except CannotRemove:
            return 0

    assert sorted(at_once(*[lambda: exclude(study.project, "ann").answers] * 4)) == [0, 0, 0, 2]
    assert sorted(at_once(*[let_back] * 4)) == [0, 0, 0, 2]
