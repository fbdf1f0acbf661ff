"""Code shared by scorers that run on torch: the device, digests of weights, memory errors, versions.

Importing this module does not import torch.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from importlib.metadata import version
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictions.scorers.base import ModelIdentity, OutOfMemory
from predictions.scorers.batches import BatchedScorer

T = TypeVar("T", bound=Any)
# Large enough to keep a GPU busy; halved if memory is short.
BATCH_ON_GPU, BATCH_ON_CPU = 256, 16
# The largest relative rounding error of 16-bit types: half a unit in the last place, of 11 bits and of 8.
ROUNDING: Mapping[str, float] = {"float16": 2**-11, "bfloat16": 2**-8}
# What torch says on a CPU that is out of memory: its allocator (by operating system), C++, and oneDNN, whose "could not
# create a primitive descriptor" means something else.
SHORT_MEMORY = re.compile(
    r"not enough memory|can't allocate memory|bad_?alloc|could not create a (memory\b|primitive\b(?! descriptor))"
)


def device_of_this_machine() -> Any:
    """Return the torch.device to compute on: the first visible GPU, else the CPU.

    Turns TF32 off: by default torch convolves in 19-bit numbers on a GPU.
    """
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class TorchDevice:
    """A device of torch. `device`: a torch.device.

    For a GPU, batches are gathered in pinned memory and copied by a stream of their own, beside its computations.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        self._stream: Any = None

    def buffer(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        import torch

        plain = np.empty(shape, dtype)
        if self._device.type == "cpu":
            return plain
        pinned: NDArray[Any] = torch.empty(shape, dtype=torch.from_numpy(plain).dtype, pin_memory=True).numpy()
        return pinned

    def place(self, batch: NDArray[Any]) -> Any:
        import torch

        if self._device.type == "cpu":
            return torch.from_numpy(batch)
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)
        with report_short_memory(), torch.cuda.stream(self._stream):
            rows = torch.from_numpy(batch).to(self._device, non_blocking=True)
        # Whoever computes with it uses the usual stream, which the allocator of memory has to know.
        rows.record_stream(torch.cuda.default_stream(self._device))
        self._stream.synchronize()
        return rows


def usual_batch(device: Any) -> int:
    return BATCH_ON_CPU if device.type == "cpu" else BATCH_ON_GPU


def digest_of_weights(state: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hexadecimal, of a state dict: the name, type, shape and values of every tensor.

    It does not depend on the file format or the order of the tensors. Other entries are ignored.
    """
    import torch

    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name]
        if not isinstance(tensor, torch.Tensor):
            continue
        digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        # Raw bytes, because NumPy lacks some of torch's types.
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


class _HalfPrecisionWeights:
    """Comes before a layer's class and returns its weight from 16-bit storage."""

    # In a tuple, or torch would register it as a parameter.
    kept: tuple[Any]

    @property
    def weight(self) -> Any:
        import torch

        (half,) = self.kept
        return half if torch.is_autocast_enabled(half.device.type) else half.float()


class _HalfPrecisionTable(_HalfPrecisionWeights):
    """Convert only the rows of a table that are looked up to float32."""

    padding_idx: Any

    def forward(self, input: Any) -> Any:
        import torch

        return torch.nn.functional.embedding(input, self.kept[0], self.padding_idx).float()


def keep_in_half(model: Any, device: Any) -> str:
    """Store a model's matrices in 16 bits on `device` where that is exact, and move the rest there.

    Returns the type of most matrices, "" if none. Large models are published in 16 bits, so nothing is lost.
    Computation stays the same: in autocast, products use the 16 bits directly; otherwise a matrix is converted to
    float32 when it is needed. Other numbers (norms, biases) and the model's declared type stay float32. The matrices
    are no longer parameters, so take the digest of the weights before.
    """
    import torch

    packed = {
        torch.nn.Linear: type("Linear", (_HalfPrecisionWeights, torch.nn.Linear), {}),
        torch.nn.Embedding: type("Embedding", (_HalfPrecisionTable, torch.nn.Embedding), {}),
    }
    layers = [layer for layer in model.modules() if type(layer) in packed]
    # Weights shared with other layers stay as they are, because their code may use them in any way.
    others = (layer for layer in model.modules() if type(layer) not in packed)
    elsewhere = {id(numbers) for layer in others for numbers in layer.parameters(recurse=False)}
    found: dict[int, Any] = {}
    for layer in layers:
        whole = layer._parameters.get("weight")
        if whole is None or id(whole) in elsewhere:
            continue
        if id(whole) not in found:
            found[id(whole)] = _to_half_precision(whole.detach(), device)
        if (kept := found[id(whole)]) is None:
            continue
        del layer._parameters["weight"]
        layer.__class__ = packed[type(layer)]
        layer.kept = (kept,)
    model.to(device)
    types = Counter(str(kept.dtype).removeprefix("torch.") for kept in found.values() if kept is not None)
    return types.most_common(1)[0][0] if types else ""


def _to_half_precision(whole: Any, device: Any) -> Any:
    """Return a tensor in 16 bits on a device, None if that would change any number."""
    import torch

    for numbers in (torch.bfloat16, torch.float16):
        half = whole.to(numbers)
        if whole.dtype == torch.float32 and torch.equal(half.float(), whole):
            return half.to(device)
    return None


# Assumed number of roundings by which a score is off; it is checked against measured differences (predictions.scoring).
# Cosines are sums of numbers of length 1, log-odds of numbers up to about 20; in a mean of log-likelihoods the errors
# of single tokens cancel out.
OF_A_COSINE, OF_LOG_ODDS, OF_A_MEAN = 2, 80, 16


def tolerance_of(half: str, roundings: int) -> float:
    """Return how close two scores must be for their order to be uncertain: each may be off by `roundings`."""
    return 2 * roundings * ROUNDING[half] if half else 0.0


def half_for(device: Any, wanted: str, usual: str) -> str:
    """Return the 16-bit type to compute in: the wanted one, else the `usual` one on a GPU, else ""."""
    return wanted or ("" if device.type == "cpu" else usual)


class HasDevice(Protocol):
    @property
    def device(self) -> Any:
        """Return the torch.device that it is on."""

    def normalize(self, pixels: Any) -> Any:
        """Return a batch of preprocessed images, as 8-bit numbers on the device, as the model takes it."""


Library = TypeVar("Library", bound=HasDevice)


class OnDevice(BatchedScorer, Generic[Library]):
    """A library's model on a device. `half`: the 16-bit type to compute in, "" for that of the weights.

    `roundings`: the expected error of its scores then, in roundings.
    """

    roundings: ClassVar[int]

    def __init__(self, identity: ModelIdentity, library: Library, half: str = "") -> None:
        super().__init__(identity, batch=usual_batch(library.device))
        self.library, self.half = library, half
        self.images_on = TorchDevice(library.device)
        self.tolerance = tolerance_of(half, self.roundings)

    def in_half(self, numbers: str = "") -> "Self | None":
        half = half_for(self.library.device, numbers, usual="float16")
        return type(self)(self.identity, self.library, half) if half else None

    def inference(self) -> AbstractContextManager[None]:
        return inference(self.library.device, self.half)

    def pixels(self, batch: Any) -> Any:
        """Return preprocessed images, an array or a tensor, on the device as the model takes them."""
        import torch

        there = torch.as_tensor(batch).to(self.library.device)
        return self.library.normalize(there) if there.dtype == torch.uint8 else there


def half_precision_model(scorer: T, numbers: str, roundings: int) -> T | None:
    """Return a language model that scores with the same weights in 16 bits; see `Scorer.in_half`.

    From then on the weights are stored in 16 bits where that is exact. scorer: has `model`, `device` and `kept`, the
    storage type of matrices, and gets `half` and `tolerance`.
    """
    # A language model's numbers may exceed float16.
    half = half_for(scorer.device, numbers, usual="bfloat16")
    if not half:
        return None
    scorer.kept = scorer.kept or keep_in_half(scorer.model, scorer.device)
    twin = copy(scorer)
    twin.half, twin.tolerance = half, tolerance_of(half, roundings)
    return twin


def facts_of(device: Any, dtype: Any, half: str, *libraries: str, kept: str = "") -> dict[str, Any]:
    """Return the conditions of scores computed on `device` with weights of `dtype`, as plain JSON.

    `half`: the type of matrix products, "" for that of the weights. `kept`: the 16-bit storage type of matrices, with
    the same numbers (`keep_in_half`).
    """
    import torch

    name = "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)
    versions = {library: version(library) for library in ("torch", *libraries)}
    weights = str(dtype).removeprefix("torch.")
    numbers = {"dtype": half or weights, "weights": kept or weights} if half or kept else {"dtype": weights}
    return {"device": name, **numbers, "libraries": versions}


@contextmanager
def inference(device: Any, half: str) -> Iterator[None]:
    """Compute without gradients; matrix products in the type `half` if given, everything else in that of the weights.

    Raises OutOfMemory for torch's errors of short memory.
    """
    import torch

    autocast = torch.autocast(device.type, dtype=getattr(torch, half or "bfloat16"), enabled=bool(half))
    with torch.inference_mode(), autocast, report_short_memory():
        yield


@contextmanager
def report_short_memory() -> Iterator[None]:
    """Raise OutOfMemory for torch's errors of short memory in the block."""
    import torch

    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_short_memory(error):
            raise
        if isinstance(error, torch.cuda.OutOfMemoryError):
            torch.cuda.empty_cache()
        raise OutOfMemory from error


def is_short_memory(error: BaseException | None) -> bool:
    """Tell whether torch, or Python, raised an error because memory is short."""
    import torch

    if isinstance(error, torch.cuda.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and SHORT_MEMORY.search(str(error)) is not None
