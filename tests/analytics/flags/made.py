"""Records of sessions for tests of flag rules: plain answers, of which a test changes what it is about."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analytics.flags import AnswerRecord, Evidence, SessionRecord, WritingRecord, get_flag_rule

# Ten words and four pictures: at least .3 + 4 x .05 + 10 x .03 = .8 seconds.
PLAIN = AnswerRecord(
    question=1,
    number=1,
    kind="pick",
    label="a",
    place=None,
    places=5,
    words=10,
    pictures=4,
    claimed_seconds=8.0,
    possible_seconds=8.0,
    hidden_seconds=0.0,
)
TYPED = WritingRecord(keys=60, pastes=0, pasted=(), focus_losses=0, pauses=1, paused_ms=3_000, from_first_key_ms=15_000)


def answers(changes: Sequence[dict[str, Any]]) -> list[AnswerRecord]:
    """Return an answer for each of `changes` of PLAIN, numbered from 1."""
    return [replace(PLAIN, question=n, number=n, **each) for n, each in enumerate(changes, start=1)]


def find(rule: str, changes: Sequence[dict[str, Any]], **compared: Any) -> Evidence | None:
    """Return what the rule finds in a session with these answers."""
    return get_flag_rule(rule).find(SessionRecord(answers(changes), **compared))


def sentence(rule: str, evidence: Evidence | None) -> str:
    """Return the sentence of the evidence, with plain spaces."""
    assert evidence is not None
    return get_flag_rule(rule).sentence(evidence).replace("\N{NO-BREAK SPACE}", " ")
