"""What the clock sends for webhooks: done twice, it is done once."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from tests.factories import (
    answer,
    make_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.receivers import answer_with, receiving
from workspace.actions.webhooks import make_webhook
from workspace.tasks import deliver, note_news


@pytest.mark.django_db
def test_what_was_accepted_is_found_and_sent_once_however_often_the_clock_strikes(settings: Settings) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    project = make_project()
    make_instance(project, "vase-1")
    study = make_launched(make_study(project))
    told: dict[str, Any] = {"topics": ["instances.accepted"], "by": make_person("ben"), "now": timezone.now()}
    with receiving(answer_with(204)) as receiver:
        make_webhook(project=project, url=receiver.url, **told)
        answer(sit_down(study, "ann"), questions(study)[0], "candidate-0")
        for _ in range(2):
            note_news()
            deliver()
    (request,) = receiver.requests
    assert b'"key": "vase-1"' in request.body
