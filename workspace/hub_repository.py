"""Sends a folder to a dataset repository of the Hugging Face Hub, through the Hub's own library.

Large files go by Git LFS: of the Hub's two ways that is the one which a server of our own can stand in for in tests.
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from huggingface_hub import HfApi

logger = logging.getLogger(__name__)

# Who owns it and what it is called, as the Hub allows it: no two dots or dashes beside each other, none at an end.
_PART = r"(?!.*(?:--|\.\.))[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_REPOSITORY = re.compile(f"({_PART})/({_PART})")
_DATASET = "dataset"
# Of what the Hub says about a mistake.
MOST_WORDS = 300

# Told between two files how many bytes of how many have gone; may raise to stop.
Progress = Callable[[int, int], None]


class HubRefused(Exception):
    """Nothing, or not all, was pushed; the message is a sentence for whoever asked, without their token."""


@dataclass(frozen=True)
class Target:
    """Where a release goes. `private`: whether a repository that is not there yet is made private."""

    repository: str
    token: str
    private: bool
    tag: str


def is_repository(name: str) -> bool:
    """Tell whether a repository can be called so: OWNER/NAME."""
    return _REPOSITORY.fullmatch(name) is not None and not name.endswith(".git")


def push_folder(folder: Path, target: Target, progress: Progress) -> str:
    """Make the repository hold the files of `folder`, in one commit with a tag; return the address of the commit.

    What the repository has in the same folders, and `folder` has not, is deleted in that commit; whatever lies
    elsewhere stays. A repository that is as it should be already gets no other commit. Raises HubRefused.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError

    constants.HF_HUB_DISABLE_XET = True
    api = HfApi(endpoint=settings.HUB_URL, token=target.token, library_name="lineup")
    try:
        return _push(api, folder, target, progress)
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        # A RuntimeError is what the library makes of a file that did not go through; a ValueError, of an answer that
        # it does not understand.
        refused = error if isinstance(error, HfHubHTTPError) else error.__cause__
        if isinstance(refused, HfHubHTTPError):
            raise HubRefused(_in_words(refused, target)) from error
        logger.exception("a push to %s failed", settings.HUB_URL)
        raise HubRefused(f"{settings.HUB_URL} cannot be reached, or answers otherwise than the Hub.") from error


def _push(api: "HfApi", folder: Path, target: Target, progress: Progress) -> str:
    from httpx2 import HTTPError
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    repository: dict[str, Any] = {"repo_id": target.repository, "repo_type": _DATASET}
    # Asked first: a token for this repository alone may not make any.
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
    deleted = [CommitOperationDelete(name) for name in _left_over(there, [each.path_in_repo for each in added])]
    message = f"Release {target.tag}"
    commit = api.create_commit(**repository, operations=[*added, *deleted], commit_message=message)
    try:
        _tag(api, repository, target.tag, commit.oid)
    except (HTTPError, HfHubHTTPError):
        # What was pushed is there, and its address is what people need to know.
        logger.exception("a commit on %s has no tag", settings.HUB_URL)
    return f"{settings.HUB_URL}/datasets/{target.repository}/commit/{commit.oid}"


def _tag(api: "HfApi", repository: dict[str, Any], tag: str, commit: str) -> None:
    """Have the tag lead to the commit: a release that was written again without somebody is another commit by then."""
    found = {ref.name: ref.target_commit for ref in api.list_repo_refs(**repository).tags}
    if found.get(tag) == commit:
        return
    if tag in found:
        api.delete_tag(**repository, tag=tag)
    api.create_tag(**repository, tag=tag, revision=commit)


def _left_over(there: Sequence[str], ours: Sequence[str]) -> list[str]:
    """Return what lies in folders that are ours and is not ours: of a release before, say."""
    folders = {name.partition("/")[0] for name in ours if "/" in name}
    return sorted(name for name in there if name.partition("/")[0] in folders and name not in ours and "/" in name)


def _in_words(error: Any, target: Target) -> str:
    status = error.response.status_code if error.response is not None else 0
    if status == 401:
        return "The Hub does not know this token, or it has expired."
    if status == 403:
        return f"The Hub does not let this token write to {target.repository}."
    if status == 404:
        return f"The Hub has no {target.repository} that this token may write to."
    said = " ".join(str(error.server_message or "").replace(target.token, "…").split())[:MOST_WORDS]
    return f"The Hub answered {status}{f': {said}' if said else '.'}"
