"""What is written on a line that drops every third reply: the server has done what it was asked and the page does not
know, so that it asks the same again. What was sent last is what is stored, once, and no draft outlives its answer."""

import json
import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from annotation.models import Draft, Response, Session, SessionState
from tests.annotation.test_repetitions import describing
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, arrive_at_work

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}
DROPPED_EVERY = 3
REFUSED = "The third image from the left."
NOT_POSSIBLE = {"text": "", "not_possible": "yes"}
_SLOT = re.compile(r'name="slot" value="(\d+)"')
_REPLACES = re.compile(r'name="replaces" value="(\d+)"')
_WRITTEN = re.compile(r"<textarea[^>]*>([^<]*)</textarea>")


@dataclass
class Line:
    """A page of `session`, and what lies between. `sent` holds what was sent last for each slot and was not refused,
    `taken` how often something was; `late` are drafts that a proxy brings when it is too late."""

    session: Session
    dice: random.Random
    client: Client = field(default_factory=Client)
    requests: int = 0
    dropped: int = 0
    sent: dict[int, dict[str, Any]] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    late: list[dict[str, Any]] = field(default_factory=list)

    def post(self, where: str, fields: dict[str, Any]) -> Any:
        """Send the same again until a reply is heard."""
        while True:
            self.requests += 1
            reply = self.client.post(f"{page_of(self.session)}{where}/", fields, headers=JSON)
            if self.requests % DROPPED_EVERY:
                return reply
            self.dropped += 1

    def write(self, slot: int, text: str) -> None:
        """Type `text`, which is kept as a draft again and again; one is held up on its way."""
        for end in sorted(self.dice.sample(range(1, len(text)), 2)):
            self.post("draft", {"slot": slot, "text": text[:end]})
        self.late.append({"slot": slot, "text": text[: len(text) // 2]})

    def answer(self, slot: int, said: dict[str, Any], **more: Any) -> None:
        """Send `said`; a refused text leaves what was written before where it was."""
        submission = str(uuid.uuid4())
        reply = self.post("answer", {"slot": slot, "submission": submission, "have": "", **said, **more})
        if said.get("text") == REFUSED:
            assert reply.status_code == 422
            return
        assert reply.status_code == 200
        # Never that it had been answered or changed elsewhere: it is the same that came again.
        assert "notices" not in json.loads(reply.content)
        self.sent[slot] = {"not_possible": True} if said == NOT_POSSIBLE else said
        self.taken[slot] = self.taken.get(slot, 0) + 1

    def change(self, slot: int, said: dict[str, Any]) -> None:
        page = self.client.get(f"{page_of(self.session)}change/{slot}/").content.decode()
        version = _REPLACES.search(page)
        assert version is not None
        self.answer(slot, said, replaces=version[1])


def shown(line: Line) -> tuple[int, str] | None:
    """Return the slot that the page shows and what its form holds; None at the end."""
    page = line.client.get(page_of(line.session), follow=True).content.decode()
    slot, written = _SLOT.search(page), _WRITTEN.search(page)
    return (int(slot[1]), written[1]) if slot and written else None


@pytest.mark.parametrize("seed", range(3))
def test_what_was_sent_last_is_stored_once_and_no_draft_comes_back_over_it(seed: int, time_machine: Any) -> None:
    time_machine.move_to(NOON, tick=False)
    line = Line(arrive_at_work(describing(sets=2, targets=3)), random.Random(seed))
    while (now := shown(line)) is not None:
        slot, written = now
        # A question that has just come holds nothing yet, whatever was brought late.
        assert (slot in line.sent, written) == (False, "")
        text = f"Thing {slot} has its lid open, number {line.requests}."
        line.write(slot, text)
        if line.dice.random() < 0.5:
            line.answer(slot, {"text": REFUSED})
            again = shown(line)
            assert again is not None
            assert again[0] == slot
            # Nothing was lost: the draft of before is still there.
            assert text.startswith(again[1])
            assert again[1]
        line.answer(slot, NOT_POSSIBLE if line.dice.random() < 0.3 else {"text": text})
        if shown(line) is not None:
            for number in range(line.dice.randint(0, 2)):
                said = NOT_POSSIBLE if line.dice.random() < 0.4 else {"text": f"{text} Said again: {number}."}
                line.change(slot, said)
        line.post("draft", line.late.pop())
    for held_up in line.late:
        line.post("draft", held_up)
    assert line.dropped > 10
    line.session.refresh_from_db()
    assert (line.session.state, line.session.questions_answered) == (SessionState.FINISHED, 6)
    current = Response.objects.filter(is_current=True)
    assert {response.slot_id: response.answer for response in current} == line.sent
    assert len(current) == len(line.sent) == 6
    versions: dict[int | None, list[int]] = {}
    for response in Response.objects.order_by("slot_id", "version"):
        versions.setdefault(response.slot_id, []).append(response.version)
    assert versions == {slot: list(range(1, times + 1)) for slot, times in line.taken.items()}
    assert not Draft.objects.exists()
