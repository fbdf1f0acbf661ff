"""An answer is stored by one statement, as long as nothing has changed since another read what it depends on."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.actions import sessions
from annotation.actions.answering import answer_sql, drafts, responses
from annotation.actions.deciding.adjudication import settle
from annotation.actions.deciding.decisions import recount
from annotation.actions.launching import extend_study
from annotation.errors import BadAnswer
from annotation.models import Decision, Draft, Response, Session, SessionState, Slot
from annotation.models.responses import LeftOut, counts
from studies.models import Question, Study
from tests import removing
from tests.annotation.test_live_sessions import write
from tests.annotation.test_lobby import make_roles
from tests.annotation.test_repetitions import describing, say
from tests.annotation.test_responses import send
from tests.checking import CHECKS
from tests.factories import NOON, TESTS, arrive_at_work, fresh, launch_study, make_instance, make_person, make_project
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
SAID, OTHER = "The lid of the vase is open.", "Both handles are to be seen."
PEOPLE = "ann", "ben", "cleo"


def first_slot(session: Session, *, question: int | None = None) -> Slot:
    slots = responses.open_slots(session=session, limit=100)
    return next(slot for slot in slots if question in (None, slot.question_id))


def check_decisions(study: Study) -> None:
    """Each decision must be what its counted answers say."""
    questions = list(study.questions.values_list("pk", flat=True))
    before = list(Decision.objects.filter(study=study).order_by("pk").values())
    with transaction.atomic():
        assert recount(questions=questions, now=NOON) == []
    assert list(Decision.objects.filter(study=study).order_by("pk").values()) == before


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[bool]]:
    """Return what does something between the two statements of an answer; it tells of each attempt if it stored."""
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite an answer is stored step by step.")

    def change(work: Callable[[], object], *, times: int = 1) -> list[bool]:
        stored: list[bool] = []
        left = [work] * times
        store = answer_sql.store_in_one_statement

        def after_work(**about: Any) -> Any:
            if left:
                at_once(left.pop())
            following = store(**about)
            stored.append(following is not None)
            return following

        monkeypatch.setattr(answer_sql, "store_in_one_statement", after_work)
        return stored

    return change


def text_study() -> Study:
    return describing(sets=4, targets=1, answers=3, surveys={"size": 4})


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("is_written", [False, True])
def test_an_answer_is_two_statements_however_many_its_question_wants(answers: int, is_written: bool) -> None:
    study = describing(sets=4, targets=1, answers=answers) if is_written else launch_study(instances=4, answers=answers)
    asked = list[int]()
    for name in PEOPLE[:answers]:
        session = arrive_at_work(study, name)
        slot = first_slot(session)
        with CaptureQueriesContext(connection) as statements:
            say(session, f"{name} sees that the lid is open.", slot=slot) if is_written else send(session, slot)
        asked.append(len(statements))
    # On SQLite: what is asked, the transaction and six steps; three more to compare a text and delete its draft.
    one_by_one = 12 if is_written else 9
    assert set(asked) == {2 if connection.vendor == "postgresql" else one_by_one}
    check_decisions(study)


@pytest.mark.parametrize("answers", [1, 3])
def test_answers_to_checks_run_the_same_statements(answers: int) -> None:
    project = make_project()
    for number in range(34):
        make_instance(project, f"vase-{number}")
    study = launch_study(project, instances=34, answers=answers, checks=CHECKS)
    for name in PEOPLE[:answers]:
        session = arrive_at_work(study, name)
        slots = responses.open_slots(session=session, limit=100)
        found: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
        for slot in slots[1:-1]:
            with CaptureQueriesContext(connection) as statements:
                send(session, slot)
            found[slot.is_check].add(tuple(each["sql"].split(" ", 1)[0] for each in statements))
        assert found[True] == found[False]
        assert len(found[True]) == 1
    assert Response.objects.checks().exists()


def test_an_answer_to_a_check_writes_a_decision_as_it_is_and_no_other(meanwhile: Any) -> None:
    """So that it takes as long as another answer. If somebody decides that question meanwhile, their decision stays."""
    project = make_project()
    for number in range(34):
        make_instance(project, f"vase-{number}")
    study = launch_study(project, instances=34, answers=2, checks=CHECKS)
    ann, ben = (arrive_at_work(study, name) for name in PEOPLE[:2])
    slots = list(ann.seats.get().slots.order_by("position"))
    ordinary, check = (next(slot for slot in slots if slot.is_check is wanted) for wanted in (False, True))
    before = {row["question_id"]: row for row in versions()}
    send(ann, check)
    after = {row["question_id"]: row for row in versions()}
    written = [question for question, row in after.items() if row["xmin"] != before[question]["xmin"]]
    assert written == [ordinary.question_id]
    assert [row | {"xmin": ""} for row in after.values()] == [row | {"xmin": ""} for row in before.values()]

    another = next(slot for slot in slots if slot.is_check and slot != check)
    stored = meanwhile(lambda: send(ben, first_slot(ben, question=ordinary.question_id)))
    send(ann, another)
    # Ben's answer came before Ann's first attempt, which stored nothing.
    assert stored == [True, False, True]
    assert Decision.objects.get(question=ordinary.question_id).answers == 1
    assert Response.objects.checks().count() == 2
    check_decisions(study)


def versions() -> list[dict[str, Any]]:
    """Return all decisions, with the transaction that wrote each."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT xmin::text, * FROM annotation_decision ORDER BY question_id")
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("is_written", [False, True])
def test_the_statement_is_not_planned_for_each_answer(is_written: bool) -> None:
    """PostgreSQL plans a prepared statement five times, and then keeps a plan for any values if that costs no more."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans each statement when it is run.")
    # In small tables, all plans cost the same.
    number = 600
    study = describing(sets=number, targets=1) if is_written else launch_study(instances=number)
    session = arrive_at_work(study)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for place, slot in enumerate(responses.open_slots(session=session, limit=25)):
        say(session, f"{place} of the lids are open.", slot=slot) if is_written else send(session, slot)
    with connection.cursor() as cursor:
        cursor.execute("SELECT custom_plans, generic_plans > 0 FROM pg_prepared_statements WHERE statement ~ 'counted'")
        assert cursor.fetchall() == [(5, True)]


@pytest.mark.parametrize("attempt", range(5))
def test_three_answers_to_one_question_at_the_same_moment_all_decide(attempt: int) -> None:
    study = launch_study(instances=3, answers=3, surveys={"size": 3}, rule="majority-v1")
    people = [arrive_at_work(study, name) for name in PEOPLE]

    def send_all(session: Session) -> None:
        for slot in responses.open_slots(session=session, limit=3):
            order = responses.order_for(session=session, question=slot.question)
            send(session, slot, str(order.index("candidate-1") + 1))

    at_once(*[partial(send_all, session) for session in people])
    decided = Decision.objects.values_list("state", "winner", "answers", "votes__candidate-1")
    assert list(decided) == [("accepted", "candidate-1", 3, 3)] * 3
    assert {fresh(session).state for session in people} == {SessionState.FINISHED}
    check_decisions(study)


@pytest.mark.parametrize("change", ["edit", "exclude", "include", "ask more", "settle", "answer"])
def test_what_changes_the_decision_meanwhile_is_taken_into_account(change: str, meanwhile: Any) -> None:
    study = launch_study(instances=2, answers=3, surveys={"size": 2}, rule="majority-v1")
    ann, ben, cleo = (arrive_at_work(study, name) for name in PEOPLE)
    slot = first_slot(ann)
    question = slot.question_id
    # Two different images: had both chosen the same one, that majority would decide before the third answer.
    for session, image in ((ann, "candidate-0"), (ben, "candidate-1"))[: 1 if change == "answer" else 2]:
        own = first_slot(session, question=question)
        order = responses.order_for(session=session, question=own.question)
        send(session, own, str(order.index(image) + 1))
    if change == "include":
        removing.exclude(study.project, "ann")
    work: dict[str, Callable[[], object]] = {
        "edit": partial(send, ann, slot, "none", replaces=1),
        "exclude": partial(removing.exclude, study.project, "ann"),
        "include": partial(removing.include, study.project, "ann"),
        "ask more": partial(extend_study.add_answers, study=study, more=2, by=TESTS, now=NOON),
        "settle": lambda: settle(
            question=Question.objects.get(pk=question), choice="none", by=make_person("eve"), note="Seen.", now=NOON
        ),
        "answer": lambda: send(ben, first_slot(ben, question=question), "none"),
    }
    stored = meanwhile(work[change])
    assert send(cleo, first_slot(cleo, question=question), "none").stored
    # What Ben sent was stored first.
    assert stored == [*[True] * (change == "answer"), False, True]
    wanted = {"exclude": 2}.get(change, 3)
    assert Decision.objects.get(question=question).answers == wanted
    check_decisions(study)


def test_what_changes_the_session_meanwhile_is_taken_into_account(meanwhile: Any) -> None:
    session = arrive_at_work(launch_study(instances=2))
    first, second = responses.open_slots(session=session, limit=2)
    # Both seem to leave a question open, and one of them is the last.
    stored = meanwhile(partial(send, session, second))
    send(session, first)
    # The attempts in between belong to the second.
    assert stored[-1]
    assert (fresh(session).state, fresh(session).questions_answered) == (SessionState.FINISHED, 2)


def test_a_session_that_ends_meanwhile_gets_no_answer(meanwhile: Any) -> None:
    session = arrive_at_work(launch_study(instances=2))
    stored = meanwhile(lambda: sessions.leave(session=fresh(session), to=SessionState.RETURNED, now=NOON))
    # It comes late, as if it had been sent after the end, and does not count.
    assert send(session, first_slot(session)).late
    assert stored == [False]
    assert not Response.objects.counted().exists()
    assert fresh(session).questions_answered == 0


def test_a_server_killed_between_the_last_answer_and_the_end_of_its_session_has_stored_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot, submission = first_slot(session), uuid.uuid4()

    def die(**_: Any) -> None:
        assert Response.objects.exists()
        # As the system does when the process is gone.
        connection.connection.close()
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(sessions, "finish_unless_last_look", die)
        with pytest.raises(KeyboardInterrupt):
            send(session, slot, submission=submission)
    connection.close()
    assert not Response.objects.exists()
    assert (fresh(session).state, fresh(session).questions_answered) == (SessionState.WORKING, 0)
    assert fresh(slot).answered_at is None
    # The page has no reply, and sends it again.
    assert send(session, slot, submission=submission).stored
    assert (fresh(session).state, fresh(session).questions_answered) == (SessionState.FINISHED, 1)
    check_decisions(session.study)


def test_an_answer_that_never_finds_what_it_has_read_waits_for_the_others(meanwhile: Any) -> None:
    study = launch_study(instances=2, answers=3, surveys={"size": 2}, rule="majority-v1")
    ann, ben = (arrive_at_work(study, name) for name in PEOPLE[:2])
    slot = first_slot(ann)
    send(ann, slot, "1")
    versions = iter(range(1, 10))
    stored = meanwhile(lambda: send(ann, slot, "1", replaces=next(versions)), times=responses.ATTEMPTS)
    assert send(ben, first_slot(ben, question=slot.question_id)).stored
    assert stored == [False] * responses.ATTEMPTS
    assert Decision.objects.get(question=slot.question_id).answers == 2
    check_decisions(study)


@pytest.mark.parametrize("attempt", range(5))
def test_of_equal_texts_about_one_set_at_the_same_moment_one_is_stored(attempt: int) -> None:
    study = describing(sets=1, targets=3, answers=3)
    people = [arrive_at_work(study, name) for name in PEOPLE]
    # Each about another of the three targets.
    slots = [responses.open_slots(session=session, limit=3)[place] for place, session in enumerate(people)]

    def write_same(session: Session, slot: Slot) -> bool:
        try:
            return say(session, SAID, slot=slot).stored
        except BadAnswer:
            return False

    calls = [partial(write_same, session, slot) for session, slot in zip(people, slots, strict=True)]
    assert sorted(at_once(*calls)) == [False, False, True]
    assert Response.objects.get().answer == {"text": SAID}
    assert sorted(fresh(session).questions_answered for session in people) == [0, 0, 1]
    check_decisions(study)


@pytest.mark.parametrize("attempt", range(3))
def test_an_edit_and_a_new_text_that_are_equal_are_not_both_stored(attempt: int) -> None:
    study = describing(sets=1, targets=2, answers=2)
    ann, ben = (arrive_at_work(study, name) for name in PEOPLE[:2])
    first, second = responses.open_slots(session=ann, limit=2)
    say(ann, OTHER, slot=first)

    def write_same(session: Session, slot: Slot, **more: Any) -> bool:
        try:
            return say(session, SAID, slot=slot, **more).stored
        except BadAnswer:
            return False

    about_second = first_slot(ben, question=second.question_id)
    edit, new = partial(write_same, ann, first, replaces=1), partial(write_same, ben, about_second)
    assert sorted(at_once(edit, new)) == [False, True]
    assert Response.objects.counted().filter(answer__text=SAID).count() == 1


def test_a_text_that_somebody_gives_meanwhile_is_refused(meanwhile: Any) -> None:
    study = describing(sets=1, targets=2, answers=2)
    ann, ben = (arrive_at_work(study, name) for name in PEOPLE[:2])
    stored = meanwhile(partial(say, ann, SAID))
    with pytest.raises(BadAnswer, match="already written exactly this"):
        say(ben, SAID, slot=responses.open_slots(session=ben, limit=2)[1])
    # The first attempt stored Ann's.
    assert stored == [True, False]
    assert not ben.responses.exists()


def test_the_first_draft_saved_meanwhile_goes_with_the_answer(meanwhile: Any) -> None:
    study = text_study()
    session = arrive_at_work(study)
    slot = first_slot(session)
    stored = meanwhile(lambda: drafts.save(session=session, slot=slot.pk, fields={"text": "The lid"}, now=NOON))
    assert say(session, SAID, slot=slot).stored
    assert stored == [False, True]
    assert not Draft.objects.exists()


@pytest.mark.parametrize("is_written", [False, True])
def test_the_last_answer_is_stored_only_with_the_end_of_its_session(
    is_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = arrive_at_work(describing(targets=1) if is_written else launch_study(instances=1))
    slot, submission = first_slot(session), uuid.uuid4()
    answer = partial(say, session, SAID) if is_written else partial(send, session, slot)

    class Killed(BaseException):
        pass

    def kill(**_: Any) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(sessions, "finish_unless_last_look", kill)
        with pytest.raises(Killed):
            answer(submission=submission) if not is_written else answer()
    assert (Response.objects.count(), fresh(session).questions_answered) == (0, 0)
    assert Decision.objects.get().answers == 0
    assert answer().state == SessionState.FINISHED
    assert (Response.objects.count(), Decision.objects.get().answers) == (1, 1)


def test_the_statement_reads_the_answers_that_count() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite an answer is stored step by step.")
    study = launch_study(instances=1, answers=17, rule="majority-v1")
    question, wanted = study.questions.get().pk, list[str]()
    for number in range(16):
        session = arrive_at_work(study, f"person-{number}")
        slot = first_slot(session)
        send(session, slot, str(number % 4 + 1), now=NOON)
        changed = {
            "is_current": not number & 1,
            "slot": slot if not number & 2 else None,
            "left_out": "" if not number & 4 else LeftOut.EXCLUDED,
            "is_check": bool(number & 8),
        }
        Response.objects.filter(session=session).update(**changed)
    wanted = list(Response.objects.filter(counts(), question=question).order_by("pk").values_list("choice", flat=True))
    last = arrive_at_work(study, "last")
    state = answer_sql.question_state(first_slot(last).pk, token=last.token)
    assert state is not None
    assert [label for each in state.related for label, _ in each.answers] == wanted
    assert len(wanted) == 1


def test_a_decision_that_an_answer_elsewhere_changes_is_read_again(meanwhile: Any) -> None:
    describe, find = make_roles(sets=4)
    write(describe, "ann", "cleo", "dora")
    session = arrive_at_work(find, "ben")
    stored = meanwhile(lambda: None)
    send(session, first_slot(session))
    # `described-v1` decides a text by what came of it: both decisions are stored step by step.
    assert stored == []
    check_decisions(describe)
    check_decisions(find)


def test_psycopg_parses_both_statements_only_once() -> None:
    session = arrive_at_work(text_study())
    slot, run = first_slot(session), list[tuple[int, int]]()

    def note(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        run.append((len(sql), len(params or ())))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        say(session, SAID, slot=slot)
    # Of psycopg 3: longer statements, or those with more parameters, are parsed again for every answer.
    assert all(characters <= 4096 and parameters <= 50 for characters, parameters in run)
