"""A study that was complete is to be so no more, at the moment in which somebody else holds its row."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.actions.answering import responses
from annotation.actions.deciding import undo_acceptance
from annotation.actions.deciding.decisions import recount
from annotation.actions.launching import complete_study, reopen_studies
from annotation.actions.removing import removals
from annotation.models import Decision
from studies.models import Question, Study
from tests.annotation.test_pipeline import answer_all, make_pipeline_project, make_step_4
from tests.annotation.test_responses import next_slot
from tests.factories import NOON, TESTS, arrive_at_work, fresh, launch_study
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
LONGEST = 20


def together(monkeypatch: pytest.MonkeyPatch, *steps: tuple[Any, str]) -> None:
    """Let nobody take one of these steps before all have come to theirs."""
    barrier = threading.Barrier(len(steps), timeout=LONGEST)

    def delayed(step: Callable[..., Any]) -> Callable[..., Any]:
        waiting = [True]

        def take(*args: Any, **named: Any) -> Any:
            if waiting and waiting.pop():
                barrier.wait()
            return step(*args, **named)

        return take

    for module, name in steps:
        monkeypatch.setattr(module, name, delayed(getattr(module, name)))


def test_an_answer_that_reopens_a_study_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one transaction write at a time.")
    project = make_pipeline_project(1)
    asked, feeds = launch_study(project, instances=1, answers=2, rule="majority-v1"), make_step_4(project)
    people = [arrive_at_work(asked, name).annotator for name in ("ann", "ben")]
    for session in asked.sessions.order_by("pk"):
        answer_all(session, "candidate-0")
    arrive_at_work(feeds, "cleo")
    # What was drawn stands no more, and its one place is open; nothing else is.
    removals.exclude(annotator=people[0], project=project, reason="Clicked", by=TESTS, now=NOON)
    removals.reopen_slots(annotator=people[0], project=project, by=TESTS, now=NOON)
    Study.objects.filter(pk=feeds.pk).update(completed_at=NOON)
    dan = arrive_at_work(asked, "dan")
    slot = next_slot(dan)
    choice = str(responses.order_for(session=dan, question=slot.question).index("candidate-0") + 1)
    sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": choice})
    # The answer has decided its question, and is about to reopen the study that asked about it; the removal holds all
    # studies, and is about to decide the same question.
    together(monkeypatch, (undo_acceptance, "reopen_asking"), (removals, "remove_answers"))
    at_once(
        lambda: responses.submit(token=dan.token, sent=sent, now=NOON),
        lambda: removals.exclude(annotator=people[1], project=project, reason="Clicked", by=TESTS, now=NOON),
    )
    question = asked.questions.get()
    assert Decision.objects.filter(question=question).values_list("state", "answers").get() == ("undecided", 1)
    with transaction.atomic():
        assert recount(questions=[question.pk], now=NOON) == []
    assert not Question.objects.filter(study=feeds, undone_at=None).exists()


def test_a_study_that_somebody_held_when_it_was_reopened_is_found_by_the_clock() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one transaction write at a time.")
    study = launch_study(instances=1)
    arrive_at_work(study, "ann")
    Study.objects.filter(pk=study.pk).update(completed_at=NOON)

    def reopen() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            # Where it waits after all, it is refused instead of waiting for ever.
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            reopen_studies.reopen_asking(questions=[study.questions.get().pk])

    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        at_once(reopen)
        assert fresh(study).completed_at == NOON
    assert complete_study.note_completed(by=TESTS, now=NOON) == []
    assert fresh(study).completed_at is None
