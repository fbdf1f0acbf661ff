"""What webhooks are told of instances that were accepted."""

from datetime import timedelta
from itertools import chain

import pytest

from annotation.models import Decision
from tests.factories import NOON, answer, questions, sit_down
from tests.workspace.hooks import asked_about, hook, news
from workspace.actions import acceptance_messages
from workspace.actions.acceptance_messages import queue_acceptance_messages

pytestmark = pytest.mark.django_db


def test_accepted_instances_are_told_once_in_messages_of_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance_messages, "MOST_INSTANCES", 2)
    study = asked_about(4)
    webhook, session = hook(study.project), sit_down(study, "ann")
    for question in questions(study)[:3]:
        answer(session, question, "candidate-0")
    rejected = questions(study)[3]
    answer(session, rejected, "none")
    accepted = list(Decision.objects.filter(state="accepted").values_list("question__instance__key", flat=True))
    assert len(accepted) == 3
    assert queue_acceptance_messages(now=NOON) == 2
    told = [[each["key"] for each in message["data"]["instances"]] for message in news(webhook)]
    assert sorted(map(len, told)) == [1, 2]
    assert sorted(chain.from_iterable(told)) == sorted(accepted)
    assert queue_acceptance_messages(now=NOON + timedelta(minutes=5)) == 0


def test_what_was_accepted_before_a_webhook_was_made_is_not_told_to_it() -> None:
    study = asked_about(2)
    session, (first, second) = sit_down(study, "ann"), questions(study)
    answer(session, first, "candidate-0")
    webhook = hook(study.project)
    assert queue_acceptance_messages(now=NOON) == 0
    answer(session, second, "candidate-0")
    assert queue_acceptance_messages(now=NOON) == 1
    assert [each["key"] for each in news(webhook)[0]["data"]["instances"]] == ["vase-1"]
