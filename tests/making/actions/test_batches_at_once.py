"""An answer that comes while due batches are sent again: neither may wait for the other, which PostgreSQL would end."""

from threading import Event
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction

from background.models import JobState
from making.actions.batches import _lock, store
from making.actions.pipelines import request_pipeline
from making.filters.duplicates import Duplicates
from making.makers import MAKERS
from making.models import Batch
from making.pipeline_file import Stage
from tests.factories import NOON, make_project
from tests.jobs import run_now
from tests.making.actions.test_batches import CAPTIONS, FILE, answer, filled
from tests.together import at_once
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.once(on="postgresql", because="SQLite has one lock for all rows"),
]
LONGEST_WAIT = 10.0


@pytest.mark.parametrize("reads_known", [False, True], ids=["of images", "of texts that must be new"])
def test_an_answer_holds_no_batch_while_its_pipeline_is_locked(
    reads_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock for all rows.")
    monkeypatch.setitem(MAKERS, "paint", "tests.making.painter.Paint")
    if reads_known:
        monkeypatch.setattr(Stage, "first_filters", property(lambda stage: [("duplicates", Duplicates())]))
    messages: list[dict[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, *, kwargs, **told: messages.append(kwargs))
    pipeline, job = request_pipeline(project=filled(make_project("birds"), CAPTIONS), source=FILE, by="anna", now=NOON)
    assert job is not None
    assert run_now(job, now=NOON).state == JobState.DONE
    (message,) = messages
    locked, answered = Event(), Event()

    def send_again() -> int:
        with transaction.atomic():
            _lock(pipeline.pk)
            locked.set()
            wait_until(lambda: answered.is_set() or _is_waited_for(), seconds=LONGEST_WAIT, why=lambda: "nobody waits")
            # What `send_due` writes; without waiting, so that the test fails instead of PostgreSQL ending a deadlock.
            return len(Batch.objects.select_for_update(nowait=True).filter(pk=message["batch"]))

    def arrive() -> None:
        assert locked.wait(LONGEST_WAIT)
        store(batch_id=message["batch"], answer=answer(message), now=NOON)
        answered.set()

    assert at_once(send_again, arrive) == [1, None]
    assert Batch.objects.get().stored_at == NOON


def _is_waited_for() -> bool:
    """Whether somebody waits for this connection: tests of other databases on the same server wait for their own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return bool(cursor.fetchone()[0])
