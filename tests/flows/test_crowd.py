"""32 annotators at once on a real PostgreSQL behind gunicorn: exactly the answers asked for, whatever is killed."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases import MIGRATED
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.crowd import Crowd
from tests.flows.site import Site, running_site, site_over
from tests.servers import Cluster

pytestmark = AT_HOME_ON_POSTGRESQL
ANNOTATORS = 32
# Forty-two seats: more than there are annotators, so that they race for them until the end.
SIZE, ANSWERS = 3, 42 * 3


@pytest.fixture(scope="module")
def study_of(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], str]:
    """Return what gives the name of a database with a study that asks for so many answers, each made once."""

    @cache
    def make(answers: int) -> str:
        name = f"crowd_{answers}"
        site = site_over(database_url=cluster.url(name, like=MIGRATED), data_dir=tmp_path_factory.mktemp(name))
        size = {"instances": ANSWERS // answers, "answers": answers, "surveys": {"size": SIZE}}
        again = {"recruitment": {"sessions_per_annotator": 0}}
        site.run("-m", "tests.flows.launch_studies", json.dumps({"study": "crowd"} | size | again))
        return name

    return make


@pytest.fixture
def answers() -> int:
    return 1


@pytest.fixture
def site(
    cluster: Cluster, study_of: Callable[[int], str], answers: int, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Site]:
    url = cluster.url(f"crowd_{abs(hash(request.node.name))}", like=study_of(answers))
    with running_site(database_url=url, data_dir=tmp_path) as running:
        yield running


def ask(site: Site, query: str, *parameters: int) -> Any:
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        return connection.execute(query.encode(), parameters).fetchall()


def send_a_crowd(site: Site, *, answers: int, meanwhile: Callable[[Crowd], None] | None = None) -> Crowd:
    """Let 32 annotators answer everything, `meanwhile` something happens; then check what must hold."""
    crowd = Crowd(url=site.url, slug="crowd")
    if meanwhile is not None:
        threading.Thread(target=meanwhile, args=(crowd,), daemon=True).start()
    crowd.run(ANNOTATORS)
    assert crowd.failures == []
    stored = {str(row[0]) for row in ask(site, "SELECT submission_id FROM annotation_response")}
    assert set(crowd.acknowledged) <= stored
    assert len(stored) == ANSWERS
    per_question = ask(
        site, "SELECT count(*), count(DISTINCT annotator_id) FROM annotation_response GROUP BY question_id"
    )
    assert per_question == [(answers, answers)] * (ANSWERS // answers)
    assert ask(site, "SELECT count(*) FROM annotation_slot WHERE answered_at IS NULL") == [(0,)]
    assert ask(site, "SELECT count(*) FROM annotation_response WHERE slot_id IS NULL") == [(0,)]
    assert ask(site, "SELECT count(*) FROM annotation_decision WHERE answers <> %s", answers) == [(0,)]
    return crowd


def wait_for(crowd: Crowd, answers: int) -> None:
    while len(crowd.acknowledged) < answers:
        time.sleep(0.01)


# One answer to each is asked for below, where something is killed besides.
@pytest.mark.parametrize("answers", [3])
def test_a_crowd_gives_exactly_the_answers_asked_for(site: Site, answers: int) -> None:
    crowd = send_a_crowd(site, answers=answers)
    assert len(crowd.acknowledged) == ANSWERS
    assert crowd.errors == []


def test_nothing_acknowledged_is_lost_when_a_web_worker_is_killed(site: Site) -> None:
    killed, answered = list[int](), list[int]()

    def kill_workers(crowd: Crowd) -> None:
        for answers in (35, 75):
            wait_for(crowd, answers)
            killed.append(site.worker_pids()[0])
            site.kill_a_worker()
            answered.append(len(crowd.acknowledged))

    send_a_crowd(site, answers=1, meanwhile=kill_workers)
    # In the middle, with answers still to come from nearly everybody.
    assert len(killed) == len(answered) == 2
    assert max(answered) < ANSWERS - ANNOTATORS // 2
    assert not set(killed) & set(site.worker_pids())


def test_nothing_acknowledged_is_lost_when_the_database_is_killed_and_restarted(site: Site, cluster: Cluster) -> None:
    restarts: list[int] = []

    def restart_database(crowd: Crowd) -> None:
        wait_for(crowd, 50)
        cluster.kill()
        restarts.append(len(crowd.acknowledged))
        time.sleep(1)
        cluster.start()

    crowd = send_a_crowd(site, answers=1, meanwhile=restart_database)
    # In the middle, while somebody was waiting for a reply.
    (answered,) = restarts
    assert answered < ANSWERS - ANNOTATORS // 2
    assert crowd.errors != []
