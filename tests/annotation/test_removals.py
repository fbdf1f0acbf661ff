"""Whose answers count: somebody withdraws, is excluded, let back; places go to others; the pipeline follows."""

from datetime import timedelta
from typing import Any

import pytest

from analytics.outcomes import Outcome
from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.ending import platform_outcome
from annotation.actions.removing.removals import CannotRemove, RemovalEffects
from annotation.errors import CannotTakePart, NothingLeft
from annotation.models import Decision, Removal, Response, Seat, Session, SessionState, Slot
from studies.models import Event, Project, Question, Study
from tests import removing
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4, settle
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study, make_project
from tests.people import opened
from tests.removing import REMOVED as LATER
from tests.removing import person

pytestmark = pytest.mark.django_db


def withdraw(study: Study, name: str) -> RemovalEffects:
    return removing.withdraw(study.project, name)


def exclude(study: Study, name: str, reason: str = "clicked through") -> RemovalEffects:
    return removing.exclude(study.project, name, reason=reason)


def include(study: Study, name: str) -> RemovalEffects:
    return removing.include(study.project, name)


def reopen(study: Study, name: str) -> int:
    return removing.reopen(study.project, name)


def decision(study: Study) -> Decision:
    return Decision.objects.get(study=study)


@pytest.fixture
def three_of_three() -> Study:
    """One question, three answers: two for the first candidate, one for the second."""
    study = launch_study(instances=1, answers=3)
    for name, choice in (("ann", "candidate-0"), ("ben", "candidate-0"), ("cleo", "candidate-1")):
        answer_all(arrive_at_work(study, name), choice)
    return study


def test_answers_of_who_withdraws_leave_votes_and_decision_once(three_of_three: Study) -> None:
    # A decision that stays keeps its moment.
    assert exclude(three_of_three, "cleo") == RemovalEffects(answers=1, decisions=0)
    now = decision(three_of_three)
    assert (now.winner, now.votes, now.decided_at) == ("candidate-0", {"candidate-0": 2}, NOON)
    include(three_of_three, "cleo")
    assert withdraw(three_of_three, "ann") == RemovalEffects(answers=1, decisions=1)
    now = decision(three_of_three)
    # One of three each is no majority of three wanted.
    assert (now.state, now.winner, now.decided_at) == ("undecided", "", None)
    assert (now.votes, now.answers) == ({"candidate-0": 1, "candidate-1": 1}, 2)
    assert list(opened(Response.objects.counted().values_list("annotator__sealed_id", flat=True))) == ["ben", "cleo"]
    assert withdraw(three_of_three, "ann") == RemovalEffects()
    assert Removal.objects.withdrawals().count() == 1
    event = Event.objects.get(what="annotator withdrawn")
    assert (event.by_name, event.at, event.details["answers"], event.details["decisions"]) == ("tests", LATER, 1, 1)
    assert "ann" not in event.details.values()


def test_every_version_of_an_answer_is_marked_in_the_project_that_asked(three_of_three: Study) -> None:
    study = launch_study(make_project("other"), instances=2, study="changing")
    session = arrive_at_work(study, "ann")
    first = next_slot(session)
    send(session, first, "1")
    send(session, first, "2", replaces=1)
    withdraw(study, "ann")
    marked = Response.objects.exclude(left_out="").values_list("study", "version", "left_out")
    assert set(marked) == {(study.pk, 1, "withdrawn"), (study.pk, 2, "withdrawn")}


@pytest.mark.parametrize(
    ("remove", "state", "sentences"),
    [
        (withdraw, SessionState.WITHDRAWN, ["You have withdrawn your consent", "the pay for your time"]),
        (exclude, SessionState.STOPPED, ["The researchers have ended this session"]),
    ],
)
def test_an_open_session_ends_without_a_code_and_its_seat_is_free(
    client: Any, remove: Any, state: SessionState, sentences: list[str]
) -> None:
    study = launch_study(instances=3)
    session = arrive_at_work(study, "ann")
    slot, late, _ = responses.open_slots(session=session, limit=3)
    send(session, slot, "1")
    assert remove(study, "ann") == RemovalEffects(answers=1, decisions=1, sessions=1)
    assert (fresh(session).state, session.ended_at) == (state, LATER)
    assert Seat.objects.get().session is None
    assert Slot.objects.filter(annotator=None).count() == 2
    page = client.get(f"/s/{session.token}/").content.decode()
    assert [sentence for sentence in [*sentences, "return the submission"] if sentence not in page] == []
    assert platform_outcome.show_completion_code(session=session, now=LATER) == ""
    # An answer that comes afterwards is kept and marked where the researchers have ended it, and else not.
    receipt = send(session, late, now=LATER + timedelta(seconds=1))
    assert (receipt.stored, receipt.late, receipt.state) == (remove is exclude, remove is exclude, state)
    left_out = ["excluded"] * 2 if remove is exclude else ["withdrawn"]
    assert list(Response.objects.values_list("left_out", flat=True)) == left_out
    if remove is exclude:
        # It came too late, so it has no place to be given back.
        assert include(study, "ann").answers == 1


@pytest.mark.parametrize(("remove", "state"), [(withdraw, "withdrawn"), (exclude, "stopped")])
def test_whoever_was_taken_out_starts_nothing_more_in_the_project_nor_comes_back(remove: Any, state: str) -> None:
    study = launch_study(instances=1, answers=2)
    later = launch_study(study.project, study="later", recruitment={"sessions_per_annotator": 0})
    lapsed = arrive_at_work(study, "ann")
    advance_session.expire(by=TESTS, now=NOON + timedelta(days=1))
    remove(study, "ann")
    assert sessions.resume(session=fresh(lapsed), now=LATER).state == state
    with pytest.raises(CannotTakePart):
        arrive(later, "ann", session="another")
    elsewhere = launch_study(make_project("elsewhere"), study="elsewhere")
    assert arrive(elsewhere, "ann", session="a third").state == SessionState.INSTRUCTIONS


def test_excluding_wants_a_reason_and_somebody_who_counts(three_of_three: Study) -> None:
    for reason, match in (("  ", "Say why"), ("x" * 2001, r"The text has 2,001 characters; at most 2,000 fit\.")):
        with pytest.raises(CannotRemove, match=match):
            exclude(three_of_three, "ann", reason=reason)
    withdraw(three_of_three, "ann")
    for act, name, match in (
        (exclude, "ann", "has withdrawn"),
        (include, "ann", "no way"),
        (include, "ben", "is not ex"),
    ):
        with pytest.raises(CannotRemove, match=match):
            act(three_of_three, name)


def test_who_was_excluded_and_let_back_counts_as_before_and_may_withdraw_meanwhile(three_of_three: Study) -> None:
    before = Decision.objects.values("state", "winner", "votes", "answers").get()
    assert exclude(three_of_three, "ann") == RemovalEffects(answers=1, decisions=1)
    assert exclude(three_of_three, "ann") == RemovalEffects()
    # A finished session keeps its code and its pay.
    session = Session.objects.get(annotator=person("ann"))
    code = three_of_three.completion_codes.get(outcome="finished").code
    assert (session.state, platform_outcome.show_completion_code(session=session, now=LATER)) == ("finished", code)
    assert include(three_of_three, "ann") == RemovalEffects(answers=1, decisions=1)
    assert Decision.objects.values("state", "winner", "votes", "answers").get() == before
    assert set(Event.objects.values_list("what", flat=True)) >= {"annotator excluded", "annotator let back"}
    exclude(three_of_three, "ann")
    assert withdraw(three_of_three, "ann") == RemovalEffects()
    assert Response.objects.get(annotator=person("ann")).left_out == "withdrawn"


def test_what_a_researcher_settled_stays_settled_and_its_votes_follow_and_no_other_answer_is_asked_for() -> None:
    study = launch_study(instances=1, answers=2, max_answers=3)
    for name, choice in (("ann", "candidate-0"), ("ben", "candidate-1")):
        answer_all(arrive_at_work(study, name), choice)
    settle(Question.objects.get(), "candidate-1")
    assert withdraw(study, "ann").decisions == 0
    now = decision(study)
    assert (now.state, now.winner, now.settled_choice) == ("accepted", "candidate-1", "candidate-1")
    assert (now.votes, now.answers) == ({"candidate-1": 1}, 1)
    # A missing answer is not asked for again before its slot is opened.
    with pytest.raises(NothingLeft):
        arrive(study, "cleo")
    assert Question.objects.get().answers_wanted == 2


def test_slots_opened_again_are_somebody_elses_and_the_answer_is_let_back_only_where_they_are_free() -> None:
    study = launch_study(instances=2, answers=1)
    answer_all(arrive_at_work(study, "ann"), "none")
    with pytest.raises(CannotRemove, match="Exclude the person first"):
        reopen(study, "ann")
    exclude(study, "ann")
    assert (reopen(study, "ann"), reopen(study, "ann")) == (2, 0)
    seat = Seat.objects.get()
    assert (seat.session, seat.claimed_at, seat.filled_at) == (None, None, None)
    assert Slot.objects.filter(annotator=None, answered_at=None).count() == 2
    ben = arrive_at_work(study, "ben")
    send(ben, next_slot(ben), "1")
    sessions.leave(session=ben, to=SessionState.GIVEN_UP, now=LATER)
    assert include(study, "ann") == RemovalEffects(answers=1, decisions=1, without_place=1)
    assert sorted(Decision.objects.values_list("answers", flat=True)) == [1, 1]
    assert Response.objects.counted().filter(annotator=person("ann")).count() == 1
    assert fresh(seat).filled_at == LATER
    assert not Slot.objects.filter(answered_at=None).exists()


def test_an_answer_that_was_edited_after_its_session_had_ended_is_let_back_too() -> None:
    study = launch_study(instances=2)
    ann = arrive_at_work(study, "ann")
    slot = next_slot(ann)
    answer_all(ann, "none")
    edited = send(ann, slot, "1", replaces=1, now=NOON + timedelta(minutes=1))
    assert (fresh(ann).state, edited.replaced_earlier) == (SessionState.FINISHED, True)
    exclude(study, "ann")
    assert reopen(study, "ann") == 2
    assert include(study, "ann") == RemovalEffects(answers=2, decisions=2)


def test_slots_opened_again_never_come_back_to_the_same_person_nor_while_somebody_is_at_work_on_them() -> None:
    study = launch_study(instances=1, recruitment={"sessions_per_annotator": 0})
    answer_all(arrive_at_work(study, "ann"), "none")
    exclude(study, "ann")
    reopen(study, "ann")
    arrive(study, "ben")
    assert include(study, "ann").without_place == 1
    assert decision(study).votes == {}
    advance_session.expire(by=TESTS, now=NOON + timedelta(days=1))
    with pytest.raises(NothingLeft):
        arrive(study, "ann", session="again")


def test_a_seat_that_somebody_else_is_at_work_on_is_free_again_when_they_are_done() -> None:
    study = launch_study(instances=2)
    ann = arrive_at_work(study, "ann")
    send(ann, next_slot(ann), "1")
    sessions.leave(session=ann, to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(study, "ben")
    exclude(study, "ann")
    assert reopen(study, "ann") == 1
    answer_all(ben, "candidate-0")
    ben.refresh_from_db()
    assert (ben.state, ben.questions_answered) == (SessionState.FINISHED, 1)
    assert arrive(study, "cleo").questions_total == 1


def make_pipeline() -> tuple[Project, Study, Study]:
    """Two instances accepted by ann in step 3 and found by ben in step 4."""
    project = make_pipeline_project(2)
    step_3 = launch_study(project, instances=2)
    step_4 = make_step_4(project)
    answer_all(arrive_at_work(step_3, "ann"), "candidate-1")
    answer_all(arrive_at_work(step_4, "ben"), "original")
    return project, step_3, step_4


def outcomes(study: Study) -> list[Outcome]:
    decisions = Decision.objects.filter(study=study).select_related("question__study").order_by("question")
    return [each.outcome for each in decisions]


def test_what_was_drawn_from_an_acceptance_that_is_undone_leaves_the_dataset_and_answers_of_others_stay() -> None:
    _, step_3, step_4 = make_pipeline()
    assert withdraw(step_3, "ann") == RemovalEffects(answers=2, decisions=2, undone=2)
    assert set(Question.objects.filter(study=step_4).values_list("undone_at", flat=True)) == {LATER}
    assert outcomes(step_4) == [Outcome.UNDONE] * 2
    assert Response.objects.counted().filter(annotator=person("ben")).count() == 2
    assert {each.votes["original"] for each in Decision.objects.filter(study=step_4)} == {1}


def test_it_goes_down_the_whole_pipeline_and_comes_back() -> None:
    project, step_3, _ = make_pipeline()
    step_5 = make_step_4(project, study="step-5", instances={"from": "step-4"})
    answer_all(arrive_at_work(step_5, "cleo"), "original")
    assert exclude(step_3, "ann").undone == 4
    assert outcomes(step_5) == [Outcome.UNDONE] * 2
    assert include(step_3, "ann").restored == 4
    assert outcomes(step_5) == [Outcome.ACCEPTED] * 2


@pytest.mark.parametrize(
    ("choice", "then"), [("candidate-1", Outcome.ACCEPTED), ("candidate-2", Outcome.UNDONE), ("none", Outcome.UNDONE)]
)
def test_somebody_else_who_chooses_the_same_restores_what_was_drawn(choice: str, then: Outcome) -> None:
    _, step_3, step_4 = make_pipeline()
    withdraw(step_3, "ann")
    assert reopen(step_3, "ann") == 2
    answer_all(arrive_at_work(step_3, "dora"), choice)
    assert outcomes(step_4) == [then] * 2


def test_a_researcher_may_settle_what_is_undecided_again_and_restores_it_with_the_same_choice() -> None:
    _, step_3, step_4 = make_pipeline()
    withdraw(step_3, "ann")
    first, second = Question.objects.filter(study=step_3).order_by("pk")
    settle(first, "candidate-1")
    settle(second, "candidate-3")
    assert outcomes(step_4) == [Outcome.ACCEPTED, Outcome.UNDONE]


def test_a_question_that_stands_no_more_is_given_to_nobody() -> None:
    project = make_pipeline_project(1)
    step_3 = launch_study(project, instances=1)
    step_4 = make_step_4(project, answers=2)
    answer_all(arrive_at_work(step_3, "ann"), "candidate-1")
    answer_all(arrive_at_work(step_4, "ben"), "original")
    exclude(step_3, "ann")
    with pytest.raises(NothingLeft):
        arrive(step_4, "cleo")
    include(step_3, "ann")
    assert arrive(step_4, "cleo").questions_total == 1
