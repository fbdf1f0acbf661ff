"""What scorers that run on torch share: the device, the weights' identity, memory that does not suffice, versions.

Nothing here imports torch before it is called.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from predictions.scorers.base import OutOfMemory

# Pictures in a batch. On a GPU as many as keep it busy; halved where they do not fit.
BATCH_ON_GPU, BATCH_ON_CPU = 256, 16


def device_of_this_machine() -> Any:
    """Return the torch.device to compute on: the GPU that the process sees first, else the CPU."""
    import torch

    return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def usual_batch(device: Any) -> int:
    return BATCH_ON_CPU if device.type == "cpu" else BATCH_ON_GPU


def digest_of_weights(state: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hexadecimal, of a state dict: of every tensor by its name, with its type and shape.

    The same numbers have the same digest whatever file they came from, and in whatever order it lists them.
    """
    import torch

    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name]
        if not isinstance(tensor, torch.Tensor):
            continue
        digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        # The bytes as they are: numpy does not know every type of torch's.
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def facts_of(device: Any, dtype: Any, *libraries: str) -> dict[str, Any]:
    """Return what is to be known of scores computed on `device` with numbers of `dtype`, plain JSON."""
    import torch

    name = "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)
    versions = {library: version(library) for library in ("torch", *libraries)}
    return {"device": name, "dtype": str(dtype).removeprefix("torch."), "libraries": versions}


@contextmanager
def memory_that_may_not_suffice() -> Iterator[None]:
    """Compute without gradients; raises OutOfMemory for what torch raises when a device has no memory left."""
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.cuda.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise OutOfMemory from error
    except RuntimeError as error:
        # What the CPU's allocator says.
        if "not enough memory" in str(error) or "can't allocate memory" in str(error):
            raise OutOfMemory from error
        raise
