"""Which complaints of a database mean that it is away, and what a page then says."""

import sqlite3

import psycopg
import pytest
from django.db import OperationalError, connections
from django.test import Client

from config.outage import is_outage
from tests.config.lines import log_lines

SIGN_IN = {"username": "researcher", "password": "a guess"}
ANSWER = {"slot": "1", "submission": "00000000-0000-4000-8000-000000000001", "choice": "1"}
AWAY = "Everything you saved is safe. Reload this page in a minute"
LOCKED_OR_CLOSED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT, sqlite3.SQLITE_CANTOPEN)
REFUSED = 'connection to server at "127.0.0.1", port 5432 failed: Connection refused'


def because_of(cause: Exception) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def complaint_of_sqlite(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("a complaint")
    cause.sqlite_errorcode = code
    return because_of(cause)


@pytest.mark.parametrize(
    ("complaint", "away"),
    [
        *((complaint_of_sqlite(code), True) for code in LOCKED_OR_CLOSED),
        # No such table, or no such column; the disk is full; it cannot be written.
        (complaint_of_sqlite(sqlite3.SQLITE_ERROR), False),
        (complaint_of_sqlite(sqlite3.SQLITE_FULL), False),
        (complaint_of_sqlite(sqlite3.SQLITE_READONLY), False),
        (because_of(psycopg.errors.AdminShutdown()), True),
        (because_of(psycopg.errors.CrashShutdown()), True),
        (because_of(psycopg.errors.CannotConnectNow()), True),
        (because_of(psycopg.errors.TooManyConnections()), True),
        (because_of(psycopg.errors.ConnectionFailure()), True),
        # Mistakes of ours, which a server that is there complains of.
        (because_of(psycopg.errors.LockNotAvailable()), False),
        (because_of(psycopg.errors.QueryCanceled()), False),
        (because_of(psycopg.errors.DeadlockDetected()), False),
        (because_of(psycopg.errors.DiskFull()), False),
        (because_of(psycopg.errors.UndefinedTable()), False),
        (because_of(psycopg.InterfaceError("the cursor is closed")), False),
        (RuntimeError("something else"), False),
        (None, False),
    ],
)
def test_a_database_is_away_when_it_is_locked_shuts_down_or_takes_no_more_connections(
    complaint: Exception | None, away: bool
) -> None:
    assert is_outage(complaint) is away


def test_postgresql_is_away_when_nobody_answers_and_not_when_a_statement_cannot_be_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wordless = because_of(psycopg.OperationalError("a complaint without a state"))
    monkeypatch.setattr(connections["default"], "connection", None)
    assert is_outage(wordless)
    monkeypatch.setattr(connections["default"], "connection", object())
    assert not is_outage(wordless)


def test_what_follows_from_an_outage_is_one() -> None:
    error = RuntimeError("The page could not be made.")
    error.__context__ = complaint_of_sqlite(sqlite3.SQLITE_CANTOPEN)
    assert is_outage(error)


@pytest.fixture(name="_away")
def _database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise because_of(psycopg.OperationalError(f"{REFUSED}\n\tIs the server running on that host?"))

    monkeypatch.setattr(connections["default"], "connection", None)
    monkeypatch.setattr(connections["default"], "ensure_connection", refuse)


EVERY_KIND_OF_PAGE = [
    ("GET", "/s/a-token/"),
    ("POST", "/s/a-token/answer/"),
    ("GET", "/take/birds/?PROLIFIC_PID=5f0c1aaaaaaaaaaaaaaaaaaa&STUDY_ID=6bbb&SESSION_ID=7ccc"),
    # The session is what this one asks the database for, before the view.
    ("GET", "/"),
    ("GET", "/admin/"),
    ("POST", "/sign-in/"),
]


@pytest.mark.usefixtures("_away")
@pytest.mark.parametrize(("method", "address"), EVERY_KIND_OF_PAGE)
def test_every_page_says_that_it_is_away_and_when_to_come_back(method: str, address: str) -> None:
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = "a-session-of-a-researcher"
    response = client.get(address) if method == "GET" else client.post(address, SIGN_IN | ANSWER)
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "10"
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["X-Frame-Options"] == "DENY"
    assert AWAY in response.content.decode()


@pytest.mark.usefixtures("_away")
def test_scripts_are_told_in_their_own_form() -> None:
    client = Client(raise_request_exception=False)
    page = client.post("/s/a-token/answer/", ANSWER, headers={"Accept": "application/json"})
    api = client.get("/api/v1/me/", headers={"Authorization": f"Bearer lineup_{'0' * 64}"})
    for response in (page, api):
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert page.json()["error"].startswith(AWAY)
    assert api.headers["Content-Type"] == "application/problem+json"
    assert "The database is away" in api.json()["detail"]


def test_a_mistake_of_ours_is_told_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("a secret of the code")

    monkeypatch.setattr("workspace.api.framework.authentication.find_token", fail)
    client = Client(raise_request_exception=False, headers={"Authorization": "Bearer lineup_x"})
    response = client.get("/api/v1/me/")
    assert (response.status_code, response.headers["Content-Type"]) == (500, "application/problem+json")
    assert "a secret of the code" not in response.content.decode()


@pytest.mark.usefixtures("_away")
def test_an_annotator_reads_it_in_their_own_language() -> None:
    client = Client(raise_request_exception=False, headers={"Accept-Language": "es"})
    assert "No se ha perdido nada de lo que tenías guardado." in client.get("/s/a-token/").content.decode()


@pytest.mark.usefixtures("_away")
def test_a_process_is_alive_and_not_ready() -> None:
    assert Client().get("/healthz").status_code == 200
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, "failing")


@pytest.mark.usefixtures("_away")
def test_one_page_is_one_line_in_the_log() -> None:
    with log_lines() as out:
        Client(raise_request_exception=False).get("/s/a-token/")
    (line,) = out.getvalue().splitlines()
    assert line.endswith(f" ERROR django.request Service Unavailable: /s/.../ ({REFUSED})")
