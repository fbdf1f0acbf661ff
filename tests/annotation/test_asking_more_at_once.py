"""A study is extended at the moment in which answers arrive: each is decided by what is wanted by then."""

import pytest
from django.db import transaction

from annotation.actions.answering import responses
from annotation.actions.deciding.decisions import recount
from annotation.actions.launching import extend_study
from annotation.models import Decision, Response, Session
from tests.annotation.test_responses import send
from tests.factories import NOON, TESTS, arrive_at_work, launch_study, make_instance
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
ATTEMPTS = range(5)


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("answers", [1, 2])
def test_answers_that_arrive_meanwhile_are_decided_by_all_that_are_wanted(answers: int, attempt: int) -> None:
    study = launch_study(instances=3, answers=answers, surveys={"size": 3}, rule="majority-v1")
    sittings = [arrive_at_work(study, person) for person in ("ann", "ben")[:answers]]

    def send_all(session: Session) -> None:
        for slot in responses.open_slots(session=session, limit=3):
            send(session, slot)

    at_once(
        lambda: extend_study.add_answers(study=study, more=3, by=TESTS, now=NOON),
        *[lambda session=session: send_all(session) for session in sittings],
    )
    # Of 4 a majority is 3, and of 5 as well: one or two answers decide nothing.
    assert set(Decision.objects.values_list("state", "answers")) == {("undecided", answers)}
    with transaction.atomic():
        assert recount(questions=list(study.questions.values_list("pk", flat=True)), now=NOON) == []


def test_answers_are_stored_while_new_instances_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    study = launch_study(instances=3, surveys={"size": 1}, recruitment={"sessions_per_annotator": 0})
    for number in range(3):
        make_instance(study.project, f"new-{number}")
    monkeypatch.setattr(extend_study, "CREATED_TOGETHER", 1)
    seen = list[tuple[int, int]]()

    def answer() -> None:
        session = arrive_at_work(study, f"person-{len(seen)}")
        for slot in responses.open_slots(session=session, limit=1):
            send(session, slot)

    def see() -> None:
        at_once(answer)
        seen.append((study.questions.count(), Response.objects.count()))

    extend_study.add_instances(study=study, by=TESTS, now=NOON, store=lambda *_: transaction.on_commit(see))
    # After each batch another connection finds nothing locked, and the questions that were added so far.
    assert seen == [(4, 1), (5, 2), (6, 3)]
