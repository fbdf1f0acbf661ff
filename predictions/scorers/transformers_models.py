"""Code shared by scorers that use Hugging Face's transformers: identity, processor settings, load errors.

Importing this module does not import transformers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import CannotLoad, ModelIdentity, OutOfMemory, first_line
from predictions.scorers.torch_models import digest_of_weights


def libraries_on(device: Any) -> str:
    """Return what a model of transformers runs on, for people: libraries with their versions, and the kind of device.

    Example: "transformers 5.0.0, torch 2.13.0 on cuda".
    """
    return f"transformers {version('transformers')}, torch {version('torch')} on {device.type}"


class Preprocessing:
    """An image processor in two steps: images become 8-bit pixels in threads, and are normalized on the device.

    If a processor does not give the same in two steps, which is tried on a made-up image, it is used as it is.
    """

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        self.in_two_steps = True
        self.in_two_steps = self._can_do_two_steps()

    def pixels(self, picture: Image.Image) -> NDArray[Any]:
        """Return the pixels of an image: 8-bit numbers in two steps, else as the model takes it."""
        steps = {"do_rescale": False, "do_normalize": False} if self.in_two_steps else {}
        pixels: NDArray[Any] = np.asarray(
            self.processor(images=picture, return_tensors="pt", **steps)["pixel_values"][0]
        )
        return pixels

    def normalize(self, pixels: Any) -> Any:
        """Return a tensor of 8-bit pixels, on any device, as the model takes it."""
        known = self.processor
        return known.rescale_and_normalize(
            pixels,
            do_rescale=known.do_rescale,
            rescale_factor=known.rescale_factor,
            do_normalize=known.do_normalize,
            image_mean=tuple(known.image_mean),
            image_std=tuple(known.image_std),
        )

    def _can_do_two_steps(self) -> bool:
        import torch

        picture = Image.fromarray(np.random.default_rng(1).integers(0, 256, (60, 80, 3), dtype=np.uint8))
        expected = self.processor(images=picture, return_tensors="pt")["pixel_values"]
        # Each processor without two steps fails in its own way.
        try:
            pixels = torch.from_numpy(self.pixels(picture))[None]
            return bool(pixels.dtype == torch.uint8 and torch.equal(self.normalize(pixels), expected))
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            return False


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
