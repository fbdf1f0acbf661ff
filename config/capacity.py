"""How many processes this machine has room for, and the check that memory and connections suffice for those chosen."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning
from django.db import Error, connection
from psycopg.rows import dict_row

from config.environment import read_number

# Of memory, measured: a process, and the largest image that is let in while it is decoded (docker-compose.yml).
PROCESS_BYTES = 150_000_000
IMAGE_BYTES = 430_000_000
# A stock PostgreSQL has 100 connections, 3 of them for superusers. Unless more processes are asked for, the web server
# and Celery take at most these, which leaves as many for a second machine's workers, psql and backups.
WEB_CONNECTIONS = 48
CELERY_CONNECTIONS = 8
# A command such as migrate, and somebody who looks at the database.
OTHER_CONNECTIONS = 2
CGROUP_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class Processes(NamedTuple):
    web_workers: int
    web_threads: int
    celery: int

    @property
    def connections(self) -> int:
        return self.web_workers * self.web_threads + self.celery + OTHER_CONNECTIONS


def read_processes() -> Processes:
    """Return how many processes and threads the settings ask for; unset ones are as many as there is room for."""
    cores, memory = len(os.sched_getaffinity(0)), memory_limit()[0]
    threads = read_number("WEB_THREADS", 4, least=1)
    return Processes(
        web_workers=read_number("WEB_WORKERS", fitting(cores, memory, WEB_CONNECTIONS // threads), least=1),
        web_threads=threads,
        celery=read_number("CELERY_PROCESSES", fitting(cores, memory, CELERY_CONNECTIONS), least=1),
    )


def fitting(cores: int, memory: int, most: int) -> int:
    """Return how many worker processes there are by default: one for each core, if memory and `most` allow it."""
    return max(1, min(cores, (memory - needed_bytes(0)) // PROCESS_BYTES, most))


def needed_bytes(workers: int) -> int:
    """Return the memory of `workers` processes and the one that starts them."""
    return (workers + 1) * PROCESS_BYTES + IMAGE_BYTES


def memory_limit(files: Sequence[Path] = CGROUP_FILES) -> tuple[int, bool]:
    """Return how many bytes of memory there are, and whether that is the limit of a container."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in files:
        try:
            text = file.read_text(encoding="ascii").strip()
        except OSError:
            continue
        # Without a limit: the word, or a number beyond any memory.
        if text != "max" and int(text) < machine:
            return int(text), True
    return machine, False


def check_memory(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn if the memory of this machine or container is too small for the processes."""
    return memory_problems(read_processes(), *memory_limit())


def memory_problems(processes: Processes, limit: int, in_container: bool) -> list[CheckMessage]:
    web, celery = needed_bytes(processes.web_workers), needed_bytes(processes.celery)
    needs = [(f"WEB_WORKERS={processes.web_workers}", web), (f"CELERY_PROCESSES={processes.celery}", celery)]
    if not in_container:
        # Web server and worker share the machine; containers have a limit each.
        needs = [(" and ".join(name for name, _ in needs), web + celery)]
    return [
        Warning(
            f"{names} may need {need // 1_000_000:,} MB of memory, and there are {limit // 1_000_000:,} MB.",
            hint="Lower them, or give the machine or the container more memory (mem_limit in docker-compose.yml).",
            id="config.W001",
        )
        for names, need in needs
        if need > limit
    ]


def check_connections(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn if PostgreSQL, or the pool in front of it, has too few connections for the processes."""
    if connection.vendor != "postgresql":
        return []
    was_open = connection.connection is not None
    try:
        server, is_pool = _server_limits()
    except Error:
        # Whatever needs the database says that it is away.
        return []
    finally:
        if not was_open:
            connection.close()
    pooled = connection.settings_dict["ENGINE"] == "config.pgbouncer"
    return [
        *pool_problems(pooled=pooled, is_pool=is_pool),
        *connection_problems(read_processes(), server, _pool_limits() if pooled else None, pooled=pooled),
    ]


class ServerLimits(NamedTuple):
    max_connections: int
    reserved: int


class PoolLimits(NamedTuple):
    """Settings of PgBouncer. `pool_size`: connections of the server for one database and user."""

    max_clients: int
    pool_size: int


def pool_problems(*, pooled: bool, is_pool: bool) -> list[CheckMessage]:
    if pooled or not is_pool:
        return []
    return [
        Warning(
            "The database is reached through a pool, and DATABASE_POOLED is 0: exports and launches fail if the pool "
            "is PgBouncer in transaction mode.",
            hint="Set DATABASE_POOLED=1 (docs/larger-sites.md), or use pool_mode=session.",
            id="config.W002",
        )
    ]


def connection_problems(
    processes: Processes, server: ServerLimits, pool: PoolLimits | None, *, pooled: bool
) -> list[CheckMessage]:
    wanted = (
        f"The processes of this machine may open {processes.connections} connections to the database "
        f"({processes.web_workers} web workers x {processes.web_threads} threads, {processes.celery} Celery processes, "
        f"{OTHER_CONNECTIONS} for commands)"
    )
    free = server.max_connections - server.reserved
    allows = f"PostgreSQL allows {free} (max_connections={server.max_connections}, {server.reserved} reserved)"
    if not pooled:
        if processes.connections <= free:
            return []
        hint = (
            "Lower WEB_WORKERS, WEB_THREADS or CELERY_PROCESSES, raise max_connections, or put PgBouncer in front "
            "(docs/larger-sites.md). Other machines need connections too."
        )
        return [Warning(f"{wanted}, but {allows}.", hint=hint, id="config.W003")]
    problems: list[CheckMessage] = []
    if pool is not None and processes.connections > pool.max_clients:
        hint = "Raise max_client_conn in pgbouncer.ini. Other machines need connections too."
        problems.append(
            Warning(f"{wanted}, but PgBouncer allows max_client_conn={pool.max_clients}.", hint=hint, id="config.W004")
        )
    if pool is not None and pool.pool_size > free:
        hint = "Lower default_pool_size in pgbouncer.ini, or raise max_connections."
        message = f"PgBouncer may open {pool.pool_size} connections to PostgreSQL, but {allows}."
        problems.append(Warning(message, hint=hint, id="config.W005"))
    return problems


def _server_limits() -> tuple[ServerLimits, bool]:
    """Return the server's limits, and whether a pool is in between."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int,"
            " coalesce(current_setting('reserved_connections', true)::int, 0), pg_backend_pid()"
        )
        most, superusers, reserved, pid = cursor.fetchone()
    # A pool tells its clients a number of its own.
    return ServerLimits(most, superusers + reserved), connection.connection.info.backend_pid != pid


def _pool_limits() -> PoolLimits | None:
    """Return PgBouncer's limits, None if its console refuses this user (stats_users in pgbouncer.ini)."""
    params = connection.get_connection_params() | {"dbname": "pgbouncer", "cursor_factory": psycopg.ClientCursor}
    try:
        with psycopg.connect(**params, autocommit=True, row_factory=dict_row) as console:
            rows = console.execute("SHOW CONFIG").fetchall()
            config = {row["key"]: row["value"] for row in rows}
            database = next(
                row
                for row in console.execute("SHOW DATABASES").fetchall()
                if row["name"] == connection.settings_dict["NAME"]
            )
    except (psycopg.Error, StopIteration):
        return None
    size = int(database["pool_size"])
    return PoolLimits(int(config["max_client_conn"]), min(size, int(database["max_connections"]) or size))
