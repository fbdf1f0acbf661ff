"""A study is complete when all the answers that it asked for are in, and is found so once."""

from typing import Any

import pytest

from annotation.actions import sessions
from annotation.actions.deciding import adjudication
from annotation.actions.launching import complete_study, extend_study
from annotation.actions.removing import retire_questions
from annotation.models import Slot
from studies.actions.studies import change_state
from studies.models import Event, Question, Study, StudyState
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive_at_work, fresh, launch_study
from tests.removing import exclude, reopen

pytestmark = pytest.mark.django_db


def noted() -> set[str]:
    return {each.study.slug for each in complete_study.note_completed(by=TESTS, now=NOON)}


def is_awaiting(study: Study) -> bool:
    return fresh(study).completed_at is None


def give(study: Study, person: str, choose: Any = "candidate-0") -> None:
    """Let a new person answer everything that `study` gives them."""
    answer_all(arrive_at_work(study, person), choose)


def close_when_complete(study: Study) -> None:
    complete_study.set_completion(study=study, closes=True, mails=False, by=TESTS, now=NOON)


def more_answers(study: Study, more: int = 1) -> None:
    extend_study.add_answers(study=study, more=more, by=TESTS, now=NOON)


def close(study: Study) -> None:
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)


def out(question: Question) -> None:
    retire_questions.take_out(question=question, reason="Broken", by=TESTS, now=NOON)


def back(question: Question) -> None:
    retire_questions.put_back(question=question, by=TESTS, now=NOON)


def test_a_study_is_complete_when_its_last_answer_is_in_and_is_found_so_once() -> None:
    # One answer each could still decide.
    study = launch_study(instances=1, answers=2, max_answers=3, rule="majority-v1")
    for person, choice, found in (
        ("ann", "candidate-0", set()),
        ("ben", "candidate-1", set()),
        ("cleo", "candidate-1", {"best-vase"}),
    ):
        assert noted() == set()
        give(study, person, choice)
        assert noted() == found
    assert noted() == set()
    assert (fresh(study).state, study.completed_at) == ("open", NOON)
    assert Event.objects.filter(what="study completed").count() == 1


def test_a_study_that_gets_places_again_is_complete_again_later_unless_it_is_closed() -> None:
    study = launch_study(instances=1)
    give(study, "ann")
    assert noted() == {"best-vase"}
    # A question whose answers are in leaves it complete.
    out(study.questions.get())
    back(study.questions.get())
    assert not is_awaiting(study)
    more_answers(study)
    assert noted() == set()
    give(study, "ben")
    assert noted() == {"best-vase"}
    exclude(study.project, "ann")
    reopen(study.project, "ann")
    assert is_awaiting(study)
    give(study, "cleo")
    assert noted() == {"best-vase"}
    close(study)
    exclude(study.project, "ben")
    reopen(study.project, "ben")
    assert not is_awaiting(study)


@pytest.mark.parametrize("is_excluded", [False, True])
def test_it_closes_where_that_was_wished_for_unless_answers_count_no_more(is_excluded: bool) -> None:
    study = launch_study(instances=1)
    close_when_complete(study)
    give(study, "ann")
    if is_excluded:
        exclude(study.project, "ann")
    assert noted() == (set() if is_excluded else {"best-vase"})
    assert fresh(study).state == ("open" if is_excluded else "closed")


def test_a_study_that_another_feeds_waits_for_it() -> None:
    project = make_pipeline_project(1)
    first = launch_study(project, instances=1)
    second = make_step_4(project)
    give(first, "ann")
    give(second, "ben", "both")
    assert second.responses.count() == 1
    more_answers(first)
    # All that it asks is answered; but an answer there may bring more.
    assert noted() == set()
    close(first)
    assert noted() == {"step-4"}


def test_what_a_researcher_may_still_accept_is_awaited_by_the_study_that_it_feeds() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2, answers=2, rule="majority-v1")
    second = make_step_4(project)
    close_when_complete(second)
    conflicting = first.questions.get(instance__key="vase-1")
    give(first, "ann")
    give(first, "ben", lambda asked: f"candidate-{int(asked == conflicting)}")
    give(second, "cleo", "both")
    # All the answers are in; but what vase-1 is, somebody has to say.
    assert noted() == {"best-vase"}
    close(first)
    assert noted() == set()
    adjudication.settle(question=conflicting, choice="candidate-1", by=TESTS, note="", now=NOON)
    assert noted() == set()
    give(second, "dora", "both")
    assert noted() == {"step-4"}
    assert fresh(second).state == "closed"


def test_conflicts_about_what_a_study_would_not_ask_about_keep_it_from_nothing() -> None:
    project = make_pipeline_project(2)
    project.instances.filter(key="vase-1").update(type="other")
    first = launch_study(project, instances=2, answers=2, rule="majority-v1")
    second = make_step_4(project, instances={"from": "best-vase", "type": ["other"]})
    conflicting = first.questions.get(instance__key="vase-0")
    give(first, "ann")
    give(first, "ben", lambda asked: f"candidate-{int(asked == conflicting)}")
    give(second, "cleo", "both")
    assert noted() == {"best-vase", "step-4"}


def test_a_study_to_which_an_unanswered_question_is_put_back_is_complete_again_later() -> None:
    study = launch_study(instances=2)
    left = study.questions.get(instance__key="vase-1")
    out(left)
    give(study, "ann")
    assert noted() == {"best-vase"}
    back(left)
    assert is_awaiting(study)
    give(study, "ben")
    assert noted() == {"best-vase"}


def test_a_check_that_is_put_back_does_not_complete_its_study_a_second_time() -> None:
    gold = {"per_survey": 1, "questions": [{"instance": "vase-0", "right": "candidate-1"}]}
    study = launch_study(instances=5, checks={"gold": gold})
    check = Question.with_checks.get(study=study, check_type="gold")
    ann = arrive_at_work(study, "ann")
    out(check)
    answer_all(ann, "candidate-0")
    assert noted() == {"best-vase"}
    back(check)
    assert Slot.objects.filter(question=check, answered_at=None).exists()
    assert not is_awaiting(study)
    assert noted() == set()
    assert Event.objects.filter(what="study completed").count() == 1


def test_a_study_that_draws_once_more_is_complete_again_later() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2)
    second = make_step_4(project)
    rejected = first.questions.get(instance__key="vase-1")
    give(first, "ann", lambda asked: "none" if asked == rejected else "candidate-0")
    give(second, "ben", "both")
    assert noted() == {"best-vase", "step-4"}
    more_answers(first, 2)
    for person in ("cleo", "dora"):
        give(first, person)
    arrive_at_work(second, "eve")
    assert is_awaiting(second)


def test_a_study_whose_undone_question_stands_again_is_complete_again_later() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2)
    second = make_step_4(project)
    give(first, "ann")
    # Ben leaves after one of two.
    session = arrive_at_work(second, "ben")
    slot = next_slot(session)
    send(session, slot, "1")
    sessions.give_up(session=session, now=NOON)
    left = first.questions.exclude(instance=slot.question.instance).get()
    out(left)
    assert noted() == {"best-vase", "step-4"}
    back(left)
    assert (is_awaiting(first), is_awaiting(second)) == (False, True)
    give(second, "cleo", "both")
    assert noted() == {"step-4"}
