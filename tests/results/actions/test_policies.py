"""Policies act once on what they see, and again only on what came after somebody resumed the study."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.errors import AnnotationError
from annotation.models import Response, Session, SessionFlag, SessionState, Slot
from results.actions.policies import PolicyPause, act_on_policies, studies_with_policies
from results.actions.session_flags import flag_sessions
from results.models import PolicyAct
from results.queries.studies.policies import FACTS, policy_lines
from studies.actions.studies import change_state
from studies.design.model import PolicyEntry
from studies.models import Event, Question, Study, StudyState
from studies.policies import Need
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study, redesign
from tests.removing import exclude, include, withdraw
from tests.together import at_once

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
FLAGGED = {"policy": "flagged", "flagged_above": 0.25, "sessions": 4}
COST = {"policy": "cost", "cost_above": "3.00"}


def study_with(*policies: dict[str, Any], people: int = 12, **design: Any) -> Study:
    """Launch a study of one question that wants an answer from each of `people`, who get 1.00."""
    pay = {"currency": "USD", "per_session": "1.00"}
    return launch_study(instances=1, answers=people, policies=list(policies), **{"pay": pay} | design)


def finish(study: Study, *people: str, now: datetime = NOON) -> None:
    """Have each of `people` come, answer and finish 20 minutes later."""
    for name in people:
        session = arrive_at_work(study, name, now=now)
        answer_all(session, "candidate-0")
        Session.objects.filter(pk=session.pk).update(ended_at=now + 20 * MINUTE)


def flag(study: Study, number: int) -> None:
    """Flag the last `number` sessions of a study."""
    for session in Session.objects.filter(study=study).order_by("-pk")[:number]:
        SessionFlag.objects.create(session=session, rule="hidden_tab", found_at=NOON)


def act(study: Study, *, now: datetime = NOON + timedelta(hours=1)) -> PolicyPause | None:
    return act_on_policies(study=fresh(study), by=TESTS, now=now)


def resume(study: Study, *, now: datetime) -> None:
    change_state(study=fresh(study), to=StudyState.OPEN, by=TESTS, now=now)


def sentences() -> list[str]:
    events = Event.objects.filter(what="policy paused").order_by("pk")
    return [each.details["finding"] for each in events]


def test_a_crossed_bound_pauses_once_with_its_numbers() -> None:
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan")
    flag(study, 1)
    assert act(study) is None
    SessionFlag.objects.create(session=study.sessions.order_by("pk")[0], rule="hidden_tab", found_at=NOON)
    paused = act(study)
    assert paused is not None
    assert paused.reasons == {"flagged": "2 of 4 sessions flagged (50 %), bound 25 %."}
    assert act(study) is None
    assert fresh(study).state == StudyState.PAUSED
    assert sentences() == ["2 of 4 sessions flagged (50 %), bound 25 %."]
    assert Event.objects.filter(what="study paused").count() == 1


def test_nobody_new_comes_in_and_who_is_at_work_finishes() -> None:
    study = study_with({"policy": "cost", "cost_above": "1.00"})
    at_work = arrive_at_work(study, "wim")
    reading = arrive(study, "rea")
    finish(study, "ann", "ben")
    assert act(study) is not None
    with pytest.raises(AnnotationError, match="paused at the moment"):
        arrive(fresh(study), "late")
    answer_all(at_work, "candidate-1")
    assert fresh(at_work).state == SessionState.FINISHED
    sessions.consent(session=reading, agreed=True, now=NOON)
    advance_session.begin(session=reading, part=0, now=NOON)
    answer_all(reading, "candidate-1")
    assert fresh(reading).state == SessionState.FINISHED


def test_after_a_resume_it_counts_only_what_came_since() -> None:
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan")
    flag(study, 2)
    act(study)
    resume(study, now=NOON + 2 * 60 * MINUTE)
    (line,) = policy_lines(study)
    assert (line.facts.sessions, line.facts.flagged, line.would_act) == (0, 0, False)
    assert act(study) is None
    later = NOON + 3 * 60 * MINUTE
    finish(study, "eva", "fritz", "gil", now=later)
    flag(study, 3)
    assert act(study) is None
    finish(study, "hal", now=later)
    assert act(study, now=later + 60 * MINUTE) is not None
    first, second = sentences()
    assert second.startswith("3 of 4 sessions flagged (75 %), bound 25 %. Counted since it was resumed on ")
    assert PolicyAct.objects.filter(study=study, resumed_at=None).count() == 1
    assert first == "2 of 4 sessions flagged (50 %), bound 25 %."


def test_a_resumed_study_may_cost_as_much_once_more() -> None:
    study = study_with(COST)
    finish(study, "ann", "ben", "cleo")
    assert act(study) is None
    finish(study, "dan")
    assert act(study) is not None
    assert sentences() == ["The cost is USD 4.00, bound USD 3.00."]
    resume(study, now=NOON + 2 * 60 * MINUTE)
    at_work = arrive_at_work(fresh(study), "wim")
    finish(study, "eva", "fritz", "gil", now=NOON + 3 * 60 * MINUTE)
    assert act(study) is None
    finish(study, "hal", now=NOON + 3 * 60 * MINUTE)
    assert act(study) is not None
    assert sentences()[1].startswith("The cost is USD 4.00, bound USD 3.00. Counted since")
    # Somebody who is at work finishes, and the third time it counts from 9.00 on.
    answer_all(at_work, "candidate-0")
    resume(study, now=NOON + 4 * 60 * MINUTE)
    (line,) = policy_lines(study)
    assert line.standing.value == "USD 0.00"


def test_two_bounds_that_are_crossed_at_once_pause_once_and_both_are_told() -> None:
    study = study_with(FLAGGED, COST)
    finish(study, "ann", "ben", "cleo", "dan")
    flag(study, 4)
    paused = act(study)
    assert paused is not None
    assert [*paused.reasons] == ["flagged", "cost"]
    assert Event.objects.filter(what="study paused").count() == 1
    resume(study, now=NOON + 2 * 60 * MINUTE)
    assert act(study) is None


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
def test_a_study_that_a_person_stopped_meanwhile_is_left_alone(state: StudyState) -> None:
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan")
    flag(study, 4)
    change_state(study=study, to=state, by=TESTS, now=NOON)
    assert act(study) is None
    assert fresh(study).state == state
    assert not PolicyAct.objects.exists()


def test_a_study_read_before_somebody_closed_it_stays_closed() -> None:
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan")
    flag(study, 4)
    read_before = fresh(study)
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert act_on_policies(study=read_before, by=TESTS, now=NOON) is None
    assert fresh(study).state == StudyState.CLOSED


def test_a_study_without_answers_has_no_evidence() -> None:
    wage = {"policy": "wage", "wage_below": "2.00", "sessions": 1}
    study = study_with(FLAGGED, COST, wage, time={"estimated_minutes": 30})
    assert act(study) is None
    assert [(line.standing.value, line.would_act) for line in policy_lines(study)] == [
        ("", False),
        ("USD 0.00", False),
        ("", False),
    ]


def test_flags_count_without_people_who_withdrew_dismissed_ones_and_those_no_longer_found() -> None:
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan", "eva", "fritz")
    flag(study, 4)
    # fritz withdraws: 3 of 5. A flag is dismissed, and one no longer found: 1 of 5.
    withdraw(study.project, "fritz")
    (line,) = policy_lines(study)
    assert (line.facts.flagged, line.facts.sessions) == (3, 5)
    dismissed, gone, *_ = SessionFlag.objects.order_by("pk")[1:]
    SessionFlag.objects.filter(pk=dismissed.pk).update(verdict="dismissed", reviewed_at=NOON)
    SessionFlag.objects.filter(pk=gone.pk).update(cleared_at=NOON)
    (line,) = policy_lines(study)
    assert (line.facts.flagged, line.facts.sessions, line.would_act) == (1, 5, False)


def test_excluding_flagged_people_does_not_lower_the_share_of_flagged_sessions() -> None:
    """Their flags are cleared, and they still tell how many careless people come."""
    study = study_with(FLAGGED)
    finish(study, "ann", "ben", "cleo", "dan", "eva")
    flag(study, 3)
    gone, _, upheld = SessionFlag.objects.order_by("session")
    SessionFlag.objects.filter(pk=upheld.pk).update(verdict="upheld", reviewed_at=NOON)
    # A check that ran before any exclusion did not find it again.
    SessionFlag.objects.filter(pk=gone.pk).update(cleared_at=NOON)
    for name in ("cleo", "dan", "eva"):
        exclude(study.project, name, now=NOON + MINUTE)
    flag_sessions(study=study, by=TESTS, now=NOON + 2 * MINUTE)
    assert not SessionFlag.objects.in_force().exists()
    (line,) = policy_lines(study)
    assert (line.facts.flagged, line.facts.sessions, line.would_act) == (2, 5, True)
    # dan, whose flag nobody upheld, is included again; then eva's flag is dismissed.
    include(study.project, "dan", now=NOON + 3 * MINUTE)
    (line,) = policy_lines(study)
    assert line.facts.flagged == 1
    SessionFlag.objects.filter(pk=upheld.pk).update(verdict="dismissed")
    (line,) = policy_lines(study)
    assert (line.facts.flagged, line.facts.sessions) == (0, 5)


def test_the_wage_is_that_of_finished_sessions() -> None:
    """1.00 for 20 minutes are 3.00 an hour; the estimate of 10 minutes promised 6.00."""
    study = study_with({"policy": "wage", "wage_below": "3.01", "sessions": 2}, time={"estimated_minutes": 10})
    finish(study, "ann")
    assert act(study) is None
    finish(study, "ben")
    paused = act(study)
    assert paused is not None
    assert paused.reasons == {"wage": "The median wage of 2 sessions is USD 3.00 an hour, bound USD 3.01 an hour."}


def test_others_are_asked_where_answers_were_excluded() -> None:
    study = study_with({"policy": "replace_excluded"}, people=2)
    finish(study, "ann", "ben")
    assert act(study) is None
    exclude(study.project, "ann")
    assert not Slot.objects.filter(seat__study=study, answered_at=None).exists()
    act(study)
    assert Slot.objects.filter(seat__study=study, answered_at=None).count() == 1
    act(study)
    (event,) = Event.objects.filter(what="policy replaced")
    assert (event.details["answers"], event.details["finding"]) == (1, "1 excluded answer had no other place.")
    assert fresh(study).state == StudyState.OPEN
    # Somebody else takes the place, and then the excluded person is included again: the place is not theirs any more.
    finish(study, "cleo")
    include(study.project, "ann")
    assert act(study) is None
    assert Event.objects.filter(what="policy replaced").count() == 1


def test_places_of_another_study_stay_closed() -> None:
    study = study_with({"policy": "replace_excluded"}, people=2)
    other = launch_study(study.project, instances=1, study="other", dataset=False)
    finish(study, "ann")
    answer_all(arrive_at_work(other, "ann", session="other"), "candidate-0")
    exclude(study.project, "ann")
    act(study)
    assert not Slot.objects.filter(seat__study=other, answered_at=None).exists()
    assert Slot.objects.filter(seat__study=study, answered_at=None).count() == 2


def test_only_studies_under_way_with_policies_are_looked_at() -> None:
    study = study_with(COST)
    launch_study(study.project, instances=1, study="other", dataset=False)
    assert studies_with_policies() == [study.pk]
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert studies_with_policies() == []


@pytest.mark.django_db(transaction=True)
def test_two_beats_at_once_act_once() -> None:
    study = study_with(COST)
    finish(study, "ann", "ben", "cleo", "dan")
    found = at_once(lambda: act(study), lambda: act(study))
    assert [each is None for each in found].count(False) == 1
    assert len(sentences()) == 1


def test_wrong_answers_to_gold_questions_pause_it() -> None:
    """Both choose candidate-0 where none is right."""
    study = study_with(COST)
    limit = PolicyEntry.model_validate({"policy": "gold", "gold_below": 0.5, "gold_answers": 2})
    redesign(study, policies=(limit,))
    finish(study, "ann", "ben")
    assert act(study) is None
    Question.with_checks.filter(study=study).update(check_type="gold", right="none")
    Response.objects.update(is_check=True)
    paused = act(study)
    assert paused is not None
    assert paused.reasons == {"gold": "0 of 2 answers to gold questions right (0 %), bound 50 %."}


def test_of_several_sessions_of_a_person_the_score_takes_the_first_that_finished() -> None:
    """A value that changed later would make the confidence sequence wrong."""
    study = launch_study(
        instances=3,
        answers=1,
        surveys={"size": 1, "double_seats": 0},
        recruitment={"sessions_per_annotator": 3},
    )
    study.questions.update(right="candidate-0")
    for number, (person, choice) in enumerate([("ann", "candidate-0"), ("ben", "none"), ("ann", "candidate-1")]):
        session = arrive_at_work(study, person, session=f"session-{number}")
        answer_all(session, choice)
        Session.objects.filter(pk=session.pk).update(ended_at=NOON + number * MINUTE)
    assert FACTS[Need.SCORES](fresh(study), None, {}).people_right == (1.0, 0.0)
