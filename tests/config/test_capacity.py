"""How many processes start by default, and what `manage.py check` says of those that do not fit."""

import subprocess
import sys
from pathlib import Path

import pytest

from config import capacity
from config.capacity import PoolLimits, Processes, ServerLimits
from config.settings import BASE_DIR
from tests.servers import pgbouncer, postgresql_cluster
from tests.workers import site_environment

GIB = 2**30
STOCK = ServerLimits(max_connections=100, reserved=3)


@pytest.mark.parametrize(
    ("cores", "memory", "most", "workers"),
    [
        (2, 64 * GIB, 12, 2),
        (64, 64 * GIB, 12, 12),
        # 4,294.9 MB less 430 for an image and 150 for the first process: 3,714.9 / 150 = 24.8.
        (64, 4 * GIB, 100, 24),
        # 1,073.7 - 580 = 493.7; / 150 = 3.3.
        (64, GIB, 12, 3),
        (64, GIB // 2, 12, 1),
        # 48 connections for 64 threads each.
        (8, 64 * GIB, 0, 1),
    ],
)
def test_there_is_a_process_for_each_core_if_memory_and_connections_allow_it(
    cores: int, memory: int, most: int, workers: int
) -> None:
    assert capacity.fitting(cores, memory, most) == workers


@pytest.mark.parametrize("cores", [1, 2, 24, 64, 256])
def test_the_defaults_fit_a_stock_postgresql_and_the_containers_of_the_compose_file(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    for name in ("WEB_WORKERS", "WEB_THREADS", "CELERY_PROCESSES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(cores))
    monkeypatch.setattr(capacity, "memory_limit", lambda: (4 * GIB, True))
    processes = capacity.read_processes()
    assert processes == Processes(web_workers=min(cores, 12), web_threads=4, celery=min(cores, 8))
    assert capacity.connection_problems(processes, STOCK, None, pooled=False) == []
    assert capacity.memory_problems(processes, 4 * GIB, True) == []


def test_a_container_has_the_memory_that_its_limit_says(tmp_path: Path) -> None:
    missing, limit = tmp_path / "missing", tmp_path / "memory.max"
    whole = capacity.memory_limit([missing])
    assert (whole[0] > 0, whole[1]) == (True, False)
    for unlimited in ("max\n", f"{2**63 - 4096}\n"):
        limit.write_text(unlimited)
        assert capacity.memory_limit([missing, limit]) == whole
    limit.write_text("104857600\n")
    assert capacity.memory_limit([missing, limit]) == (104_857_600, True)


def test_too_little_memory_is_told_with_its_numbers() -> None:
    # 24 + 1 processes of 150 MB and an image of 430: 4,180 of 4,294. With one more: 4,330.
    assert capacity.memory_problems(Processes(24, 4, 8), 4 * GIB, True) == []
    (found,) = capacity.memory_problems(Processes(25, 4, 8), 4 * GIB, True)
    assert found.msg == "WEB_WORKERS=25 may need 4,330 MB of memory, and there are 4,294 MB."
    # Without containers Celery has (8 + 1) x 150 + 430 = 1,780 MB of the same: with 17 workers 3,130 + 1,780 = 4,910.
    (found,) = capacity.memory_problems(Processes(17, 4, 8), 4 * GIB, False)
    assert found.msg == ("WEB_WORKERS=17 and CELERY_PROCESSES=8 may need 4,910 MB of memory, and there are 4,294 MB.")


def test_too_few_connections_are_told_with_their_numbers() -> None:
    # 22 x 4 + 7 + 2 = 97.
    assert capacity.connection_problems(Processes(22, 4, 7), STOCK, None, pooled=False) == []
    (found,) = capacity.connection_problems(Processes(22, 4, 8), STOCK, None, pooled=False)
    assert found.msg == (
        "The processes of this machine may open 98 connections to the database (22 web workers x 4 threads, 8 Celery "
        "processes, 2 for commands), but PostgreSQL allows 97 (max_connections=100, 3 reserved)."
    )


def test_a_pool_needs_room_for_its_clients_and_the_server_room_for_the_pool() -> None:
    processes = Processes(24, 4, 24)
    # 24 x 4 + 24 + 2 = 122 clients; the server sees the pool's connections only.
    assert capacity.connection_problems(processes, STOCK, PoolLimits(122, 97), pooled=True) == []
    assert capacity.connection_problems(processes, STOCK, None, pooled=True) == []
    clients, size = capacity.connection_problems(processes, STOCK, PoolLimits(121, 98), pooled=True)
    assert clients.msg.endswith("but PgBouncer allows max_client_conn=121.")
    assert size.msg == (
        "PgBouncer may open 98 connections to PostgreSQL, but PostgreSQL allows 97 (max_connections=100, 3 reserved)."
    )


def said(folder: Path, url: str, **more: str) -> str:
    environment = site_environment(folder, DATABASE_URL=url, WEB_WORKERS="4", WEB_THREADS="4", CELERY_PROCESSES="2")
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env=environment | more,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.mark.django_db
@pytest.mark.once(on="postgresql", because="it is about PostgreSQL's connections, on a server of its own")
def test_the_limits_are_those_of_the_server_and_of_the_pool(tmp_path: Path) -> None:
    # 4 x 4 + 2 + 2 = 20; the server keeps 3 of its 22 for superusers.
    with (
        postgresql_cluster(durable=True, settings=("max_connections=22",)) as cluster,
        pgbouncer(cluster, connections=20, settings=("max_client_conn = 19",)) as pool,
    ):
        direct, pooled = cluster.url("lineup"), pool.url("lineup")
        told = said(tmp_path, direct)
        assert "may open 20 connections to the database" in told
        assert "but PostgreSQL allows 19 (max_connections=22, 3 reserved)" in told
        assert said(tmp_path, direct, WEB_WORKERS="3") == ""
        assert "The database is reached through a pool, and DATABASE_POOLED is 0" in said(tmp_path, pooled)
        told = said(tmp_path, pooled, DATABASE_POOLED="1")
        assert "but PgBouncer allows max_client_conn=19" in told
        assert "PgBouncer may open 20 connections to PostgreSQL, but PostgreSQL allows 19" in told
        assert said(tmp_path, pooled, DATABASE_POOLED="1", WEB_WORKERS="3").count("config.W") == 1
    # Nobody waits for a database that is away.
    assert said(tmp_path, direct) == ""
