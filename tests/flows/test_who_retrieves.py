"""Who looks for an image is nobody who wrote about it, or saw which one was meant."""

import uuid

import pytest

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.answering.skip_question import leave_out
from annotation.errors import AnnotationError, NothingLeft
from annotation.models import Decision, Response, SessionState, Slot
from background.sealed_secrets import unseal
from studies.models import Question
from tests.factories import NOON, arrive, arrive_at_work, redesign
from tests.flows.retrieving import (
    choose,
    find_study,
    keys_of,
    project_of,
    send,
    states_of,
    write_everything,
    write_study,
)
from tests.together import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("writing_is_made_up")]


def test_a_place_that_was_opened_for_others_or_given_back_by_them_is_not_the_authors() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project, surveys={"size": 1})
    find = find_study(project, selection={"from": "write"}, answers=2, surveys={"size": 100})
    for author in ("ann", "ben"):
        send(arrive_at_work(write, author), text=f"What {author} wrote.")
    # Two seats are drawn, with both descriptions each.
    first = arrive_at_work(find, "cleo")
    assert first.questions_total == 2
    sessions.leave(session=first, to=SessionState.GIVEN_UP, now=NOON)
    for author, other in (("ann", "ben"), ("ben", "ann")):
        (slot,) = responses.open_slots(session=arrive_at_work(find, author), limit=9)
        assert slot.question.source == {"text": f"What {other} wrote.", "target": 2}
    # What they left is together in one seat, and nobody has to wait for them.
    assert arrive_at_work(find, "dora").questions_total == 2
    assert Slot.objects.filter(question__study=find).count() == 4


def test_nobody_finds_an_image_in_a_set_that_they_described_though_the_study_file_does_not_say_so() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project, surveys={"size": 1}, answers=2)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 100})
    first = arrive_at_work(write, "ann")
    (described,) = keys_of(first)
    send(first, text="What ann wrote.")
    for turn in range(3):
        send(arrive_at_work(write, f"person-{turn}"), text=f"What person {turn} wrote.")
    assert described not in keys_of(arrive_at_work(find, "ann"))
    assert Question.objects.filter(study=find, instance__key=described).count() == 0


def test_who_looked_at_what_is_described_and_gave_up_does_not_look_for_it() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project, recruitment={"sessions_per_annotator": 0})
    find = find_study(project, selection={"from": "write"}, answers=2, surveys={"size": 100})
    sessions.leave(session=arrive_at_work(write, "eve"), to=SessionState.GIVEN_UP, now=NOON)
    # Who has read the consent page and the instructions has seen nothing yet.
    unseen = arrive(write, "dora")
    sessions.leave(session=unseen, to=SessionState.GIVEN_UP, now=NOON)
    write_everything(write, "ann")
    with pytest.raises(NothingLeft) as error:
        arrive_at_work(find, "eve")
    assert error.value.rule == "not_same_instance"
    assert keys_of(arrive_at_work(find, "dora")) == ["kitchen", "street"]


def test_who_went_on_without_a_question_does_not_look_for_its_image() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 100})
    eve = arrive_at_work(write, "eve")
    slot = responses.open_slots(session=eve, limit=1)[0]
    leave_out(session=eve, slot=slot, images=[], now=NOON)
    send(eve, text="What eve wrote.")
    write_everything(write, "ann")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "eve")


def test_who_has_a_description_before_them_is_not_shown_its_image_as_somebody_who_describes() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project, surveys={"size": 1}, answers=2)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 1})
    send(arrive_at_work(write, "ann"), text="What ann wrote.")
    finding = arrive_at_work(find, "eve")
    (key,) = keys_of(finding)
    writing = arrive_at_work(write, "eve")
    assert keys_of(writing) == [{"kitchen": "street", "street": "kitchen"}[key]]
    # Once she has found it she may describe the set herself.
    choose(finding, place=2)
    send(writing, text="What eve wrote.")
    redesign(write, recruitment=write.design.recruitment.model_copy(update={"sessions_per_annotator": 0}))
    assert keys_of(arrive_at_work(write, "eve", session="again")) == [key]


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_whoever_comes_while_places_are_being_opened_gets_one_of_them() -> None:
    project = project_of(*(f"room-{number}" for number in range(6)))
    write = write_study(project, surveys={"size": 6})
    find = find_study(project, selection={"from": "write"}, answers=4, surveys={"size": 6})
    write_everything(write, "author")
    arrived = at_once(*[lambda number=number: arrive(find, f"person-{number}") for number in range(4)])
    assert [session.questions_total for session in arrived] == [6, 6, 6, 6]


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("finders", [0, 1, 2])
def test_sixteen_who_come_at_once_give_no_answer_too_many_and_the_author_gives_none(finders: int) -> None:
    """finders: 0 where nobody finds the image, 1 where every other person does, 2 where everybody does."""
    project = project_of("kitchen", type="video")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "author"), text="The one that is half open.")

    def come(number: int) -> str:
        person = "author" if number == 0 else f"person-{number}"
        try:
            session = arrive_at_work(find, person, session=f"{person}-{uuid.uuid4()}")
        except AnnotationError:
            return ""
        choose(session, place=2 if number % 2 < finders else 8)
        return person

    for _ in range(2):
        at_once(*[lambda number=number: come(number) for number in range(16)])
    question = Question.objects.get(study=find)
    counted = Response.objects.counted_in(find).values_list("annotator__sealed_id", "choice")
    answers = [(unseal(person), choice) for person, choice in counted]
    right = sum(choice == "image_3" for _, choice in answers)
    wrong = len(answers) - right
    assert "author" not in {person for person, _ in answers}
    assert len({person for person, _ in answers}) == len(answers) <= 3
    assert (max(right, wrong), min(right, wrong)) in {(2, 0), (2, 1)}
    assert Decision.objects.get(question=question).state == ("accepted" if right == 2 else "rejected")
    assert Slot.objects.filter(question=question).count() == len(answers)


@pytest.mark.both
def test_the_third_answer_is_not_the_authors_either() -> None:
    project = project_of("kitchen")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    choose(arrive_at_work(find, "ben"), place=2)
    choose(arrive_at_work(find, "cleo"), place=8)
    with pytest.raises(NothingLeft) as left:
        arrive_at_work(find, "ann")
    assert left.value.rule == "not_author"
    choose(arrive_at_work(find, "dora"), place=2)
    assert states_of(find) == states_of(write) == ["accepted"]


@pytest.mark.both
def test_the_author_of_what_is_undecided_is_asked_about_what_is_new() -> None:
    project = project_of("kitchen", "street")
    write = write_study(project, surveys={"size": 1})
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "ann"), text="What ann wrote.")
    choose(arrive_at_work(find, "ben"), place=2)
    choose(arrive_at_work(find, "cleo"), place=8)
    send(arrive_at_work(write, "eve"), text="What eve wrote.")
    (slot,) = responses.open_slots(session=arrive_at_work(find, "ann"), limit=9)
    assert slot.question.source == {"text": "What eve wrote.", "target": 2}
