"""The statements behind one press of Send, in SQL: the only place where the platform does without Django's ORM.

Building the queries cost more than running them; docs/decisions/0006 has the figures. The statements are plain SQL
that SQLite and PostgreSQL both run, and every test of answers runs on both.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Field

from annotation.models import Response
from annotation.models.responses import RESPONSE

_ASKED = """
SELECT question.id, question.kind, question.content, question."right", question.answers_wanted, slot.seat_id,
       slot.part, study.id, study.rule, COALESCE(CAST(study.design ->> 'max_answers' AS integer), 1),
       EXISTS (SELECT 1 FROM studies_question drawn
                WHERE drawn.instance_id = question.instance_id AND drawn.undone_at IS NOT NULL),
       CASE WHEN question.source_type = %s THEN question.source_id ELSE 0 END
  FROM annotation_slot slot
  JOIN studies_question question ON question.id = slot.question_id
  JOIN studies_study study ON study.id = question.study_id
 WHERE slot.id = %s
"""
_COUNT_ANSWER = """
UPDATE annotation_session
   SET questions_answered = questions_answered + 1, last_seen_at = %s
 WHERE token = %s AND study_id = %s AND state = 'working' AND questions_answered < questions_total
RETURNING id, annotator_id, questions_answered, questions_total, part_begun, order_key
"""
_TAKE_SLOT = """
UPDATE annotation_slot SET answered_at = %s WHERE id = %s AND annotator_id = %s AND answered_at IS NULL
"""
_MEASURED = (
    "first_choice_ms",
    "send_ms",
    "hidden_ms",
    "changes_of_mind",
    "window_width",
    "window_height",
)
# What a researcher has settled stays as it was settled; only its votes follow the answers.
_DECIDE = """
UPDATE annotation_decision
   SET rule = %s, votes = %s, answers = %s, asks_more = %s,
       state = CASE WHEN settled_choice = '' THEN %s ELSE state END,
       winner = CASE WHEN settled_choice = '' THEN %s ELSE winner END,
       decided_at = CASE WHEN settled_choice = '' THEN %s ELSE decided_at END
 WHERE question_id = %s
"""
# The slot is found before its question is read: joined first, every question left in the survey would be read.
_NEXT = """
SELECT slot.id, question.id, question.kind, question.content
  FROM (SELECT id, question_id, position
          FROM annotation_slot
         WHERE seat_id = %s AND annotator_id = %s AND answered_at IS NULL AND part <= %s AND id NOT IN (%s, %s, %s)
         ORDER BY position
         LIMIT %s) slot
  JOIN studies_question question ON question.id = slot.question_id
 ORDER BY slot.position
"""
_MOST_LEFT_OUT = 3


@dataclass(frozen=True)
class AskedInSlot:
    """What is asked in a slot: frozen when the study was launched.

    `undone`: a question about its instance stands no more, and may stand again after the answer. `response`: the
    response that it was made from, 0 for none.
    """

    question: int
    kind: str
    content: dict[str, Any]
    right: str
    answers_wanted: int
    seat: int
    part: int
    study: int
    rule: str
    max_answers: int
    undone: bool
    response: int


@dataclass(frozen=True)
class Counted:
    """A session after one more of its answers was counted."""

    session: int
    annotator: int
    answered: int
    total: int
    part_begun: int
    order_key: str


@dataclass(frozen=True)
class NextSlot:
    slot: int
    question: int
    kind: str
    content: dict[str, Any]


def asked_in(slot: int) -> AskedInSlot | None:
    with connection.cursor() as cursor:
        cursor.execute(_ASKED, [RESPONSE, slot])
        row = cursor.fetchone()
    return None if row is None else AskedInSlot(row[0], row[1], json.loads(row[2]), *row[3:])


def count_answer(*, token: str, study: int, now: datetime) -> Counted | None:
    """Count one more answer of a session that is at its questions; None for any other. Locks the session's row."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_ANSWER, [_time(now), token, study])
        row = cursor.fetchone()
    return None if row is None else Counted(*row)


def take_slot(*, slot: int, annotator: int, now: datetime) -> bool:
    """Mark a slot answered, unless it already is or is not (any more) this annotator's."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_SLOT, [_time(now), slot, annotator])
        return bool(cursor.rowcount == 1)


def measured_columns(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of what the browser measured; those that it did not are unknown."""
    return {name: measured.get(name) for name in _MEASURED} | {
        "unmeasured": measured.get("unmeasured", ""),
        "images_seen": measured.get("images_seen", []),
    }


def insert_response(columns: Mapping[str, Any]) -> None:
    """Store a response. columns: as `Response.objects.create` takes them, foreign keys by their columns."""
    values = [_fields()[name].get_db_prep_save(value, connection) for name, value in columns.items()]
    with connection.cursor() as cursor:
        cursor.execute(_insert_into(tuple(columns)), values)


@cache
def _fields() -> Mapping[str, Field[Any, Any]]:
    return {field.attname: field for field in Response._meta.concrete_fields}


@cache
def _insert_into(columns: Sequence[str]) -> str:
    names, placeholders = ", ".join(columns), ", ".join(["%s"] * len(columns))
    return f"INSERT INTO annotation_response ({names}) VALUES ({placeholders})"  # noqa: S608 (columns of the model)


def store_decision(
    *,
    question: int,
    rule: str,
    state: str,
    winner: str,
    votes: Mapping[str, int],
    answers: int,
    asks_more: bool,
    decided: datetime | None,
) -> None:
    with connection.cursor() as cursor:
        at = None if decided is None else _time(decided)
        cursor.execute(_DECIDE, [rule, json.dumps(votes), answers, asks_more, state, winner, at, question])


def next_slots(*, seat: int, annotator: int, besides: Sequence[int], part: int, limit: int) -> list[NextSlot]:
    """Return the first open slots of a seat up to `part`, leaving out the (at most three) that the page holds."""
    left_out = [*besides, *[0] * _MOST_LEFT_OUT][:_MOST_LEFT_OUT]
    with connection.cursor() as cursor:
        cursor.execute(_NEXT, [seat, annotator, part, *left_out, limit])
        return [NextSlot(slot, question, kind, json.loads(content)) for slot, question, kind, content in cursor]


def _time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
