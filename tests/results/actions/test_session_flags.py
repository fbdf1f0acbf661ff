"""Flags of sessions: computed from the counted answers, stored once, and cleared when they are no longer found."""

import uuid
from datetime import datetime, timedelta

import pytest

from annotation.actions.removing.removals import exclude, include
from annotation.actions.removing.retire_questions import take_out
from annotation.models import Response, Session, SessionFlag
from results.actions.session_flags import FlagChanges, flag_sessions, studies_to_flag
from results.queries.quality.session_records import sent_records
from studies.actions.events import What
from studies.models import Event, Question, Study
from tests.factories import NOON, TESTS, answer, make_instance, make_launched, make_project, make_study, questions
from tests.factories import sit_down as sit

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)
# Nobody takes the same time for each answer.
PACES = (0.7, 1.0, 1.4)


def study_of(*, size: int = 30, seats: int = 3) -> Study:
    project = make_project()
    for number in range(size):
        make_instance(project, f"vase-{number:02}")
    return make_launched(make_study(project), seats=seats)


def sit_through(study: Study, person: str, *, places: list[int] | None = None, seconds: float = 9.0) -> Session:
    """Answer all in `seconds` at the median: the first candidate or, with `places`, whatever stands there."""
    session = sit(study, person, first_question_at=NOON)
    moment = NOON
    for number, question in enumerate(questions(study)):
        took = seconds * PACES[number % len(PACES)]
        moment += timedelta(seconds=took)
        given = answer(session, question, "candidate-1", now=moment, send_ms=round(1000 * took), hidden_ms=0)
        if places is not None:
            candidates = [key for key in given.shown_order if key.startswith("candidate")]
            given.choice = candidates[places[number % len(places)]]
            given.save()
    return session


def _rules(session: Session) -> list[str]:
    flags = SessionFlag.objects.in_force().filter(session=session).order_by("rule")
    return list(flags.values_list("rule", flat=True))


def _flag(study: Study, now: datetime = LATER) -> FlagChanges:
    return flag_sessions(study=study, by=TESTS, now=now)


def test_flags_who_always_chooses_the_same_place_and_nobody_else() -> None:
    study = study_of()
    careful = [sit_through(study, "ann"), sit_through(study, "ben")]
    first = sit_through(study, "cem", places=[0])
    assert _flag(study) == FlagChanges(sessions=3, flagged=1, found=len(_rules(first)), cleared=0)
    assert {"place_habit", "patterns"} <= set(_rules(first))
    assert [_rules(each) for each in careful] == [[], []]
    flag = SessionFlag.objects.get(session=first, rule="place_habit")
    # Four candidates at random places: 30 / 4 answers are expected at each.
    assert (flag.evidence["place"], flag.evidence["chosen"], flag.evidence["expected"]) == (1, 30, 7.5)
    event = Event.objects.get(what=What.FLAGS_CHANGED)
    assert (event.study, event.by_name, event.details["cleared"]) == (study, TESTS, 0)


def test_an_edited_answer_keeps_its_place_in_the_session() -> None:
    study = study_of(size=3)
    sit_through(study, "ann")
    edited = Response.objects.order_by("received_at")[0]
    asked = list(Response.objects.order_by("received_at").values_list("question", flat=True))
    Response.objects.filter(pk=edited.pk).update(is_current=False)
    edited.pk, edited.submission_id, edited.version = None, uuid.uuid4(), 2
    edited.received_at += timedelta(hours=1)
    edited.save()
    sent, _ = sent_records(study)
    assert [(each.answer.question, each.answer.number) for each in sent] == list(zip(asked, (1, 2, 3), strict=True))


def test_running_twice_changes_nothing() -> None:
    study = study_of()
    sit_through(study, "ann"), sit_through(study, "ben")
    sit_through(study, "cem", places=[0])
    _flag(study)
    before = list(SessionFlag.objects.values())
    assert _flag(study, LATER + timedelta(hours=1)).found == 0
    assert list(SessionFlag.objects.values()) == before
    assert Event.objects.filter(what=What.FLAGS_CHANGED).count() == 1


def test_a_computation_that_began_earlier_changes_nothing() -> None:
    study = study_of()
    first = sit_through(study, "cem", places=[0])
    _flag(study, LATER)
    SessionFlag.objects.all().delete()
    assert _flag(study, LATER - timedelta(minutes=1)) == FlagChanges()
    assert _rules(first) == []


def test_an_excluded_person_loses_the_flags_and_has_them_again_when_included() -> None:
    study = study_of()
    sit_through(study, "ann"), sit_through(study, "ben")
    first = sit_through(study, "cem", places=[0])
    _flag(study)
    found = _rules(first)
    SessionFlag.objects.filter(session=first, rule="patterns").update(verdict="upheld", reviewed_at=LATER, note="Yes.")
    person, project = first.annotator, study.project
    exclude(annotator=person, project=project, reason="clicked", by=TESTS, now=LATER)
    assert _flag(study, LATER + timedelta(minutes=1)).cleared == len(found)
    assert _rules(first) == []
    include(annotator=person, project=project, by=TESTS, now=LATER + timedelta(minutes=2))
    _flag(study, LATER + timedelta(minutes=3))
    assert _rules(first) == found
    flag = SessionFlag.objects.get(session=first, rule="patterns")
    assert (flag.verdict, flag.note, flag.found_at, flag.cleared_at) == ("upheld", "Yes.", LATER, None)


def test_answers_to_questions_that_were_taken_out_flag_nobody() -> None:
    study = study_of(size=12)
    first = sit_through(study, "cem", places=[0])
    _flag(study)
    assert "place_habit" in _rules(first)
    for question in questions(study)[:9]:
        take_out(question=question, reason="broken", by=TESTS, now=LATER)
    _flag(study, LATER + timedelta(minutes=1))
    assert _rules(first) == []


def test_answers_to_checks_are_read_and_nobody_is_compared_with_them() -> None:
    study = study_of()
    sit_through(study, "ann"), sit_through(study, "ben")
    careless = sit_through(study, "cem")
    # Six questions become gold: who chose the first candidate failed them, and so did nobody else.
    checks = questions(study)[:6]
    Question.with_checks.filter(pk__in=[each.pk for each in checks]).update(check_type="gold", right="candidate-2")
    Response.objects.filter(question__in=checks).update(is_check=True)
    others = Response.objects.filter(question__in=checks).exclude(session=careless)
    others.update(choice="candidate-2", answer="candidate-2")
    _flag(study)
    flag = SessionFlag.objects.get()
    assert (flag.session, flag.rule) == (careless, "failed_checks")
    assert (flag.evidence["check_type"], flag.evidence["failed"], flag.evidence["asked"]) == ("gold", 6, 6)


def test_only_the_first_version_of_an_answer_is_timed() -> None:
    study = study_of(size=12)
    session = sit_through(study, "ann")
    for question in questions(study):
        answer(session, question, "candidate-2", now=LATER, send_ms=10, hidden_ms=0)
    _flag(study, LATER + timedelta(minutes=1))
    assert "too_fast" not in _rules(session)


def test_a_burst_of_answers_is_too_fast() -> None:
    study = study_of(size=12)
    session = sit_through(study, "ann", seconds=0.2)
    _flag(study)
    assert "too_fast" in _rules(session)


def test_a_study_is_due_when_a_session_ended_when_answers_changed_and_with_new_answers() -> None:
    study = study_of(size=12, seats=2)
    assert list(studies_to_flag(now=NOON)) == []
    ann = sit_through(study, "ann")
    assert list(studies_to_flag(now=LATER)) == [study]
    _flag(study, LATER)
    assert list(studies_to_flag(now=LATER + timedelta(minutes=1))) == []
    # One new answer, of a session that goes on.
    ben, at = sit(study, "ben", now=LATER, first_question_at=LATER), LATER + timedelta(minutes=1)
    answer(ben, questions(study)[0], "candidate-1", now=at)
    assert list(studies_to_flag(now=LATER + timedelta(minutes=2))) == []
    assert list(studies_to_flag(now=LATER + timedelta(minutes=5))) == [study]
    _flag(study, LATER + timedelta(minutes=6))
    ben.refresh_from_db()
    for question in questions(study)[1:]:
        answer(ben, question, "candidate-1", now=LATER + timedelta(minutes=7))
    assert list(studies_to_flag(now=LATER + timedelta(minutes=7))) == [study]
    _flag(study, LATER + timedelta(minutes=8))
    later = LATER + timedelta(minutes=9)
    exclude(annotator=ann.annotator, project=study.project, reason="clicked", by=TESTS, now=later)
    assert list(studies_to_flag(now=later)) == [study]
