"""Send files to a repository of the Hugging Face Hub in one commit, through the Hub's own library. Pure.

Large files go by Git LFS: of the Hub's two protocols, the one that a test server can imitate. A file that the Hub
already has is not sent again, so that a push that broke off goes on where it was.
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from huggingface_hub import HfApi

logger = logging.getLogger(__name__)

# The Hub's rule for owner and name: no two dots or dashes in a row, none at an end.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_REPOSITORY = re.compile(f"({_PART})/({_PART})")
DATASET, MODEL = "dataset", "model"
# Characters of the Hub's error message.
MOST_WORDS = 300

# Called between files with bytes done and in all; may raise to stop.
Progress = Callable[[int, int], None]


class HubRefused(Exception):
    """Not everything was pushed or read; the message is a sentence for the user, without the token."""


@dataclass(frozen=True)
class Target:
    """Where files go. `private`: whether a repository that does not exist yet is created private.

    `kind`: of the repository, DATASET or MODEL. `tag`: of the commit, "" for none. `message`: of the commit.
    """

    repository: str
    token: str
    private: bool
    tag: str
    kind: str = DATASET
    message: str = ""

    @property
    def page(self) -> str:
        """The path of its page on the Hub."""
        return f"datasets/{self.repository}" if self.kind == DATASET else self.repository


def is_repository(name: str) -> bool:
    """Return whether a repository may have this name: OWNER/NAME."""
    return _REPOSITORY.fullmatch(name) is not None and not name.endswith(".git")


def push_files(hub: str, folder: Path, target: Target, progress: Progress) -> str:
    """Make the repository hold the files of `folder`, in one commit with a tag; return the commit's URL.

    The same commit deletes other files in the same folders of the repository; files elsewhere stay. A repository that
    is already up to date gets no commit. `hub`: address of the Hub. Raises HubRefused.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError

    constants.HF_HUB_DISABLE_XET = True
    api = HfApi(endpoint=hub, token=target.token, library_name="lineup")
    try:
        return _push(hub, api, folder, target, progress)
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        # The library raises RuntimeError if a file did not get through, and ValueError for a response that it does not
        # understand.
        refused = error if isinstance(error, HfHubHTTPError) else error.__cause__
        if isinstance(refused, HfHubHTTPError):
            raise HubRefused(_error_sentence(refused, target)) from error
        logger.exception("a push to %s failed", hub)
        raise HubRefused(f"{hub} cannot be reached, or does not respond like the Hugging Face Hub.") from error


def _push(hub: str, api: "HfApi", folder: Path, target: Target, progress: Progress) -> str:
    from httpx2 import HTTPError
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    repository: dict[str, Any] = {"repo_id": target.repository, "repo_type": target.kind}
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
    message = target.message or f"Release {target.tag}"
    commit = api.create_commit(**repository, operations=[*added, *deleted], commit_message=message)
    try:
        if target.tag:
            _tag(api, repository, target.tag, commit.oid)
    except (HTTPError, HfHubHTTPError):
        # The files are public by now, and people need their address.
        logger.exception("a commit on %s has no tag", hub)
    return f"{hub}/{target.page}/commit/{commit.oid}"


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
