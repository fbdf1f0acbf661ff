"""Compare what two versions answer about the same filled site: every page, file, API answer and command.

    python -m benchmarks.version_comparison fill SITE --checkout OLD
    python -m benchmarks.version_comparison record SITE A --checkout OLD
    python -m benchmarks.version_comparison record SITE B
    python -m benchmarks.version_comparison compare A B

A checkout is a work tree, by default this one; both need the packages that are installed here. `fill` creates a site;
`record` migrates a copy of it to its checkout's version, stops the clock, and writes each answer to a file of its own.
"""

import argparse
import difflib
import hashlib
import importlib
import io
import json
import logging
import os
import random
import re
import shutil
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import django
import pyarrow.parquet
import time_machine
import yaml
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.core.signals import request_started
from django.test import Client
from django.urls import Resolver404, resolve

from benchmarks.sample_site import Visitor, browser, fill_site

HERE = Path(__file__).resolve().parents[1]
BEGINNING = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
SECRET_KEY = "a key of the sample site, and of nothing else at all"
SECONDS_BETWEEN_REQUESTS = 5
# Limits per visitor: queries of one page, pages of one address pattern of the admin, and images.
MOST_QUERIES, MOST_OF_ADMIN, MOST_PICTURES = 5, 5, 25
# Values that depend on when or where the answer was made.
HEADERS_LEFT_OUT = {"Content-Length", "Date", "Last-Modified", "Set-Cookie"}
CSRF = re.compile(r'(name="csrfmiddlewaretoken" value=")\w+|("X-CSRFToken": ?")\w+')
KEPT_AS_WRITTEN = re.compile(r"(<(?:pre|textarea|script|style)\b.*?</(?:pre|textarea|script|style)>)", re.DOTALL)
LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}
SITE = "http://127.0.0.1:8000"
RELEASED = {"demo": ("drawn-scenes", "drawn-scenes-filter"), "demo-sets": ("drawn-sets-retrieve",)}
LINES_SHOWN, WIDTH_SHOWN = 12, 200


def use_checkout(checkout: Path, data: Path) -> None:
    """Load the code of `checkout`, and nothing of this one, with its data in the folder `data`."""
    sys.path[:] = [str(checkout), *(path for path in sys.path if path not in {"", str(HERE)})]
    os.chdir(checkout)
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings",
        DATA_DIR=str(data),
        DATABASE_URL=f"sqlite:///{data / 'db.sqlite3'}",
        SECRET_KEY=SECRET_KEY,
        STATIC_WITHOUT_COLLECT="1",
        STATIC_ROOT=str(checkout / "static"),
        MODELS_OFFERED="text-only:ngrams",
        HF_ENDPOINT="http://127.0.0.1:9",
        WEBHOOKS_TO_PRIVATE_ADDRESSES="1",
        COLUMNS="100",
        **dict.fromkeys(("API_REQUESTS_PER_MINUTE", "ARRIVALS_PER_NETWORK", "PLACES_PER_NETWORK", "CHECK_TIMES"), "0"),
    )
    django.setup()
    logging.disable(logging.CRITICAL)
    importlib.import_module("config.celery").app.conf.task_always_eager = True
    found = Path(str(importlib.import_module("config").__file__))
    if checkout not in found.parents:
        raise SystemExit(f"The code comes from {found}, not from {checkout}.")


@contextmanager
def repeatable(start: datetime) -> Iterator[tuple[random.Random, time_machine.Traveller]]:
    """Stop the clock at `start`, and draw all random values, also secrets, from the returned generator."""
    dice = random.Random(0)
    random.seed(0)
    for module, name in ((os, "urandom"), (random, "_urandom")):
        setattr(module, name, dice.randbytes)
    with time_machine.travel(start, tick=False) as clock:
        yield dice, clock


def fill(site: Path, checkout: Path) -> None:
    site.mkdir(parents=True)
    with repeatable(BEGINNING) as (_, clock):
        use_checkout(checkout, site)

        def wait(**_: Any) -> None:
            clock.shift(SECONDS_BETWEEN_REQUESTS)

        request_started.connect(wait)
        visitors = fill_site(site / "material")
        moment = datetime.now(UTC).isoformat()
    named = {name: asdict(visitor) for name, visitor in visitors.items()}
    told = {"moment": moment, "folder": str(site), "visitors": named}
    (site / "visitors.json").write_text(json.dumps(told, indent=1))


def record(site: Path, out: Path, checkout: Path) -> None:
    told = json.loads((site / "visitors.json").read_text())
    visitors = {name: Visitor(**visitor) for name, visitor in told["visitors"].items()}
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="lineup-comparison-") as folder:
        data = Path(folder) / "site"
        shutil.copytree(site, data)
        with repeatable(datetime.fromisoformat(told["moment"])) as (dice, _):
            use_checkout(checkout, data)
            call_command("migrate", verbosity=0)
            recording = Recording(out, dice, {str(data): "DATA", str(checkout): "CHECKOUT", told["folder"]: "SITE"})
            for name, visitor in visitors.items():
                recording.visit(name, visitor)
            spec = yaml.safe_load(output_of("api_schema"))
            for name, visitor in visitors.items():
                if visitor.token or name == "stranger":
                    recording.ask_api(name, visitor, spec)
            recording.run_commands(Path(folder) / "out")
    for kind, count in sorted(recording.counts.items()):
        print(f"{count:>7,} {kind}")


class Recording:
    """Answers of one version, each written to a file of its own under `out`."""

    def __init__(self, out: Path, dice: random.Random, masks: dict[str, str]) -> None:
        self.out = out
        self.counts: Counter[str] = Counter()
        self._dice = dice
        self._masks = masks
        self._static: set[str] = set()

    def visit(self, name: str, visitor: Visitor) -> None:
        """Follow every link from where the visitor starts."""
        client, seen, queries, routes = browser(visitor.user), set(), Counter[str](), Counter[str]()
        waiting = list(visitor.start)
        named = set(waiting)
        for path in waiting:
            page, route = path.partition("?")[0], _route(path)
            if path in seen or path in self._static or page.startswith("/sign-out/"):
                continue
            is_free = path in named
            if not is_free and (queries[page] >= MOST_QUERIES or routes[route] >= _most(route)):
                continue
            seen.add(path)
            queries[page] += 1
            routes[route] += 1
            if page.startswith("/static/"):
                self._static.add(path)
            links = self._get(client, name, path, kind=f"pages of {name}")
            waiting += [link for link in links if link.startswith(visitor.within)]

    def ask_api(self, name: str, visitor: Visitor, spec: dict[str, Any]) -> None:
        """GET every address of the API for everything that its lists name, with every value of its filters."""
        client = browser(token=visitor.token)
        known: defaultdict[str, list[str]] = defaultdict(list)
        if not visitor.token:
            known |= {"/api/v1/projects/": ["demo"], "/api/v1/projects/demo/studies/": ["drawn-scenes"]}
        gets = {path: about["get"] for path, about in spec["paths"].items() if "get" in about}
        for template in sorted(gets, key=lambda path: (path.endswith("{id}/"), path.count("{"), path)):
            queries = [
                f"?{query['name']}={value}"
                for query in gets[template].get("parameters", [])
                if query["in"] == "query"
                for value in query["schema"].get("enum", ())
            ]
            for address in _filled_in(template, known):
                following: str | None = address
                while following is not None:
                    following = self._list(client, name, following, known)
                for query in queries:
                    self._get(client, name, f"{address}{query}", kind="API answers", folder="api ")

    def _list(self, client: Client, name: str, address: str, known: dict[str, list[str]]) -> str | None:
        """Record what a list names, and return the address of its next page."""
        response = self._answer(client, name, address, kind="API answers", folder="api ")
        if response.status_code != 200 or not response.headers["Content-Type"].startswith("application/json"):
            return None
        body = response.json()
        path = address.partition("?")[0]
        places = {path, re.sub(r"studies/[^/]+/(?=exports/|releases/)", "", path)}
        for row in body.get("results", ()):
            for place in places:
                known[place].append(str(row.get("slug") or row.get("id") or row.get("username") or row.get("name")))
        return _inside(body["next"]) if body.get("next") else None

    def run_commands(self, folder: Path) -> None:
        """Write the help of every command, and the output of exports, reports and releases."""
        own = [name for name, app in get_commands().items() if "django" not in app and "allauth" not in app]
        for name in sorted(own):
            parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
            self._write("commands", f"{name} --help", parser.format_help(), kind="commands")
        for name in ("study_schema", "api_schema"):
            self._write("commands", name, output_of(name), kind="commands")
        for project, studies in RELEASED.items():
            for format in _formats("release"):
                for study in studies:
                    self._run(folder, "release", project, {"format": format, "study": study, "name": f"{study}-new"})
            for name in ("export", "report"):
                for format in _formats(name):
                    self._run(folder, name, project, {"format": format})

    def _run(self, folder: Path, command: str, project: str, options: dict[str, str]) -> None:
        called = " ".join([command, project, *options.values()])
        out = folder / quote(called, safe="")
        out.mkdir(parents=True)
        said = output_of(command, project, out=out, **options).replace(str(out), "OUT")
        self._write("commands", called, said, kind="commands")
        for path in sorted(out.rglob("*")):
            if path.is_file():
                shown = readable(path.read_bytes(), path.name)
                self._write("files", f"{called}/{path.relative_to(out)}", shown, kind="files")

    def _get(self, client: Client, name: str, path: str, *, kind: str, folder: str = "") -> list[str]:
        response = self._answer(client, name, path, kind=kind, folder=folder)
        return list(_links(response, path))

    def _answer(self, client: Client, name: str, path: str, *, kind: str, folder: str = "") -> Any:
        for dice in (self._dice, random):
            dice.seed(f"{name} {path}")
        response: Any = client.get(path)
        body = b"".join(response) if response.streaming else response.content
        # The ETag of a static file depends on the time of its checkout.
        left_out = HEADERS_LEFT_OUT | ({"ETag"} if path.startswith("/static/") else set())
        told = {key: value for key, value in response.items() if key not in left_out}
        headers = [f"{key}: {_ordered(value)}" for key, value in sorted(told.items())]
        cookies = [f"Set-Cookie: {cookie}" for cookie in sorted(response.cookies)]
        shown = readable(body, response.get("Content-Type", ""))
        head = [str(response.status_code), *headers, *cookies, ""]
        self._write(f"{folder}{name}", path, "\n".join([*head, shown]), kind=kind)
        return response

    def _write(self, folder: str, address: str, text: str, *, kind: str) -> None:
        for found, mask in self._masks.items():
            text = text.replace(found, mask)
        name = quote(address, safe="")
        if len(name) > 200:
            name = f"{name[:180]}-{hashlib.sha256(address.encode()).hexdigest()[:16]}"
        path = self.out / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{address}\n{text}", encoding="utf-8")
        self.counts[kind] += 1


def output_of(name: str, /, *arguments: str, **options: Any) -> str:
    """Return the output of a command, or its error message."""
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(io.StringIO()):
            call_command(name, *arguments, stdout=said, stderr=io.StringIO(), **options)
    except CommandError as error:
        said.write(f"refused: {error}")
    return said.getvalue()


def _ordered(header: str) -> str:
    """Return a header with its directives sorted, because the order in the security policy varies."""
    return "; ".join(sorted(header.split("; ")))


def _formats(command: str) -> list[str]:
    parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    (choices,) = (action.choices for action in parser._actions if action.dest == "format")
    return sorted(choices or ())


def _filled_in(template: str, known: dict[str, list[str]]) -> Iterator[str]:
    """Yield a template of addresses with each known value for its names."""
    before, name, after = re.fullmatch(r"(.*?)(?:\{(\w+)\}(.*))?", template).groups()  # type: ignore[union-attr]
    if name is None:
        yield template
        return
    for value in list(dict.fromkeys(known.get(before, ()))):
        yield from _filled_in(f"{before}{quote(value)}{after}", known)


def _route(path: str) -> str:
    try:
        return resolve(path.partition("?")[0]).route
    except Resolver404:
        return ""


def _most(route: str) -> float:
    if route.startswith("images/"):
        return MOST_PICTURES
    return MOST_OF_ADMIN if route.startswith("admin/") else float("inf")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == LINKS.get(tag) or name == "hx-get"):
                self.links.append(value)


def _links(response: Any, path: str) -> Iterator[str]:
    """Yield the site's addresses that an answer links to."""
    if "Location" in response:
        yield from _own([response["Location"]], path)
    if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
        page = _Page()
        page.feed(response.content.decode())
        yield from _own(page.links, path)


def _own(links: Iterable[str], path: str) -> Iterator[str]:
    for link in links:
        address = urljoin(f"{SITE}{path}", link)
        if address.startswith(f"{SITE}/"):
            yield _inside(address)


def _inside(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def readable(content: bytes, kind: str) -> str:
    """Return text that can be compared by line; `kind` is a media type or a file name."""
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _members((name, archive.read(name)) for name in archive.namelist())
    if kind.endswith((".tar", "/x-tar")):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            found = ((each.name, archive.extractfile(each)) for each in archive)
            return _members((name, file.read()) for name, file in found if file is not None)
    if content[:4] == b"PAR1":
        table = pyarrow.parquet.read_table(io.BytesIO(content))
        return "\n".join([str(table.schema), *(str(row) for row in table.to_pylist())])
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}"
    if kind.startswith("text/html") or kind.endswith(".html"):
        return _in_lines(CSRF.sub(r"\1\2TOKEN", text))
    with suppress(json.JSONDecodeError):
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    return text


def _members(files: Iterable[tuple[str, bytes]]) -> str:
    return "\n".join(f"== {name}\n{readable(content, name)}" for name, content in files)


def _in_lines(html: str) -> str:
    """Return HTML with each tag on a line of its own and without the white space that no browser shows."""
    parts = KEPT_AS_WRITTEN.split(html)
    parts[::2] = [re.sub(r"\s*(?=<)", "\n", re.sub(r"\s+", " ", part)) for part in parts[::2]]
    return "".join(parts)


def compare(old: Path, new: Path) -> int:
    """Print each difference once, with its number of answers; return how many answers differ."""
    olds, news = (_files(folder) for folder in (old, new))
    for title, names in (("only in the first", olds - news), ("only in the second", news - olds)):
        for name in sorted(names):
            print(f"{title}: {name.partition('/')[0]} {_text((old if name in olds else new) / name)[0]}")
    changes: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(olds & news):
        before, after = _text(old / name), _text(new / name)
        if before != after:
            lines = [line[:WIDTH_SHOWN] for line in difflib.unified_diff(before, after, n=0, lineterm="")][2:]
            shown = [line for line in lines if not line.startswith("@@")]
            rest = [f"... {len(shown) - LINES_SHOWN} more lines"] if len(shown) > LINES_SHOWN else []
            changes["\n".join(shown[:LINES_SHOWN] + rest)].append(f"{name.partition('/')[0]} {before[0]}")
    for change, where in sorted(changes.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(where)} differ so: {'; '.join(where[:3])}{'; ...' if len(where) > 3 else ''}\n{change}")
    differing = len(olds ^ news) + sum(map(len, changes.values()))
    print(f"{len(olds | news):,} answers, {differing:,} differ")
    return differing


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _text(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("fill", "record", "compare"))
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--checkout", type=Path, default=HERE, help="the work tree with the code to run")
    options = parser.parse_args(arguments)
    paths, started = [path.resolve() for path in options.paths], time.monotonic()
    first, second = (*paths, None) if options.command == "fill" else paths
    if second is None:
        fill(first, options.checkout.resolve())
    elif options.command == "record":
        record(first, second, options.checkout.resolve())
    else:
        raise SystemExit(1 if compare(first, second) else 0)
    print(f"{time.monotonic() - started:.0f} seconds")


if __name__ == "__main__":
    main()
