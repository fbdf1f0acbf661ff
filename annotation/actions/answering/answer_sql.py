"""Hand-written SQL for the submit path, the only SQL outside the ORM.

Building the queries took longer than running them (figures: docs/decisions/0006). SQLite and PostgreSQL both run all
statements except `_RELATED` and `_STORE_IN_ONE_STATEMENT`; every test of answers runs on both.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, cast

from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Field, JSONField
from psycopg.errors import DivisionByZero

from annotation.models import Response
from annotation.models.responses import RESPONSE
from studies.kinds import KINDS, get_kind

_QUESTION_STATE = """
SELECT question.id, question.kind, question.content, question."right", question.answers_wanted, slot.seat_id,
       slot.part, study.id, study.rule,
       CASE study.raised_to WHEN 0 THEN COALESCE(CAST(study.design ->> 'max_answers' AS integer), 1)
                            ELSE study.raised_to END,
       EXISTS (SELECT 1 FROM studies_question drawn
                WHERE drawn.instance_id = question.instance_id AND drawn.undone_at IS NOT NULL),
       CASE WHEN question.source_type = %s THEN question.source_id ELSE 0 END,
       COALESCE((SELECT source_study.rule FROM annotation_response source
                   JOIN studies_study source_study ON source_study.id = source.study_id
                  WHERE question.source_type = %s AND source.id = question.source_id), ''),
       session.id, session.annotator_id, CASE session.order_key WHEN '' THEN study.seed ELSE session.order_key END,
       session.questions_answered, session.questions_total, session.part_begun, session.unseen_notices,
       session.asks_consent, slot.is_check, session.first_question_at, {related}
  FROM annotation_slot slot
  JOIN studies_question question ON question.id = slot.question_id
  JOIN studies_study study ON study.id = question.study_id
  JOIN annotation_session session ON session.study_id = study.id
 WHERE slot.id = %s AND slot.annotator_id = session.annotator_id AND slot.answered_at IS NULL
   AND session.token = %s AND session.state = 'working' AND slot.part <= session.part_begun
"""
# The version of a row is its xmin: the transaction that wrote it. Selects `counts` of annotation/models/responses.py.
# For a check, reads the decision on the first question of its seat that is no check: see `kept` below.
_RELATED = """
       session.xmin::text,
       (SELECT jsonb_agg(jsonb_build_array(related.id, decision.question_id, decision.xmin::text, (
                  SELECT jsonb_agg(jsonb_build_array(given.choice, given.answer) ORDER BY given.received_at, given.id)
                    FROM annotation_response given
                   WHERE given.question_id = related.id AND given.is_current AND given.slot_id IS NOT NULL
                     AND given.left_out = '' AND NOT given.is_check)))
          FROM studies_question related LEFT JOIN annotation_decision decision
            ON decision.question_id = CASE WHEN slot.is_check AND related.id = question.id
                 THEN (SELECT first.question_id FROM annotation_slot first
                        WHERE first.seat_id = slot.seat_id AND NOT first.is_check ORDER BY first.position LIMIT 1)
                 ELSE related.id END
         WHERE related.instance_id = question.instance_id AND related.study_id = question.study_id
           AND (related.id = question.id
                OR (related.kind = question.kind AND related.kind = ANY(string_to_array(%s, ',')))))
"""
_COUNT_ANSWER = """
UPDATE annotation_session
   SET questions_answered = questions_answered + 1, last_seen_at = %s
 WHERE id = %s AND state = 'working' AND questions_answered < questions_total
RETURNING questions_answered, questions_total, part_begun
"""
# A settled decision keeps its state; only its votes follow the answers.
_DECISION = """
       rule = %s, votes = %s, answers = %s, asks_more = %s,
       state = CASE WHEN settled_choice = '' THEN %s ELSE state END,
       winner = CASE WHEN settled_choice = '' THEN %s ELSE winner END,
       decided_at = CASE WHEN settled_choice = '' THEN %s ELSE decided_at END
"""
_DECIDE = f"UPDATE annotation_decision SET {_DECISION} WHERE question_id = %s"  # noqa: S608 (the words above)
# SQLite and PostgreSQL both call the columns of VALUES column1, column2.
_POSSIBLE_TIMES = """
UPDATE annotation_response SET possible_ms = known.column1 FROM (VALUES {rows}) AS known
 WHERE annotation_response.id = known.column2
"""
# In one statement.
_MOST_TIMES = 1000
# Finds the slot before joining its question; otherwise every question left in the survey would be read. The limit is
# written out: for any limit, PostgreSQL would plan to sort all open slots, or would plan anew for each answer.
_NEXT = """
SELECT slot.id, question.id, question.kind, question.content, slot.position
  FROM (SELECT id, question_id, position
          FROM annotation_slot
         WHERE seat_id = %s AND annotator_id = %s AND answered_at IS NULL AND part <= %s AND id NOT IN (%s, %s, %s, %s)
         ORDER BY position
         LIMIT {limit}) slot
  JOIN studies_question question ON question.id = slot.question_id
 ORDER BY slot.position
"""
_MOST_LEFT_OUT = 4
# Counts, takes the slot, stores and decides, each only if the step before had an effect, and returns the next
# questions. A row that somebody else is changing is waited for, and no longer has the version that was read. If the
# session has changed, nothing happens; if the slot or a decision has, a division by zero rolls everything back.
# A check decides nothing, and would be stored sooner than other answers, which people could measure. So for a check,
# `kept` writes another decision as it is.
_STORE_IN_ONE_STATEMENT = """
WITH counted AS (
    UPDATE annotation_session SET questions_answered = questions_answered + 1, last_seen_at = %s
     WHERE id = %s AND xmin::text = %s
 RETURNING id, annotator_id, last_seen_at
), taken AS (
    UPDATE annotation_slot SET answered_at = counted.last_seen_at FROM counted
     WHERE annotation_slot.id = %s AND annotation_slot.annotator_id = counted.annotator_id AND answered_at IS NULL
 RETURNING annotation_slot.id
), unchanged AS (
    SELECT decision.question_id FROM annotation_decision decision, taken
     WHERE {read_before}
     ORDER BY decision.question_id FOR NO KEY UPDATE OF decision
), stored AS (
    INSERT INTO annotation_response ({names}) SELECT {values} FROM taken
), decided AS (
    UPDATE annotation_decision SET {decision} FROM unchanged
     WHERE annotation_decision.question_id = unchanged.question_id AND unchanged.question_id = %s
), kept AS (
    UPDATE annotation_decision SET answers = answers FROM unchanged
     WHERE annotation_decision.question_id = unchanged.question_id AND unchanged.question_id = %s
){draft}
SELECT 1 / ((SELECT count(*) FROM taken) + (SELECT count(*) FROM unchanged) = 1 + %s)::int,
       following.id, following.question, following.kind, following.content
  FROM counted LEFT JOIN ({following}) AS following (id, question, kind, content, position) ON true
 ORDER BY following.position
"""
# Most answers depend on one decision. In a list, PostgreSQL expects ten, so a plan for any values seems dear. It then
# plans each answer anew, which takes longer than to run the statement.
_ONE_READ_BEFORE = "decision.question_id = %s AND decision.xmin::text = %s"
_SEVERAL_READ_BEFORE = """decision.question_id = ANY(string_to_array(%s, ',')::bigint[])
       AND decision.xmin::text = ANY(string_to_array(%s, ','))"""
_DISCARD_DRAFT = """, discarded AS (
    DELETE FROM annotation_draft draft USING counted, taken WHERE draft.session_id = counted.id AND slot_id = taken.id
)"""


class RelatedQuestion(NamedTuple):
    """A question, with label and answer of those that count, in order, and the version of a decision.

    decided: the question that the decision is on. For a check, it is an ordinary question of the same seat; None, like
    the version, if there is none.
    """

    question: int
    decided: int | None
    version: str | None
    answers: Sequence[tuple[str, Any]]


class QuestionState(NamedTuple):
    """A question as its slot asks it, with the state of the session that has it.

    The question is frozen when the study is launched. undone: a question about the same instance is undone, and the
    answer may restore it. response: id of the response that the question was made from, 0 for none. source_rule: the
    rule of its study. is_check: no decision follows from the answer.

    Of the session: order_seed: seed of the option order. answered, total: numbers of its questions. part_begun: last
    part begun. unseen_notices: number of notices not yet seen. asks_consent: a changed consent text is shown before the
    next question. begun: when the first question was served. version, related: what the answer depends on (PostgreSQL).
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
    source_rule: str
    session: int
    annotator: int
    order_seed: str
    answered: int
    total: int
    part_begun: int
    unseen_notices: int
    asks_consent: bool
    is_check: bool
    begun: datetime | None
    version: str
    related: Sequence[RelatedQuestion]


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
    question, kind, content, *others, begun, version, related = row
    if begun is not None and begun.tzinfo is None:
        # SQLite has no time zones: all its times are UTC.
        begun = begun.replace(tzinfo=UTC)
    about = [
        RelatedQuestion(pk, decided, of_decision, given or ())
        for pk, decided, of_decision, given in json.loads(related or "[]")
    ]
    return QuestionState(*(question, kind, json.loads(content), *others, begun, version, about))


def _fetch_question_state(slot: int, token: str) -> tuple[Any, ...] | None:
    versions = supports_one_statement()
    written = [",".join(name for name in KINDS if get_kind(name).is_written)] if versions else []
    with connection.cursor() as cursor:
        statement = _QUESTION_STATE.format(related=_RELATED if versions else "NULL, NULL")
        # As a text: psycopg prepares the statement anew for larger numbers.
        cursor.execute(statement, [RESPONSE, RESPONSE, *written, str(slot), token])
        return cast("tuple[Any, ...] | None", cursor.fetchone())


def count_answer(*, session: int, now: datetime) -> SessionProgress | None:
    """Count one more answer of a working session; None in any other state. Locks the session."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_ANSWER, [_time(now), session])
        row = cursor.fetchone()
    return None if row is None else SessionProgress(*row)


def _values(columns: Mapping[str, Any]) -> list[Any]:
    return [
        _convert(field, columns[field.attname]) if field.attname in columns else default for field, default in _fields()
    ]


def _convert(field: Field[Any, Any], value: Any) -> Any:
    is_plain = value is None or (isinstance(value, int | str) and not isinstance(field, JSONField))
    return value if is_plain else field.get_db_prep_save(value, connection)


@cache
def _fields() -> list[tuple[Field[Any, Any], Any]]:
    """Return the columns of a response besides its id, and the default of each."""
    fields = [field for field in Response._meta.concrete_fields if not field.primary_key]
    return [(field, _convert(field, field.get_default())) for field in fields]


def store_possible_times(times: Sequence[tuple[int | None, int]]) -> None:
    """Store `possible_ms` for responses, given as pairs (milliseconds or None, id), ten times faster than the ORM."""
    row = "(CAST(%s AS integer), CAST(%s AS bigint))"
    with connection.cursor() as cursor:
        for first in range(0, len(times), _MOST_TIMES):
            some = times[first : first + _MOST_TIMES]
            statement = _POSSIBLE_TIMES.format(rows=", ".join([row] * len(some)))
            cursor.execute(statement, [value for pair in some for value in pair])


def store_decision(decided: DecisionValues) -> None:
    """Store a decision, as a new version of its row even if nothing changes."""
    with connection.cursor() as cursor:
        cursor.execute(_DECIDE, [*_decision(decided), decided.question])


def _decision(decided: DecisionValues) -> list[Any]:
    at = None if decided.at is None else _time(decided.at)
    votes = json.dumps(decided.votes)
    return [decided.rule, votes, decided.answers, decided.asks_more, decided.state, decided.winner, at]


def supports_one_statement() -> bool:
    """Whether the database runs several writes in one statement; the WITH of SQLite cannot write."""
    return connection.vendor == "postgresql"


def store_in_one_statement(
    *, asked: QuestionState, columns: Mapping[str, Any], decided: DecisionValues, prefetch: Prefetch, now: datetime
) -> list[NextSlot] | None:
    """Count, store and decide an answer in one statement; return the next slots.

    Returns None and changes nothing if the session, the slot or a related decision is not as in `asked`. columns: of
    the response, foreign keys by their column names; the others get their defaults.
    """
    slot = columns["slot_id"]
    versions = {str(each.decided): each.version for each in asked.related if each.version}
    # No question has the number 0.
    read_before = [",".join(versions) or "0", ",".join(versions.values())]
    own = next((each for each in asked.related if each.question == asked.question), None)
    kept = own.decided if own is not None and asked.is_check else None
    values = [_time(now), asked.session, asked.version, slot, *read_before]
    values += [*_values(columns), *_decision(decided), asked.question, kept or 0, len(versions)]
    values += _next(asked.seat, asked.annotator, asked.part_begun, [slot, *prefetch.held])
    try:
        # In an outer transaction, a failed statement would break that transaction without a savepoint.
        with transaction.atomic() if connection.in_atomic_block else nullcontext(), connection.cursor() as cursor:
            # As texts: psycopg prepares a statement for each combination of sizes of numbers and of missing values.
            texts = [str(value) if isinstance(value, int | datetime) else value for value in values]
            is_written, limit = get_kind(asked.kind).is_written, prefetch.room
            statement = _one_statement(has_draft=is_written, several=len(versions) > 1, limit=limit)
            cursor.execute(statement, texts)
            rows = cursor.fetchall()
    except DataError as error:
        if not isinstance(error.__cause__, DivisionByZero):
            raise
        return None
    return [_next_slot(row[1:]) for row in rows if row[1] is not None] if rows else None


@cache
def _one_statement(*, has_draft: bool, several: bool, limit: int) -> str:
    names, values = ", ".join(field.attname for field, _ in _fields()), ", ".join(["%s"] * len(_fields()))
    draft = _DISCARD_DRAFT if has_draft else ""
    read_before = _SEVERAL_READ_BEFORE if several else _ONE_READ_BEFORE
    following = _NEXT.format(limit=limit)
    return _STORE_IN_ONE_STATEMENT.format(
        names=names, values=values, read_before=read_before, decision=_DECISION, draft=draft, following=following
    )


def next_slots(*, seat: int, annotator: int, besides: Sequence[int], part: int, limit: int) -> list[NextSlot]:
    """Return the first open slots of a seat up to `part`, without the (at most four) slots in `besides`."""
    if not limit:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_NEXT.format(limit=limit), _next(seat, annotator, part, besides))
        return [_next_slot(row) for row in cursor]


def _next(seat: int, annotator: int, part: int, besides: Sequence[int]) -> list[int]:
    return [seat, annotator, part, *[*besides, *[0] * _MOST_LEFT_OUT][:_MOST_LEFT_OUT]]


def _next_slot(row: Sequence[Any]) -> NextSlot:
    slot, question, kind, content, *_ = row
    return NextSlot(slot, question, kind, json.loads(content))


def _time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)
