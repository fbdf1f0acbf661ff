"""Two machines of one site behind a proxy (docs/larger-sites.md): whatever is lost or taken away, no browser shows an
error, and exactly the acknowledged answers are stored."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from celery import Celery
from PIL import Image

from background.broker import transport_options
from config.celery import PERIODIC
from lineup_client import Lineup, instances
from tests.databases import MIGRATED
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.crowd import Crowd
from tests.flows.site import browser_at
from tests.flows.two_sites import TwoSites, check_answers, two_sites
from tests.servers import Cluster, Pool, pgbouncer, redis_process
from tests.waiting import wait_until

pytestmark = AT_HOME_ON_POSTGRESQL
ANNOTATORS = 24
# More places than annotators, so that they race for them until the end.
SIZE, PLACES = 4, 40
ANSWERS = SIZE * PLACES
SECONDS_PER_QUESTION = 0.5
STUDIES = ("killed", "taken-away", "pool-restarted", "redis-emptied", "two-clocks")
WAIT_SECONDS = 60
ROWS = 100
LEAVERS = 3
TOKEN_OF_A_RESEARCHER = """
from django.contrib.auth.models import User
from django.utils import timezone
from workspace.actions.tokens import make_token
from workspace.models import Scope
ada = User.objects.create_user("ada", is_superuser=True)
print(make_token(owner=ada, name="tests", scope=Scope.WRITE, days=7, project=None, now=timezone.now()).text)
"""
# A red square of eight pixels a side.
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000008000000080802000000"
    + "4b6d29dc0000001249444154789c63f8cfc08015611765188e12"
    "003ebf3fc144a4d7690000000049454e44ae426082"
)


@dataclass
class Stage:
    sites: TwoSites
    pool: Pool
    redis_url: str
    database_url: str

    def ask(self, query: str, *parameters: object) -> Any:
        # Not by way of the pool, which a test restarts.
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(query.encode(), parameters).fetchall()


@pytest.fixture(scope="module")
def stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    direct = cluster.url("two_sites", like=MIGRATED)
    folder = tmp_path_factory.mktemp("two_sites")
    with ExitStack() as stack:
        redis_url, pool = stack.enter_context(redis_process()), stack.enter_context(pgbouncer(cluster))
        sites = stack.enter_context(
            two_sites(database_url=pool.url("two_sites"), redis_url=redis_url, folder=folder, DATABASE_POOLED="1")
        )
        common = {"answers": 1, "instances": ANSWERS, "surveys": {"size": SIZE}}
        common |= {"recruitment": {"sessions_per_annotator": 0}}
        studies = [json.dumps({"study": study} | common) for study in STUDIES]
        sites.machines[0].site.run("-m", "tests.flows.launch_studies", *studies)
        yield Stage(sites, pool, redis_url, direct)


def send_a_crowd(stage: Stage, slug: str, meanwhile: Callable[[Crowd], None], *, database_goes: bool = False) -> Crowd:
    """Let annotators answer everything while something happens; then check what must hold.

    While the database goes, pages say so (503), and nothing else.
    """
    crowd = Crowd(url=stage.sites.address, slug=slug, seconds_per_question=SECONDS_PER_QUESTION)
    with ThreadPoolExecutor(1) as others:
        happened = others.submit(meanwhile, crowd)
        crowd.run(ANNOTATORS)
        happened.result()
    assert [error for error in crowd.shown if not (database_goes and error.endswith(": 503"))] == []
    check_answers(stage.database_url, crowd, places=PLACES, size=SIZE)
    return crowd


def wait_for(crowd: Crowd, answers: int) -> None:
    wait_until(lambda: len(crowd.acknowledged) >= answers, seconds=WAIT_SECONDS, why=lambda: crowd.failures, every=0.01)


def test_kills_of_processes_and_of_a_whole_machine_lose_nothing(stage: Stage) -> None:
    first, second = stage.sites.machines
    during = list[int]()

    def kill(crowd: Crowd) -> None:
        wait_for(crowd, 20)
        first.site.kill_a_worker()
        second.kill_worker()
        second.start_worker()
        wait_for(crowd, 60)
        second.kill()
        during.append(len(crowd.acknowledged))
        second.start()

    send_a_crowd(stage, "killed", kill)
    assert max(during) < ANSWERS - ANNOTATORS


def test_a_machine_is_taken_away_and_brought_back_and_nobody_notices(stage: Stage) -> None:
    machine, _ = stage.sites.machines
    answered = list[int]()

    def take_away(crowd: Crowd) -> None:
        wait_for(crowd, 10)
        machine.stop_web()
        answered.append(len(crowd.acknowledged))
        machine.start_web()

    crowd = send_a_crowd(stage, "taken-away", take_away)
    assert answered[0] < ANSWERS - ANNOTATORS
    # Not even the page's script had to send anything again.
    assert crowd.errors == []


def test_a_restart_of_pgbouncer_loses_nothing(stage: Stage) -> None:
    def restart(crowd: Crowd) -> None:
        for answers in (30, 80):
            wait_for(crowd, answers)
            stage.pool.stop()
            time.sleep(0.5)
            stage.pool.start()

    crowd = send_a_crowd(stage, "pool-restarted", restart, database_goes=True)
    assert len(crowd.acknowledged) == ANSWERS


def test_an_emptied_redis_loses_nothing(stage: Stage) -> None:
    def empty(crowd: Crowd) -> None:
        for answers in (30, 60, 90):
            wait_for(crowd, answers)
            with redis.Redis.from_url(stage.redis_url) as client:
                client.flushall()

    crowd = send_a_crowd(stage, "redis-emptied", empty)
    assert len(crowd.acknowledged) == ANSWERS


def test_two_clocks_do_nothing_twice(stage: Stage) -> None:
    """Two beats run, and each periodic task is sent twice at once, as both would send it."""
    stage.sites.beats += [machine.start_beat() for machine in stage.sites.machines]
    # Not the current app: what a later test sends in this process would go to this broker.
    broker = Celery(broker=stage.redis_url, set_as_current=False)
    broker.conf.broker_transport_options = transport_options(stage.redis_url, Path())
    broker.conf.task_default_queue = "default"
    logs = {
        machine.folder / "celery.log": (machine.folder / "celery.log").stat().st_size
        for machine in stage.sites.machines
    }
    with browser_at(stage.sites.address) as browser:
        for number in range(LEAVERS):
            ids = {"PROLIFIC_PID": f"leaver-{number}", "STUDY_ID": "study", "SESSION_ID": f"left-{number}"}
            assert "/s/" in browser.post("/take/two-clocks/", params=ids).url.path
    over = "UPDATE annotation_session SET lease_until = now() - interval '1 minute' WHERE ended_at IS NULL RETURNING 1"
    assert len(stage.ask(over)) == LEAVERS

    def send_twice(crowd: Crowd) -> None:
        wait_for(crowd, 20)
        for task, _, _ in PERIODIC.values():
            for _ in range(2):
                broker.send_task(task)

    send_a_crowd(stage, "two-clocks", send_twice)
    with redis.Redis.from_url(stage.redis_url) as client:
        wait_until(lambda: client.llen("default") == 0, seconds=WAIT_SECONDS, why=lambda: client.llen("default"))
    assert stage.ask("SELECT count(*) FROM studies_event WHERE what = 'session lapsed'") == [(LEAVERS,)]
    for log, size in logs.items():
        assert b"Traceback" not in log.read_bytes()[size:]


def test_a_researcher_works_on_both_machines(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a file reach different machines, a worker on either imports it, and both hand out the export."""
    site = stage.sites.machines[0].site
    token = site.run("manage.py", "shell", "--no-imports", "-c", TOKEN_OF_A_RESEARCHER).strip()
    monkeypatch.setattr(instances, "PIECE", 1000)
    rows = tmp_path / "rows.jsonl"
    images = {"images": ["bird.png"], "captions": {"caption": "A bird."}}
    rows.write_text("\n".join(json.dumps({"key": f"bird-{number}", "type": "bird"} | images) for number in range(ROWS)))
    Image.new("RGB", (64, 64), "red").save(tmp_path / "bird.png")
    with Lineup(stage.sites.address, token) as lineup:
        project = lineup.create_project("birds", "Birds")
        imported = project.instances.import_later(rows, "jsonl", [tmp_path / "bird.png"])
        imported.wait(seconds=WAIT_SECONDS, look_every_seconds=0.1)
        assert len(list(project.instances())) == ROWS
        asked = lineup.project("vases").study("killed").export("responses")
        asked.wait(seconds=WAIT_SECONDS, look_every_seconds=0.1)
    files = []
    for number, machine in enumerate(stage.sites.machines):
        with Lineup(machine.site.url, token) as lineup:
            lineup.download(f"{asked.path}file/", tmp_path / f"{number}.csv")
        files.append((tmp_path / f"{number}.csv").read_bytes())
    assert files[0] == files[1] != b""
