"""What a reader makes of a variable's text, and with which sentence it stops the start."""

import stat
from collections.abc import Callable
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.environment import MailServer, read_database, read_text, stored_secret
from tests.together import at_once

Reader = Callable[[str], Any]
flag_off: Reader = partial(environment.read_flag, default=False)
flag_on: Reader = partial(environment.read_flag, default=True)
number: Reader = partial(environment.read_number, default=3)
site: Reader = partial(environment.read_site, default="")
service: Reader = partial(environment.read_service, default="https://api.example")


@pytest.fixture(autouse=True)
def _no_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THING", raising=False)
    monkeypatch.delenv("THING_FILE", raising=False)


def test_a_text_is_that_of_the_variable_else_of_its_file_else_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert read_text("THING", "a default") == "a default"
    monkeypatch.setenv("THING_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match="Name a readable file, or set THING itself"):
        read_text("THING")
    (tmp_path / "secret").write_text("kept\n", encoding="utf-8")
    assert read_text("THING") == read_text("THING", needed=True) == "kept"
    monkeypatch.setenv("THING", "said")
    assert read_text("THING") == "said"


@pytest.mark.parametrize("text", [None, ""])
def test_what_another_setting_needs_must_not_be_empty(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    if text is not None:
        monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match="THING is missing"):
        read_text("THING", needed=True)


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        *((flag_off, text, True) for text in ("1", "Yes", " on ")),
        *((flag_on, text, False) for text in ("0", "FALSE", "")),
        (number, " 12 ", 12),
        (site, "https://lineup.example/", "https://lineup.example"),
        (site, "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        (environment.read_mail, "", MailServer()),
        (
            *(environment.read_mail, "smtps://lab:p%40ss@mail.example"),
            MailServer("mail.example", 465, "lab", "p@ss", encrypted=True),
        ),
        (environment.read_mail, "smtp://mail.example", MailServer("mail.example", 587, starttls=True)),
        (environment.read_mail, "smtp://mail.example:2525", MailServer("mail.example", 2525, starttls=True)),
        (environment.read_mail, "smtp://localhost", MailServer("localhost", 25)),
        (environment.read_list, "a.example, b.example,,", ["a.example", "b.example"]),
        (environment.read_proxies, "", 0),
        (environment.read_proxies, "0", 0),
        (environment.read_proxies, "2", 2),
        (*(environment.read_proxies, "10.0.0.0/8, 192.0.2.7"), (ip_network("10.0.0.0/8"), ip_network("192.0.2.7/32"))),
        (environment.read_proxies, "2001:db8::/48", (ip_network("2001:db8::/48"),)),
        (environment.read_token, "", ""),
        (environment.read_token, "k" * 32, "k" * 32),
        (environment.read_keys, "", []),
        (*(environment.read_keys, f"{'k' * 32}, {'l' * 32}"), ["k" * 32, "l" * 32]),
        (environment.read_distance, "", None),
        (environment.read_distance, " 0.35 ", 0.35),
        (environment.read_issuer, "", ""),
        (environment.read_issuer, " https://login.example/realms/lab/ ", "https://login.example/realms/lab"),
        (*(environment.read_issuer, "https://login.example/.well-known/openid-configuration"), "https://login.example"),
        (environment.read_issuer, "http://127.0.0.1:9400", "http://127.0.0.1:9400"),
        (service, "https://api.example/", "https://api.example"),
        (service, "http://127.0.0.1:8400", "http://127.0.0.1:8400"),
    ],
)
def test_a_variable_is_read(monkeypatch: pytest.MonkeyPatch, reader: Reader, text: str, value: Any) -> None:
    monkeypatch.setenv("THING", text)
    assert reader("THING") == value


REFUSED: list[tuple[Reader, str, list[str]]] = [
    (flag_off, r"THING is 'maybe'\. Write it as 1 or 0", ["maybe"]),
    (number, r"THING is 'ten'\. Write a whole number", ["ten"]),
    (
        *(site, r"Write how people reach the site, such as https://lineup\.example"),
        ["", "lineup.example", "https://", "ftp://x", "https://x.example/?a=b", "https://[x"],
    ),
    (
        *(environment.read_mail, "Write smtps://USER:PASSWORD@HOST, or smtp://"),
        ["mail.example", "https://mail.example", "smtp://", "smtp://mail.example:x", "smtp://[x"],
    ),
    (
        *(environment.read_proxies, "THING cannot be read: .* Write how many proxies stand in front"),
        ["proxy.example", "10.0.0.1/8", "-1", "1, 10.0.0.0/8"],
    ),
    (
        *(environment.read_cache, "Use redis://HOST:PORT/NUMBER"),
        ["memcached://cache.example", "redis://", "cache.example:6379"],
    ),
    (environment.read_token, "THING has (1|31) of at least 32 characters", ["a", "k" * 31]),
    (environment.read_keys, "THING has a key of less than 32 characters", ["a", f"{'k' * 32}, {'l' * 31}"]),
    (
        *(environment.read_keys, "THING has a key with a space or line break. Write commas between keys"),
        [f"{'k' * 32} {'l' * 32}", f"{'k' * 32}\n{'l' * 32}"],
    ),
    (environment.read_distance, "Write a number above 0 and at most 2", ["near", "0", "-1", "2.5", "nan"]),
    (
        *(environment.read_issuer, "Write the https address of the provider"),
        ["http://login.example", "login.example", "https://", "http://127.0.0.1.example"],
    ),
    (
        *(service, r"Write an https address, such as https://api\.example"),
        [
            "",
            "http://api.example",
            "api.example",
            "https://",
            "http://127.0.0.1.example",
            "https://x/?a=b",
            "https://[x",
        ],
    ),
]


@pytest.mark.parametrize(
    ("reader", "sentence", "text"), [(reader, sentence, text) for reader, sentence, texts in REFUSED for text in texts]
)
def test_a_variable_that_cannot_be_meant_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, reader: Reader, sentence: str, text: str
) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        reader("THING")
    if reader in (environment.read_mail, environment.read_token):
        # It may hold a password, or be one.
        assert (text * 2 if reader is environment.read_token else "mail.example") not in str(refused.value)


def test_sqlite_is_told_by_its_file() -> None:
    assert read_database("sqlite:////srv/site/db.sqlite3", connection_seconds=600)["NAME"] == "/srv/site/db.sqlite3"


def test_postgresql_is_told_by_its_address() -> None:
    database = read_database(
        "postgresql://some%20one:p%40ss@db.example:5433/lineup?sslmode=require", connection_seconds=600
    )
    assert {name: database[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "NAME", "OPTIONS")} == {
        "USER": "some one",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": "5433",
        "NAME": "lineup",
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 5, "connect_timeout": 5, "sslmode": "require"},
    }


def test_behind_a_pool_nothing_is_prepared() -> None:
    url = "postgresql://lineup@db.example/lineup"
    direct, pooled = (read_database(url, connection_seconds=600, pooled=pooled) for pooled in (False, True))
    assert (direct["ENGINE"], pooled["ENGINE"]) == ("django.db.backends.postgresql", "config.pgbouncer")
    assert pooled["OPTIONS"] == {"server_side_binding": True, "prepare_threshold": None, "connect_timeout": 5}


@pytest.mark.parametrize(
    ("primary", "url", "complaint"),
    [
        ("sqlite:////srv/db.sqlite3", "postgresql://lineup@replica.example/lineup", "SQLite has no replicas"),
        ("postgresql://lineup@db.example/lineup", "sqlite:////srv/db.sqlite3", "SQLite has no replicas"),
        ("postgresql://lineup@db.example/lineup", "postgresql://replica.example", "DATABASE_REPLICA_URL names no"),
    ],
)
def test_a_replica_is_one_of_postgresql(primary: str, url: str, complaint: str) -> None:
    database = read_database(primary, connection_seconds=600)
    with pytest.raises(ImproperlyConfigured, match=complaint):
        environment.read_replica(url, database, connection_seconds=600, pooled=False)


def test_sqlite_has_no_pool() -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_POOLED is 1, but DATABASE_URL names SQLite"):
        read_database("sqlite:////srv/db.sqlite3", connection_seconds=600, pooled=True)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://db.example/lineup", "starts with 'mysql'"),
        ("", "starts with ''"),
        ("sqlite:///", "names no database"),
        ("postgresql://db.example", "names no database"),
        ("postgresql://db.example:port/lineup", "not a port number"),
        ("postgresql://db.example:99999/lineup", "not a port number"),
    ],
)
def test_a_database_address_that_cannot_be_read_stops_the_start(url: str, complaint: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=complaint) as stopped:
        read_database(url, connection_seconds=600)
    assert "Use sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME." in str(stopped.value)


def test_a_site_keeps_its_secret_to_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "secret_key"
    secret = stored_secret(file)
    assert len(secret) >= 50
    assert stored_secret(file) == secret
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_processes_that_start_at_once_agree_on_the_secret(tmp_path: Path) -> None:
    start = Barrier(8)

    def begin() -> str:
        start.wait()
        return stored_secret(tmp_path / "secret_key")

    assert len(set(at_once(*[begin] * 8))) == 1
