"""What researchers and workers do, by way of PgBouncer in transaction mode.

Each transaction gets a new connection of the server (`server_lifetime = 0`), and there are two of them: whatever is
left for the next transaction is gone, and nobody can keep a connection.
"""

import errno
import tracemalloc
from collections.abc import Iterator
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

from annotation.actions.launching.study_jobs import request_launch
from annotation.models import Decision
from background.models import JobState
from results.actions.exports import job_of, request_export
from results.actions.session_flags import flag_sessions
from results.exporting import FORMATS
from studies.models import Membership, Project, StudyState
from tests.databases import MIGRATED, connected_at
from tests.factories import NOON, create_draft
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.test_one_truth import fill
from tests.jobs import run_now
from tests.removing import exclude, include, withdraw
from tests.servers import Cluster, Pool, pgbouncer

pytestmark = AT_HOME_ON_POSTGRESQL


@pytest.fixture
def pool(cluster: Cluster, django_db_blocker: DjangoDbBlocker) -> Iterator[Pool]:
    settings = ("server_lifetime = 0", "query_wait_timeout = 20")
    with django_db_blocker.unblock(), pgbouncer(cluster, connections=2, settings=settings) as running:
        yield running


def write_all(project: Project, folder: Path) -> dict[str, bytes]:
    """Return the files of every export of `project`, and of a release."""
    for format in FORMATS:
        call_command("export", project.slug, format=format, study="step-3", out=folder / format)
    call_command("release", project.slug, study="step-4", name="v1", licence="CC-BY-4.0", out=folder / "release")
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_that_follows_from_answers_is_the_same_as_without_the_pool(
    cluster: Cluster, pool: Pool, tmp_path: Path
) -> None:
    direct = cluster.url("pooled", like=MIGRATED)
    with connected_at(pool.url("pooled"), pooled=True):
        project = Project.objects.get(slug=fill())
        by_pool = write_all(project, tmp_path / "pooled")
    with connected_at(direct, pooled=False):
        assert write_all(project, tmp_path / "direct") == by_pool
    assert len(by_pool) > len(FORMATS)

    with connected_at(pool.url("pooled"), pooled=True):
        researcher = Membership.objects.get(project=project).user
        draft = create_draft(project)
        launched, _ = request_launch(study=draft, by=researcher, now=NOON)
        assert run_now(launched, now=NOON).state == JobState.DONE
        draft.refresh_from_db()
        assert draft.state == StudyState.OPEN
        export = request_export(study=draft, format="jsonl", by=researcher, now=NOON)
        assert run_now(job_of(export=export), now=NOON).state == JobState.DONE
        step_3 = project.studies.get(slug="step-3")
        flag_sessions(study=step_3, by=researcher, now=NOON)
        exclude(project, "ann")
        include(project, "ann")
        withdraw(project, "cleo")
        # As the head of test_one_truth says.
        assert Decision.objects.filter(question__study=step_3, state="accepted").count() == 5


def peak_of(read: Iterator[list[tuple[int, str]]]) -> tuple[int, int]:
    """Return how many rows `read` gives, and the most bytes that Python holds meanwhile."""
    tracemalloc.start()
    try:
        return sum(len(rows) for rows in read), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_large_result_is_read_in_pieces_while_other_statements_run(
    cluster: Cluster, pool: Pool, in_transaction: bool
) -> None:
    cluster.url("large")

    def read() -> Iterator[list[tuple[int, str]]]:
        cursor = connection.chunked_cursor()
        # 50 MB.
        cursor.execute("SELECT n, repeat('x', %s) FROM generate_series(1, %s) AS n", [1_000, 50_000])
        expected = 1
        while rows := cursor.fetchmany(300):
            assert [row[0] for row in rows] == list(range(expected, expected + len(rows)))
            expected += len(rows)
            with connection.cursor() as other:
                other.execute("SELECT 1")
            yield rows
        cursor.close()

    with connected_at(pool.url("large"), pooled=True):
        if in_transaction:
            with transaction.atomic():
                rows, peak = peak_of(read())
        else:
            rows, peak = peak_of(read())
    assert rows == 50_000
    assert peak < 10_000_000


def test_a_reader_that_stops_early_keeps_no_connection(cluster: Cluster, pool: Pool) -> None:
    cluster.url("large")
    with connected_at(pool.url("large"), pooled=True):
        readers = [connection.chunked_cursor() for _ in range(5)]
        for reader in readers:
            reader.execute("SELECT n FROM generate_series(1, 5) AS n")
            assert reader.fetchmany(2) == [(1,), (2,)]
        # Two connections would not be enough for five.
        assert [reader.fetchmany(9) for reader in readers] == [[(3,), (4,), (5,)]] * 5
        for reader in readers:
            reader.close()


class FullDisk(BytesIO):
    """A file on a disk without space; like Python's own, it tries again to write when it is closed."""

    closings = 0

    def write(self, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self.closings += 1
        if self.closings == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().close()


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_full_disk_leaves_the_connection_usable(
    cluster: Cluster, pool: Pool, in_transaction: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.url("large")
    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda max_size: FullDisk())
    with connected_at(pool.url("large"), pooled=True):
        cursor = connection.chunked_cursor()
        with (
            pytest.raises(OSError, match="No space left") as full,
            transaction.atomic() if in_transaction else nullcontext(),
        ):
            cursor.execute("SELECT n FROM generate_series(1, 50000) AS n")
        assert isinstance(connection.connection, psycopg.Connection)
        # A statement would otherwise wait for ever.
        assert not connection.connection.lock.locked()
        with connection.cursor() as other:
            other.execute("SELECT 1")
            assert other.fetchone() == (1,)
        with pytest.raises(OSError, match="No space left"):
            cursor.close()
        assert cursor.cursor._cursor.closed
        # Until here it keeps its frames, and what is suspended in them.
        assert full.value.errno == errno.ENOSPC
