"""Two workers read the same study of Prolific at the same moment, in threads on connections of their own."""

from datetime import timedelta

import pytest

from annotation.actions.recruiting.submissions import mark_due, read_study
from annotation.models import Session, SessionState, Submission
from annotation.recruitment.prolific.client import Client
from studies.models import Event
from tests.factories import launch_study
from tests.prolific import BY_RESEARCHER, Local
from tests.recruited import come, finish, flags, mirror, recruit_for
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
ATTEMPTS = range(3)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_two_readings_see_is_done_once(local: Local, monkeypatch: pytest.MonkeyPatch, attempt: int) -> None:
    """Ann has returned, Ben's redirect is lost, and Cora was never read before."""
    row = recruit_for(launch_study(answers=3, max_answers=3), local)
    ann, _ = come(local, row, "60bf9310e8dec401be6e9615")
    ben, session = come(local, row, "60bf9310e8dec401be6e9616")
    mirror(row, local.time)
    finish(session, local.time)
    local.later(minutes=6)
    local.play("return", submission=ann)
    come(local, row, "60bf9310e8dec401be6e9617")
    completed: list[str] = []
    complete, read = Client.complete_submission, Client.read_study

    def count(client: Client, submission: str, *, code: str) -> object:
        completed.append(submission)
        return complete(client, submission, code=code)

    def read_and_let_others_read(client: Client, study: str) -> object:
        mark_due(studies=[row.pk], now=local.time)
        return read(client, study)

    monkeypatch.setattr(Client, "complete_submission", count)
    monkeypatch.setattr(Client, "read_study", read_and_let_others_read)
    mark_due(studies=[row.pk], now=local.time)
    later = [local.time + timedelta(seconds=number) for number in range(3)]
    at_once(*[lambda now=now: read_study(study=row.pk, now=now) for now in later])
    # If a later reading saw Ben's submission before an earlier one completed it, the study is due again.
    read_study(study=row.pk, now=later[-1])
    assert completed == [ben]
    assert flags(row) == [("RETURNED", ""), ("AWAITING REVIEW", ""), ("ACTIVE", "")]
    assert Submission.objects.get(session=session).entered_code == BY_RESEARCHER
    assert Session.objects.filter(state=SessionState.RETURNED).count() == 1
    events = Event.objects.filter(what__in=("seat freed", "submission completed", "submission flagged"))
    assert sorted(events.values_list("what", flat=True)) == ["seat freed", "submission completed"]
