"""Practice: its rounds belong to a study and an annotator, and answers alone pass it."""

import pytest

from annotation.actions import sessions
from annotation.actions.answering import advance_session, practice, practice_rounds
from annotation.errors import BadAnswer, CannotTakePart
from annotation.models import PracticeAnswer, Session, SessionState
from studies.kinds import get_kind, posted_values
from studies.models import PracticeQuestion, Study
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, arrive, arrive_at_work, fresh, launch_study, make_instance, make_project

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "candidate-1", "candidate-2"


def study_with_practice(*, trials: int = 2, wanted: int = 2, rounds: int = 2, **design: object) -> Study:
    project = make_project()
    keys = [f"trial-{number}" for number in range(trials)]
    for key in keys:
        make_instance(project, key)
    asked = [{"instance": key, "right": RIGHT} for key in keys]
    settings = {"questions": asked, "pass": wanted, "rounds": rounds}
    return launch_study(project, instances=trials + 4, answers=9, practice=settings, **design)


def give(session: Session, *choices: str) -> PracticeAnswer:
    """Answer the practice questions that `session` is at, one after another; return the last answer."""
    for choice in choices:
        asked = practice.next_question(session=fresh(session))
        assert asked is not None
        given = answer(session, asked, choice)
    return given


def answer(session: Session, asked: PracticeQuestion, choice: str) -> PracticeAnswer:
    order = practice.order_for(session=session, question=asked)
    values = posted_values(get_kind(asked.kind), asked.content, order)
    value = next(value for value, key in values.items() if key == choice)
    return practice.answer(session=session, question=asked.pk, posted={"choice": value}, now=NOON)


@pytest.mark.parametrize("has_lapsed", [False, True])
def test_a_new_submission_or_a_return_goes_on_in_the_round_that_was_left(has_lapsed: bool) -> None:
    study = study_with_practice()
    session = arrive_at_work(study, session="s1")
    given = give(session, WRONG)
    if has_lapsed:
        sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)
    again = arrive_at_work(study, session="s1" if has_lapsed else "s2")
    left = study.practice_questions.exclude(pk=given.practice_question_id).get()
    assert practice.next_question(session=again) == left
    assert (again.state, again.practice_round) == (SessionState.PRACTICE, 1)
    give(again, RIGHT)
    assert (fresh(again).state, again.practice_round) == (SessionState.PRACTICE, 2)
    give(again, RIGHT, RIGHT)
    assert fresh(again).state == SessionState.WORKING


def test_six_visits_try_no_more_than_the_rounds_there_are() -> None:
    study = study_with_practice(trials=1, wanted=1, rounds=2)
    tried = []
    for visit, choice in enumerate(("candidate-0", "candidate-2", "candidate-3", "none", RIGHT, RIGHT)):
        try:
            session = arrive_at_work(study, session=f"visit-{visit}")
        except CannotTakePart:
            continue
        tried.append(give(session, choice).choice)
    assert tried == ["candidate-0", "candidate-2"]
    assert Session.objects.filter(state=SessionState.FAILED_CHECKS).count() == 1
    assert not Session.objects.exclude(first_question_at=None).exists()


@pytest.mark.parametrize("most", [0, 1, 5])
def test_whoever_has_failed_has_failed_however_many_sessions_a_person_may_have(most: int) -> None:
    study = study_with_practice(rounds=1, recruitment={"sessions_per_annotator": most})
    lapsed = arrive_at_work(study, session="s0")
    sessions.leave(session=lapsed, to=SessionState.LAPSED, now=NOON)
    session = arrive_at_work(study, session="s1")
    give(session, WRONG, WRONG)
    assert fresh(session).state == SessionState.FAILED_CHECKS
    with pytest.raises(CannotTakePart):
        arrive(study, session="s2")
    assert sessions.resume(session=Session.objects.get(pk=lapsed.pk), now=NOON).state == SessionState.LAPSED
    # Other people and other studies have rounds of their own.
    practice = {"questions": [{"instance": "vase-2", "right": RIGHT}], "pass": 1, "rounds": 1}
    other = launch_study(study.project, study="other", instances=6, practice=practice)
    assert arrive_at_work(study, "ben").state == SessionState.PRACTICE
    assert arrive_at_work(other, "ann", session="in-the-other").state == SessionState.PRACTICE


def test_whoever_has_passed_does_not_practise_again() -> None:
    study = study_with_practice(surveys={"size": 2}, recruitment={"sessions_per_annotator": 0})
    session = arrive_at_work(study, session="s1")
    give(session, RIGHT, RIGHT)
    while fresh(session).state == SessionState.WORKING:
        send(session, next_slot(session))
    again = arrive(study, session="s2")
    assert not practice_rounds.is_required(study=study, annotator=again.annotator)
    advance_session.begin(session=again, part=0, now=NOON)
    assert again.state == SessionState.WORKING


@pytest.mark.parametrize(
    ("wanted", "shown", "missing", "needed"),
    [(2, 2, 0, 2), (2, 1, 1, 1), (2, 0, 2, 0), (1, 1, 1, 1), (3, 4, 2, 1), (0, 2, 1, 0), (4, 1, 3, 1)],
)
def test_the_pass_mark_sinks_with_what_is_missing(wanted: int, shown: int, missing: int, needed: int) -> None:
    assert practice.pass_mark(wanted, shown=shown, missing=missing) == needed


def test_what_is_missing_is_not_right() -> None:
    study = study_with_practice(rounds=1)
    session = arrive_at_work(study)
    first, second = study.practice_questions.all()
    practice.skip_question_without_images(session=session, question=first, now=NOON)
    answer(session, second, WRONG)
    assert fresh(session).state == SessionState.FAILED_CHECKS


def test_nothing_is_answered_in_a_session_that_has_left_the_practice() -> None:
    study = study_with_practice()
    older = arrive_at_work(study, session="s1")
    arrive_at_work(study, session="s2")
    with pytest.raises(BadAnswer, match="Practice is over"):
        answer(older, study.practice_questions.all()[0], RIGHT)
    assert PracticeAnswer.objects.count() == 0
