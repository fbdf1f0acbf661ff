"""A study is complete when all the answers that it asked for are in, and is found so once."""

import pytest

from annotation.actions import sessions
from annotation.actions.deciding import adjudication
from annotation.actions.launching import complete_study, extend_study
from annotation.actions.removing import removals, retire_questions
from studies.actions.studies import change_state
from studies.models import Event, Study, StudyState
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, TESTS, arrive_at_work, fresh, launch_study, make_person

pytestmark = pytest.mark.django_db


def noted() -> list[str]:
    return [each.study.slug for each in complete_study.note_completed(by=TESTS, now=NOON)]


def test_a_study_is_complete_when_its_last_answer_is_in_and_is_found_so_once() -> None:
    study = launch_study(instances=1, answers=2)
    assert noted() == []
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert noted() == []
    answer_all(arrive_at_work(study, "ben"), "candidate-0")
    assert noted() == ["best-vase"]
    assert noted() == []
    study.refresh_from_db()
    assert (study.state, study.completed_at) == ("open", NOON)
    assert Event.objects.filter(what="study completed").count() == 1


def test_it_closes_where_that_was_wished_for() -> None:
    study = launch_study(instances=1)
    complete_study.set_completion(study=study, closes=True, mails=False, by=make_person("ben"), now=NOON)
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert noted() == ["best-vase"]
    assert fresh(study).state == "closed"


def test_answers_of_somebody_who_was_taken_out_are_missing_until_others_give_them() -> None:
    study = launch_study(instances=1)
    complete_study.set_completion(study=study, closes=True, mails=False, by=make_person("ben"), now=NOON)
    session = arrive_at_work(study, "ann")
    answer_all(session, "candidate-0")
    removals.exclude(annotator=session.annotator, project=study.project, reason="Clicked", by=TESTS, now=NOON)
    assert noted() == []
    assert fresh(study).state == "open"


def test_a_study_with_a_place_for_an_answer_is_complete_no_more() -> None:
    study = launch_study(instances=2)
    arrive_at_work(study, "ann")
    Study.objects.filter(pk=study.pk).update(completed_at=NOON)
    assert noted() == []
    assert fresh(study).completed_at is None


def test_a_study_that_is_asked_for_more_is_complete_again_later() -> None:
    study = launch_study(instances=1)
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert noted() == ["best-vase"]
    extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON)
    assert noted() == []
    answer_all(arrive_at_work(study, "ben"), "candidate-0")
    assert noted() == ["best-vase"]


def test_what_may_be_asked_again_is_awaited() -> None:
    study = launch_study(instances=1, answers=2, max_answers=3, rule="majority-v1")
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    answer_all(arrive_at_work(study, "ben"), "candidate-1")
    assert noted() == []
    answer_all(arrive_at_work(study, "cleo"), "candidate-1")
    assert noted() == ["best-vase"]


def test_a_study_that_another_feeds_waits_for_it() -> None:
    project = make_pipeline_project(1)
    first = launch_study(project, instances=1)
    second = make_step_4(project)
    answer_all(arrive_at_work(first, "ann"), "candidate-0")
    answer_all(arrive_at_work(second, "ben"), "both")
    assert Study.objects.get(pk=second.pk).responses.count() == 1
    extend_study.add_answers(study=first, more=1, by=TESTS, now=NOON)
    # All that it asks is answered; but an answer there may bring more.
    assert noted() == []
    change_state(study=first, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert noted() == ["step-4"]


def test_what_a_researcher_may_still_accept_is_awaited_by_the_study_that_it_feeds() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2, answers=2, rule="majority-v1")
    second = make_step_4(project)
    complete_study.set_completion(study=second, closes=True, mails=False, by=make_person("ben"), now=NOON)
    conflicting = first.questions.get(instance__key="vase-1")
    answer_all(arrive_at_work(first, "ann"), "candidate-0")
    answer_all(arrive_at_work(first, "ben"), lambda asked: f"candidate-{int(asked == conflicting)}")
    answer_all(arrive_at_work(second, "cleo"), "both")
    # All the answers are in; but what vase-1 is, somebody has to say.
    assert noted() == ["best-vase"]
    change_state(study=first, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert noted() == []
    adjudication.settle(question=conflicting, choice="candidate-1", by=TESTS, note="", now=NOON)
    assert noted() == []
    answer_all(arrive_at_work(second, "dora"), "both")
    assert noted() == ["step-4"]
    assert fresh(second).state == "closed"


def test_conflicts_about_what_a_study_would_not_ask_about_keep_it_from_nothing() -> None:
    project = make_pipeline_project(2)
    project.instances.filter(key="vase-1").update(type="other")
    first = launch_study(project, instances=2, answers=2, rule="majority-v1")
    second = make_step_4(project, instances={"from": "best-vase", "type": ["other"]})
    conflicting = first.questions.get(instance__key="vase-0")
    answer_all(arrive_at_work(first, "ann"), "candidate-0")
    answer_all(arrive_at_work(first, "ben"), lambda asked: f"candidate-{int(asked == conflicting)}")
    answer_all(arrive_at_work(second, "cleo"), "both")
    assert set(noted()) == {"best-vase", "step-4"}


def test_a_study_whose_places_are_opened_again_is_complete_again_later() -> None:
    study = launch_study(instances=1)
    session = arrive_at_work(study, "ann")
    answer_all(session, "candidate-0")
    assert noted() == ["best-vase"]
    ann, project = session.annotator, study.project
    removals.exclude(annotator=ann, project=project, reason="Clicked", by=TESTS, now=NOON)
    removals.reopen_slots(annotator=ann, project=project, by=TESTS, now=NOON)
    assert is_awaiting(study)
    answer_all(arrive_at_work(study, "ben"), "candidate-0")
    assert noted() == ["best-vase"]


def test_a_study_that_is_closed_stays_as_complete_as_it_was() -> None:
    study = launch_study(instances=1)
    session = arrive_at_work(study, "ann")
    answer_all(session, "candidate-0")
    assert noted() == ["best-vase"]
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    ann, project = session.annotator, study.project
    removals.exclude(annotator=ann, project=project, reason="Clicked", by=TESTS, now=NOON)
    removals.reopen_slots(annotator=ann, project=project, by=TESTS, now=NOON)
    assert not is_awaiting(study)


def is_awaiting(study: Study) -> bool:
    study.refresh_from_db()
    return study.completed_at is None


def test_a_study_to_which_an_unanswered_question_is_put_back_is_complete_again_later() -> None:
    study = launch_study(instances=2)
    left = study.questions.get(instance__key="vase-1")
    retire_questions.take_out(question=left, reason="Broken", by=TESTS, now=NOON)
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert noted() == ["best-vase"]
    retire_questions.put_back(question=left, by=TESTS, now=NOON)
    assert is_awaiting(study)
    answer_all(arrive_at_work(study, "ben"), "candidate-0")
    assert noted() == ["best-vase"]


def test_a_question_whose_answers_are_in_is_put_back_and_its_study_stays_complete() -> None:
    study = launch_study(instances=1)
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    assert noted() == ["best-vase"]
    question = study.questions.get()
    retire_questions.take_out(question=question, reason="Broken", by=TESTS, now=NOON)
    retire_questions.put_back(question=question, by=TESTS, now=NOON)
    assert not is_awaiting(study)


def test_a_study_that_draws_once_more_is_complete_again_later() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2)
    second = make_step_4(project)
    rejected = first.questions.get(instance__key="vase-1")
    answer_all(arrive_at_work(first, "ann"), lambda asked: "none" if asked == rejected else "candidate-0")
    answer_all(arrive_at_work(second, "ben"), "both")
    assert set(noted()) == {"best-vase", "step-4"}
    extend_study.add_answers(study=first, more=2, by=TESTS, now=NOON)
    for person in ("cleo", "dora"):
        answer_all(arrive_at_work(first, person), "candidate-0")
    arrive_at_work(second, "eve")
    assert is_awaiting(second)


def test_a_study_whose_undone_question_stands_again_is_complete_again_later() -> None:
    project = make_pipeline_project(2)
    first = launch_study(project, instances=2)
    second = make_step_4(project)
    answer_all(arrive_at_work(first, "ann"), "candidate-0")
    # Ben leaves after one of two.
    session = arrive_at_work(second, "ben")
    slot = next_slot(session)
    send(session, slot, "1")
    sessions.give_up(session=session, now=NOON)
    left = first.questions.exclude(instance=slot.question.instance).get()
    retire_questions.take_out(question=left, reason="Broken", by=TESTS, now=NOON)
    assert set(noted()) == {"best-vase", "step-4"}
    retire_questions.put_back(question=left, by=TESTS, now=NOON)
    assert is_awaiting(second)
    assert not is_awaiting(first)
    answer_all(arrive_at_work(second, "cleo"), "both")
    assert noted() == ["step-4"]
