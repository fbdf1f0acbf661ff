"""Push a folder to a dataset repository of the Hugging Face Hub, through the Hub's own library; read one without it.

Pushes of large files use Git LFS: of the Hub's two protocols, the one that a test server can imitate. Reads trust the
Hub with nothing: its library waits for as long, reads as much and goes as far as the Hub says.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from django.conf import settings

from studies.importing.archives import problem_with_path
from workspace.webhook_http import AddressRefused, NotReached, look_up

if TYPE_CHECKING:
    from httpx2 import Client, Response
    from huggingface_hub import HfApi

logger = logging.getLogger(__name__)

# The Hub's rule for owner and name: no two dots or dashes in a row, none at an end.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_REPOSITORY = re.compile(f"({_PART})/({_PART})")
_DATASET = "dataset"
_TABLES = (".parquet", ".csv", ".tsv", ".json", ".jsonl")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".zip")
# Files about a dataset.
_ABOUT = frozenset({"dataset_infos.json", "dataset_dict.json", "dataset_info.json", "state.json", "croissant.json"})
_SPLIT = re.compile(r"train|validation|valid|val|dev|test")
# Characters of the Hub's error message.
MOST_WORDS = 300
# Seconds that the Hub may be silent. After them it must have sent so many bytes a second.
SILENCE, SLOWEST = 30, 1000
# Bytes of the list of a dataset's files: some 200,000 files.
LARGEST_LIST = 64 << 20
MOST_REDIRECTS = 10
# What one of them unpacks to is at most a thousand times as large.
_ENCODINGS = frozenset({"", "identity", "gzip"})
_COMMIT = re.compile(r"[0-9a-f]{40}")

# Called between files with bytes done and in all; may raise to stop.
Progress = Callable[[int, int], None]


class HubRefused(Exception):
    """Not everything was pushed or read; the message is a sentence for the user, without the token."""


@dataclass(frozen=True)
class Target:
    """Where a release goes. `private`: whether a repository that does not exist yet is created private."""

    repository: str
    token: str
    private: bool
    tag: str


def is_repository(name: str) -> bool:
    """Return whether a repository may have this name: OWNER/NAME."""
    return _REPOSITORY.fullmatch(name) is not None and not name.endswith(".git")


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
    """Make the repository hold the files of `folder`, in one commit with a tag; return the commit's URL.

    The same commit deletes other files in the same folders of the repository; files elsewhere stay. A repository that
    is already up to date gets no commit. Raises HubRefused.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError

    constants.HF_HUB_DISABLE_XET = True
    api = HfApi(endpoint=settings.HUB_URL, token=target.token, library_name="lineup")
    try:
        return _push(api, folder, target, progress)
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        # The library raises RuntimeError if a file did not get through, and ValueError for a response that it does not
        # understand.
        refused = error if isinstance(error, HfHubHTTPError) else error.__cause__
        if isinstance(refused, HfHubHTTPError):
            raise HubRefused(_error_sentence(refused, target)) from error
        logger.exception("a push to %s failed", settings.HUB_URL)
        raise HubRefused(
            f"{settings.HUB_URL} cannot be reached, or does not respond like the Hugging Face Hub."
        ) from error


def _push(api: "HfApi", folder: Path, target: Target, progress: Progress) -> str:
    from httpx2 import HTTPError
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    repository: dict[str, Any] = {"repo_id": target.repository, "repo_type": _DATASET}
    # Look first: a token for this repository alone may not create any.
    if not api.repo_exists(**repository):
        api.create_repo(**repository, private=target.private, exist_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for path in files]
    added = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
    for done, (operation, _) in enumerate(zip(added, sizes, strict=True)):
        progress(sum(sizes[:done]), sum(sizes))
        api.preupload_lfs_files(**repository, additions=[operation], num_threads=1)
    progress(sum(sizes), sum(sizes))
    there = api.list_repo_files(**repository)
    deleted = [CommitOperationDelete(name) for name in _stale_files(there, [each.path_in_repo for each in added])]
    message = f"Release {target.tag}"
    commit = api.create_commit(**repository, operations=[*added, *deleted], commit_message=message)
    try:
        _tag(api, repository, target.tag, commit.oid)
    except (HTTPError, HfHubHTTPError):
        # The files are public by now, and people need their address.
        logger.exception("a commit on %s has no tag", settings.HUB_URL)
    return f"{settings.HUB_URL}/datasets/{target.repository}/commit/{commit.oid}"


def _tag(api: "HfApi", repository: dict[str, Any], tag: str, commit: str) -> None:
    """Move the tag to the commit: rewriting a release without a person makes another commit."""
    found = {ref.name: ref.target_commit for ref in api.list_repo_refs(**repository).tags}
    if found.get(tag) == commit:
        return
    if tag in found:
        api.delete_tag(**repository, tag=tag)
    api.create_tag(**repository, tag=tag, revision=commit)


def _stale_files(there: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Return files in our folders that are not ours, for example of an earlier release."""
    folders = {name.partition("/")[0] for name in ours if "/" in name}
    return sorted(name for name in there if name.partition("/")[0] in folders and name not in ours and "/" in name)


def _error_sentence(error: Any, target: Target) -> str:
    status = error.response.status_code if error.response is not None else 0
    if status == 401:
        return "The Hub rejected the token: it is unknown or expired. Use a new one."
    if status == 403:
        return f"The Hub does not let this token write to {target.repository}."
    if status == 404:
        return f"The Hub has no {target.repository} that this token may write to."
    said = " ".join(str(error.server_message or "").replace(target.token, "…").split())[:MOST_WORDS]
    return f"The Hub answered {status}{f': {said}' if said else '.'}"
