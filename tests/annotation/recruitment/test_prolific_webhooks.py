import base64
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from annotation.recruitment.prolific.webhooks import SENT_AT, SIGNATURE, BadWebhook, read_event, sign

# The test vector of prolific.md, section 4.9.
SECRET = "test-secret-0001"
TIMESTAMP = "1763633970"
SENT = datetime.fromtimestamp(1763633970, tz=UTC)
BODY = (
    b'{"resource_id": "66f00000000000000000bb01", "event_type": "submission.status.change",'
    b' "participant_id": "60bf9310e8dec401be6e9615", "status": "AWAITING REVIEW"}'
)
OF_BODY = "ki+Vdpe3+0B6jjaI5DllYAMPlJqBkkAZPFu7c1q1piE="
OF_COMPACT_BODY = "gh6YC68ibBvcfZDHrqaEDZOvDtebR3ha0B0GCMQeItg="
HEADERS = {SIGNATURE: OF_BODY, SENT_AT: TIMESTAMP}


# JSON that PostgreSQL cannot store.
NUL = rb'{"resource_id": "66f0\u0000", "event_type": "study.status.change"}'


def test_a_body_is_signed_as_published() -> None:
    assert sign(BODY, timestamp=TIMESTAMP, secret=SECRET) == OF_BODY


def test_the_bytes_are_signed_and_not_what_they_mean() -> None:
    compact = BODY.replace(b": ", b":").replace(b", ", b",")
    assert sign(compact, timestamp=TIMESTAMP, secret=SECRET) == OF_COMPACT_BODY


def test_an_event_is_read() -> None:
    event = read_event(BODY, HEADERS, secret=SECRET, clocks=[SENT])
    assert (event.resource_id, event.event_type) == ("66f00000000000000000bb01", "submission.status.change")
    assert event.status == "AWAITING REVIEW"


@pytest.mark.parametrize("after", [timedelta(minutes=10), timedelta(minutes=-10)])
def test_a_webhook_may_be_on_its_way_for_ten_minutes(after: timedelta) -> None:
    assert read_event(BODY, HEADERS, secret=SECRET, clocks=[SENT + after])


@pytest.mark.parametrize("after", [timedelta(minutes=10, seconds=1), timedelta(minutes=-10, seconds=-1)])
def test_a_recorded_webhook_is_refused_later(after: timedelta) -> None:
    with pytest.raises(BadWebhook, match="time of sending"):
        read_event(BODY, HEADERS, secret=SECRET, clocks=[SENT + after])


def test_a_webhook_fits_the_clock_of_the_site_or_that_of_prolific() -> None:
    other = SENT + timedelta(hours=3)
    assert read_event(BODY, HEADERS, secret=SECRET, clocks=[other, SENT])
    assert read_event(BODY, HEADERS, secret=SECRET, clocks=[SENT, other])


@pytest.mark.parametrize(
    ("body", "headers", "secret"),
    [
        (BODY.replace(b"AWAITING REVIEW", b"APPROVED"), HEADERS, SECRET),
        (BODY, {**HEADERS, SENT_AT: "1763633971"}, SECRET),
        (BODY, {**HEADERS, SIGNATURE: ""}, SECRET),
        (BODY, {**HEADERS, SIGNATURE: "ä"}, SECRET),
        (BODY, {}, SECRET),
        (BODY, HEADERS, "another-secret"),
    ],
)
def test_a_forged_webhook_is_refused(body: bytes, headers: dict[str, str], secret: str) -> None:
    with pytest.raises(BadWebhook, match="signature"):
        read_event(body, headers, secret=secret, clocks=[SENT])


def test_nothing_is_signed_with_an_empty_secret() -> None:
    signature = base64.b64encode(hmac.digest(b"", TIMESTAMP.encode() + BODY, "sha256")).decode()
    with pytest.raises(BadWebhook, match="signature"):
        read_event(BODY, {SIGNATURE: signature, SENT_AT: TIMESTAMP}, secret="", clocks=[SENT])


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"event_type": "study.status.change"}', b"\xff", NUL])
def test_a_signed_body_that_is_no_event_is_refused(body: bytes) -> None:
    headers = {SIGNATURE: sign(body, timestamp=TIMESTAMP, secret=SECRET), SENT_AT: TIMESTAMP}
    with pytest.raises(BadWebhook, match="not an event"):
        read_event(body, headers, secret=SECRET, clocks=[SENT])


@pytest.mark.parametrize("timestamp", ["", "soon", "-1763633970", "1e9", "²"])
def test_a_signed_time_that_is_none_is_refused(timestamp: str) -> None:
    headers = {SIGNATURE: sign(BODY, timestamp=timestamp, secret=SECRET), SENT_AT: timestamp}
    with pytest.raises(BadWebhook, match="time of sending"):
        read_event(BODY, headers, secret=SECRET, clocks=[SENT])
