"""Settings of workers with models, by environment. Pure."""

import os
from collections.abc import Mapping
from pathlib import Path


class CannotStart(Exception):
    """A setting is invalid; the message says what to write."""


def read(name: str, default: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return a setting, or the content of the file that NAME_FILE names. Raises CannotStart."""
    if name in environment or f"{name}_FILE" not in environment:
        return environment.get(name, default)
    file = Path(environment[f"{name}_FILE"])
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise CannotStart(f"{name}_FILE names {file}, which cannot be read ({error.strerror}).") from error
