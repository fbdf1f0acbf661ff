"""Every address of an annotator's, in every state of a session, and once with what it stores: on PostgreSQL.

The tests of single pages, which say far more of each, are run on SQLite only (`tests/homes.py`).
"""

import uuid

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve, reverse

from annotation import urls
from annotation.actions import sessions
from annotation.models import (
    AnswerNotice,
    Draft,
    PracticeAnswer,
    Removal,
    Report,
    Response,
    Session,
    SessionState,
    Skip,
)
from annotation.models.sessions import OPEN_STATES
from studies.models import CompletionCode, Study
from tests.annotation.test_entry import link_of
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import form_of, page_of, right_value, study_with_practice
from tests.factories import NOON, arrive_at_work, fresh, launch_study

pytestmark = [
    pytest.mark.usefixtures("at_noon"),
    pytest.mark.django_db,
    pytest.mark.once(on="postgresql", because="on SQLite the tests of single pages go to the same addresses"),
]
# Prolific's own address is tested in recruiting/test_webhooks.py.
EVERY_ADDRESS = {str(pattern.name) for pattern in urls.urlpatterns} - {"prolific_webhook"}


def address(name: str, session: Session, slot: int) -> str:
    route = str(next(pattern.pattern for pattern in urls.urlpatterns if pattern.name == name))
    given = {"token": session.token, "name": session.study.entry_name, "slot": slot}
    return reverse(name, kwargs={part: value for part, value in given.items() if f":{part}>" in route})


@pytest.mark.parametrize("state", SessionState)
def test_no_address_fails_in_any_state(client: Client, state: SessionState) -> None:
    session = arrive_at_work(study_with_practice(instances=3, consent="Agree?"))
    Session.objects.filter(pk=session.pk).update(state=SessionState.WORKING)
    slot = next_slot(session)
    send(session, slot)
    ended = None if state in OPEN_STATES else NOON
    Session.objects.filter(pk=session.pk).update(state=state, ended_at=ended, state_before_lapse="working")
    for name in sorted(EVERY_ADDRESS):
        for ask in (client.get, client.post):
            with transaction.atomic():
                response = ask(address(name, session, slot.pk))
                transaction.set_rollback(True)
            assert response.status_code in {200, 303, 400, 405, 409, 422}, (name, response.status_code)
    page = client.get(page_of(session), follow=True)
    assert page.status_code == 200
    assert (b"data-question" in page.content) == (state in {SessionState.WORKING, SessionState.PRACTICE})


class Walk:
    """A browser of an annotator's that runs no script. `seen` are the names of all addresses that it has been to."""

    def __init__(self) -> None:
        self.client = Client()
        self.seen: set[str] = set()

    def look(self, path: str) -> bytes:
        self.seen.add(str(resolve(path.partition("?")[0]).url_name))
        response = self.client.get(path, follow=True)
        assert response.status_code == 200, path
        return response.content

    def send(self, path: str, **fields: str) -> bytes:
        self.seen.add(str(resolve(path.partition("?")[0]).url_name))
        response = self.client.post(path, fields, follow=True)
        assert response.status_code == 200, path
        return response.content

    def arrive(self, study: Study) -> Session:
        self.look(link_of(study))
        self.send(link_of(study))
        return Session.objects.get(study=study)

    def answer(self, session: Session, choice: str) -> None:
        self.send(f"{page_of(session)}answer/", **form_of(self.look(page_of(session))), choice=choice)


def test_every_address_does_what_it_is_for() -> None:
    walk = Walk()
    whole_sitting(walk)
    short_sittings(walk)
    assert walk.seen == EVERY_ADDRESS


def whole_sitting(walk: Walk) -> None:
    """Agree, practise, answer, skip, report, change an answer, finish, and say something about it."""
    time = {"estimated_minutes": 10, "limit_minutes": 60, "more_minutes": 15}
    study = study_with_practice(
        instances=4, consent="Agree?", time=time, answering={"last_look": True}, recruitment={"any_ids": True}
    )
    session = walk.arrive(study)
    page = page_of(session)
    walk.send(f"{page}consent/", agree="yes")
    walk.client.post(f"{page}here/")
    walk.seen.add("session_here")
    walk.send(f"{page}begin/")
    shown = walk.look(page)
    walk.send(f"{page}practice/", **form_of(shown), choice=right_value(shown, study))
    assert PracticeAnswer.objects.get().is_right
    walk.look("/s/worker.js")
    walk.look(f"{page}app.webmanifest")
    walk.look(f"{page}help/")
    walk.send(f"{page}more-time/")
    walk.send(f"{page}report/", slot=str(next_slot(session).pk), reason="broken")
    assert Report.objects.get().reason == "broken"
    # Nobody has stored its pictures.
    walk.send(f"{page}skip/", slot=str(next_slot(session).pk))
    assert Skip.objects.get().file_missing
    for _ in range(2):
        walk.answer(session, "1")
    # A draft of what nobody writes is none.
    walk.send(f"{page}draft/", slot="1", text="So far")
    assert not Draft.objects.exists()
    first = Response.objects.order_by("pk")[0]
    walk.send(f"{page}answer/", **form_of(walk.look(f"{page}change/{first.slot_id}/")), choice="none")
    versions = Response.objects.filter(slot=first.slot_id).order_by("version")
    assert list(versions.values_list("is_current", flat=True)) == [False, True]
    walk.look(f"{page}change/")
    behind = {"slot": str(first.slot_id), "submission": str(uuid.uuid4()), "choice": "2"}
    assert b"Your first answer counts." in walk.send(f"{page}answer/", **behind)
    assert b"Your first answer counts." not in walk.send(f"{page}seen/", notices=str(AnswerNotice.objects.get().pk))
    end = walk.send(f"{page}finish/").decode()
    assert CompletionCode.objects.get(study=study, outcome="finished").code in end
    walk.send(f"{page}comment/", comment="Fun!")
    session.refresh_from_db()
    assert (session.state, session.comment) == (SessionState.FINISHED, "Fun!")
    assert session.more_time_at is not None


def short_sittings(walk: Walk) -> None:
    """Come back late and give up; take the answers back; wait for what is not ready yet."""
    study = launch_study(study="another", recruitment={"any_ids": True, "sessions_per_annotator": 0})
    late = arrive_at_work(study, "ben")
    sessions.leave(session=late, to=SessionState.LAPSED, now=NOON)
    walk.send(f"{page_of(late)}go-on/")
    assert fresh(late).state == SessionState.WORKING
    walk.look(f"{page_of(late)}give-up/")
    walk.send(f"{page_of(late)}give-up/")
    assert fresh(late).state == SessionState.GIVEN_UP
    regretted = arrive_at_work(study, "cleo")
    walk.answer(regretted, "1")
    walk.look(f"{page_of(regretted)}take-back/")
    walk.send(f"{page_of(regretted)}take-back/")
    assert fresh(regretted).state == SessionState.WITHDRAWN
    assert Removal.objects.get().why == "withdrawn"
    assert Response.objects.get(session=regretted).left_out == "withdrawn"
    live = launch_study(
        study.project, study="live", selection={"from": "another"}, lobby={"minutes": 5, "either_role": True}
    )
    early = walk.arrive(live)
    walk.send(f"{page_of(early)}begin/")
    walk.send(f"{page_of(early)}wait/")
    assert fresh(early).state == SessionState.WAITING
    walk.send(f"{page_of(early)}other-role/")
    assert fresh(early).state == SessionState.SUPERSEDED
