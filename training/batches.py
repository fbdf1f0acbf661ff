"""Read batches ahead of the device: images through the feeder, texts through the tokenizer. Pure.

Importing this module does not import torch.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictions.feeder import BATCHES_AHEAD, NoPicture, OpenPicture, Reading, shared_feeder
from predictions.scorers.base import OutOfMemory
from predictions.scorers.batches import in_batches
from predictions.scorers.torch_models import report_short_memory, usual_batch
from training.errors import CannotTrain
from training.examples import Example
from training.processes import Processes
from training.towers import Towers

T = TypeVar("T")
# Says what is done, in few words, how much of how many is done, and what is counted. It may raise TrainingCancelled.
Tell = Callable[[str, int, int, str], None]


def tell_nobody(what: str, done: int, total: int, unit: str) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step trains on: its examples, and the images (by name) and texts that they bring along.

    The recipe decides the order. An image or text may be there several times.
    """

    examples: Sequence[Example]
    images: Sequence[str] = ()
    texts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LoadedBatch:
    """A batch in the memory of this machine: preprocessed images and tokenized texts in rows of tensors; None for none.

    Images and texts that are there several times are loaded once: `image_rows` and `text_rows` tell the row of each.
    Of several processes each has its share of the rows.
    """

    batch: Batch
    pixels: Any
    tokens: Any
    image_rows: Sequence[int]
    text_rows: Sequence[int]


def read_batches(
    batches: Iterable[Batch], towers: Towers, open_picture: OpenPicture, processes: Processes | None = None
) -> Generator[LoadedBatch]:
    """Yield batches loaded, some of them ahead. Raises CannotTrain for a missing image, and errors of the source."""
    waiting: deque[tuple[Batch, Reading[NDArray[Any]]]] = deque()
    here = processes or Processes()

    def load() -> Iterator[LoadedBatch]:
        for batch in batches:
            names = here.share_to_load(list(dict.fromkeys(batch.images)))
            waiting.append((batch, shared_feeder().read(names, open_picture, towers.preprocess, ahead=len(names) or 1)))
            if len(waiting) > BATCHES_AHEAD:
                yield _gather(*waiting.popleft(), towers, here)
        while waiting:
            yield _gather(*waiting.popleft(), towers, here)

    try:
        yield from _one_ahead(load())
    finally:
        for _, reading in waiting:
            reading.close()


def embed_in_order(
    towers: Towers, names: Sequence[str], open_picture: OpenPicture, tell: Tell = tell_nobody
) -> NDArray[np.float32]:
    """Return the vectors of images, in rows of length 1. Calls `tell` after each batch. Raises CannotTrain."""
    import torch

    found: list[NDArray[np.float32]] = []
    size = usual_batch(towers.device)
    batches = (Batch((), some) for some in in_batches(names, size))
    towers.model.eval()
    with closing(read_batches(batches, towers, open_picture)) as loaded, torch.inference_mode():
        for one in loaded:
            vectors = embed_rows(one.pixels, lambda rows: towers.embed_images(towers.normalize(rows)), towers)
            found.append(torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy())
            tell("embedding images", min(len(found) * size, len(names)), len(names), "images")
    return np.concatenate(found)


def embed_rows(rows: Any, embed: Any, towers: Towers) -> Any:
    """Return what `embed` makes of rows on the device; in halves if they do not fit. Without gradients.

    Raises CannotTrain if a single one does not fit.
    """
    import torch

    try:
        with report_short_memory():
            return embed(rows.to(towers.device, non_blocking=True))
    except OutOfMemory as error:
        if len(rows) == 1:
            raise CannotTrain(TOO_SMALL) from error
    return torch.cat([embed_rows(half, embed, towers) for half in rows.tensor_split(2)])


TOO_SMALL = (
    "The memory of the device is too small for a single image or text of this model. Use a larger device, or a smaller "
    "model."
)


def _gather(batch: Batch, reading: Reading[NDArray[Any]], towers: Towers, here: Processes) -> LoadedBatch:
    import torch

    made: dict[str, NDArray[Any]] = {}
    with closing(reading):
        for name, found in reading:
            if isinstance(found, NoPicture):
                raise CannotTrain(f"{_whose(name, batch)} cannot be used: {found} Add the image, and train again.")
            made[name] = found
    rows_of_images = {name: row for row, name in enumerate(dict.fromkeys(batch.images))}
    rows_of_texts = {text: row for row, text in enumerate(dict.fromkeys(batch.texts))}
    pinned = towers.device.type != "cpu"
    pixels = torch.from_numpy(np.stack(list(made.values()))) if made else None
    tokens = towers.tokenize(here.share_to_load(list(rows_of_texts))) if rows_of_texts else None
    return LoadedBatch(
        batch,
        pixels.pin_memory() if pinned and pixels is not None else pixels,
        tokens.pin_memory() if pinned and tokens is not None else tokens,
        [rows_of_images[name] for name in batch.images],
        [rows_of_texts[text] for text in batch.texts],
    )


def _whose(name: str, batch: Batch) -> str:
    owner = next((example.instance for example in batch.examples if name in example.images), "")
    return f"The image {name} of the instance {owner}" if owner else f"The image {name}"


def _one_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items; a thread prepares the next one meanwhile."""
    nothing = object()
    with ThreadPoolExecutor(1, "batches") as thread:
        coming = thread.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = thread.submit(next, items, nothing)
            yield item  # type: ignore[misc]
