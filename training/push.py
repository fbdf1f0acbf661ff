"""Push the weights of a trained model to the Hugging Face Hub, from the worker that has them. Pure.

The token comes from the site when it is needed, is never stored here, and is in no message and no log.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from background.hub_commits import MODEL, Target, push_files
from predictions.trained_models import PREFIX, path_of
from training.messages import PushOrder
from training.site_client import Stopped, fetch_push, is_push_wanted


class CannotPush(Exception):
    """The weights cannot be pushed; the message is for people and says what to do."""


@dataclass(frozen=True)
class Contents:
    """What the site tells of a push. `spec`: of the model, whose files are pushed. `name`: of the model."""

    hub: str
    repository: str
    private: bool
    token: str = field(repr=False)
    spec: str
    name: str


def push_weights(order: PushOrder) -> str:
    """Push the files of the model of an order; return the commit's URL. Raises CannotPush, HubRefused and Stopped."""
    contents = Contents(**fetch_push(order))

    def progress(done: int, total: int) -> None:
        if not is_push_wanted(order):
            raise Stopped

    message = f"Weights of {contents.name}"
    target = Target(contents.repository, contents.token, contents.private, "", MODEL, message)
    with tempfile.TemporaryDirectory() as folder:
        _link_files(_path_of(contents.spec), Path(folder))
        return push_files(contents.hub, Path(folder), target, progress)


def _path_of(spec: str) -> Path:
    """Return where the files of a trained model are here. Raises CannotPush."""
    path = Path(path_of(spec[spec.index(PREFIX) :]))
    if not path.exists():
        raise CannotPush(
            "The worker that was asked does not have these weights. Share the folder LINEUP_TRAINED among workers, and "
            "push again."
        )
    return path


def _link_files(path: Path, folder: Path) -> None:
    """Put what is pushed into `folder`: the file of a model or, of one that is a folder, its content."""
    if path.is_dir():
        for each in path.iterdir():
            (folder / each.name).symlink_to(each)
    else:
        (folder / path.name).symlink_to(path)
