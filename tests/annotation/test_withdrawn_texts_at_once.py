"""The author of a text withdraws at the same moment as somebody answers, looks, arrives or changes an answer."""

from contextlib import suppress

import pytest

from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import SubmissionResult
from annotation.errors import AnnotationError
from annotation.models import Response, Seat, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import Study
from tests.annotation.test_live_sessions import write
from tests.annotation.test_lobby import make_roles
from tests.annotation.test_responses import send
from tests.factories import NOON, arrive, arrive_at_work, fresh
from tests.removing import withdraw
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
AUTHORS = ("ann", "cleo", "dora")


def look(session: Session) -> None:
    advance_session.advance(session=Session.objects.get(pk=session.pk), now=NOON)


def check(study: Study, receipts: list[SubmissionResult]) -> None:
    """Every answer that was taken is stored once, and nobody holds what nobody may answer."""
    assert all(receipt.stored for receipt in receipts)
    kept = Response.objects.filter(study=study, is_current=True)
    assert kept.count() == len(receipts)
    slots = Slot.objects.filter(question__study=study)
    assert kept.filter(slot__isnull=False).count() == slots.filter(answered_at__isnull=False).count()
    assert not slots.filter(question__undone_at__isnull=False, annotator__isnull=False, answered_at=None).exists()
    for session in Session.objects.filter(study=study):
        assert session.questions_answered == kept.filter(session=session, slot__isnull=False).count()
        if session.state in OPEN_STATES:
            held = slots.filter(seat__session=session, annotator=session.annotator, answered_at=None).count()
            assert session.questions_total - session.questions_answered == held
    assert not Seat.objects.filter(study=study, filled_at=None, session__ended_at__isnull=False).exists()


@pytest.mark.parametrize("attempt", range(6))
def test_an_answer_to_the_only_question_of_a_sitting_is_kept_and_counted(attempt: int) -> None:
    describe, study = make_roles(sets=5)
    write(describe, "ann")
    session = arrive_at_work(study, "ben")
    (slot,) = responses.open_slots(session=session, limit=1)
    _, receipt, _ = at_once(lambda: withdraw(study.project, "ann"), lambda: send(session, slot), lambda: look(session))
    check(study, [receipt])
    # Either way its slot was there for it: the sitting is open until its annotator finishes.
    assert Response.objects.counted_in(study).count() == 1
    assert fresh(session).state == SessionState.WAITING


@pytest.mark.parametrize("attempt", range(6))
def test_two_tabs_several_texts_and_two_authors_at_once(attempt: int) -> None:
    describe, study = make_roles(sets=6, find={"surveys": {"size": 3}})
    write(describe, *AUTHORS)
    session = arrive_at_work(study, "ben")
    slots = responses.open_slots(session=session, limit=3)
    assert len(slots) == 3
    done = at_once(
        lambda: send(session, slots[0]),
        lambda: withdraw(study.project, "ann"),
        lambda: send(session, slots[1]),
        lambda: withdraw(study.project, "dora"),
        lambda: send(session, slots[2]),
        lambda: look(session),
    )
    check(study, [done[0], done[2], done[4]])


@pytest.mark.parametrize("attempt", range(6))
def test_whoever_arrives_while_an_author_withdraws_gets_what_may_be_asked_or_waits(attempt: int) -> None:
    describe, study = make_roles(sets=6, find={"answers": 2, "max_answers": 2})
    write(describe, "ann", "cleo")
    session = arrive_at_work(study, "ben")
    (slot,) = responses.open_slots(session=session, limit=1)

    def come(name: str) -> None:
        with suppress(AnnotationError):
            advance_session.begin(session=arrive(study, name), part=0, now=NOON)

    done = at_once(
        lambda: come("eve"), lambda: withdraw(study.project, "ann"), lambda: send(session, slot), lambda: come("finn")
    )
    assert done[2].stored
    # Whoever was given it in that very moment is led on by the next look at their page.
    for other in Session.objects.filter(study=study, state=SessionState.WORKING):
        assert responses.open_slots(session=other, limit=1) or other.questions_answered == other.questions_total


@pytest.mark.parametrize("attempt", range(6))
def test_a_changed_answer_stands_whether_it_came_before_or_after(attempt: int) -> None:
    describe, study = make_roles(sets=5, find={"surveys": {"size": 2}})
    write(describe, "ann", "cleo")
    session = arrive_at_work(study, "ben")
    slot = responses.open_slots(session=session, limit=2)[0]
    send(session, slot)
    at_once(
        lambda: send(session, slot, "2", replaces=1),
        lambda: withdraw(study.project, "ann"),
        lambda: withdraw(study.project, "cleo"),
    )
    assert Response.objects.filter(study=study, is_current=True).get().version == 2
    assert Response.objects.counted_in(study).count() == 1
