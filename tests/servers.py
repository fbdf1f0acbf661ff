"""Real PostgreSQL, PgBouncer and Redis servers on spare loopback ports, for the tests and the benchmarks.

with postgresql_cluster(durable=True) as cluster:
    address = cluster.url("lineup")    # creates the database
    cluster.kill()                     # as kill -9 does
    cluster.start()                    # recovers, on the same port
    with pgbouncer(cluster) as pool:
        address = pool.url("lineup")   # by way of PgBouncer
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlencode

import psycopg
import redis
from psycopg import ClientCursor, sql
from psycopg.rows import dict_row

START_SECONDS = 60
# The server refuses to run as root, so root hands it to the account that Debian's package makes.
SERVER_ACCOUNT = "postgres"
# Without automatic vacuum, which takes the tables of a test that never commits for empty (docs/decisions/0009).
# A statement that waits for a lock, or whose plan is bad, ends with an error that names it, before its test is ended.
FAST_AND_FORGETFUL = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"),
    "statement_timeout=240s",
)


class ServerMissing(Exception):
    """A server program is not installed, or does not start."""


def spare_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listened_at(port: int) -> bool:
    """Whether a program accepts connections at this loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def postgresql_program(name: str) -> str:
    """Return the newest installed server program `name`; Debian keeps these out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    program = str(found[-1]) if found else shutil.which(name)
    if program is None:
        raise ServerMissing(f"PostgreSQL's {name} is not installed. Install the package postgresql.")
    return program


def _account() -> dict[str, Any]:
    """Return how to start a process under the server's account: nothing special unless we are root."""
    if os.geteuid() != 0:
        return {}
    return {"user": SERVER_ACCOUNT, "group": SERVER_ACCOUNT, "extra_groups": ()}


def _hand_over(directory: Path) -> None:
    """Give a folder to the account of the server."""
    if os.geteuid() == 0:
        shutil.chown(directory, SERVER_ACCOUNT, SERVER_ACCOUNT)


@dataclass
class Cluster:
    """One PostgreSQL server with its own data folder."""

    directory: Path
    settings: tuple[str, ...]
    # Over the network, as most sites reach theirs, or by a socket in the folder, which is quicker by ten microseconds
    # for each of a million statements.
    over_network: bool = True
    port: int = field(default_factory=spare_port)
    process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        _hand_over(self.directory)
        subprocess.run(
            [
                *(postgresql_program("initdb"), "--pgdata", str(self.directory / "data"), "--username", "lineup"),
                *("--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.directory,
            **_account(),
        )

    def copy(self, primary: "Cluster") -> None:
        """Make this cluster a replica of `primary`, which runs."""
        _hand_over(self.directory)
        subprocess.run(
            [
                *(
                    postgresql_program("pg_basebackup"),
                    "--pgdata",
                    str(self.directory / "data"),
                    "--write-recovery-conf",
                ),
                *("--checkpoint", "fast", "--no-sync", "--dbname", primary.url("postgres", create=False)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.directory,
            **_account(),
        )

    def run(self, statement: LiteralString) -> None:
        with psycopg.connect(self.url("postgres", create=False), autocommit=True) as connection:
            connection.execute(statement)

    def start(self) -> None:
        """Start the server and wait until it answers, recovery after a crash included."""
        options = [
            f"port={self.port}",
            f"listen_addresses={'127.0.0.1' if self.over_network else ''}",
            f"unix_socket_directories={'' if self.over_network else self.directory}",
            "max_connections=200",
            *self.settings,
        ]
        command = [postgresql_program("postgres"), "-D", str(self.directory / "data")]
        for option in options:
            command += ["-c", option]
        deadline = time.monotonic() + START_SECONDS
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.directory, start_new_session=True, **_account()
            )
        while not self._answers():
            if self.process.poll() is not None and time.monotonic() < deadline:
                # After kill() the old server's children hold its memory for a moment.
                time.sleep(0.2)
                return self.start()
            if time.monotonic() > deadline:
                raise ServerMissing(f"PostgreSQL did not start: {self.log()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres", create=False), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def log(self) -> str:
        return (self.directory / "log").read_text(encoding="utf-8", errors="replace")

    def url(self, database: str, *, create: bool = True, like: str = "template1") -> str:
        """Return DATABASE_URL of `database`, which is made, as a copy of `like`, when it does not exist."""
        if create:
            with psycopg.connect(self.url("postgres", create=False), autocommit=True) as connection:
                known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
                if known is None:
                    names = sql.Identifier(database), sql.Identifier(like)
                    connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        if self.over_network:
            return f"postgresql://lineup@127.0.0.1:{self.port}/{database}"
        return f"postgresql://lineup@/{database}?{urlencode({'host': self.directory, 'port': self.port})}"

    def stop(self) -> None:
        """Stop in good order, ending open connections."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End the server as kill -9 does; what it had not written to disk is gone."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(timeout=START_SECONDS)
        self.process = None


@contextmanager
def postgresql_cluster(*, durable: bool = False, settings: tuple[str, ...] = ()) -> Iterator[Cluster]:
    """Run a PostgreSQL server for the length of the block.

    `durable` keeps fsync and vacuum on, as production has it, and is reached over the network; without it a crash may
    lose everything.
    `settings` are further lines of postgresql.conf, such as "shared_buffers=256MB".
    """
    directory = Path(tempfile.mkdtemp(prefix="lineup-postgresql-"))
    extra = () if durable else FAST_AND_FORGETFUL
    cluster = Cluster(directory=directory, settings=(*extra, *settings), over_network=durable)
    try:
        cluster.create()
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def replica_of(primary: Cluster) -> Iterator[Cluster]:
    """Run a replica that follows `primary`, with all of its databases, for the length of the block.

    with replica_of(cluster) as replica:
        replica.run("SELECT pg_wal_replay_pause()")    # stays behind until pg_wal_replay_resume()
    """
    directory = Path(tempfile.mkdtemp(prefix="lineup-replica-"))
    replica = Cluster(directory=directory, settings=primary.settings)
    try:
        replica.copy(primary)
        replica.start()
        yield replica
    finally:
        replica.stop()
        shutil.rmtree(directory, ignore_errors=True)


def copy_of(source: str, target: str) -> None:
    """Fill the empty database at the address `target` with what is at `source`, on whichever servers they are."""
    dump = [postgresql_program("pg_dump"), "--no-owner", "--dbname", source]
    load = [postgresql_program("psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", target]
    with subprocess.Popen(dump, stdout=subprocess.PIPE) as dumping:
        subprocess.run([*load, "--single-transaction"], stdin=dumping.stdout, stdout=subprocess.DEVNULL, check=True)
    if dumping.returncode != 0:
        raise ServerMissing(f"{source} could not be read.")


@dataclass
class Pool:
    """PgBouncer in transaction mode in front of one cluster."""

    directory: Path
    cluster: Cluster
    settings: tuple[str, ...]
    port: int = field(default_factory=spare_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start PgBouncer and wait until it answers."""
        # Debian keeps it out of the PATH of people.
        program = shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
        if program is None:
            raise ServerMissing("PgBouncer is not installed. Install the package pgbouncer.")
        host = "127.0.0.1" if self.cluster.over_network else self.cluster.directory
        lines = [
            *("[databases]", f"* = host={host} port={self.cluster.port} user=lineup"),
            *("[pgbouncer]", "listen_addr = 127.0.0.1", f"listen_port = {self.port}", "unix_socket_dir ="),
            *("auth_type = any", "pool_mode = transaction", *self.settings),
        ]
        file = self.directory / "pgbouncer.ini"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        _hand_over(self.directory)
        deadline = time.monotonic() + START_SECONDS
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [program, str(file)], stdout=log, stderr=log, cwd=self.directory, start_new_session=True, **_account()
            )
        while True:
            try:
                self.console("SHOW VERSION")
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise ServerMissing(f"PgBouncer did not start: {self.log()[-2000:]}") from error
                time.sleep(0.05)

    def url(self, database: str) -> str:
        """Return DATABASE_URL of `database`, which must exist, by way of PgBouncer."""
        return f"postgresql://lineup@127.0.0.1:{self.port}/{database}"

    def console(self, command: str) -> list[dict[str, Any]]:
        """Return what PgBouncer's console answers, such as to SHOW POOLS."""
        # The console knows simple queries only.
        with psycopg.connect(
            self.url("pgbouncer"), autocommit=True, connect_timeout=2, row_factory=dict_row, cursor_factory=ClientCursor
        ) as connection:
            return connection.execute(command.encode()).fetchall()

    def log(self) -> str:
        return (self.directory / "log").read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """Stop as a restart does: connections end at once, with what runs on them."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=START_SECONDS)
        self.process = None


@contextmanager
def pgbouncer(cluster: Cluster, *, connections: int = 20, settings: tuple[str, ...] = ()) -> Iterator[Pool]:
    """Run PgBouncer in transaction mode in front of `cluster` for the length of the block.

    `connections` is how many of the cluster it uses for each database.
    `settings` are further lines of pgbouncer.ini, such as "query_wait_timeout = 5".
    """
    directory = Path(tempfile.mkdtemp(prefix="lineup-pgbouncer-"))
    pool = Pool(directory, cluster, (f"default_pool_size = {connections}", "max_client_conn = 500", *settings))
    try:
        pool.start()
        yield pool
    finally:
        pool.stop()
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def redis_process() -> Iterator[str]:
    """Run a Redis server for the length of the block; yields its address, as CELERY_BROKER_URL wants it."""
    program = shutil.which("redis-server")
    if program is None:
        raise ServerMissing("Redis is not installed. Install the package redis-server.")
    port = spare_port()
    with tempfile.TemporaryDirectory(prefix="lineup-redis-") as directory:
        process = subprocess.Popen(
            [program, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", directory],
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_for_redis(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)


def _wait_for_redis(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    with redis.Redis(host="127.0.0.1", port=port) as client:
        while True:
            try:
                client.ping()
                return
            except redis.ConnectionError as error:
                if time.monotonic() > deadline:
                    raise ServerMissing("Redis did not start.") from error
                time.sleep(0.05)
