"""Hand-written SQL for the submit path, the only SQL outside the ORM.

Building the queries took longer than running them (figures: docs/decisions/0006). SQLite and PostgreSQL both run all
statements except `_STORE_IN_ONE_STATEMENT`; every test of answers runs on both.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, cast

from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Field

from annotation.models import Response
from annotation.models.responses import RESPONSE

_QUESTION_STATE = """
SELECT question.id, question.kind, question.content, question."right", question.answers_wanted, slot.seat_id,
       slot.part, study.id, study.rule,
       CASE study.raised_to WHEN 0 THEN COALESCE(CAST(study.design ->> 'max_answers' AS integer), 1)
                            ELSE study.raised_to END,
       EXISTS (SELECT 1 FROM studies_question drawn
                WHERE drawn.instance_id = question.instance_id AND drawn.undone_at IS NOT NULL),
       CASE WHEN question.source_type = %s THEN question.source_id ELSE 0 END,
       session.id, session.annotator_id, CASE session.order_key WHEN '' THEN study.seed ELSE session.order_key END,
       session.part_begun, session.questions_total - session.questions_answered,
       EXISTS (SELECT 1 FROM annotation_decision grown
                WHERE grown.question_id = question.id AND grown.more_asked_at IS NOT NULL),
       session.unseen_notices, session.first_question_at
  FROM annotation_slot slot
  JOIN studies_question question ON question.id = slot.question_id
  JOIN studies_study study ON study.id = question.study_id
  JOIN annotation_session session ON session.study_id = study.id
 WHERE slot.id = %s AND session.token = %s AND session.state = 'working' AND slot.part <= session.part_begun
"""
_COUNT_ANSWER = """
UPDATE annotation_session
   SET questions_answered = questions_answered + 1, last_seen_at = %s
 WHERE id = %s AND state = 'working' AND questions_answered < questions_total
RETURNING questions_answered, questions_total, part_begun
"""
_TAKE_SLOT = """
UPDATE annotation_slot SET answered_at = %s WHERE id = %s AND annotator_id = %s AND answered_at IS NULL
"""
# What the browser measures, where it has measured nothing.
NOT_MEASURED: Mapping[str, Any] = {
    **dict.fromkeys(("first_choice_ms", "send_ms", "hidden_ms", "changes_of_mind", "window_width", "window_height")),
    "unmeasured": "",
    "images_seen": [],
    "writing": None,
}
# A settled decision keeps its state; only its votes follow the answers.
_DECISION = """
       rule = %s, votes = %s, answers = %s, asks_more = %s,
       state = CASE WHEN settled_choice = '' THEN %s ELSE state END,
       winner = CASE WHEN settled_choice = '' THEN %s ELSE winner END,
       decided_at = CASE WHEN settled_choice = '' THEN %s ELSE decided_at END
"""
_DECIDE = f"UPDATE annotation_decision SET {_DECISION} WHERE question_id = %s"  # noqa: S608 (the words above)
# A researcher who asks for more answers locks the row: after waiting for it, the question as served is outdated.
_DECIDE_IF_CURRENT = f"{_DECIDE} AND more_asked_at IS NULL"
_POSSIBLE_TIME = "UPDATE annotation_response SET possible_ms = %s WHERE id = %s"
# Finds the slot before joining its question; otherwise every question left in the survey would be read.
_NEXT = """
SELECT slot.id, question.id, question.kind, question.content, slot.position
  FROM (SELECT id, question_id, position
          FROM annotation_slot
         WHERE seat_id = %s AND annotator_id = %s AND answered_at IS NULL AND part <= %s AND id NOT IN (%s, %s, %s, %s)
         ORDER BY position
         LIMIT %s) slot
  JOIN studies_question question ON question.id = slot.question_id
 ORDER BY slot.position
"""
_MOST_LEFT_OUT = 4
_DIVISION_BY_ZERO = "22012"
# Counts, takes the slot, stores and decides, each only if the step before had an effect, and returns the next
# questions. If the slot cannot be taken or the question wants more answers by now, a division by zero rolls everything
# back.
_STORE_IN_ONE_STATEMENT = """
WITH counted AS (
    UPDATE annotation_session
       SET questions_answered = questions_answered + 1, last_seen_at = %s
     WHERE id = %s AND state = 'working' AND questions_answered + 1 < questions_total
 RETURNING questions_answered, questions_total, part_begun
), taken AS (
    UPDATE annotation_slot SET answered_at = %s FROM counted
     WHERE id = %s AND annotator_id = %s AND answered_at IS NULL
 RETURNING id
), stored AS (
    INSERT INTO annotation_response ({names}) SELECT {values} FROM taken
), decided AS (
    UPDATE annotation_decision SET {decision} FROM taken WHERE question_id = %s AND more_asked_at IS NULL
 RETURNING question_id
)
SELECT counted.questions_answered, counted.questions_total, counted.part_begun, 1 / (SELECT count(*) FROM decided),
       following.id, following.question, following.kind, following.content
  FROM counted LEFT JOIN ({following}) AS following (id, question, kind, content, position) ON true
 ORDER BY following.position
"""


class QuestionState(NamedTuple):
    """A question as its slot asks it, with the state of the session that has it.

    The question is frozen when the study is launched. undone: a question about the same instance is undone, and the
    answer may restore it. response: id of the response that the question was made from, 0 for none.

    Of the session: order_seed: seed of the option order. part_begun: last part begun. left: open questions, with this
    one. grown: a researcher has changed how many answers the question may get. unseen_notices: number of notices not
    yet seen. begun: when the first question was served.
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
    session: int
    annotator: int
    order_seed: str
    part_begun: int
    left: int
    grown: bool
    unseen_notices: int
    begun: datetime | None


class SessionProgress(NamedTuple):
    """The counters of a session after one more of its answers was counted."""

    answered: int
    total: int
    part_begun: int


class DecisionValues(NamedTuple):
    """Column values of a decision; `at` is when the question was decided."""

    question: int
    rule: str
    votes: Mapping[str, int]
    answers: int
    asks_more: bool
    state: str
    winner: str
    at: datetime | None


class Prefetch(NamedTuple):
    """The slots that a page already holds, and how many more it has room for."""

    held: Sequence[int] = ()
    room: int = 0


class NextSlot(NamedTuple):
    slot: int
    question: int
    kind: str
    content: dict[str, Any]


def question_state(slot: int, *, token: str) -> QuestionState | None:
    """Return the question in `slot` for the session with this token; None if the session is not working on it.

    This is the first statement of a request. If the connection was lost since the last request, it reconnects and
    repeats the statement: a health check in advance would take as long as the statement.
    """
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        row = _fetch_question_state(slot, token)
    except (InterfaceError, OperationalError):
        if connection.in_atomic_block:
            raise
        connection.close()
        row = _fetch_question_state(slot, token)
    if row is None:
        return None
    question, kind, content, *others, begun = row
    if begun is not None and begun.tzinfo is None:
        # SQLite has no time zones: all its times are UTC.
        begun = begun.replace(tzinfo=UTC)
    return QuestionState(*(question, kind, json.loads(content), *others, begun))


def _fetch_question_state(slot: int, token: str) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(_QUESTION_STATE, [RESPONSE, slot, token])
        return cast("tuple[Any, ...] | None", cursor.fetchone())


def count_answer(*, session: int, now: datetime) -> SessionProgress | None:
    """Count one more answer of a working session; None in any other state. Locks the session."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_ANSWER, [_time(now), session])
        row = cursor.fetchone()
    return None if row is None else SessionProgress(*row)


def take_slot(*, slot: int, annotator: int, now: datetime) -> bool:
    """Mark a slot as answered; False if it is answered already or no longer held by this annotator."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_SLOT, [_time(now), slot, annotator])
        return bool(cursor.rowcount == 1)


def insert_response(columns: Mapping[str, Any]) -> None:
    """Store a response.

    columns: as for `Response.objects.create`, foreign keys by their column names.
    """
    with connection.cursor() as cursor:
        cursor.execute(_insert_into(tuple(columns)), _values(columns))


def _values(columns: Mapping[str, Any]) -> list[Any]:
    return [_fields()[name].get_db_prep_save(value, connection) for name, value in columns.items()]


@cache
def _fields() -> Mapping[str, Field[Any, Any]]:
    return {field.attname: field for field in Response._meta.concrete_fields}


@cache
def _insert_into(columns: Sequence[str]) -> str:
    names, values = _names_and_placeholders(columns)
    return f"INSERT INTO annotation_response ({names}) VALUES ({values})"  # noqa: S608 (columns of the model)


def _names_and_placeholders(columns: Sequence[str]) -> tuple[str, str]:
    return ", ".join(columns), ", ".join(["%s"] * len(columns))


def store_possible_times(times: Sequence[tuple[int | None, int]]) -> None:
    """Store `possible_ms` for responses, given as pairs (milliseconds or None, id), in one round trip.

    `bulk_update` builds one statement, and building it takes ten times as long as running it.
    """
    with connection.cursor() as cursor:
        cursor.executemany(_POSSIBLE_TIME, times)


def store_decision(decided: DecisionValues, *, if_current: bool = False) -> bool:
    """Store a decision; return whether it was stored.

    if_current: only if no researcher has changed how many answers the question may get since it was served.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DECIDE_IF_CURRENT if if_current else _DECIDE, [*_decision(decided), decided.question])
        return bool(cursor.rowcount == 1)


def _decision(decided: DecisionValues) -> list[Any]:
    at = None if decided.at is None else _time(decided.at)
    votes = json.dumps(decided.votes)
    return [decided.rule, votes, decided.answers, decided.asks_more, decided.state, decided.winner, at]


def supports_one_statement() -> bool:
    """Whether the database runs several writes in one statement; the WITH of SQLite cannot write."""
    return connection.vendor == "postgresql"


def store_in_one_statement(
    *, asked: QuestionState, columns: Mapping[str, Any], decided: DecisionValues, prefetch: Prefetch, now: datetime
) -> tuple[SessionProgress, list[NextSlot]] | None:
    """Count, store and decide an answer in one statement; return the session's progress and its next slots.

    Only for answers that are not the last of their session. Returns None and changes nothing if the session is not
    working, the slot is not open, or the answer is the last. columns: as for `insert_response`, with the slot.
    """
    slot = columns["slot_id"]
    values = [_time(now), asked.session, _time(now), slot, asked.annotator]
    values += [*_values(columns), *_decision(decided), asked.question]
    values += _next(asked.seat, asked.annotator, asked.part_begun, [slot, *prefetch.held], prefetch.room)
    try:
        # In an outer transaction, a failed statement would break that transaction without a savepoint.
        with transaction.atomic() if connection.in_atomic_block else nullcontext(), connection.cursor() as cursor:
            cursor.execute(_one_statement(tuple(columns)), values)
            rows = cursor.fetchall()
    except DataError as error:
        if getattr(error.__cause__, "sqlstate", "") != _DIVISION_BY_ZERO:
            raise
        return None
    if not rows:
        return None
    return SessionProgress(*rows[0][:3]), [_next_slot(row[4:]) for row in rows if row[4] is not None]


@cache
def _one_statement(columns: Sequence[str]) -> str:
    names, values = _names_and_placeholders(columns)
    return _STORE_IN_ONE_STATEMENT.format(names=names, values=values, decision=_DECISION, following=_NEXT)


def next_slots(*, seat: int, annotator: int, besides: Sequence[int], part: int, limit: int) -> list[NextSlot]:
    """Return the first open slots of a seat up to `part`, without the (at most four) slots in `besides`."""
    if not limit:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_NEXT, _next(seat, annotator, part, besides, limit))
        return [_next_slot(row) for row in cursor]


def _next(seat: int, annotator: int, part: int, besides: Sequence[int], limit: int) -> list[int]:
    left_out = [*besides, *[0] * _MOST_LEFT_OUT][:_MOST_LEFT_OUT]
    return [seat, annotator, part, *left_out, limit]


def _next_slot(row: Sequence[Any]) -> NextSlot:
    slot, question, kind, content, *_ = row
    return NextSlot(slot, question, kind, json.loads(content))


def _time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
