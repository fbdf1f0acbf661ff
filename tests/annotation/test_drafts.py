"""Drafts of written answers: kept for the one who writes, gone with the answer, the place, or the consent."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import drafts, responses, skip_question
from annotation.actions.answering.drafts import LONGEST, MOST_PER_MINUTE
from annotation.actions.answering.responses import Submission
from annotation.actions.answering.skip_question import FAILED_LOADS_TO_SKIP
from annotation.actions.removing.erasure import delete_rows
from annotation.actions.removing.retire_questions import take_out
from annotation.errors import BadAnswer, TooManyAtOnce
from annotation.models import Draft, Response, Session, SessionState, Slot
from tests.annotation.test_repetitions import describing
from tests.factories import NOON, TESTS, arrive_at_work, launch_study, make_instance
from tests.removing import withdraw
from tests.together import at_once

pytestmark = pytest.mark.django_db
SO_FAR = {"text": "The lid of the"}


def slots_of(session: Session) -> list[Slot]:
    return responses.open_slots(session=session, limit=10)


def keep(session: Session, slot: Slot, fields: dict[str, str] | None = None) -> int | None:
    return drafts.save(session=session, slot=slot.pk, fields=fields or SO_FAR, now=NOON)


def answer(session: Session, slot: Slot, text: str = "The lid of the vase is open.") -> None:
    sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"text": text})
    responses.submit(token=session.token, sent=sent, now=NOON)


def test_the_last_of_what_was_written_is_kept_and_numbered() -> None:
    session = arrive_at_work(describing())
    first, second, _ = slots_of(session)
    last = {"text": "The lid\0", "b": ""}
    assert [keep(session, first), keep(session, second), keep(session, first, last)] == [1, 1, 2]
    kept = drafts.drafts_by_slot(session=session, slots=[first, second])
    assert {slot: (draft.number, draft.fields) for slot, draft in kept.items()} == {
        first.pk: (2, {"text": "The lid", "b": ""}),
        second.pk: (1, SO_FAR),
    }


def test_it_goes_with_its_answer_and_does_not_come_back_after_it() -> None:
    session = arrive_at_work(describing())
    first, second, _ = slots_of(session)
    keep(session, first)
    keep(session, second)
    with pytest.raises(BadAnswer):
        answer(session, first, "The last image.")
    assert Draft.objects.count() == 2
    answer(session, first)
    # The second one was under way while the answer was stored.
    assert keep(session, first) is None
    assert [draft.slot_id for draft in Draft.objects.all()] == [second.pk]


def test_only_an_open_question_of_ones_own_that_is_written_has_a_draft() -> None:
    study = describing(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    assert keep(ann, slots_of(ben)[0]) is None
    assert drafts.save(session=ann, slot=10**9, fields=SO_FAR, now=NOON) is None
    Session.objects.filter(pk=ann.pk).update(state=SessionState.INSTRUCTIONS)
    assert keep(ann, slots_of(ann)[0]) is None
    make_instance(study.project, "vase")
    chooser = arrive_at_work(launch_study(study.project, instances=1, study="other", selection={"keys": ["vase"]}))
    assert keep(chooser, slots_of(chooser)[0]) is None
    assert not Draft.objects.exists()


def test_nobody_keeps_more_than_anybody_writes_and_a_page_that_sends_too_often_is_told_to_wait() -> None:
    study = describing(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    slot = slots_of(ann)[0]
    for too_much in ({"text": "x" * LONGEST}, {str(number): "" for number in range(31)}, {"x" * (LONGEST + 1): ""}):
        with pytest.raises(BadAnswer, match="too long"):
            keep(ann, slot, too_much)
    assert keep(ann, slot, {"text": "x" * (LONGEST - 4)}) == 1
    for _ in range(MOST_PER_MINUTE):
        drafts.count_draft(session=ann, now=NOON)
    with pytest.raises(TooManyAtOnce) as refused:
        drafts.count_draft(session=ann, now=NOON)
    assert 1 <= refused.value.retry_after <= 60
    drafts.count_draft(session=ben, now=NOON)


@pytest.mark.parametrize("how", ["lapsed", "given up", "withdrawn", "forgotten", "skipped", "taken out"])
def test_it_goes_with_the_place_the_question_and_the_consent(how: str) -> None:
    study = describing(answers=2)
    session, other = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    slot = slots_of(session)[0]
    keep(session, slot)
    keep(other, slots_of(other)[1])
    if how == "skipped":
        failed = {"image-7": FAILED_LOADS_TO_SKIP}
        skip_question.skip(session=session, slot=slot.pk, failed_loads=failed, now=NOON)
    elif how == "taken out":
        take_out(question=slot.question, reason="Broken.", by=TESTS, now=NOON)
    elif how in ("withdrawn", "forgotten"):
        withdraw(study.project, "ann")
        if how == "forgotten":
            delete_rows(annotator=session.annotator, project=study.project)
    else:
        to = SessionState.LAPSED if how == "lapsed" else SessionState.GIVEN_UP
        sessions.leave(session=session, to=to, now=NOON)
    assert [draft.session_id for draft in Draft.objects.all()] == [other.pk]


@pytest.mark.django_db(transaction=True)
def test_a_draft_and_the_answer_at_the_same_moment_leave_the_answer_alone() -> None:
    study = describing(answers=12, targets=1)
    people = [arrive_at_work(study, f"person-{number}") for number in range(6)]
    calls: list[Callable[[], Any]] = []
    for number, session in enumerate(people):
        slot = slots_of(session)[0]
        calls += [partial(keep, session, slot)] * 2
        calls.append(partial(answer, session, slot, f"The lid of the vase is open {number} times."))
    at_once(*calls)
    assert Response.objects.count() == 6
    assert not Draft.objects.exists()


@pytest.mark.usefixtures("at_noon")
def test_a_page_opened_elsewhere_holds_what_was_written(client: Client) -> None:
    session = arrive_at_work(describing())
    first, second, _ = slots_of(session)
    page = f"/s/{session.token}/"
    for slot, text in ((first, "So <far> & on"), (second, "Ahead")):
        kept = client.post(f"{page}draft/", {"slot": slot.pk, "text": text})
        assert kept.json() == {"slot": slot.pk, "number": 1}
    elsewhere = Client().get(page).content.decode()
    assert "So &lt;far&gt; &amp; on</textarea>" in elsewhere
    assert ">Ahead</textarea>" in elsewhere
    assert elsewhere.count('data-draft-number="1"') == 2
    # What was refused stands there, not what was written before it.
    refused = client.post(f"{page}answer/", {"slot": first.pk, "submission": str(uuid.uuid4()), "text": "Image 3"})
    assert refused.status_code == 422
    assert ">Image 3</textarea>" in refused.content.decode()
    assert client.post(f"{page}draft/", {"slot": "x", "text": "?"}).status_code == 422
    assert client.get(f"{page}draft/").status_code == 405
    assert client.post("/s/nobody/draft/", {"slot": first.pk, "text": "?"}).status_code == 404
