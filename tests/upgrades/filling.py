"""Fills a database of an older version through that version's own commands and pages, and dumps it with what its pages
showed. Knows no room of the product: the older version's code is loaded from its checkout, by name."""

import base64
import gzip
import hashlib
import importlib
import io
import json
import os
import random
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import PIL.Image
from bs4 import BeautifulSoup, Tag
from django.test import Client

# So often one page is asked for, with another query each time.
MOST_QUERIES = 4
# Written by Django itself, or told apart otherwise in the dump.
NOT_DUMPED = {"django_migrations"}
# Made again from the originals whenever somebody looks.
NOT_KEPT = ("renditions/", "probes/")


def use_checkout(checkout: Path, *, data: Path, clock: "Clock") -> None:
    """Load Django with the settings and the code of `checkout` alone, its data in the folder `data`.

    A second run makes the same rows: the time is that of `clock`, and what is drawn at random comes from a seed.
    """
    checkout = checkout.resolve()
    here = {str(Path(__file__).resolve().parents[2]), ""}
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in here)]
    # Celery looks for modules in the current folder first.
    os.chdir(checkout)
    _make_repeatable(clock)
    os.environ.update(
        DATA_DIR=str(data),
        DATABASE_URL=f"sqlite:///{data / 'filled.sqlite3'}",
        SECRET_KEY="a key of the filled database, and of nothing else at all",
        STATIC_WITHOUT_COLLECT="1",
        DJANGO_SETTINGS_MODULE="config.settings",
        LOG_LEVEL="ERROR",
    )
    importlib.import_module("django").setup()
    found = Path(str(importlib.import_module("studies").__file__))
    if checkout not in found.parents:
        raise AssertionError(f"The code comes from {found}, not from {checkout}.")


def model(room: str, name: str) -> Any:
    """Return a model of the older version."""
    return importlib.import_module("django.apps").apps.get_model(room, name)


class Clock:
    """Stands in for `timezone.now`: every look at it takes a moment, and `wait` lets time pass."""

    def __init__(self, start: datetime) -> None:
        self.moment = start

    def __call__(self) -> datetime:
        self.moment += timedelta(milliseconds=170)
        return self.moment

    def wait(self, **time: float) -> None:
        self.moment += timedelta(**time)


def _make_repeatable(clock: Clock) -> None:
    """Must run before models are loaded, which take the clock as a default."""
    dice = random.Random("filled")

    def token_hex(size: int = 32) -> str:
        return dice.randbytes(size).hex()

    def token_urlsafe(size: int = 32) -> str:
        return base64.urlsafe_b64encode(dice.randbytes(size)).rstrip(b"=").decode()

    for module, name, replacement in (
        ("django.utils.timezone", "now", clock),
        ("time", "time", lambda: clock.moment.timestamp()),
        ("uuid", "uuid4", lambda: uuid.UUID(bytes=dice.randbytes(16), version=4)),
        ("secrets", "choice", dice.choice),
        ("secrets", "token_hex", token_hex),
        ("secrets", "token_urlsafe", token_urlsafe),
    ):
        setattr(importlib.import_module(module), name, replacement)


def drawn(number: int) -> bytes:
    """Return a PNG; the width tells the picture, whatever address a page gives it."""
    out = io.BytesIO()
    PIL.Image.new("RGB", (width_of(number), 24), (number * 37 % 256, number * 91 % 256, 128)).save(out, "PNG")
    return out.getvalue()


def width_of(number: int) -> int:
    return 20 + number


def provider_id(name: str) -> str:
    """Return 24 hexadecimal digits, as Prolific gives them, always the same for a name."""
    return hashlib.sha256(name.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Page:
    path: str
    status: int
    html: BeautifulSoup

    def form(self, selector: str = "main form") -> Tag:
        found = self.html.select_one(selector)
        if found is None:
            raise AssertionError(f"{self.path} answered {self.status} without {selector}: {self.html.get_text()[:500]}")
        return found


class Visitor:
    """A browser without scripts, with its own cookies."""

    def __init__(self) -> None:
        self.client = Client(SERVER_NAME="localhost")

    def open(self, path: str) -> Page:
        return self._page(self.client.get(path, follow=True))

    def post(self, path: str, fields: dict[str, str]) -> Page:
        return self._page(self.client.post(path, fields, follow=True))

    def submit(self, page: Page, fields: dict[str, str], *, selector: str = "main form") -> Page:
        """Send a form of `page` as it stands, with `fields` filled in."""
        form = page.form(selector)
        return self.post(str(form.get("action") or page.path), fields_of(form) | fields)

    def _page(self, response: Any) -> Page:
        path = response.request["PATH_INFO"]
        return Page(path, response.status_code, BeautifulSoup(response.content, "html.parser"))


def fields_of(form: Tag) -> dict[str, str]:
    """Return what `form` would post as it stands, its buttons and choices apart."""
    fields = {}
    for field in form.select("input[name], select[name], textarea[name]"):
        if field.name == "input" and field.get("type") in {"radio", "checkbox", "submit"}:
            continue
        value = field.get("value", "") if field.name == "input" else field.get_text().strip()
        if field.name == "select":
            selected = field.select_one("option[selected]")
            value = selected.get("value", "") if selected else ""
        fields[str(field["name"])] = str(value)
    return fields


def crawl(client: Client, start: Iterable[str], *, most: int = 1000) -> dict[str, int]:
    """Follow every link of the site from the addresses `start` on; return what was asked for, each with its status.

    What leads out of the site or signs out is not followed, nor a page under more than some queries: each list of
    instances is one, and hands its own on to every instance.
    """
    statuses: dict[str, int] = {}
    queries: Counter[str] = Counter()
    named = list(start)
    waiting = list(named)
    while waiting and len(statuses) < most:
        path = waiting.pop(0)
        page = path.partition("?")[0]
        if path in statuses or (queries[page] >= MOST_QUERIES and path not in named):
            continue
        queries[page] += 1
        response = _seen(client, path)
        statuses[path] = response.status_code
        waiting += [link for link in _links(response, path) if link not in statuses]
    return statuses


def _seen(client: Client, path: str) -> Any:
    """Return what `path` answers, a file read to its end."""
    response = client.get(path)
    if response.streaming:
        b"".join(response)
    return response


class _Page(HTMLParser):
    """A page of which only the links are kept: no tree is needed for them."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if (tag == "a" and "href" in said) or "hx-get" in said:
            self.links.append(str(said.get("href") or said.get("hx-get")))


def _links(response: Any, path: str) -> Iterator[str]:
    if response.status_code in {301, 302, 303}:
        yield _inside(response["Location"])
    if response.streaming or not response["Content-Type"].startswith("text/html"):
        return
    page = _Page()
    page.feed(response.content.decode())
    for href in page.links:
        if href.startswith("?"):
            href = f"{path.partition('?')[0]}{href}"
        if href.startswith("/") and not href.startswith(("//", "/admin/", "/images/", "/sign-out/", "/take/")):
            yield href.partition("#")[0]


def _inside(location: str) -> str:
    parts = urlsplit(location)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def dump(*, version: str, clock: Clock, media: Path, told: dict[str, Any]) -> dict[str, Any]:
    """Return everything the database and the storage hold, and what was told beside.

    Values are as the models of that version give them: times in ISO 8601, UUIDs as text, JSON as it is.
    """
    apps = importlib.import_module("django.apps").apps
    recorder = importlib.import_module("django.db.migrations.recorder").MigrationRecorder
    connection = importlib.import_module("django.db").connection
    tables = {}
    for model in sorted(apps.get_models(include_auto_created=True), key=lambda model: model._meta.db_table):
        fields = model._meta.local_concrete_fields
        rows = model._base_manager.order_by("pk").values_list(*(field.attname for field in fields))
        tables[model._meta.db_table] = {
            "columns": [field.column for field in fields],
            "rows": [[_plain(value) for value in row] for row in rows],
        }
    left_out = set(connection.introspection.table_names()) - set(tables) - NOT_DUMPED
    if left_out:
        raise AssertionError(f"No model has the tables {sorted(left_out)}.")
    names = sorted(path.relative_to(media).as_posix() for path in media.rglob("*") if path.is_file())
    files = {name: base64.b64encode((media / name).read_bytes()).decode() for name in names if _kept(name)}
    migrations = sorted(recorder(connection).applied_migrations())
    return (
        {"version": version, "taken_at": clock.moment.isoformat(), "migrations": migrations}
        | told
        | {
            "tables": tables,
            "files": files,
        }
    )


def _kept(name: str) -> bool:
    return not name.startswith(NOT_KEPT)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    return value


def write(dumped: dict[str, Any], path: Path) -> None:
    """Write a dump as gzipped JSON with a row on each line, so that `zdiff` shows what has changed."""
    text = gzip.compress((_lines(dumped, depth=3) + "\n").encode(), mtime=0)
    path.write_bytes(text)


def _lines(value: Any, *, depth: int) -> str:
    if depth and value and isinstance(value, dict):
        items = (f"{json.dumps(key)}: {_lines(item, depth=depth - 1)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + "\n}"
    if value and isinstance(value, list) and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)
