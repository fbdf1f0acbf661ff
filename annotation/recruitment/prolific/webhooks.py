"""Webhooks of Prolific: verify who sent one, and parse it (prolific.md, section 4.9)."""

import base64
import hmac
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

SIGNATURE = "X-Prolific-Request-Signature"
SENT_AT = "X-Prolific-Request-Timestamp"
EVENT_ID = "X-Event-ID"
HAPPENED_AT = "X-Timestamp"
# A webhook that is older may be a recorded one; Prolific signs each attempt anew.
OLDEST = timedelta(minutes=10)


class BadWebhook(Exception):
    """The webhook is not Prolific's, is too old, or cannot be read; the message says which."""


class ForgedWebhook(BadWebhook):
    """The signature is not Prolific's."""


# PostgreSQL stores no NUL.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]


class Event(BaseModel):
    """What happened to `resource_id`, a submission or a study. Events come unordered: read the resource itself."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    resource_id: Text
    event_type: Text
    status: Text = ""


def sign(body: bytes, *, timestamp: str, secret: str) -> str:
    """Return the signature of a body: base64 of HMAC-SHA256 over the timestamp and the bytes as they are sent."""
    return base64.b64encode(hmac.digest(secret.encode(), timestamp.encode() + body, sha256)).decode()


def read_event(body: bytes, headers: Mapping[str, str], *, secret: str, clocks: Collection[datetime]) -> Event:
    """Return the event of a webhook. `clocks`: the time now, by each clock that it may fit. Raises BadWebhook."""
    timestamp = headers.get(SENT_AT, "")
    expected = sign(body, timestamp=timestamp, secret=secret)
    if not secret or not hmac.compare_digest(expected.encode(), headers.get(SIGNATURE, "").encode()):
        raise ForgedWebhook("The signature is not Prolific's.")
    if not timestamp.isdecimal() or not any(_is_close(now, int(timestamp)) for now in clocks):
        raise BadWebhook("The time of sending is too far from the server's clock.")
    try:
        return Event.model_validate_json(body)
    except ValidationError:
        raise BadWebhook("The body is not an event of Prolific's.") from None


def _is_close(now: datetime, timestamp: int) -> bool:
    return abs(now.timestamp() - timestamp) <= OLDEST.total_seconds()
