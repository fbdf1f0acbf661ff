"""What happens at the same moment: one link opened many times, a page and an answer of one session, two launches."""

import uuid
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from django.conf import LazySettings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses, skip_question
from annotation.actions.ending import platform_outcome
from annotation.actions.launching.launch import launch
from annotation.errors import NetworkFull, NothingLeft, NotYourQuestion, OtherPerson
from annotation.models import Annotator, Response, Seat, Session, SessionState, Skip, Slot
from annotation.recruitment.base import Entry
from annotation.recruitment.invite import named_entry
from studies.actions.images import rendition_name
from studies.errors import StudyError
from studies.models import CompletionCode, Image, Study, Survey
from tests.annotation.test_practice import RIGHT, study_with_practice
from tests.annotation.test_practice import answer as answer_practice
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, create_draft, fresh, launch_study
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
TOMORROW = NOON + timedelta(days=1)


@pytest.mark.parametrize("name", ["", "ann"])
def test_the_same_link_opened_many_times_at_once_is_one_session(name: str) -> None:
    study = launch_study(answers=3)
    entry = named_entry(name) if name else Entry("prolific", "ann", "session")
    found = at_once(*[lambda: sessions.start(study=study, entry=entry, now=NOON).pk] * 12)
    assert len(set(found)) == 1
    assert (Session.objects.count(), Annotator.objects.count()) == (1, 1)
    assert Seat.objects.filter(session__isnull=False).count() == 1


def test_new_submissions_of_one_person_at_once_leave_one_session_open() -> None:
    study = launch_study(answers=3)
    at_once(*[lambda name=name: arrive(study, session=name) for name in "abcd"])
    assert Session.objects.filter(ended_at=None).count() == 1
    assert Session.objects.filter(state=SessionState.SUPERSEDED).count() == 3
    assert Seat.objects.filter(session__isnull=False).count() == 1


def test_the_link_of_one_session_opened_by_two_people_at_once_belongs_to_one() -> None:
    study = launch_study(answers=3)

    def come(person: str) -> bool:
        try:
            return bool(arrive(study, person, session="shared"))
        except OtherPerson:
            return False

    assert sum(at_once(*[lambda person=person: come(person) for person in "abcd"])) == 1
    assert Session.objects.count() == 1


def test_many_newcomers_of_one_network_at_once_hold_its_share_and_no_more(settings: LazySettings) -> None:
    settings.PLACES_PER_NETWORK = 10
    study = launch_study(answers=30)

    def come(number: int) -> bool:
        entry = Entry(provider="prolific", person=f"p{number}", session_id=f"s{number}", study_id="study")
        try:
            return bool(sessions.start(study=study, entry=entry, now=NOON, network="198.51.100.9"))
        except NetworkFull:
            return False

    assert sum(at_once(*[lambda number=number: come(number) for number in range(20)])) == 5
    assert Session.objects.count() == 5


@pytest.mark.parametrize("attempt", range(5))
def test_a_page_and_an_answer_that_come_back_together_both_find_the_session_at_work(attempt: int) -> None:
    session = arrive_at_work(launch_study(instances=3))
    slot, submission = next_slot(session), uuid.uuid4()
    advance_session.expire(by="timetable", now=TOMORROW)

    def look() -> str:
        known = Session.objects.select_related("study", "last_seat").get(pk=session.pk)
        return sessions.resume(session=known, now=TOMORROW).state

    def answer() -> str:
        return send(session, slot, submission=submission, now=TOMORROW).state

    assert set(at_once(look, answer, look, answer)) == {SessionState.WORKING}
    assert Response.objects.get().slot_id == slot.pk


@pytest.mark.parametrize("attempt", range(5))
def test_a_late_answer_that_comes_with_a_new_arrival_is_never_in_its_way(attempt: int) -> None:
    study = launch_study(instances=1, answers=2)
    older = arrive_at_work(study, "ann", session="older")
    slot = next_slot(older)
    sessions.leave(session=older, to=SessionState.GIVEN_UP, now=NOON)
    arrive_at_work(study, "ben")

    def come_back() -> bool:
        try:
            newer = arrive_at_work(study, "ann", session="newer")
        except NothingLeft:
            # The late answer was first, and nobody is asked the same twice.
            return Response.objects.filter(session=older).exists()
        return send(newer, next_slot(newer), "2").state == SessionState.FINISHED

    came_back, _ = at_once(come_back, lambda: send(older, slot))
    assert came_back


def test_the_last_answer_sent_twice_at_once_finishes_once() -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    receipts = at_once(*[lambda value=value: send(session, slot, value) for value in "1234"])
    assert sorted(receipt.first_kept for receipt in receipts) == [False, True, True, True]
    assert {receipt.state for receipt in receipts} == {SessionState.FINISHED}
    assert Response.objects.count() == 1


def test_of_two_launches_at_once_one_is_refused() -> None:
    draft = create_draft(instances=3, surveys={"size": 1})

    def try_to_launch() -> bool:
        with suppress(StudyError):
            launch(study=Study.objects.get(pk=draft.pk), by=TESTS, now=NOON)
            return True
        return False

    assert sorted(at_once(try_to_launch, try_to_launch)) == [False, True]
    assert (Survey.objects.count(), Seat.objects.count()) == (3, 3)


def test_skips_and_an_answer_of_one_question_at_once_are_one_of_the_two() -> None:
    session = arrive_at_work(launch_study(instances=3))
    slot = next_slot(session)
    skip = partial(skip_question.skip, session=session, slot=slot.pk, failed_loads={}, now=NOON)
    found = at_once(*[skip] * 4, lambda: send(session, slot))
    skipped = Skip.objects.count()
    assert skipped + Response.objects.count() == 1
    assert found[-1].skipped == bool(skipped)
    assert (fresh(session).questions_total, session.questions_answered) == (3 - skipped, 1 - skipped)


def test_sessions_that_end_at_once_in_a_study_without_a_code_are_told_the_same_one_and_always() -> None:
    study = launch_study(answers=6)
    ended = [arrive(study, person) for person in "abcdef"]
    CompletionCode.objects.filter(outcome="left_out").delete()
    Session.objects.update(state=SessionState.LEFT_OUT, ended_at=NOON)
    show = [partial(platform_outcome.show_completion_code, session=fresh(session), now=NOON) for session in ended]
    codes = {*at_once(*show), show[0]()}
    assert codes == {CompletionCode.objects.get(outcome="left_out").code}
    assert not codes & set(CompletionCode.objects.exclude(outcome="left_out").values_list("code", flat=True))


def test_two_answers_to_the_last_practice_questions_at_once_end_the_round_once() -> None:
    study = study_with_practice(rounds=1)
    session = arrive_at_work(study)
    at_once(*[partial(answer_practice, session, question, RIGHT) for question in study.practice_questions.all()])
    assert fresh(session).state == SessionState.WORKING


def test_skips_at_once_are_counted_one_after_the_other() -> None:
    session = arrive_at_work(launch_study(instances=8))
    for image in Image.objects.all():
        default_storage.save(rendition_name(image.sha256, "card"), ContentFile(b"a picture"))
    slots = responses.open_slots(session=session, limit=6)

    def skip(slot: Slot) -> None:
        with suppress(NotYourQuestion):
            skip_question.skip(session=session, slot=slot.pk, failed_loads={"1": 9}, now=NOON)

    at_once(*[lambda slot=slot: skip(slot) for slot in slots])
    assert (fresh(session).state, Skip.objects.count()) == (SessionState.LEFT_OUT, 4)
