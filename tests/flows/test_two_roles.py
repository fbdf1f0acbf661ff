"""Describers and retrievers at work on each other behind gunicorn, while web workers are killed: nothing is lost,
nothing is asked or stored once too often, and both studies agree on what became of each description."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases import MIGRATED
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.site import Site, running_site, site_over
from tests.flows.two_roles import Describers, Retrievers, studies
from tests.servers import Cluster

pytestmark = AT_HOME_ON_POSTGRESQL
SETS, TARGETS = 6, 2
# Two of the describers look for images too: never for those that they described.
WRITE = [f"writer-{number}" for number in range(4)]
LOOK = [f"reader-{number}" for number in range(4)] + WRITE[:2]
KILLED_EVERY = 6
LONGEST_SECONDS = 240


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    url = cluster.url("two_roles", like=MIGRATED)
    made = site_over(database_url=url, data_dir=tmp_path / "made")
    made.run("-m", "tests.flows.launch_studies", *studies(sets=SETS, targets=TARGETS))
    with running_site(database_url=url, data_dir=tmp_path) as running:
        yield running


def ask(connection: psycopg.Connection[Any], query: str, *parameters: object) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode(), parameters).fetchall()


UNDECIDED = "SELECT count(*) FROM annotation_decision WHERE state = 'undecided'"
# One row for each answer that was kept, in the order in which they came.
ANSWERS = """
SELECT study.slug, response.submission_id::text, response.question_id, response.annotator_id, response.slot_id,
       response.is_current, response.choice = question."right", question.source_id, response.id,
       author.annotator_id
  FROM annotation_response response
  JOIN studies_question question ON question.id = response.question_id
  JOIN studies_study study ON study.id = question.study_id
  LEFT JOIN annotation_response author ON author.id = question.source_id AND question.source_type = 'response'
 ORDER BY response.id
"""
STATES = """
SELECT study.slug, decision.question_id, decision.state, question.source_id
  FROM annotation_decision decision
  JOIN studies_question question ON question.id = decision.question_id
  JOIN studies_study study ON study.id = question.study_id
"""


# What is left, where it takes too long: who is where, and which places are free.
STUCK = """
SELECT 'session', state, questions_answered || ' of ' || questions_total, study_id FROM annotation_session
 WHERE ended_at IS NULL
 UNION ALL
SELECT 'slot', question_id || ' at ' || seat_id, COALESCE(annotator_id, 0)::text, COALESCE(seat.session_id, 0)
  FROM annotation_slot slot JOIN annotation_seat seat ON seat.id = slot.seat_id WHERE answered_at IS NULL
"""


def test_describing_and_retrieving_go_on_while_web_workers_are_killed(site: Site) -> None:
    over = threading.Event()
    writers = Describers(site.url, "describe", over=over)
    readers = Retrievers(site.url, "retrieve", over=over)
    everybody = writers.threads(WRITE) + readers.threads(LOOK)
    killed = _kill_while(everybody, (writers, readers), site)
    assert writers.failures == readers.failures == []
    # Somebody was waiting for a reply each time, and sent the same again.
    assert len(set(killed)) == len(killed) >= 5
    assert writers.errors + readers.errors != []
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        _check(connection, acknowledged=[*writers.acknowledged, *readers.acknowledged])


def _kill_while(everybody: list[threading.Thread], roles: tuple[Describers, Retrievers], site: Site) -> list[int]:
    """Let everybody work until all is decided, and kill a web worker after every few answers; return whom."""
    killed: list[int] = []
    deadline = time.monotonic() + LONGEST_SECONDS
    for thread in everybody:
        thread.start()
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        while ask(connection, UNDECIDED) != [(0,)]:
            if time.monotonic() >= deadline:
                pytest.fail(f"{ask(connection, STUCK)}, {[role.failures for role in roles]}")
            if sum(len(role.acknowledged) for role in roles) >= KILLED_EVERY * (len(killed) + 1):
                killed.append(site.worker_pids()[0])
                site.kill_a_worker()
            time.sleep(0.02)
    roles[0].over.set()
    for thread in everybody:
        thread.join(timeout=LONGEST_SECONDS)
        assert not thread.is_alive()
    return killed


def _check(connection: psycopg.Connection[Any], *, acknowledged: list[str]) -> None:
    answers = ask(connection, ANSWERS)
    submissions = [row[1] for row in answers]
    assert len(set(acknowledged)) == len(acknowledged)
    # What the site said it had is there, once. What it could not say any more may be there too, as once.
    assert set(acknowledged) <= set(submissions)
    assert len(set(submissions)) == len(submissions)
    assert {(row[4] is None, row[5]) for row in answers} == {(False, True)}
    assert len({row[4] for row in answers}) == len(answers)
    _check_descriptions(connection, answers)
    # Nobody holds a seat or is at work any more, nothing is left over, and no draft outlives its answer.
    assert ask(connection, "SELECT state, count(*) FROM annotation_session WHERE ended_at IS NULL GROUP BY state") == []
    held = "SELECT count(*) FROM annotation_seat WHERE session_id IS NOT NULL AND filled_at IS NULL"
    assert ask(connection, held) == [(0,)]
    assert ask(
        connection, "SELECT count(*) FROM annotation_slot WHERE (answered_at IS NULL) <> (annotator_id IS NULL)"
    ) == [(0,)]
    assert ask(connection, "SELECT count(*) FROM annotation_draft") == [(0,)]


def _check_descriptions(connection: psycopg.Connection[Any], answers: list[tuple[Any, ...]]) -> None:
    """Decide everything again, from the answers alone: two of at most three find it, and one of at most two texts."""
    stated = {(slug, question): state for slug, question, state, _ in ask(connection, STATES)}
    found: dict[int, list[bool]] = defaultdict(list)
    for slug, _, question, annotator, _, _, is_right, _, _, author in answers:
        if slug == "retrieve":
            found[question].append(is_right)
            assert annotator != author
    people = [(question, annotator) for _, _, question, annotator, *_ in answers]
    assert len(set(people)) == len(people)
    made_from = {question: source for slug, question, _, source in ask(connection, STATES) if slug == "retrieve"}
    became: dict[int, str] = {}
    for question, seen in found.items():
        assert seen in ([True, True], [False, False]) or (len(seen) == 3 and seen[0] != seen[1])
        became[made_from[question]] = "accepted" if sum(seen) == 2 else "rejected"
        assert stated["retrieve", question] == became[made_from[question]]
    assert len(made_from.values()) == len(set(made_from.values())) == len(found)
    texts: dict[int, list[str]] = defaultdict(list)
    for slug, _, question, *_, response, _ in answers:
        if slug == "describe":
            # Whatever was written was looked for.
            texts[question].append(became[response])
    assert len(texts) == SETS * TARGETS
    for question, fates in texts.items():
        assert fates in (["accepted"], ["rejected", "accepted"], ["rejected", "rejected"])
        assert stated["describe", question] == fates[-1]
