"""A question that is taken out is asked of nobody and counts nowhere; put back, everything is as it was."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from analytics.outcomes import Outcome
from annotation.actions.answering import advance_session
from annotation.actions.deciding import adjudication
from annotation.actions.removing import retire_questions
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.retire_questions import CannotTakeOut
from annotation.errors import NothingLeft
from annotation.models import Decision, Response, SessionState, Slot
from annotation.models.outcomes import accepted_decisions
from studies.models import Event, Question
from tests import removing
from tests.annotation.test_pipeline import answer_all, launch_file, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study

pytestmark = pytest.mark.django_db


def out(question: Question) -> RemovalEffects:
    return retire_questions.take_out(question=question, reason="The picture is broken.", by=TESTS, now=NOON)


def back(question: Question) -> RemovalEffects:
    return retire_questions.put_back(question=question, by=TESTS, now=NOON)


def decided(question: Question) -> tuple[str, str, dict[str, int], int, Outcome]:
    now = Decision.objects.select_related("question__study").get(question=question)
    return now.state, now.winner, now.votes, now.answers, now.outcome


@pytest.fixture
def answered() -> Question:
    """One question with three answers: two for the first candidate, one for the second."""
    study = launch_study(instances=1, answers=3)
    for name, choice in (("ann", "candidate-0"), ("ben", "candidate-0"), ("cleo", "candidate-1")):
        answer_all(arrive_at_work(study, name), choice)
    return study.questions.get()


def test_its_answers_count_nowhere_until_it_is_put_back(answered: Question) -> None:
    before = ("accepted", "candidate-0", {"candidate-0": 2, "candidate-1": 1}, 3, Outcome.ACCEPTED)
    assert decided(answered) == before
    # Three answers, one decision.
    assert out(answered) == RemovalEffects(answers=3, decisions=1)
    assert decided(answered) == ("undecided", "", {}, 0, Outcome.UNDONE)
    assert not Response.objects.counted().exists()
    assert out(answered) == RemovalEffects()
    assert back(answered) == RemovalEffects(answers=3, decisions=1)
    assert decided(answered) == before
    assert back(answered) == RemovalEffects()


def test_it_is_not_taken_out_without_a_reason(answered: Question) -> None:
    for reason, match in ((" ", "Say why"), ("x" * 2001, r"The text has 2,001 characters; at most 2,000 fit\.")):
        with pytest.raises(CannotTakeOut, match=match):
            retire_questions.take_out(question=answered, reason=reason, by=TESTS, now=NOON)
    assert Response.objects.counted().count() == 3


def test_whoever_has_it_before_them_goes_on_without_it() -> None:
    study = launch_study(instances=3)
    session = arrive_at_work(study)
    slot = next_slot(session)
    out(slot.question)
    assert (fresh(session).questions_total, session.state) == (2, SessionState.WORKING)
    for _ in range(2):
        send(session, next_slot(session))
    assert fresh(session).state == SessionState.FINISHED
    with pytest.raises(NothingLeft):
        arrive(study, "ben")
    back(slot.question)
    assert arrive(study, "ben").questions_total == 1
    assert not Response.objects.filter(question=slot.question).exists()


def test_an_answer_on_its_way_is_kept_aside_and_counts_once_the_question_is_put_back() -> None:
    study = launch_study(instances=2)
    session = arrive_at_work(study)
    slot = next_slot(session)
    out(slot.question)
    receipt = send(session, slot)
    assert (receipt.stored, receipt.withdrawn, receipt.skipped) == (True, True, False)
    assert (receipt.answered, receipt.total) == (1, 2)
    stored = Response.objects.get()
    assert (stored.slot, stored.left_out, stored.is_counted) == (slot, "taken_out", False)
    assert send(session, slot).first_kept
    send(session, next_slot(session))
    session.refresh_from_db()
    assert (session.state, session.questions_answered) == (SessionState.FINISHED, 2)
    assert back(slot.question).answers == 1
    with pytest.raises(NothingLeft):
        arrive(study, "ben")


@pytest.mark.parametrize(
    ("answers", "ends_as"), [(1, SessionState.FINISHED), (0, SessionState.LEFT_OUT)], ids=["some", "none"]
)
def test_whoever_has_nothing_left_is_done_when_they_come_next(answers: int, ends_as: SessionState) -> None:
    session = arrive_at_work(launch_study(instances=answers + 1))
    for _ in range(answers):
        send(session, next_slot(session))
    assert out(next_slot(session).question).sessions == 0
    advance_session.advance(session=session, now=NOON)
    assert session.state == ends_as


def test_whoever_had_not_begun_and_has_nothing_left_gets_another_place_while_one_is_free() -> None:
    study = launch_study(instances=2, surveys={"size": 1})
    session = arrive(study)
    for go_on, state in (
        (partial(advance_session.begin, part=0), SessionState.WORKING),
        (advance_session.advance, SessionState.LEFT_OUT),
    ):
        out(Slot.objects.get(annotator__isnull=False, answered_at=None).question)
        assert fresh(session).questions_total == 0
        go_on(session=session, now=NOON)
        assert session.state == state
    # And nobody new is asked.
    with pytest.raises(NothingLeft):
        arrive(study, "ben")


def test_who_is_let_back_brings_no_question_back_and_who_is_out_stays_out(answered: Question) -> None:
    project = answered.study.project
    removing.exclude(project, "ann")
    out(answered)
    removing.include(project, "ann")
    assert not Response.objects.counted().exists()
    removing.withdraw(project, "ben")
    removing.exclude(project, "cleo")
    # Of three people one is left whose answer counts.
    assert back(answered).answers == 1
    assert sorted(Response.objects.values_list("left_out", flat=True)) == ["", "excluded", "withdrawn"]


@pytest.mark.parametrize("is_settled", [False, True])
def test_what_later_studies_ask_because_of_it_leaves_and_comes_back(is_settled: bool) -> None:
    project = make_pipeline_project(1)
    step_3 = launch_study(project, instances=1, answers=1 + is_settled)
    question = step_3.questions.get()
    answer_all(arrive_at_work(step_3, "ann"), "candidate-0")
    if is_settled:
        answer_all(arrive_at_work(step_3, "ben"), "candidate-1")
        adjudication.settle(question=question, choice="candidate-0", by=TESTS, note="", now=NOON)
    step_4 = make_step_4(project)
    answer_all(arrive_at_work(step_4, "dora"), "original")
    assert accepted_decisions(step_4).count() == 1
    assert out(question).undone == 1
    assert not accepted_decisions(step_4).exists()
    assert back(question).restored == 1
    assert accepted_decisions(step_4).count() == 1


def test_what_was_taken_out_stays_out_when_its_acceptance_is_made_again() -> None:
    project = make_pipeline_project(1)
    step_3 = launch_study(project, instances=1)
    answer_all(arrive_at_work(step_3, "ann"), "candidate-0")
    step_4 = make_step_4(project)
    answer_all(arrive_at_work(step_4, "ben"), "original")
    first, drawn = step_3.questions.get(), step_4.questions.get()
    out(drawn)
    out(first)
    back(first)
    assert decided(drawn)[-1] == Outcome.UNDONE
    # And put back while what it rests on is out, it is undone still.
    out(first)
    back(drawn)
    assert not accepted_decisions(step_4).exists()
    back(first)
    assert accepted_decisions(step_4).count() == 1


def test_an_instance_leaves_all_studies_and_comes_back_to_those_that_it_left_then() -> None:
    project = make_pipeline_project(2)
    step_3 = launch_study(project, instances=2)
    answer_all(arrive_at_work(step_3, "ann"), "candidate-0")
    step_4 = make_step_4(project)
    answer_all(arrive_at_work(step_4, "ben"), "original")
    preferences = launch_file(project, {"study": "other", "kind": "best_of_n"})
    waiting = arrive_at_work(preferences, "cleo")
    instance = step_3.questions.order_by("pk")[0].instance
    # Out before, and for another reason.
    retire_questions.take_out(
        question=preferences.questions.get(instance=instance), reason="Odd.", by=TESTS, now=NOON - timedelta(days=1)
    )
    about: dict[str, Any] = {"project": project, "instances": [instance.pk], "by": TESTS}
    effects = retire_questions.take_out_instances(**about, reason="Wrong picture.", now=NOON)
    # An answer in step 3 and one in step 4; both decisions change.
    assert (effects.answers, effects.decisions) == (2, 2)
    assert [accepted_decisions(study).count() for study in (step_3, step_4)] == [1, 1]
    assert fresh(waiting).questions_total == 1
    told = Event.objects.filter(what="question taken out", details__reason="Wrong picture.")
    assert set(told.values_list("study", flat=True)) == {step_3.pk, step_4.pk}
    assert retire_questions.take_out_instances(**about, reason="Again.", now=NOON) == RemovalEffects()
    assert retire_questions.put_back_instances(**about, now=NOON).answers == 2
    assert [accepted_decisions(study).count() for study in (step_3, step_4)] == [2, 2]
    assert preferences.questions.get(instance=instance).taken_out_at is not None


def test_no_instance_is_taken_out_without_a_reason(answered: Question) -> None:
    with pytest.raises(CannotTakeOut, match="Say why the instance is taken out"):
        retire_questions.take_out_instances(
            project=answered.study.project, instances=[answered.instance_id], reason=" ", by=TESTS, now=NOON
        )
    assert Response.objects.counted().count() == 3
