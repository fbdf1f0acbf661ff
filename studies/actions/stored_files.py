"""Store files whole or not at all, and list them."""

import os
from collections.abc import Iterator
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage


def save_whole(name: str, content: File[Any]) -> str:
    """Store `content` under `name` with a random addition; return the whole name. A full disk leaves no file."""
    # Nobody else has this name, so what is deleted is ours.
    own = default_storage.get_alternative_name(*os.path.splitext(name))
    try:
        return default_storage.save(own, content)
    except BaseException:
        default_storage.delete(own)
        raise


def stored_files(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each folder in `root`, with the names of its files in the storage."""
    try:
        folders, _ = default_storage.listdir(root)
    except FileNotFoundError:
        return
    for folder in folders:
        _, files = default_storage.listdir(f"{root}/{folder}")
        yield folder, [f"{root}/{folder}/{file}" for file in files]
