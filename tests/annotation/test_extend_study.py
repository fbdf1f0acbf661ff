"""A study that was launched can be asked more of: more answers to every question, more to those that stay undecided,
and questions about new instances."""

from collections.abc import Callable

import pytest

from annotation.actions.answering import answer_sql
from annotation.actions.answering.responses import order_for
from annotation.actions.launching import extend_study
from annotation.actions.launching.extend_study import ExtensionResult
from annotation.errors import NothingLeft
from annotation.models import Decision, Response, Slot
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import Question, Study, StudyState, Survey
from tests.annotation.test_pipeline import answer_all
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, create_draft, launch_study, make_instance

pytestmark = pytest.mark.django_db


def more(study: Study, answers: int = 1) -> ExtensionResult:
    return extend_study.add_answers(study=study, more=answers, by=TESTS, now=NOON)


def decided(question: Question) -> tuple[str, str, int]:
    now = Decision.objects.get(question=question)
    return now.state, now.winner, now.answers


def test_every_question_gets_exactly_so_many_answers_more_from_other_people() -> None:
    study = launch_study(instances=4, surveys={"size": 2}, recruitment={"sessions_per_annotator": 0})
    for session in ("first", "second"):
        answer_all(arrive_at_work(study, "ann", session=session), "candidate-0")
    # Two surveys of two questions, each with two more seats.
    assert more(study, 2) == ExtensionResult(seats=4, answers=8, decisions=4)
    with pytest.raises(NothingLeft):
        arrive(study, "ann", session="third")
    for person in ("ben", "cleo", "dora", "eve"):
        answer_all(arrive_at_work(study, person), "candidate-0")
    with pytest.raises(NothingLeft):
        arrive(study, "gil")
    answers = Response.objects.counted()
    assert [answers.filter(question=question).count() for question in study.questions.all()] == [3, 3, 3, 3]
    assert not Slot.objects.filter(seat__study=study, answered_at=None).exists()
    # Questions that come later get as many answers as the others.
    make_instance(study.project, "vase-4")
    assert take_up(study) == ExtensionResult(seats=3, answers=3, questions=1)
    assert set(study.questions.values_list("answers_wanted", flat=True)) == {3}


def test_what_one_answer_had_decided_is_open_until_the_others_are_in() -> None:
    # A majority of three is two.
    study = launch_study(instances=1, rule="majority-v1")
    question = study.questions.get()
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert decided(question) == ("accepted", "candidate-0", 1)
    assert more(study, 2) == ExtensionResult(seats=2, answers=2, decisions=1)
    assert decided(question) == ("undecided", "", 1)
    answer_all(arrive_at_work(study, "ben"), "candidate-1")
    assert decided(question) == ("undecided", "", 2)
    answer_all(arrive_at_work(study, "cleo"), "candidate-1")
    assert decided(question) == ("accepted", "candidate-1", 3)


@pytest.mark.parametrize("answers", [1, 2])
def test_an_answer_on_its_way_is_decided_by_what_is_wanted_now(answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study = launch_study(instances=2, answers=answers, rule="majority-v1")
    if answers == 2:
        answer_all(arrive_at_work(study, "ben"), "candidate-0")
    session = arrive_at_work(study, "ann")
    slot = next_slot(session)
    read = [answer_sql.question_state(slot.pk, token=session.token)]
    # What was read before more was asked for comes to be stored after it.
    more(study, 2)
    monkeypatch.setattr(
        answer_sql,
        "question_state",
        lambda slot, token, real=answer_sql.question_state: read.pop() if read else real(slot, token=token),
    )
    order = order_for(session=session, question=slot.question)
    send(session, slot, str(order.index("candidate-0") + 1))
    # 1 of 3 is no majority, nor is 2 of 4.
    assert decided(slot.question) == ("undecided", "", answers)


def take_up(study: Study) -> ExtensionResult:
    return extend_study.add_instances(study=study, by=TESTS, now=NOON)


def test_new_instances_are_asked_about_in_surveys_of_their_own_as_soon_as_they_can() -> None:
    study = launch_study(instances=2, answers=2, surveys={"size": 2})
    lacking = make_instance(study.project, "lacking")
    lacking.images.update(image=None)
    # Four candidates.
    with pytest.raises(StudyError, match=r"any of 1 new instance yet. 4 image files are missing. Import the same file"):
        take_up(study)
    for number in (2, 3, 4):
        make_instance(study.project, f"vase-{number}")
    # Three instances, in surveys of two: 1.5 rounds to 2 surveys, of 1 and 2, with 2 seats each.
    assert take_up(study) == ExtensionResult(seats=4, answers=6, questions=3, left_out=1)
    assert list(study.surveys.values_list("number", "round", "seats_planned")) == [(1, 1, 2), (2, 1, 2), (3, 1, 2)]
    assert sorted(survey.survey_questions.count() for survey in study.surveys.filter(number__gt=1)) == [1, 2]
    lacking.delete()
    with pytest.raises(StudyError, match="already asks about every instance that it selects"):
        take_up(study)


def test_undecided_questions_get_one_answer_more_at_a_time_once_that_is_allowed() -> None:
    study = launch_study(instances=2, answers=2, rule="majority-v1")
    agreed, parted = study.questions.order_by("pk")
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    answer_all(arrive_at_work(study, "ben"), lambda asked: "candidate-0" if asked == agreed else "candidate-1")
    with pytest.raises(NothingLeft):
        arrive(study, "cleo")
    extend_study.raise_limit(study=study, to=3, by=TESTS, now=NOON)
    answer_all(arrive_at_work(study, "cleo"), "candidate-1")
    assert (decided(agreed), decided(parted)) == (("accepted", "candidate-0", 2), ("accepted", "candidate-1", 3))
    with pytest.raises(NothingLeft):
        arrive(study, "dora")
    with pytest.raises(StudyError, match="already get up to 3 answers"):
        extend_study.raise_limit(study=study, to=3, by=TESTS, now=NOON)


@pytest.mark.parametrize("ask", [more, take_up])
def test_nothing_more_is_asked_of_a_draft_or_a_closed_study(ask: Callable[[Study], object]) -> None:
    draft = create_draft()
    with pytest.raises(StudyError, match="is draft"):
        ask(draft)
    study = launch_study(draft.project, study="other")
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="is closed"):
        ask(study)


def test_how_many_more_is_refused_out_of_range_and_a_sample_stays_as_it_was_drawn() -> None:
    study = launch_study(instances=3, selection={"sample": 2})
    for answers in (0, -1, 100):
        with pytest.raises(StudyError):
            more(study, answers)
    make_instance(study.project, "vase-3")
    with pytest.raises(StudyError, match="sample"):
        take_up(study)
    assert Survey.objects.count() == 1
