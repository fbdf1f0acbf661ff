"""Reading results from a replica of the database, on sites that have one (docs/decisions/0095).

The primary is read unless a view or an export asks for the replica, so nothing that an annotator or a decision sees
comes from there. Writes go to the primary, and whoever has written what a replica may be asked for reads the primary
from then on.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, ProgrammingError, connections
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from results.models import InstanceFigures, Pseudonym
from studies.models import Event, Project, Study

logger = logging.getLogger(__name__)

REPLICA = "replica"
# All else tells how far work is, who may do what, or what was computed: it is always read from the primary.
APPS = {"studies", "annotation", "predictions", "making", "training"}
OF_RESULTS = (InstanceFigures, Pseudonym)
# Events are compared, not only the last one: one with a lower id may be committed later.
EVENTS_COMPARED = 20
# So long a replica that was away is left alone, by each process.
AWAY_SECONDS = 30
POLL_SECONDS = 0.02
# A page waits so long for what was committed a moment ago. After a quiet hour, the time of the last commit on the
# replica says nothing of how far it is behind.
CATCH_UP_SECONDS = 0.2
# It went away, ended a statement that was in the way of what it replays, or has not replayed a migration.
UNREADABLE = (OperationalError, InterfaceError, ProgrammingError)

P = ParamSpec("P")
Row = TypeVar("Row", Project, Study)
Read = TypeVar("Read")

_reads_replica: ContextVar[bool] = ContextVar("reads_replica", default=False)
_away_until = 0.0


class Router:
    """Django's database router: who reads where."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        # What a transaction reads goes with what it writes.
        if not (_reads_replica.get() and _is_read_there(model)) or connections[DEFAULT_DB_ALIAS].in_atomic_block:
            return DEFAULT_DB_ALIAS
        return REPLICA

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        if _is_read_there(model):
            _reads_replica.set(False)
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db != REPLICA


def _is_read_there(model: type[Model]) -> bool:
    return model._meta.app_label in APPS or issubclass(model, OF_RESULTS)


class Source(NamedTuple):
    """Where a page is read from, and what the page says of it."""

    is_replica: bool
    note: str = ""


def from_replica(
    view: Callable[Concatenate[HttpRequest, Row, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Let a view that only reads be answered from the replica; stands below the guard, which reads the primary."""

    @wraps(view)
    def read(request: HttpRequest, about: Row, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        source = choose(about.project if isinstance(about, Study) else about)
        if source.is_replica:
            # Asked by the template at the end of the page: until then the view may have turned to the primary.
            request.replica_note = lambda: source.note if _reads_replica.get() else ""  # type: ignore[attr-defined]
            try:
                with _reading():
                    return view(request, about, *args, **kwargs)
            except UNREADABLE as error:
                source = Source(False, _leave_alone(error))
        request.replica_note = source.note  # type: ignore[attr-defined]
        return view(request, about, *args, **kwargs)

    read.reads_replica = True  # type: ignore[attr-defined]
    return read


def read_all(read: Callable[[], Read]) -> Read:
    """Call `read` with the replica once it has all that is committed now, otherwise with the primary.

    Waits for the replica as long as it may be behind. `read` is called again if the replica fails.
    """
    if _has_all_of_now():
        try:
            with _reading():
                return read()
        except UNREADABLE as error:
            _leave_alone(error)
    return read()


def choose(project: Project) -> Source:
    """Return where to read `project`: the replica, if it is not far behind and has all that people changed."""
    if not _is_there():
        return Source(False, _away_note() if REPLICA in connections.databases else "")
    position = _position_of_primary()
    try:
        if _has_replayed(position, seconds=CATCH_UP_SECONDS):
            return Source(True, "Read from a replica, up to date.")
        as_of, events = _last_commit(), _newest_events(project, REPLICA)
    except Error as error:
        return Source(False, _leave_alone(error))
    behind = _seconds_since(as_of)
    if behind is None or behind > settings.DATABASE_REPLICA_SECONDS:
        late = "behind" if behind is None else f"{behind:,.0f} s behind"
        return Source(False, f"Read from the primary database, because the replica is {late}.")
    if events != _newest_events(project, DEFAULT_DB_ALIAS):
        return Source(False, "Read from the primary database, because the replica does not have the last change yet.")
    late = f"{behind:,.0f} s behind" if behind >= 1 else "less than 1 s behind"
    return Source(True, f"Read from a replica, {late}.")


@contextmanager
def _reading() -> Iterator[None]:
    before = _reads_replica.set(True)
    try:
        yield
    finally:
        _reads_replica.reset(before)


@contextmanager
def reading_primary() -> Iterator[None]:
    """Read the primary inside, in a view that reads the replica."""
    before = _reads_replica.set(False)
    try:
        yield
    finally:
        _reads_replica.reset(before)


def _is_there() -> bool:
    return REPLICA in connections.databases and time.monotonic() >= _away_until


def _leave_alone(error: Error) -> str:
    """Do not ask the replica for a while; return what pages say of it."""
    global _away_until
    _away_until = time.monotonic() + AWAY_SECONDS
    connections[REPLICA].close()
    logger.warning("The replica is not read for %s s: %s", AWAY_SECONDS, str(error).partition("\n")[0])
    return _away_note()


def _away_note() -> str:
    return "Read from the primary database, because the replica does not answer."


def _position_of_primary() -> str:
    """Return how far the log of the primary is written now: all that is committed is before it."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        return str(cursor.fetchone()[0])


def _has_replayed(position: str, *, seconds: float) -> bool:
    """Return whether the replica has all before `position`, or has it within `seconds`.

    Raises OperationalError if it is no replica.
    """
    deadline = time.monotonic() + seconds
    while True:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
            is_replica, has_all = cursor.fetchone()
        if not is_replica:
            raise OperationalError("DATABASE_REPLICA_URL names a server that replays nothing.")
        if has_all or time.monotonic() >= deadline:
            return bool(has_all)
        time.sleep(POLL_SECONDS)


def _last_commit() -> datetime | None:
    """Return the time, by the primary's clock, of the last commit that the replica has."""
    with connections[REPLICA].cursor() as cursor:
        cursor.execute("SELECT pg_last_xact_replay_timestamp()")
        at: datetime | None = cursor.fetchone()[0]
        return at


def _seconds_since(at: datetime | None) -> float | None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp() - %s::timestamptz)::float", [at])
        seconds: float | None = cursor.fetchone()[0]
        return seconds


def _newest_events(project: Project, database: str) -> list[int]:
    newest = Event.objects.using(database).filter(project=project).order_by("-at", "-pk")
    return sorted(newest.values_list("pk", flat=True)[:EVENTS_COMPARED])


def _has_all_of_now() -> bool:
    """Wait until the replica has what is committed now; return whether it came so far in time."""
    if not _is_there() or connections[DEFAULT_DB_ALIAS].in_atomic_block:
        return False
    try:
        has_all = _has_replayed(_position_of_primary(), seconds=settings.DATABASE_REPLICA_SECONDS)
    except Error as error:
        _leave_alone(error)
        return False
    if not has_all:
        logger.warning("The replica stays behind: an export is read from the primary.")
    return has_all
