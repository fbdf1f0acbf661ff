"""Whoever arrives while nothing is ready waits, is led on as soon as something is, and ends kindly otherwise."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.actions.answering.responses import open_slots
from annotation.actions.ending import platform_outcome
from annotation.actions.removing.retire_questions import take_out
from annotation.errors import CannotTakePart, NothingLeft
from annotation.models import EntryEvent, Session, SessionState
from studies.design import DesignRefused, read_design
from studies.models import CompletionCode, Question, Study, StudyState
from tests.annotation.test_entry import link_of
from tests.annotation.test_pipeline import STEP_4, launch_file, make_pipeline_project
from tests.annotation.test_repetitions import describing, say
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study, make_instance

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
MINUTE = timedelta(minutes=1)
JSON = {"accept": "application/json"}
LOBBY = {"minutes": 10, "pay": "0.50"}


def make_live(*, instances: int = 2, **design: Any) -> tuple[Study, Study]:
    """Return a study, and one with a lobby that asks about what the first accepts."""
    project = make_pipeline_project(instances)
    first = launch_study(project, instances=instances)
    file = {"study": "step-4", "kind": "ambiguity", "instances": {"from": "best-vase"}, "lobby": LOBBY}
    file |= {"recruitment": {"any_ids": True}} | design
    return first, launch_file(project, file)


def wait(study: Study, person: str, *, now: datetime = NOON) -> Session:
    """Return a session that has arrived, begun, and waits."""
    session = arrive(study, person, now=now)
    advance_session.begin(session=session, part=0, now=now)
    assert session.state == SessionState.WAITING
    return session


def accept_one(first: Study, *, now: datetime = NOON) -> None:
    """Let ann accept one instance of the study that feeds the other."""
    session = arrive_at_work(first, "ann", now=now)
    # Long ago, so that it can no longer be taken back.
    send(session, next_slot(session), "1")


def update(session: Session, *, minutes: float = 0) -> str:
    """Look whether something is ready for a session that waits; return its state."""
    advance_session.update_waiting(session=session, now=NOON + minutes * MINUTE)
    return session.state


@pytest.mark.parametrize("feeding", [StudyState.OPEN, StudyState.PAUSED])
def test_without_a_lobby_whoever_comes_early_reads_that_nothing_is_ready(client: Client, feeding: StudyState) -> None:
    first, second = make_live(lobby={"minutes": 0})
    Study.objects.filter(pk=first.pk).update(state=feeding)
    page = client.post(link_of(second)).content.decode()
    assert "Nothing is ready yet" in page
    assert "the answers of other people" in page
    assert "taken" not in page
    assert EntryEvent.objects.get(study=second).what == EntryEvent.What.NOTHING_YET


def test_whoever_waits_is_led_on_as_soon_as_something_is_ready() -> None:
    first, second = make_live()
    waiting, other = wait(second, "ben"), wait(second, "cleo")
    assert update(waiting, minutes=1) == SessionState.WAITING
    accept_one(first)
    assert (update(waiting, minutes=2), waiting.questions_total) == (SessionState.WORKING, 1)
    assert waiting.first_question_at == NOON + 2 * MINUTE
    # The time to answer begins now.
    assert waiting.lease_until > NOON + 60 * MINUTE
    assert next_slot(waiting).question == Question.objects.get(study=second)
    # One question is for one of them.
    assert update(other, minutes=2) == SessionState.WAITING


def test_what_became_ready_while_somebody_read_the_instructions_is_theirs_without_a_wait() -> None:
    first, second = make_live()
    session = arrive(second, "ben")
    assert (session.state, session.questions_total) == (SessionState.INSTRUCTIONS, 0)
    accept_one(first)
    advance_session.begin(session=session, part=0, now=NOON)
    assert (session.state, session.questions_total) == (SessionState.WORKING, 1)


def test_whoever_closes_the_page_has_not_waited_and_may_come_back_and_go_on_reading() -> None:
    _, second = make_live()
    waiting, reading = wait(second, "ben"), arrive(second, "cleo")
    sessions.record_visit(session=waiting, now=NOON + 7 * MINUTE)
    # A wait that is the first is not finished.
    advance_session.finish_if_done(session=waiting, now=NOON)
    late = NOON + 20 * MINUTE
    assert advance_session.expire(by=TESTS, now=late) == 1
    for session, state in ((waiting, SessionState.WAITING), (reading, SessionState.INSTRUCTIONS)):
        assert fresh(session).state == SessionState.LAPSED
        assert sessions.can_revive(session=session, now=late)
        assert platform_outcome.show_completion_code(session=session, now=late) == ""
        assert sessions.resume(session=session, now=late).state == state


@pytest.mark.parametrize(("most", "error"), [(0, NothingLeft), (1, CannotTakePart)])
@pytest.mark.parametrize("way", ["asked", "expired"])
def test_after_the_longest_wait_a_sitting_ends_and_is_paid_once(way: str, most: int, error: type[Exception]) -> None:
    _, second = make_live(recruitment={"any_ids": True, "sessions_per_annotator": most})
    session = wait(second, "ben")
    late = NOON + 11 * MINUTE
    sessions.record_visit(session=session, now=NOON + 9 * MINUTE)
    if way == "asked":
        update(session, minutes=11)
    else:
        assert advance_session.expire(by=TESTS, now=late) == 0
    assert (fresh(session).state, session.ended_at) == (SessionState.WAITED, late)
    code = CompletionCode.objects.get(study=second, outcome="waited").code
    assert platform_outcome.show_completion_code(session=session, now=late) == code
    assert CompletionCode.objects.filter(study=second, code=code).count() == 1
    # It is settled: nobody waits twice for the pay, however many surveys one may take.
    with pytest.raises(error):
        arrive(second, "ben", now=late, session="another")
    wait(second, "cleo", now=late)


def test_nobody_is_kept_waiting_for_what_cannot_come() -> None:
    first, second = make_live(instances=1)
    session = wait(second, "ben")
    ann = arrive_at_work(first, "ann")
    send(ann, next_slot(ann), "none")
    assert update(session, minutes=1) == SessionState.WAITED
    with pytest.raises(NothingLeft, match="All places of this study are taken"):
        arrive(second, "cleo")


def test_nobody_is_kept_waiting_for_the_answer_to_a_check() -> None:
    project = make_pipeline_project(4)
    first = launch_study(project, instances=4, checks={"repeat": {"per_survey": 1}})
    second = launch_file(project, STEP_4 | {"lobby": LOBBY, "recruitment": {"any_ids": True}})
    waiting, ann = wait(second, "ben"), arrive_at_work(first, "ann")
    *ordinary, last = [slot for slot in open_slots(session=ann, limit=9) if not slot.is_check]
    for slot in ordinary:
        send(ann, slot, "none")
    assert update(waiting, minutes=1) == SessionState.WAITING
    send(ann, last, "none")
    assert [slot.is_check for slot in open_slots(session=ann, limit=9)] == [True]
    assert update(waiting, minutes=1) == SessionState.WAITED


def test_a_study_that_pauses_leads_nobody_on_and_sends_nobody_away() -> None:
    first, second = make_live()
    session = wait(second, "ben")
    accept_one(first)
    for state, then in ((StudyState.PAUSED, SessionState.WAITING), (StudyState.CLOSED, SessionState.WAITED)):
        closed_at = NOON if state == StudyState.CLOSED else None
        Study.objects.filter(pk=second.pk).update(state=state, closed_at=closed_at)
        assert update(Session.objects.get(pk=session.pk), minutes=1) == then


@pytest.mark.parametrize("is_script", [True, False])
def test_the_lobby_says_how_long_and_what_it_pays_and_claims_nothing(client: Client, is_script: bool) -> None:
    first, second = make_live()
    client.post(link_of(second))
    session = Session.objects.get(study=second)
    page = page_of(session)
    assert "Questions appear as they become ready" in client.get(page).content.decode()
    shown = client.post(f"{page}begin/", follow=True).content.decode()
    assert "You will wait for 10 more minutes at most." in shown
    assert "you are paid US$\N{NO-BREAK SPACE}0.50 for waiting" in shown
    accept_one(first)
    client.get(page)
    assert fresh(session).state == SessionState.WAITING
    if is_script:
        assert client.post(f"{page}wait/", headers=JSON).json() == {"go": page}
    else:
        assert client.post(f"{page}wait/")["Location"] == page
    assert b"data-question" in client.get(page).content


def test_the_script_learns_how_long_it_still_is_and_where_the_end_is(client: Client, at_noon: Any) -> None:
    _, second = make_live()
    session = wait(second, "ben")
    at_noon.move_to(NOON + 9 * MINUTE, tick=False)
    asked = client.post(f"{page_of(session)}wait/", headers=JSON).json()
    assert asked == {"go": None, "longest": "You will wait for one more minute at most."}
    at_noon.move_to(NOON + 11 * MINUTE, tick=False)
    assert client.post(f"{page_of(session)}wait/", headers=JSON).json() == {"go": page_of(session)}
    end = client.get(page_of(session)).content.decode()
    assert "Thank you for waiting" in end
    assert CompletionCode.objects.get(study=second, outcome="waited").code in end


def test_whoever_waits_may_take_the_other_role_where_the_study_allows_it(client: Client) -> None:
    first, second = make_live(lobby=LOBBY | {"either_role": True})
    client.post(link_of(second))
    waiting = Session.objects.get(study=second)
    shown = client.post(f"{page_of(waiting)}begin/", follow=True).content.decode()
    assert "Or do the other part instead" in shown
    assert first.title in shown
    instructions = client.post(f"{page_of(waiting)}other-role/", follow=True).content.decode()
    other = Session.objects.get(study=first)
    assert (other.annotator, other.provider_session_id) == (waiting.annotator, waiting.provider_session_id)
    assert "Start" in instructions
    assert fresh(waiting).state == SessionState.SUPERSEDED
    # The link that they came by leads there from now on, and pressing the button again does nothing.
    assert client.get(link_of(second), follow=True).redirect_chain[-1][0] == page_of(other)
    client.post(f"{page_of(waiting)}other-role/")
    assert Session.objects.count() == 2
    assert platform_outcome.code_for(session=waiting, now=NOON) == ""


@pytest.mark.parametrize("is_allowed", [False, True])
def test_the_other_role_needs_permission_and_a_place(client: Client, is_allowed: bool) -> None:
    first, second = make_live(lobby=LOBBY | {"either_role": is_allowed})
    session = wait(second, "ben")
    if is_allowed:
        arrive_at_work(first, "ann")
    assert b"other part" not in client.get(page_of(session)).content
    assert client.post(f"{page_of(session)}other-role/")["Location"] == page_of(session)


def test_a_study_that_has_all_it_asks_at_launch_has_nothing_to_wait_for() -> None:
    with pytest.raises(DesignRefused, match="nothing to wait for"):
        read_design("study: s\ntitle: T\nkind: best_of_n\nlobby: {minutes: 5}\n")


def make_roles(
    *, sets: int = 1, selection: dict[str, Any] | None = None, find: dict[str, Any] | None = None, **describe: Any
) -> tuple[Study, Study]:
    """Return a study in which one image of each of `sets` image sets is described, and one with a lobby in which these
    are found."""
    design = {"rule": "described-v1", "max_answers": 2, "surveys": {"size": 1}} | describe
    first = describing(sets=sets, targets=1, **design)
    asked: dict[str, Any] = {"study": "find", "kind": "retrieve", "ask": {"images": "candidate"}, "lobby": LOBBY}
    feeding = {"from": first.slug} | (selection or {})
    return first, launch_study(first.project, instances=0, **asked | (find or {}), selection=feeding)


def test_nobody_waits_for_themselves_nor_for_what_others_write_of_a_set_that_they_have_met_themselves() -> None:
    describe, find = make_roles(answers=2)
    ann = arrive_at_work(describe, "ann")
    with pytest.raises(NothingLeft):
        arrive(find, "ann")
    wait(find, "ben")
    say(ann, "The lid of the vase is open.")
    arrive_at_work(describe, "cleo")
    with pytest.raises(NothingLeft) as left:
        arrive(find, "ann")
    assert left.value.rule in {"not_author", "not_same_instance"}


def test_nobody_waits_for_what_the_study_does_not_ask_about_or_what_was_taken_out() -> None:
    describe, find = make_roles()
    # Imported after the study that describes was launched.
    make_instance(describe.project, "set-train", candidates=10, type="static", split="train")
    asked: dict[str, Any] = {"kind": "retrieve", "ask": {"images": "candidate"}, "lobby": LOBBY}
    selection = {"from": describe.slug, "split": ["train"]}
    train = launch_study(describe.project, study="find-train", instances=0, selection=selection, **asked)
    arrive_at_work(describe, "ann")
    with pytest.raises(NothingLeft):
        arrive(train, "ben")
    take_out(question=describe.questions.get(), reason="Broken.", by=TESTS, now=NOON)
    with pytest.raises(NothingLeft):
        arrive(find, "ben")
