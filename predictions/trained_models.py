"""The folder of trained models on a worker's machine, and their names in specs. Pure.

The rest of a spec names a trained model as `trained:FOLDER/NAME`, where FOLDER is in the folder of trained models, and
NAME what it holds: a file, or the folder of a model. So it can name nothing else on the machine.
"""

import re
from pathlib import Path

from predictions.worker_settings import read

PREFIX = "trained:"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def trained_folder() -> Path:
    """Return the folder of all trained models, as the worker's settings say."""
    data = Path(read("DATA_DIR", str(Path(__file__).resolve().parent.parent / "var")))
    return Path(read("LINEUP_TRAINED", str(data / "trained")))


def folder_of(name: str) -> Path:
    """Return the folder called `name` in that of trained models; it may not exist. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a folder of trained models.")
    return trained_folder() / name


def path_of(weights: str) -> str:
    """Return the path of what a spec names as `trained:...`, and anything else as it is. Raises ValueError."""
    if not weights.startswith(PREFIX):
        return weights
    folder, _, name = weights.removeprefix(PREFIX).partition("/")
    if not _FILE.fullmatch(name):
        raise ValueError(f"{weights} cannot name a trained model. Write trained:FOLDER/NAME.")
    return str(folder_of(folder) / name)
