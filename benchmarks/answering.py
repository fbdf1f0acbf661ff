"""Answer whole surveys of a launched study directly in the database, with plausible answers.

About four in ten questions have None as their best answer; seven answers in ten are the best one, the others are spread
evenly. An annotator takes about four surveys; nobody looks up their ids. Only for studies of the
kind `best_of_n` without answers.
"""

import psycopg

SURVEYS_PER_ANNOTATOR = 4
SHARE_OF_NONE, SHARE_OF_BEST = 0.4, 0.7
# Places of one survey are adjacent, so nobody gets a question twice while they are fewer than this.
LEAST_ANNOTATORS = 10
# Tables that are filled here and not by `benchmarks.multiplying`.
ANSWERED = ("annotation_annotator", "annotation_session", "annotation_response")

_STATEMENTS = (
    "SELECT setseed(0.5)",
    """
    CREATE TEMPORARY TABLE taken AS
    SELECT seat.id AS seat, seat.study_id AS study, row_number() OVER (ORDER BY seat.id) AS rank,
           questions, timestamptz '2026-11-02 09:00+00' + random() * interval '14 days' AS arrived
      FROM annotation_seat seat
      JOIN (SELECT seat_id, count(*) AS questions FROM annotation_slot GROUP BY seat_id) AS slots ON seat_id = seat.id
     ORDER BY seat.id LIMIT %(seats)s
    """,
    "ANALYZE taken",
    """
    INSERT INTO annotation_annotator (provider, id_digest, blocked, created_at)
    SELECT 'prolific', md5(number::text), false, now() FROM generate_series(1, %(people)s) number
    """,
    """
    INSERT INTO annotation_session
           (token, study_id, annotator_id, provider, id_digest, provider_study_id, state, state_before_lapse,
            questions_total, questions_answered, part_begun, practice_round, arrived_at, first_question_at,
            last_seen_at, lease_until, ended_at, handed_back_at, comment)
    SELECT 'token-' || seat, study, (SELECT min(id) FROM annotation_annotator) + rank %% %(people)s, 'prolific',
           md5('session' || seat), 'benchmark', 'finished', '', questions, questions, 0, 1, arrived,
           arrived + interval '1 minute', ended, arrived + interval '2 hours', ended, ended, ''
      FROM (SELECT *, arrived + interval '15 minutes' * (1 + random()) AS ended FROM taken) AS timed
    """,
    "ALTER TABLE taken ADD session bigint, ADD annotator bigint, ADD ended timestamptz",
    """
    UPDATE taken SET session = made.id, annotator = made.annotator_id, ended = made.ended_at
      FROM annotation_session made WHERE made.token = 'token-' || taken.seat
    """,
    """
    UPDATE annotation_seat SET session_id = session, claimed_at = arrived, filled_at = ended
      FROM taken WHERE seat = annotation_seat.id
    """,
    """
    UPDATE annotation_slot
       SET annotator_id = annotator, answered_at = arrived + (ended - arrived) * (position + 1) / questions
      FROM taken WHERE seat = seat_id
    """,
    """
    CREATE TEMPORARY TABLE orders AS
    SELECT row_number() OVER () - 1 AS number, jsonb_build_array(
               'candidate-' || a, 'candidate-' || b, 'candidate-' || c, 'candidate-' || 6 - a - b - c, 'none') AS shown
      FROM generate_series(0, 3) a, generate_series(0, 3) b, generate_series(0, 3) c
     WHERE a <> b AND b <> c AND a <> c
    """,
    """
    INSERT INTO annotation_response
           (study_id, question_id, session_id, annotator_id, slot_id, version, is_current, submission_id, choice,
            shown_order, received_at, first_choice_ms, send_ms, hidden_ms, changes_of_mind, window_width,
            window_height, images_seen)
    SELECT study, question_id, session, annotator, slot_id, 1, true, gen_random_uuid(),
           CASE option WHEN 4 THEN 'none' ELSE 'candidate-' || option END,
           (SELECT shown FROM orders WHERE number = abs(hashint8(slot_id)) %% 24), answered_at,
           send_ms * 6 / 10, send_ms, 0, 0, 1366, 768, '[]'
      FROM (
        SELECT taken.study, slot.question_id, taken.session, taken.annotator, slot.id AS slot_id, slot.answered_at,
               CASE WHEN random() > %(best)s THEN floor(random() * 5)::int
                    WHEN abs(hashint8(slot.question_id)) %% 1000 < 1000 * %(none)s THEN 4
                    ELSE abs(hashint8(slot.question_id)) / 1000 %% 4 END AS option,
               (4000 * exp(random() + random()))::int AS send_ms
          FROM annotation_slot slot JOIN taken ON taken.seat = slot.seat_id
         ORDER BY slot.id
      ) AS given
    """,
    """
    UPDATE annotation_decision SET
           state = CASE WHEN 2 * most <= answers_wanted THEN 'undecided'
                        WHEN said = 'none' THEN 'rejected' ELSE 'accepted' END,
           winner = CASE WHEN 2 * most <= answers_wanted OR said = 'none' THEN '' ELSE said END,
           decided_at = CASE WHEN 2 * most <= answers_wanted THEN NULL ELSE last END,
           answers = given, votes = counted
      FROM (
        SELECT question_id AS question, jsonb_object_agg(choice, n) AS counted, sum(n) AS given, max(n) AS most,
               (array_agg(choice ORDER BY n DESC))[1] AS said, max(latest) AS last
          FROM (SELECT question_id, choice, count(*) AS n, max(received_at) AS latest
                  FROM annotation_response GROUP BY question_id, choice) AS votes
         GROUP BY question_id
      ) AS outcome, studies_question
     WHERE question = annotation_decision.question_id AND studies_question.id = question
    """,
    "VACUUM ANALYZE",
)


def answer_seats(url: str, seats: int) -> int:
    """Fill the first `seats` places of the database; return the number of responses."""
    people = max(LEAST_ANNOTATORS, seats // SURVEYS_PER_ANNOTATOR)
    values = {"seats": seats, "people": people, "best": SHARE_OF_BEST, "none": SHARE_OF_NONE}
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in _STATEMENTS:
            # Interpolated here, because such statements take no server-side parameters.
            psycopg.ClientCursor(connection).execute(statement, values if "%(" in statement else None)
        found = connection.execute("SELECT count(*) FROM annotation_response").fetchone()
    assert found is not None
    return int(found[0])
