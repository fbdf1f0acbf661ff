"""Typed readers of environment variables; an invalid value stops the start with a sentence."""

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from errno import EACCES
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = {"1", "true", "yes", "on"}
FALSE_WORDS = {"0", "false", "no", "off", ""}
DATABASE_SCHEMES = {"sqlite", "postgres", "postgresql"}
CACHE_FORM = "Use redis://HOST:PORT/NUMBER."
SITE_FORM = "Write how people reach the site, such as https://lineup.example."
ISSUER_FORM = "Write the https address of the provider, such as https://login.example/realms/lab."
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Django warns below 50. Old sites without HTTPS may have shorter ones, and must still start.
SHORTEST_SECRET_WITH_HTTPS, SHORTEST_SECRET = 50, 20
# Of a token that an operator chooses: 32 random hexadecimal digits are 128 bits.
SHORTEST_TOKEN = 32
CONNECT_SECONDS = 5
SQLITE = "django.db.backends.sqlite3"
MAIL_FORM = "Write smtps://USER:PASSWORD@HOST, or smtp:// for a server that begins in the clear."
REDIS_SCHEMES = {"redis", "rediss"}
DATABASE_FORMS = "Use sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME."


@contextmanager
def exit_on_invalid_settings() -> Iterator[None]:
    """Print what is wrong with a setting and exit: the operator needs the sentence, not a trace."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def read_text(name: str, default: str = "", *, needed: bool = False) -> str:
    """Return variable `name`, or the content of the file in `name`_FILE (a mounted secret).

    needed: another setting requires it, so it must not be missing.
    """
    if needed and not (os.environ.get(name) or f"{name}_FILE" in os.environ):
        raise ImproperlyConfigured(f"{name} is missing: what goes with it is set.")
    if name in os.environ:
        return os.environ[name]
    secret_file = os.environ.get(f"{name}_FILE")
    if secret_file is None:
        return default
    try:
        return Path(secret_file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE names {secret_file}, which cannot be read ({error.strerror}). "
            f"Name a readable file, or set {name} itself."
        ) from error


def read_flag(name: str, *, default: bool) -> bool:
    """Return variable `name` as a yes or no."""
    text = read_text(name, str(default)).strip().lower()
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}. Write it as 1 or 0.")


def read_number(name: str, default: int, *, least: int = 0) -> int:
    """Return variable `name` as a whole number, not smaller than `least`."""
    text = read_text(name, str(default)).strip()
    try:
        number = int(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {text!r}. Write a whole number.") from error
    if number < least:
        raise ImproperlyConfigured(f"{name} is {number}. Write a whole number, {least} or more.")
    return number


def read_amount(name: str, default: str) -> Decimal:
    """Return variable `name` as an amount of money or a percentage, at least 0, such as 33.33."""
    text = read_text(name, default).strip()
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise ImproperlyConfigured(f"{name} is {text!r}. Write a number of 0 or more, such as {default}.")
    return amount


def read_distance(name: str) -> float | None:
    """Return variable `name` as a distance (1 - cosine), above 0, at most 2; None if unset."""
    text = read_text(name).strip()
    if not text:
        return None
    try:
        distance = float(text)
    except ValueError:
        distance = 0.0
    if not 0 < distance <= 2:
        raise ImproperlyConfigured(f"{name} is {text!r}. Write a number above 0 and at most 2, such as 0.02.")
    return distance


def read_level(name: str, default: str) -> str:
    """Return variable `name` as a log level, in capitals."""
    text = read_text(name, default).strip().upper()
    if text not in LEVELS:
        raise ImproperlyConfigured(f"{name} is {text!r}. Write one of {', '.join(LEVELS)}.")
    return text


def read_site(name: str, default: str) -> str:
    """Return variable `name`, an http or https address of a site, without a trailing slash."""
    text = read_text(name, default).strip().rstrip("/")
    parts = _split_address(name, text, SITE_FORM)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} is {text!r}. {SITE_FORM}")
    return text


def read_issuer(name: str) -> str:
    """Return variable `name`, the issuer of an OpenID Connect provider; empty if there is none.

    Must be https, because secrets and identities go there, except on this machine.
    """
    text = read_text(name).strip().removesuffix("/.well-known/openid-configuration").rstrip("/")
    if text and not _is_safe(_split_address(name, text, ISSUER_FORM)):
        raise ImproperlyConfigured(f"{name} is {text!r}. {ISSUER_FORM}")
    return text


def read_service(name: str, default: str) -> str:
    """Return variable `name`, the address of a server that gets tokens: https, except on this machine."""
    text, form = read_text(name, default).strip().rstrip("/"), f"Write an https address, such as {default}."
    parts = _split_address(name, text, form)
    if not _is_safe(parts) or parts.query or parts.fragment:
        raise ImproperlyConfigured(f"{name} is {text!r}. {form}")
    return text


def _is_safe(parts: SplitResult) -> bool:
    here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return bool(parts.hostname) and (parts.scheme == "https" or (here and parts.scheme == "http"))


def _split_address(name: str, address: str, form: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError as error:
        # Not the address itself: it may contain a password.
        raise ImproperlyConfigured(f"{name} cannot be read ({error}). {form}") from error


class MailServer(NamedTuple):
    """How to reach a mail server; without a host there is none."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    encrypted: bool = False
    starttls: bool = False


def read_mail(name: str) -> MailServer:
    """Return the mail server of variable `name`.

    smtps:// is encrypted from the start (port 465), smtp:// after STARTTLS (port 587). On this machine smtp:// is
    unencrypted, as local mail servers expect (port 25).
    """
    text = read_text(name).strip()
    if not text:
        return MailServer()
    parts = _split_address(name, text, MAIL_FORM)
    try:
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} has no port that can be used ({error}). {MAIL_FORM}") from error
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ImproperlyConfigured(f"{name} cannot be read. {MAIL_FORM}")
    encrypted, here = parts.scheme == "smtps", parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return MailServer(
        host=parts.hostname,
        port=port or (465 if encrypted else 25 if here else 587),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        encrypted=encrypted,
        starttls=not encrypted and not here,
    )


def read_list(name: str, default: str = "") -> list[str]:
    """Return variable `name`, split at commas, without empty entries."""
    return [entry.strip() for entry in read_text(name, default).split(",") if entry.strip()]


def read_proxies(name: str) -> int | tuple[IPv4Network | IPv6Network, ...]:
    """Return variable `name`: the number of proxies in front, or their networks; 0 for none."""
    entries = read_list(name)
    if not entries:
        return 0
    if len(entries) == 1 and entries[0].isdecimal():
        return int(entries[0])
    try:
        return tuple(ip_network(entry) for entry in entries)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} cannot be read: {error}. Write how many proxies stand in front of the site, such as 1, "
            "or their networks, such as 10.0.0.0/8,192.0.2.7."
        ) from error


def read_cache(name: str) -> str:
    """Return variable `name`, the address of a Redis server; empty if there is none."""
    url = read_text(name).strip()
    parts = _split_address(name, url, CACHE_FORM)
    if url and (parts.scheme not in REDIS_SCHEMES or not parts.hostname):
        raise ImproperlyConfigured(f"{name} is not the address of a Redis server. {CACHE_FORM}")
    return url


def read_secret(name: str, file: Path, *, https: bool) -> str:
    """Return variable `name`, a long secret; if unset, the one stored in `file`."""
    secret, shortest = read_text(name) or stored_secret(file), SHORTEST_SECRET_WITH_HTTPS if https else SHORTEST_SECRET
    if len(secret) < shortest:
        raise ImproperlyConfigured(
            f"{name} is shorter than {shortest} characters. Make a long random one and keep it secret."
        )
    return secret


def read_token(name: str) -> str:
    """Return variable `name`, a long random text; empty if unset."""
    token = read_text(name)
    if token and len(token) < SHORTEST_TOKEN:
        raise ImproperlyConfigured(
            f"{name} has {len(token)} of at least {SHORTEST_TOKEN} characters. Make a random one, such as by: "
            "python3 -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return token


def read_keys(name: str) -> list[str]:
    """Return variable `name`, long random texts separated by commas."""
    keys = read_list(name)
    if any(len(key.split()) > 1 for key in keys):
        raise ImproperlyConfigured(f"{name} has a key with a space or line break. Write commas between keys.")
    if any(len(key) < SHORTEST_TOKEN for key in keys):
        raise ImproperlyConfigured(
            f"{name} has a key of less than {SHORTEST_TOKEN} characters. Make a random one, such as by: "
            "python3 -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return keys


def read_folder(name: str, default: Path) -> Path:
    """Return variable `name`, a writable folder; a missing one is created for this user alone."""
    folder = Path(read_text(name, str(default))).resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} is {folder}, which cannot be written to ({error.strerror}). Name a folder that this user may use."
        ) from error
    return folder


def stored_secret(file: Path) -> str:
    """Return the secret stored in `file`, created on first use, so that no two sites share one."""
    if not file.exists():
        descriptor, fresh = tempfile.mkstemp(dir=file.parent)
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(secrets.token_urlsafe(50))
        # Two processes may start at once: the first to link its file wins, and no process reads a partial one.
        with suppress(FileExistsError):
            os.link(fresh, file)
        os.unlink(fresh)
    return file.read_text(encoding="utf-8")


def read_database(
    url: str, *, connection_seconds: int, pooled: bool = False, name: str = "DATABASE_URL"
) -> dict[str, object]:
    """Return Django's settings for sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME.

    pooled: PgBouncer in transaction mode is at this address. name: the variable that held it.
    """
    parts = _split_address(name, url, DATABASE_FORMS)
    if parts.scheme in DATABASE_SCHEMES and not parts.path[1:]:
        raise ImproperlyConfigured(f"{name} names no database. {DATABASE_FORMS}")
    if parts.scheme == "sqlite":
        if pooled:
            raise ImproperlyConfigured("DATABASE_POOLED is 1, but DATABASE_URL names SQLite, which needs no pool.")
        return {
            "ENGINE": SQLITE,
            "NAME": unquote(parts.path[1:]),
            "OPTIONS": {
                # Writers queue at BEGIN instead of failing in the middle of a transaction.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                # FULL: an acknowledged commit is on the disk.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
            },
            "TEST": {"NAME": read_text("TEST_SQLITE_FILE") or None},
        }
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "config.pgbouncer" if pooled else "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": _read_port(parts, name),
            # Frequent statements are planned once per connection; docs/decisions/0005 has the gain. In a pool the next
            # statement may go to another connection, which has planned nothing.
            "OPTIONS": {
                "server_side_binding": True,
                "prepare_threshold": None if pooled else 5,
                "connect_timeout": CONNECT_SECONDS,
                **dict(parse_qsl(parts.query)),
            },
            "CONN_MAX_AGE": connection_seconds,
            "CONN_HEALTH_CHECKS": True,
        }
    raise ImproperlyConfigured(f"{name} starts with {parts.scheme!r}. {DATABASE_FORMS}")


def read_replica(
    url: str, primary: Mapping[str, object], *, connection_seconds: int, pooled: bool
) -> dict[str, object]:
    """Return Django's settings for a replica of `primary`, which must be PostgreSQL."""
    name = "DATABASE_REPLICA_URL"
    replica = read_database(url, connection_seconds=connection_seconds, pooled=pooled, name=name)
    if SQLITE in {replica["ENGINE"], primary["ENGINE"]}:
        raise ImproperlyConfigured(f"{name} and DATABASE_URL must be PostgreSQL: SQLite has no replicas.")
    return replica


def _read_port(parts: SplitResult, name: str) -> str:
    try:
        return str(parts.port or "")
    except ValueError as error:
        raise ImproperlyConfigured(f"The port in {name} is not a port number. {DATABASE_FORMS}") from error
