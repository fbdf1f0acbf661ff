"""Webhooks of the local platform, as a receiver on this machine gets them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from annotation.recruitment.prolific.statuses import EventType
from annotation.recruitment.prolific.webhooks import EVENT_ID, HAPPENED_AT, SENT_AT, BadWebhook, Event, read_event
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from tests.prolific import DONE, NOON, PERSON, Local
from tests.receivers import Receiver, Request, answer_with, receiving


class Listener:
    """A receiver that has subscribed, and the secret of its workspace."""

    def __init__(self, local: Local, receiver: Receiver, types: tuple[str, ...]) -> None:
        self.local, self.receiver = local, receiver
        self.secret = local.client.create_secret(WORKSPACE).value
        for type_ in types:
            made, secret = local.client.subscribe(WORKSPACE, event_type=type_, target_url=receiver.url)
            local.client.confirm_subscription(made.id, secret=secret)

    @property
    def requests(self) -> list[Request]:
        return self.receiver.requests

    def read(self, request: Request) -> Event:
        headers = {name: request.headers[name.lower()] for name in (EVENT_ID, HAPPENED_AT, SENT_AT)}
        signature = request.headers["x-prolific-request-signature"]
        return read_event(
            request.body,
            {**headers, "X-Prolific-Request-Signature": signature},
            secret=self.secret,
            clocks=[self.local.time],
        )

    def statuses(self) -> list[str]:
        return [self.read(request).status for request in self.requests]


@contextmanager
def listening(local: Local, *types: str, status: int = 200) -> Iterator[Listener]:
    with receiving(answer_with(status)) as receiver:
        yield Listener(local, receiver, types or (EventType.SUBMISSION_STATUS,))


def play(local: Local) -> str:
    """Let a participant take a place, open the study and complete it; nothing is sent meanwhile."""
    submission = local.opened(local.published())
    local.play("complete", submission=submission, code=DONE)
    return submission


def test_every_change_of_a_submission_is_sent_and_signed(local: Local) -> None:
    with listening(local) as listener:
        submission = play(local)
        local.double.tick()
        assert listener.statuses() == ["RESERVED", "ACTIVE", "AWAITING REVIEW"]
        assert (
            listener.requests[0].body
            == (
                f'{{"resource_id": "{submission}", "event_type": "submission.status.change", '
                f'"participant_id": "{PERSON}", "status": "RESERVED"}}'
            ).encode()
        )
        assert len({request.headers["x-event-id"] for request in listener.requests}) == 3
        sent = listener.requests[0].headers["x-prolific-request-timestamp"]
        assert datetime.fromtimestamp(int(sent), tz=UTC) == NOON
        local.later(minutes=1)
        assert len(listener.requests) == 3


def test_every_change_of_a_study_is_sent(local: Local) -> None:
    with listening(local, EventType.STUDY_STATUS) as listener:
        local.taken(local.published(total_available_places=1))
        local.double.tick()
        assert listener.statuses() == ["ACTIVE", "AWAITING REVIEW"]


def test_nothing_is_sent_before_a_subscription_is_confirmed(local: Local) -> None:
    with receiving(answer_with(200)) as receiver:
        local.client.create_secret(WORKSPACE)
        local.client.subscribe(WORKSPACE, event_type=EventType.SUBMISSION_STATUS, target_url=receiver.url)
        play(local)
        local.double.tick()
        assert receiver.requests == []


def test_what_is_refused_comes_again_with_the_same_id_until_it_is_given_up(local: Local) -> None:
    with listening(local, status=500) as listener:
        local.taken(local.published())
        for _ in range(20):
            # More than the longest wait between two attempts.
            local.later(days=2)
        of_first = [one for one in listener.requests if one.headers["x-event-id"] == first_id(listener)]
        # The first attempt and eleven more, each signed at its own time.
        assert len(of_first) == 12
        assert len({one.headers["x-prolific-request-timestamp"] for one in of_first}) == 12
        assert len({one.headers["x-timestamp"] for one in of_first}) == 1


def first_id(listener: Listener) -> str:
    return listener.requests[0].headers["x-event-id"]


def test_the_first_attempt_after_a_failure_comes_within_a_minute(local: Local) -> None:
    with listening(local, status=500) as listener:
        local.taken(local.published())
        local.double.tick()
        assert len(listener.requests) == 1
        local.later(minutes=1)
        assert len(listener.requests) == 2


def test_webhooks_can_be_lost(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_LOST)
        play(local)
        local.later(days=1)
        assert listener.requests == []


def test_webhooks_can_come_twice(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_DOUBLED)
        play(local)
        local.double.tick()
        assert listener.statuses() == ["RESERVED", "RESERVED", "ACTIVE", "ACTIVE", "AWAITING REVIEW", "AWAITING REVIEW"]
        assert len({request.headers["x-event-id"] for request in listener.requests}) == 3


def test_webhooks_can_be_late(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_LATE)
        play(local)
        local.later(minutes=4, seconds=59)
        assert listener.requests == []
        local.later(seconds=1)
        assert listener.statuses() == ["RESERVED", "ACTIVE", "AWAITING REVIEW"]
        assert listener.requests[0].headers["x-timestamp"] == str(int(NOON.timestamp()))


def test_webhooks_can_come_in_reverse(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_UNORDERED)
        play(local)
        local.double.tick()
        assert listener.statuses() == ["AWAITING REVIEW", "ACTIVE", "RESERVED"]


def test_a_webhook_that_nothing_overtakes_comes_after_two_seconds(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_UNORDERED)
        local.taken(local.published())
        local.double.tick()
        assert listener.requests == []
        local.later(seconds=2)
        assert listener.statuses() == ["RESERVED"]


def test_webhooks_can_be_forged(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_FORGED, "1")
        local.taken(local.published())
        local.double.tick()
        true, false = listener.requests
        assert listener.read(true).status == "RESERVED"
        assert b"REJECTED" in false.body
        with pytest.raises(BadWebhook, match="signature"):
            listener.read(false)


def test_webhooks_can_be_about_strangers(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.WEBHOOKS_OF_STRANGERS, "1")
        submission = local.taken(local.published())
        local.double.tick()
        first, second = map(listener.read, listener.requests)
        assert first.resource_id == submission
        assert second.resource_id != submission
        assert local.double.store.find("submission", second.resource_id) is None


def test_a_clock_that_is_ahead_signs_too_late_for_a_receiver(local: Local) -> None:
    with listening(local) as listener:
        local.switch(Switch.CLOCK_AHEAD)
        local.taken(local.published())
        local.double.tick()
        with pytest.raises(BadWebhook, match="time of sending"):
            listener.read(listener.requests[0])
        sent = listener.requests[0].headers["x-prolific-request-timestamp"]
        assert datetime.fromtimestamp(int(sent), tz=UTC) == NOON + timedelta(minutes=20)


def test_the_platform_answers_while_a_receiver_asks_it_back(local: Local) -> None:
    """A receiver reads the submission before it answers: nothing may be locked meanwhile."""
    seen: list[str] = []

    def ask_back(handler: object, request: Request) -> None:
        seen.append(local.status(local.double.store.list("submission")[0]["id"]))
        answer_with(200)(handler, request)  # type: ignore[arg-type]

    answer: Callable[..., None] = ask_back
    with receiving(answer) as receiver:
        Listener(local, receiver, (EventType.SUBMISSION_STATUS,))
        local.taken(local.published())
        local.double.tick()
        assert seen == ["RESERVED"]
