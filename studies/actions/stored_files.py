"""Store files whole or not at all."""

import os
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
