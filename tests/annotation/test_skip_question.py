"""Going on without a question whose images cannot be shown, and what becomes of the question."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses, skip_allowance, skip_question
from annotation.errors import CannotSkip, CannotTakePart, NothingLeft, NotYourQuestion
from annotation.models import Decision, PracticeAnswer, Response, Seat, Session, SessionState, Skip, Slot
from studies.actions.images import rendition_name
from studies.models import PracticeQuestion, Question, Study
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, arrive, arrive_at_work, fresh, launch_study, make_instance, make_project

pytestmark = pytest.mark.django_db


def pictures(question: Question | PracticeQuestion) -> list[str]:
    return [option["image"] for option in question.content["options"]]


def put_back(*images: str) -> None:
    for image in images:
        # The pictures of the cast are so small that all sizes are this one.
        default_storage.save(rendition_name(image, "card"), ContentFile(b"a picture"))


def with_files(**design: Any) -> Study:
    """Return an open study whose images can all be shown."""
    study = launch_study(**design)
    for question in study.questions.all():
        put_back(*pictures(question))
    return study


def lose(question: Question, option: int = 0) -> str:
    """Delete the file of one image of `question`; return the image."""
    image = pictures(question)[option]
    default_storage.delete(rendition_name(image, "card"))
    return image


def skip(session: Session, slot: Slot, **failed_loads: int) -> None:
    counted = {value.removeprefix("option_"): times for value, times in failed_loads.items()}
    skip_question.skip(session=session, slot=slot.pk, failed_loads=counted, now=NOON)


def skip_all(session: Session, slots: Sequence[Slot]) -> None:
    """Skip `slots` without proof: only the page says that their images do not load."""
    for slot in slots:
        skip(session, slot, option_1=9)


def send_all(session: Session) -> None:
    for slot in responses.open_slots(session=session, limit=9):
        send(session, slot)


def test_a_question_whose_file_is_missing_is_skipped_and_recorded_once() -> None:
    session = arrive_at_work(with_files(instances=3))
    slot = next_slot(session)
    image = lose(slot.question, option=2)
    skip(session, slot)
    # Even if the image has come back.
    put_back(image)
    skip(session, slot)
    skipped = Skip.objects.get()
    assert (skipped.session, skipped.annotator, skipped.question) == (session, session.annotator, slot.question)
    assert (skipped.at, skipped.file_missing) == (NOON, True)
    assert skipped.images == [{"option": "candidate-2", "image": image, "failed_loads": 0, "missing": True}]
    assert (fresh(session).questions_answered, session.questions_total, session.state) == (0, 2, SessionState.WORKING)
    assert slot.question_id not in [left.question_id for left in responses.open_slots(session=session, limit=9)]
    # An answer to it is not needed any more.
    receipt = send(session, slot)
    assert (receipt.skipped, receipt.answered, receipt.total) == (True, 0, 2)
    assert Response.objects.count() == 0
    twin = Skip.objects.get()
    twin.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        twin.save(force_insert=True)
    # And an answered question is not skipped.
    answered = next_slot(session)
    lose(answered.question)
    send(session, answered)
    skip(session, answered)
    assert (fresh(session).questions_answered, session.questions_total, Skip.objects.count()) == (1, 2, 1)


def test_a_question_that_the_page_could_not_load_is_skipped_though_the_server_has_its_files() -> None:
    session = arrive_at_work(with_files())
    slot = next_slot(session)
    shown = responses.order_for(session=session, question=slot.question)
    skip(session, slot, option_3=5, option_1=2)
    skipped = Skip.objects.get()
    assert not skipped.file_missing
    (image,) = skipped.images
    assert (image["option"], image["failed_loads"], image["missing"]) == (shown[2], 5, False)


def test_a_question_that_can_be_shown_cannot_be_skipped() -> None:
    session = arrive_at_work(with_files())
    for failed_loads in ({}, {"option_1": 4, "option_2": 4}, {"option_9": 50}, {"image": 50}):
        with pytest.raises(CannotSkip, match="available"):
            skip(session, next_slot(session), **failed_loads)
    assert fresh(session).questions_total == 4
    assert Skip.objects.count() == 0


def test_the_picture_that_a_question_is_about_counts_too() -> None:
    make_instance(make_project(), "one", candidates=1)
    roles = {"images": ["candidate"], "captions": ["negative_caption", "caption"]}
    session = arrive_at_work(launch_study(instances=1, kind="image_to_text", ask=roles))
    slot = next_slot(session)
    put_back(slot.question.content["image"]["image"])
    with pytest.raises(CannotSkip):
        skip(session, slot, image=4)
    skip(session, slot, image=5)
    assert Skip.objects.get().images[0]["option"] == "image"


def test_the_question_of_somebody_else_cannot_be_skipped() -> None:
    study = with_files(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    lose(study.questions.all()[0])
    for slot in (next_slot(ann).pk, 987654321):
        with pytest.raises(NotYourQuestion):
            skip_question.skip(session=ben, slot=slot, failed_loads={}, now=NOON)
    assert Skip.objects.count() == 0


@pytest.mark.parametrize("last", ["answered", "skipped"])
def test_a_session_finishes_without_what_it_skipped_and_leaves_the_seat_to_somebody_else(last: str) -> None:
    study = with_files(instances=2)
    session = arrive_at_work(study)
    first, second = responses.open_slots(session=session, limit=2)
    broken, fine = (first, second) if last == "answered" else (second, first)
    image = lose(broken.question)
    if last == "answered":
        skip(session, broken)
        assert send(session, fine).state == SessionState.FINISHED
    else:
        send(session, fine)
        skip(session, broken)
    session.refresh_from_db()
    assert (session.state, session.questions_answered, session.questions_total) == (SessionState.FINISHED, 1, 1)
    seat = Seat.objects.get()
    assert (seat.session, seat.filled_at) == (None, None)
    put_back(image)
    other = arrive_at_work(study, "ben")
    assert [slot.pk for slot in responses.open_slots(session=other, limit=9)] == [broken.pk]
    assert send(other, broken).state == SessionState.FINISHED
    assert Seat.objects.get().filled_at == NOON
    assert sorted(Response.objects.values_list("slot", flat=True)) == sorted([first.pk, second.pk])
    assert set(Decision.objects.values_list("answers", flat=True)) == {1}


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_session_that_answered_nothing_is_for_a_researcher_to_look_at(is_lost: bool) -> None:
    session = arrive_at_work(with_files(instances=1))
    slot = next_slot(session)
    if is_lost:
        lose(slot.question)
    skip(session, slot, option_1=9)
    assert (fresh(session).state, session.questions_total) == (SessionState.LEFT_OUT, 0)
    assert Seat.objects.get().session is None


def test_nobody_gets_a_question_while_its_file_is_missing() -> None:
    study = with_files(instances=3)
    session = arrive_at_work(study)
    slot = next_slot(session)
    image = lose(slot.question)
    skip(session, slot)
    sessions.leave(session=session, to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(study, "ben")
    assert ben.questions_total == 2
    send_all(ben)
    assert fresh(ben).state == SessionState.FINISHED
    with pytest.raises(NothingLeft):
        arrive(study, "eve")
    put_back(image)
    assert arrive(study, "eve").questions_total == 1


def test_the_same_annotator_never_gets_a_skipped_question_again() -> None:
    study = with_files(instances=2, recruitment={"sessions_per_annotator": 0})
    session = arrive_at_work(study, session="s1")
    slot, other = responses.open_slots(session=session, limit=2)
    skip(session, slot, option_1=9)
    again = arrive_at_work(study, session="s2")
    assert [left.pk for left in responses.open_slots(session=again, limit=9)] == [other.pk]
    assert again.questions_total == 1
    send(again, other)
    with pytest.raises(NothingLeft):
        arrive(study, session="s3")
    assert arrive(study, "ben").questions_total == 1


def test_whoever_skipped_and_lapsed_comes_back_to_the_rest() -> None:
    study = with_files(instances=3)
    session = arrive_at_work(study)
    skip(session, next_slot(session), option_1=9)
    send(session, next_slot(session))
    advance_session.expire(by="timetable", now=NOON + timedelta(days=1))
    back = arrive(study, now=NOON + timedelta(days=1))
    assert (back.state, back.questions_answered, back.questions_total) == (SessionState.WORKING, 1, 2)
    assert send(back, next_slot(back)).state == SessionState.FINISHED


def test_one_of_a_pair_who_skips_leaves_the_question_to_a_third() -> None:
    study = with_files(instances=2, answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    skip(ann, next_slot(ann), option_1=9)
    send_all(ann)
    send_all(ben)
    assert Session.objects.filter(state=SessionState.FINISHED).count() == 2
    third = arrive_at_work(study, "eve")
    assert third.questions_total == 1
    send_all(third)
    assert set(Decision.objects.values_list("answers", flat=True)) == {2}
    assert not Slot.objects.filter(answered_at=None).exists()


@pytest.mark.parametrize(("missing", "who"), [(False, "ann"), (True, "eve")])
def test_an_undecided_question_that_cannot_be_asked_does_not_hold_up_the_others(missing: bool, who: str) -> None:
    project = make_pipeline_project(2)
    step_3 = launch_study(project, instances=2)
    one_by_one = {"answers": 2, "max_answers": 3, "surveys": {"size": 1}}
    step_4 = make_step_4(project, recruitment={"sessions_per_annotator": 0}, **one_by_one)
    feeder = arrive_at_work(step_3, "feeder")
    send(feeder, next_slot(feeder))
    ann = arrive_at_work(step_4, "ann")
    slot = next_slot(ann)
    put_back(*pictures(slot.question)[missing:])
    skip(ann, slot, option_1=9)
    put_back(*pictures(slot.question))
    for person, choice in (("ben", "original"), ("cleo", "generated")):
        answer_all(arrive_at_work(step_4, person), choice)
    if missing:
        lose(slot.question)
    send(feeder, next_slot(feeder))
    assert arrive(step_4, who, session="later").questions_total == 1
    assert step_4.questions.count() == 2


def practising(**practice: Any) -> Session:
    project = make_project()
    for key in ("trial-1", "trial-2"):
        make_instance(project, key)
    asked = [{"instance": key, "right": "candidate-1"} for key in ("trial-1", "trial-2")]
    return arrive_at_work(launch_study(project, practice={"questions": asked, "pass": 2, "rounds": 1} | practice))


def test_a_practice_question_whose_file_is_missing_stands_in_nobodys_way() -> None:
    session = practising()
    for question in session.study.practice_questions.all():
        skip_question.skip_practice(session=session, question=question.pk, failed_loads={}, now=NOON)
    assert fresh(session).state == SessionState.WORKING
    assert set(PracticeAnswer.objects.values_list("choice", "is_right")) == {("", False)}


def test_a_practice_question_that_can_be_shown_cannot_be_skipped_and_one_that_does_not_load_ends_it() -> None:
    session = practising()
    question = session.study.practice_questions.all()[0]
    put_back(*pictures(question))
    for pk, loads, error in ((question.pk, 4, CannotSkip), (987654321, 9, NotYourQuestion)):
        with pytest.raises(error):
            skip_question.skip_practice(session=session, question=pk, failed_loads={"1": loads}, now=NOON)
    # Neither passed nor failed.
    skip_question.skip_practice(session=session, question=question.pk, failed_loads={"1": 5}, now=NOON)
    assert fresh(session).state == SessionState.LEFT_OUT
    assert PracticeAnswer.objects.count() == 0
    assert Seat.objects.get().session is None


def test_skipping_everything_without_proof_ends_early_and_gives_all_of_it_back() -> None:
    study = with_files(instances=8)
    session = arrive_at_work(study)
    skip_all(session, responses.open_slots(session=session, limit=4))
    assert (fresh(session).state, Skip.objects.count()) == (SessionState.LEFT_OUT, 4)
    seat = Seat.objects.get()
    assert (seat.session, seat.filled_at) == (None, None)
    assert arrive(study, "ben").questions_total == 8
    with pytest.raises(CannotTakePart, match="already taken part"):
        arrive(study, session="again")


@pytest.mark.parametrize(("given", "allowed"), [(10, 3), (79, 3), (80, 4), (100, 5)])
def test_three_questions_or_five_in_a_hundred_may_be_left_out_without_proof(given: int, allowed: int) -> None:
    session = arrive(launch_study(instances=1))
    session.questions_total = given
    assert skip_allowance.remaining(session=session) == allowed


def test_whoever_leaves_out_a_few_and_answers_the_rest_has_finished_and_missing_files_count_against_nobody() -> None:
    session = arrive_at_work(with_files(instances=11))
    for slot in responses.open_slots(session=session, limit=5):
        lose(slot.question)
        skip(session, slot)
    skip_all(session, responses.open_slots(session=session, limit=3))
    assert fresh(session).state == SessionState.WORKING
    send_all(session)
    assert fresh(session).state == SessionState.FINISHED


@pytest.mark.parametrize("last", ["answered", "skipped"])
def test_whoever_leaves_out_more_than_they_answer_has_not_finished(last: str) -> None:
    session = arrive_at_work(with_files(instances=3))
    slots = responses.open_slots(session=session, limit=3)
    answered = slots.pop(2 if last == "answered" else 0)
    if last == "skipped":
        send(session, answered)
    skip_all(session, slots)
    if last == "answered":
        assert send(session, answered).state == SessionState.LEFT_OUT
    assert fresh(session).state == SessionState.LEFT_OUT
    assert Response.objects.counted().count() == 1


def test_coming_back_under_a_new_submission_starts_no_new_count() -> None:
    study = with_files(instances=9)
    session = arrive_at_work(study, session="s0")
    skip_all(session, responses.open_slots(session=session, limit=3))
    again = arrive_at_work(study, session="s1")
    skip(again, next_slot(again), option_1=9)
    assert fresh(again).state == SessionState.LEFT_OUT


def test_a_survey_that_was_finished_does_not_count_against_the_next() -> None:
    study = with_files(instances=12, surveys={"size": 6}, recruitment={"sessions_per_annotator": 0})
    for number in range(2):
        session = arrive_at_work(study, session=f"s{number}")
        skip_all(session, responses.open_slots(session=session, limit=3))
        send_all(session)
        assert fresh(session).state == SessionState.FINISHED
