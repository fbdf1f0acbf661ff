"""Webhooks that the local platform sends: bodies, signatures, retries, and faults (prolific.md, section 4.9)."""

import json
import random
from collections.abc import Iterator
from datetime import timedelta
from threading import RLock

import urllib3

from annotation.recruitment.prolific.statuses import EventType
from annotation.recruitment.prolific.webhooks import EVENT_ID, HAPPENED_AT, SENT_AT, SIGNATURE, sign
from simulation.prolific_double.platform import Platform
from simulation.prolific_double.rules import new_id
from simulation.prolific_double.store import Document
from simulation.prolific_double.switches import Switch

RETRIES = 11
LATE = timedelta(minutes=5)
# How long an event that is out of order stays back when nothing overtakes it.
HELD_BACK = timedelta(seconds=2)
SECONDS = 10


class Deliveries:
    """Webhooks that wait. `lock` guards the platform; nothing is sent while it is held."""

    def __init__(self, platform: Platform, lock: RLock) -> None:
        self._platform, self._lock = platform, lock
        self._pool = urllib3.PoolManager(timeout=SECONDS, retries=False)

    def announce(self, event: Document) -> None:
        """Queue an event for everybody who has subscribed to it and confirmed that."""
        platform = self._platform
        if platform.switches.use(Switch.WEBHOOKS_LOST):
            return
        for subscription in platform.store.list("subscription"):
            if subscription["is_enabled"] and subscription["event_type"] == event["event_type"]:
                self._queue(event, subscription)

    def _queue(self, event: Document, subscription: Document) -> None:
        switches, now = self._platform.switches, self._platform.now()
        due = now + (LATE if switches.use(Switch.WEBHOOKS_LATE) else timedelta())
        due += HELD_BACK if switches.is_on(Switch.WEBHOOKS_UNORDERED) else timedelta()
        delivery = {
            "event_id": new_id(),
            "url": subscription["target_url"],
            "workspace": subscription["workspace_id"],
            "body": json.dumps(event),
            "happened_at": self._displayed_now(),
            "due": due.timestamp(),
            "retries": 0,
            "status": "PENDING",
            "is_forged": False,
        }
        self._write({**delivery, "id": new_id()})
        if switches.use(Switch.WEBHOOKS_DOUBLED):
            self._write({**delivery, "id": new_id()})
        if switches.use(Switch.WEBHOOKS_FORGED):
            body = json.dumps({**event, "status": "REJECTED"})
            self._write({**delivery, "id": new_id(), "event_id": new_id(), "body": body, "is_forged": True})
        if switches.use(Switch.WEBHOOKS_UNREADABLE):
            body = json.dumps({**event, "resource_id": "\0"})
            self._write({**delivery, "id": new_id(), "event_id": new_id(), "body": body})
        if switches.use(Switch.WEBHOOKS_OF_STRANGERS):
            body = json.dumps({**event, "resource_id": new_id(), "event_type": EventType.SUBMISSION_STATUS})
            self._write({**delivery, "id": new_id(), "event_id": new_id(), "body": body})

    def _displayed_now(self) -> int:
        return int(self._platform.display(self._platform.now()).timestamp())

    def _write(self, delivery: Document) -> None:
        self._platform.store.write("delivery", delivery, owner=delivery["status"])

    def send_due(self) -> int:
        """Send what is due, and return how many that were."""
        with self._lock:
            due = list(self._due())
        for delivery in due:
            has_arrived = self._send(delivery)
            with self._lock:
                self._note(delivery, has_arrived=has_arrived)
                self._platform.store.commit()
        return len(due)

    def _due(self) -> Iterator[Document]:
        now = self._platform.now().timestamp()
        waiting = self._platform.store.list("delivery", owner="PENDING")
        if self._platform.switches.is_on(Switch.WEBHOOKS_UNORDERED):
            # Whatever waits is sent as soon as there are two events to put out of order.
            waiting.reverse()
            if len({one["event_id"] for one in waiting}) > 1:
                now += HELD_BACK.total_seconds()
        return (one for one in waiting if one["due"] <= now)

    def _send(self, delivery: Document) -> bool:
        """Whether a delivery was answered with a 2xx."""
        with self._lock:
            secret = self._platform.store.find("secret", delivery.get("workspace", self._platform.workspace))
            timestamp = str(self._displayed_now())
        key = "forged" if delivery["is_forged"] or secret is None else secret["value"]
        body = delivery["body"].encode()
        headers = {
            "Content-Type": "application/json",
            SIGNATURE: sign(body, timestamp=timestamp, secret=key),
            SENT_AT: timestamp,
            EVENT_ID: delivery["event_id"],
            HAPPENED_AT: str(delivery["happened_at"]),
        }
        try:
            reply = self._pool.request("POST", delivery["url"], body=body, headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError:
            return False
        return 200 <= reply.status < 300

    def _note(self, delivery: Document, *, has_arrived: bool) -> None:
        if has_arrived:
            delivery["status"] = "SUCCEEDED"
        elif delivery["retries"] == RETRIES:
            delivery["status"] = "FAILED"
        else:
            delivery["retries"] += 1
            longest = 60 * 2 ** (delivery["retries"] - 1)
            delivery["due"] = self._platform.now().timestamp() + random.uniform(0, longest)  # noqa: S311
        self._write(delivery)
