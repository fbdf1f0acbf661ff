"""Code shared by scorers that use Hugging Face's transformers: identity, processor settings, load errors.

Importing this module does not import transformers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from predictions.scorers.base import CannotLoad, ModelIdentity, OutOfMemory, first_line
from predictions.scorers.torch_models import digest_of_weights


def identity_of(rest: str, model: Any) -> ModelIdentity:
    """Return the identity of a model: its name on the hub with the commit, or the name of its folder."""
    folder = Path(rest)
    return ModelIdentity(
        (folder.name if folder.is_dir() else rest)[:100],
        str(getattr(model.config, "_commit_hash", None) or "")[:100],
        digest_of_weights(model.state_dict()),
    )


def steps_of(processor: Any) -> dict[str, Any]:
    """Return the settings of an image processor as plain JSON."""
    steps = {name: value for name, value in processor.to_dict().items() if _is_plain(value)}
    # A round trip through JSON turns tuples into lists.
    plain: dict[str, Any] = json.loads(json.dumps(steps, default=str))
    return plain


def _is_plain(value: Any) -> bool:
    return value is not None and isinstance(value, bool | int | float | str | list | tuple | dict)


@contextmanager
def report_load_errors(rest: str) -> Iterator[None]:
    """Raise CannotLoad for any error of a download or a damaged file in the block."""
    try:
        yield
    except CannotLoad:
        raise
    except OutOfMemory as error:
        raise CannotLoad(f"{rest} does not fit into the memory of the worker. Use a larger device.") from error
    except Exception as error:
        raise CannotLoad(
            f"{rest} cannot be loaded ({first_line(error)}). Write a name of Hugging Face's hub, or a folder on the "
            "worker's machine."
        ) from error


def check_nothing_is_missing(rest: str, told: dict[str, Any], which: str) -> None:
    """Raise CannotLoad if weights are missing from the file; `which` says which models can be used."""
    if told["missing_keys"]:
        missing = ", ".join(sorted(told["missing_keys"])[:3])
        raise CannotLoad(f"{rest} lacks required weights ({missing}). {which}")
