"""Push a folder to a dataset repository of the Hugging Face Hub, through the Hub's own library.

Large files use Git LFS: of the Hub's two protocols, the one that a test server can imitate.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from huggingface_hub import HfApi

logger = logging.getLogger(__name__)

# The Hub's rule for owner and name: no two dots or dashes in a row, none at an end.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_REPOSITORY = re.compile(f"({_PART})/({_PART})")
_DATASET = "dataset"
_TABLES = (".parquet", ".csv", ".tsv", ".json", ".jsonl")
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".zip")
# Files about a dataset.
_ABOUT = frozenset({"dataset_infos.json", "dataset_dict.json", "dataset_info.json", "state.json", "croissant.json"})
_SPLIT = re.compile(r"train|validation|valid|val|dev|test")
# Characters of the Hub's error message.
MOST_WORDS = 300

# Called between files with bytes done and in all; may raise to stop.
Progress = Callable[[int, int], None]


class HubRefused(Exception):
    """Nothing, or not everything, was pushed; the message is a sentence for the user, without the token."""


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


def list_files(source: Source) -> tuple[str, list[HubFile]]:
    """Return the commit of a dataset, and the tables and pictures in its folder. Raises HubRefused."""
    with _refusals(source):
        info = _api(source.token).dataset_info(source.repository, revision=source.revision or None, files_metadata=True)
    files = [HubFile(each.rfilename, each.size or 0) for each in info.siblings or ()]
    return info.sha or "", importable_files(files, source)


def importable_files(files: Sequence[HubFile], source: Source) -> list[HubFile]:
    """Return the tables and pictures of a dataset: its Parquet files alone, if it has any. Raises HubRefused."""
    below = f"{source.folder}/" if source.folder else ""
    inside = [file for file in files if file.name.startswith(below) and not _is_about(file.name)]
    tables = [file for file in inside if file.name.lower().endswith(_TABLES)]
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
    return [*tables, *(file for file in inside if file.name.lower().endswith(_PICTURES))]


def _is_about(name: str) -> bool:
    """Whether a file is about a dataset and not part of it."""
    return any(part.startswith(".") for part in name.split("/")) or name.rpartition("/")[2] in _ABOUT


def download_file(source: Source, commit: str, name: str, folder: Path) -> Path:
    """Download one file of a dataset into `folder`; return where it lies. Raises HubRefused."""
    with _refusals(source):
        path = _api(source.token).hf_hub_download(
            source.repository, name, repo_type=_DATASET, revision=commit, local_dir=folder
        )
    return Path(path)


def _api(token: str) -> "HfApi":
    from huggingface_hub import HfApi, constants

    constants.HF_HUB_DISABLE_XET = True
    # Without a token of its own, that of whoever runs the server would be sent.
    return HfApi(endpoint=settings.HUB_URL, token=token or False, library_name="lineup")


@contextmanager
def _refusals(source: Source) -> Iterator[None]:
    """Turn errors of the library into HubRefused."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError, RevisionNotFoundError

    try:
        yield
    except RevisionNotFoundError as error:
        raise HubRefused(f"{source.repository} has no revision {source.revision}.") from error
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        refused = error if isinstance(error, HfHubHTTPError) else error.__cause__
        status = refused.response.status_code if isinstance(refused, HfHubHTTPError) and refused.response else 0
        if status in {401, 403, 404}:
            raise HubRefused(
                f"The Hub has no dataset {source.repository} that can be read "
                f"{'with this token' if source.token else 'without a token'}."
            ) from error
        if isinstance(refused, HfHubHTTPError):
            raise HubRefused(f"The Hub answered {status}. Try again later.") from error
        logger.exception("a download from %s failed", settings.HUB_URL)
        raise HubRefused(f"{settings.HUB_URL} cannot be reached, or answers otherwise than the Hub.") from error


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
        raise HubRefused(f"{settings.HUB_URL} cannot be reached, or answers otherwise than the Hub.") from error


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
        return "The Hub does not know this token, or it has expired."
    if status == 403:
        return f"The Hub does not let this token write to {target.repository}."
    if status == 404:
        return f"The Hub has no {target.repository} that this token may write to."
    said = " ".join(str(error.server_message or "").replace(target.token, "…").split())[:MOST_WORDS]
    return f"The Hub answered {status}{f': {said}' if said else '.'}"
