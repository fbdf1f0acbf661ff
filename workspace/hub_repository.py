"""Push a folder to a repository of the Hugging Face Hub; read a dataset there without the Hub's library.

Reads trust the Hub with nothing: its library waits for as long, reads as much and goes as far as the Hub says.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from django.conf import settings

from background.hub_commits import HubRefused, Progress, Target, push_files
from studies.importing.archives import problem_with_path
from workspace.webhook_http import AddressRefused, NotReached, look_up

if TYPE_CHECKING:
    from httpx2 import Client, Response

logger = logging.getLogger(__name__)

_TABLES = (".parquet", ".csv", ".tsv", ".json", ".jsonl")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".zip")
# Files about a dataset.
_ABOUT = frozenset({"dataset_infos.json", "dataset_dict.json", "dataset_info.json", "state.json", "croissant.json"})
_SPLIT = re.compile(r"train|validation|valid|val|dev|test")
# Seconds that the Hub may be silent. After them it must have sent so many bytes a second.
SILENCE, SLOWEST = 30, 1000
# Bytes of the list of a dataset's files: some 200,000 files.
LARGEST_LIST = 64 << 20
MOST_REDIRECTS = 10
# What one of them unpacks to is at most a thousand times as large.
_ENCODINGS = frozenset({"", "identity", "gzip"})
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Source:
    """Where a dataset comes from. revision: branch, tag or commit, "" for the latest. folder: only files in it, "" for
    all. token: "" for a public dataset."""

    repository: str
    revision: str
    folder: str
    token: str


@dataclass(frozen=True)
class HubFile:
    """A file of a dataset with its size in bytes."""

    name: str
    size: int


def importable_files(files: Sequence[HubFile], source: Source) -> list[HubFile]:
    """Return the tables and pictures of a dataset: its Parquet files alone, if it has any. Raises HubRefused."""
    below = f"{source.folder}/" if source.folder else ""
    inside = [file for file in files if file.name.startswith(below) and not _is_about(file.name)]
    tables = [file for file in inside if file.name.lower().endswith(_TABLES)]
    pictures = [file for file in inside if file.name.lower().endswith(PICTURES)]
    for file in (*tables, *pictures):
        if problem := problem_with_path(file.name):
            raise HubRefused(f"The file {file.name[:100]!r} of {source.repository} cannot be stored. {problem}")
    if not tables:
        where = f"The folder {source.folder} of {source.repository}" if source.folder else source.repository
        script = " It is a script, which is not run here." if any(file.name.endswith(".py") for file in files) else ""
        raise HubRefused(f"{where} has no CSV, TSV, JSON, JSON lines or Parquet file.{script}")
    folders = sorted(
        {file.name.removeprefix(below).partition("/")[0] for file in tables if "/" in file.name[len(below) :]}
    )
    others = [folder for folder in folders if not _SPLIT.fullmatch(folder)]
    if len(folders) > 1 and others:
        raise HubRefused(f"{source.repository} has tables in several folders. Name one: {', '.join(folders[:20])}.")
    if parquet := [file for file in tables if file.name.lower().endswith(".parquet")]:
        return parquet
    return [*tables, *pictures]


def _is_about(name: str) -> bool:
    """Whether a file is about a dataset and not part of it."""
    return any(part.startswith(".") for part in name.split("/")) or name.rpartition("/")[2] in _ABOUT


class HubUnavailable(HubRefused):
    """The Hub did not answer, or broke off. `wait`: seconds after which it asks to be asked again."""

    def __init__(self, message: str, wait: int = 0) -> None:
        super().__init__(message)
        self.wait = wait


class Body:
    """What the Hub sends, as far as it is read. `tick`: called with the bytes received so far; may raise to stop."""

    def __init__(self, response: "Response", skipped: int, start: int, tick: Callable[[int], None]) -> None:
        self._chunks = response.iter_bytes()
        self._buffer = bytearray()
        self._skipped, self._tick = skipped, tick
        self._have, self._sent, self._began = start, 0, monotonic()

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes, fewer at the end. Raises HubUnavailable if they come too slowly."""
        while len(self._buffer) < size and (chunk := next(self._chunks, b"")):
            self._sent += len(chunk)
            kept = chunk[self._skipped :]
            self._skipped -= len(chunk) - len(kept)
            self._buffer += kept
            self._have += len(kept)
            self._tick(self._have)
            seconds = monotonic() - self._began
            if seconds > SILENCE and self._sent < seconds * SLOWEST:
                raise HubUnavailable(f"The Hub sends less than {SLOWEST:,} bytes a second. Try again later.")
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


class HubReader:
    """Reads a dataset of the Hub."""

    def __init__(self, source: Source, client: "Client") -> None:
        self._source, self._client = source, client

    def list_files(self, tick: Callable[[int], None]) -> tuple[str, list[HubFile]]:
        """Return the commit of the dataset, and the tables and pictures in its folder. Raises HubRefused."""
        source = self._source
        revision = f"/revision/{quote(source.revision, safe='')}" if source.revision else ""
        with self._get(f"/api/datasets/{source.repository}{revision}?blobs=true", 0, tick) as body:
            text = body.read(LARGEST_LIST + 1)
        if len(text) > LARGEST_LIST:
            raise HubRefused(f"{source.repository} has too many files to be downloaded. Import it on the server.")
        commit, files = _files_in(text)
        return commit, importable_files(files, source)

    @contextmanager
    def open(self, commit: str, name: str, start: int, tick: Callable[[int], None]) -> Iterator[Body]:
        """Open a file of the dataset from byte `start` on. Raises HubRefused."""
        address = f"/datasets/{self._source.repository}/resolve/{commit}/{quote(name)}"
        with self._get(address, start, tick, name) as body:
            yield body

    @contextmanager
    def _get(self, address: str, start: int, tick: Callable[[int], None], name: str = "") -> Iterator[Body]:
        from httpx2 import HTTPError, InvalidURL, TransportError

        url = f"{settings.HUB_URL}{address}"
        try:
            for _ in range(MOST_REDIRECTS):
                with self._client.stream("GET", url, headers=self._headers(url, start)) as response:
                    if not response.has_redirect_location:
                        if response.status_code >= 300:
                            raise self._refusal(response, name)
                        if response.headers.get("Content-Encoding", "") not in _ENCODINGS:
                            raise _unlike_the_hub()
                        skipped = 0 if response.status_code == 206 else start
                        yield Body(response, skipped, start, tick)
                        return
                    url = _redirect_target(url, response.headers["Location"])
            raise HubRefused(f"{settings.HUB_URL} redirects without end. Try again later.")
        except TransportError as error:
            logger.warning("a download from %s broke off: %s", settings.HUB_URL, type(error).__name__)
            raise HubUnavailable(
                f"{settings.HUB_URL} cannot be reached, or closed the connection. Try again later."
            ) from error
        except (HTTPError, InvalidURL, ValueError) as error:
            # The client raises ValueError for some redirects to nowhere.
            raise _unlike_the_hub() from error

    def _headers(self, url: str, start: int) -> dict[str, str]:
        headers = {"User-Agent": "lineup", "Accept-Encoding": "identity"}
        if self._source.token and _origin(url) == _origin(settings.HUB_URL):
            headers["Authorization"] = f"Bearer {self._source.token}"
        if start:
            headers["Range"] = f"bytes={start}-"
        return headers

    def _refusal(self, response: "Response", name: str) -> HubRefused:
        status, code = response.status_code, response.headers.get("X-Error-Code")
        source = self._source
        if code == "RevisionNotFound":
            return HubRefused(f"{source.repository} has no revision {source.revision}.")
        if code == "GatedRepo":
            page = f"{settings.HUB_URL}/datasets/{source.repository}"
            return HubRefused(f"Accept the terms of this dataset at {page}, then download it with your token.")
        if name and status == 404:
            return HubRefused(
                f"The Hub lists the file {name} of {source.repository}, but does not have it. Try again later."
            )
        if status in {401, 403, 404}:
            known = (
                "with this token. Check the name and the token" if source.token else "without a token. Check the name"
            )
            return HubRefused(f"The Hub has no dataset {source.repository} that can be read {known}.")
        if status in {408, 429} or status >= 500:
            asked = response.headers.get("Retry-After", "")
            wait = min(int(asked[:6]), 86_400) if asked.isdecimal() else 0
            when = f"in {-(-wait // 60)} minutes" if wait > 60 else "later"
            return HubUnavailable(f"The Hub answered {status}. Try again {when}.", wait)
        return HubRefused(f"The Hub answered {status}. Try again later.")


@contextmanager
def open_reader(source: Source) -> Iterator[HubReader]:
    """Yield a reader of a dataset with separate connections, so that it shares no cookies."""
    from httpx2 import Client

    with Client(timeout=SILENCE, follow_redirects=False) as client:
        yield HubReader(source, client)


def _files_in(text: bytes) -> tuple[str, list[HubFile]]:
    """Return the commit and the files with content that the Hub lists. Raises HubRefused."""
    try:
        told = json.loads(text)
        commit = told["sha"]
        files = {each["rfilename"]: HubFile(each["rfilename"], each["size"]) for each in told["siblings"]}
        is_like_the_hub = _COMMIT.fullmatch(commit) and len(files) == len(told["siblings"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _unlike_the_hub() from error
    if not is_like_the_hub or not all(
        isinstance(file.name, str) and type(file.size) is int and file.size >= 0 for file in files.values()
    ):
        raise _unlike_the_hub()
    return commit, [file for file in files.values() if file.size]


def _redirect_target(url: str, location: str) -> str:
    """Return where the Hub redirects to: to itself, or to a server of the open network. Raises HubRefused."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _unlike_the_hub() from error
    if _origin(target) == _origin(settings.HUB_URL):
        return target
    if not host or parts.scheme not in {"https", urlsplit(settings.HUB_URL).scheme}:
        raise _unlike_the_hub()
    try:
        look_up(host, port or (443 if parts.scheme == "https" else 80))
    except AddressRefused as error:
        raise HubRefused(f"The Hub redirects to another server. {error}") from error
    except NotReached:
        # A proxy may know it.
        pass
    return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _unlike_the_hub() -> HubRefused:
    return HubRefused(
        f"{settings.HUB_URL} does not respond like the Hugging Face Hub. Try again later. If this "
        "continues, tell your administrator."
    )


def push_folder(folder: Path, target: Target, progress: Progress) -> str:
    """Make the repository hold the files of `folder`; return the commit's URL. Raises HubRefused."""
    return push_files(settings.HUB_URL, folder, target, progress)
