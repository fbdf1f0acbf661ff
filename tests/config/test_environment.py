import stat
import threading
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import (
    MailServer,
    read_cache,
    read_database,
    read_distance,
    read_flag,
    read_issuer,
    read_list,
    read_mail,
    read_number,
    read_proxies,
    read_site,
    read_text,
    read_token,
    stored_secret,
)


@pytest.fixture(autouse=True)
def _no_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THING", raising=False)
    monkeypatch.delenv("THING_FILE", raising=False)


def test_an_unset_variable_has_its_default() -> None:
    assert read_text("THING", "a default") == "a default"


def test_a_secret_can_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("kept\n", encoding="utf-8")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "secret"))
    assert read_text("THING") == "kept"


def test_the_variable_itself_wins_over_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THING", "said")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "missing"))
    assert read_text("THING") == "said"


def test_a_secret_file_that_is_missing_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THING_FILE", str(tmp_path / "missing"))
    with pytest.raises(ImproperlyConfigured, match=r"Name a readable file, or set THING itself"):
        read_text("THING")


@pytest.mark.parametrize(
    ("text", "flag"), [("1", True), ("Yes", True), (" on ", True), ("0", False), ("FALSE", False), ("", False)]
)
def test_flags_are_read(monkeypatch: pytest.MonkeyPatch, text: str, flag: bool) -> None:
    monkeypatch.setenv("THING", text)
    assert read_flag("THING", default=not flag) is flag


def test_a_flag_that_is_neither_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", "maybe")
    with pytest.raises(ImproperlyConfigured, match=r"THING is 'maybe'\. Write it as 1 or 0"):
        read_flag("THING", default=False)


def test_numbers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", " 12 ")
    assert read_number("THING", 3) == 12


def test_a_number_that_is_none_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", "ten")
    with pytest.raises(ImproperlyConfigured, match=r"THING is 'ten'\. Write a whole number"):
        read_number("THING", 3)


@pytest.mark.parametrize(
    ("text", "site"),
    [("https://lineup.example/", "https://lineup.example"), ("http://127.0.0.1:8000", "http://127.0.0.1:8000")],
)
def test_the_address_of_the_site_has_no_slash_at_its_end(monkeypatch: pytest.MonkeyPatch, text: str, site: str) -> None:
    monkeypatch.setenv("THING", text)
    assert read_site("THING", "") == site


@pytest.mark.parametrize("text", ["", "lineup.example", "https://", "ftp://x", "https://x.example/?a=b", "https://[x"])
def test_an_address_that_people_cannot_reach_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match=r"Write how people reach the site, such as https://lineup\.example"):
        read_site("THING", "")


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("", MailServer()),
        ("smtps://lab:p%40ss@mail.example", MailServer("mail.example", 465, "lab", "p@ss", encrypted=True)),
        ("smtp://mail.example", MailServer("mail.example", 587, starttls=True)),
        ("smtp://mail.example:2525", MailServer("mail.example", 2525, starttls=True)),
        ("smtp://localhost", MailServer("localhost", 25)),
    ],
)
def test_a_mail_server_is_told_by_an_address(monkeypatch: pytest.MonkeyPatch, text: str, server: MailServer) -> None:
    monkeypatch.setenv("THING", text)
    assert read_mail("THING") == server


@pytest.mark.parametrize(
    "text", ["mail.example", "https://mail.example", "smtp://", "smtp://mail.example:x", "smtp://[x"]
)
def test_a_mail_server_that_cannot_be_read_stops_the_start_without_its_password(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match="Write smtps://USER:PASSWORD@HOST, or smtp://") as refused:
        read_mail("THING")
    assert "mail.example" not in str(refused.value)


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", "a.example, b.example,,")
    assert read_list("THING") == ["a.example", "b.example"]


@pytest.mark.parametrize(
    ("text", "proxies"),
    [
        ("", 0),
        ("0", 0),
        ("2", 2),
        ("10.0.0.0/8, 192.0.2.7", (ip_network("10.0.0.0/8"), ip_network("192.0.2.7/32"))),
        ("2001:db8::/48", (ip_network("2001:db8::/48"),)),
    ],
)
def test_proxies_are_told_by_their_number_or_their_networks(
    monkeypatch: pytest.MonkeyPatch, text: str, proxies: object
) -> None:
    monkeypatch.setenv("THING", text)
    assert read_proxies("THING") == proxies


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.1/8", "-1", "1, 10.0.0.0/8"])
def test_proxies_that_cannot_be_read_stop_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match=r"THING cannot be read: .* Write how many proxies stand in front"):
        read_proxies("THING")


@pytest.mark.parametrize("text", ["memcached://cache.example", "redis://", "cache.example:6379"])
def test_a_cache_that_is_no_redis_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match=r"Use redis://HOST:PORT/NUMBER"):
        read_cache("THING")


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
        "OPTIONS": {
            "server_side_binding": True,
            "prepare_threshold": 5,
            "connect_timeout": 5,
            "sslmode": "require",
        },
    }


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
    start = threading.Barrier(8)
    seen = []

    def begin() -> None:
        start.wait()
        seen.append(stored_secret(tmp_path / "secret_key"))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


@pytest.mark.parametrize("token", ["a", "k" * 31])
def test_a_short_token_stops_the_start(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("THING", token)
    with pytest.raises(ImproperlyConfigured, match=rf"THING has {len(token)} of at least 32 characters") as caught:
        read_token("THING")
    assert token * 2 not in str(caught.value)


@pytest.mark.parametrize("token", ["", "k" * 32])
def test_a_long_token_or_none_is_taken(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("THING", token)
    assert read_token("THING") == token


def test_a_distance_is_read_and_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_distance("THING") is None
    monkeypatch.setenv("THING", " 0.35 ")
    assert read_distance("THING") == 0.35


@pytest.mark.parametrize("text", ["near", "0", "-1", "2.5", "nan"])
def test_a_distance_that_is_none_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match="Write a number above 0 and at most 2"):
        read_distance("THING")


def test_what_another_setting_needs_must_not_be_empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for empty in (None, ""):
        if empty is not None:
            monkeypatch.setenv("THING", empty)
        with pytest.raises(ImproperlyConfigured, match="THING is missing"):
            read_text("THING", needed=True)
    monkeypatch.delenv("THING")
    (tmp_path / "secret").write_text("kept\n", encoding="utf-8")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "secret"))
    assert read_text("THING", needed=True) == "kept"


@pytest.mark.parametrize(
    ("text", "issuer"),
    [
        ("", ""),
        (" https://login.example/realms/lab/ ", "https://login.example/realms/lab"),
        ("https://login.example/.well-known/openid-configuration", "https://login.example"),
        ("http://127.0.0.1:9400", "http://127.0.0.1:9400"),
    ],
)
def test_a_provider_is_read_by_its_issuer(monkeypatch: pytest.MonkeyPatch, text: str, issuer: str) -> None:
    monkeypatch.setenv("THING", text)
    assert read_issuer("THING") == issuer


@pytest.mark.parametrize("text", ["http://login.example", "login.example", "https://", "http://127.0.0.1.example"])
def test_a_provider_that_is_not_reached_by_https_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("THING", text)
    with pytest.raises(ImproperlyConfigured, match="Write the https address of the provider"):
        read_issuer("THING")
