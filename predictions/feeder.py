"""Feed images to a device: threads fetch, decode and gather them in batches while the device computes. Pure.

One feeder serves whatever reads images in a process: scoring, making and training. Threads are enough, because Pillow
decodes and resizes without the interpreter's lock (docs/decisions/0077). Images stay 8-bit numbers until they are on
the device, which normalizes them: a quarter of the bytes.

- Fetching and decoding have threads of their own. As many images are decoded at once as there are cores. An image is
  fetched as soon as another one is decoded: so a near source gets one request at a time, and a distant one up to 64.
- A `Reading` reads its images in order, a fixed number ahead. While one is read, the next can be begun, so that its
  first images are ready when the device is free.
- `Reading.batches` fills the buffer of the next batch, and copies it to the device, while the device computes.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

T = TypeVar("T")
# Batches read ahead of the device, besides the two that it computes and gets.
BATCHES_AHEAD = 2
# Images that are fetched, or were and are not decoded yet: at first, and at most.
FETCHED_AT_FIRST, MOST_FETCHED = 8, 64

# Returns the pixels of an image by its name (its SHA-256): upright, 8-bit sRGB. Raises NoPicture. Called from threads.
OpenPicture = Callable[[str], Image.Image]


class NoPicture(Exception):
    """The image is missing or broken; the message is for people and says what to do."""


@runtime_checkable
class Source(Protocol):
    """An `OpenPicture` in two steps: the first one waits, the second one computes. Called from threads."""

    def fetch(self, name: str) -> bytes:
        """Return the bytes of an image. Raises NoPicture, and other errors if the source fails."""

    def decode(self, name: str, data: bytes) -> Image.Image:
        """Return the pixels of an image: upright, 8-bit sRGB. Raises NoPicture."""


class Device(Protocol):
    """Where batches of images go."""

    def buffer(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return memory of this machine in which a batch is gathered."""

    def place(self, batch: NDArray[Any]) -> Any:
        """Return the batch on the device. Called from a thread of the feeder, while the device computes another one."""


class Host:
    """The memory of this machine, for models that compute there. Nothing is copied."""

    def buffer(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        return np.empty(shape, dtype)

    def place(self, batch: NDArray[Any]) -> Any:
        return batch


@dataclass(frozen=True, slots=True)
class Batch:
    """Images on a device: one of `rows` for each of `names`, then zeros up to the size of the batch."""

    names: Sequence[str]
    rows: Any


class Reading(Generic[T]):
    """Images that are read in order, some of them ahead of who takes them. Close it when no more is taken.

    It is an `OpenPicture` too: given to whoever reads the same images next, it hands over what is begun (`read`).
    """

    def __init__(
        self,
        feeder: "Feeder",
        names: Iterable[str],
        source: OpenPicture,
        prepare: Callable[[Image.Image], T],
        *,
        ahead: int,
        begun: dict[str, Future[T]],
    ) -> None:
        self.source, self.prepare = source, prepare
        self._feeder, self._has_two_steps = feeder, isinstance(source, Source)
        self._names, self._ahead, self._begun = iter(names), ahead, begun
        self._waiting: deque[tuple[str, Future[T]]] = deque()
        self._lock = Lock()
        self._fill()

    def __call__(self, name: str) -> Image.Image:
        return self.source(name)

    def __iter__(self) -> Iterator[tuple[str, T | NoPicture]]:
        """Yield each name with what `prepare` made of its image, or why there is none. Raises errors of the source."""
        while (first := self._first()) is not None:
            name, future = first
            try:
                made: T | NoPicture = future.result()
            except NoPicture as error:
                made = error
            except CancelledError:
                # Closed by another thread.
                return
            self._go_on()
            yield name, made

    def batches(self, size: int, device: Device, missing: dict[str, NoPicture]) -> Generator[Batch]:
        """Yield batches of `size` on a device; images that cannot be had go into `missing`.

        `prepare` must return arrays of one shape and type. A batch holds until the next one is asked for. Raises errors
        of the source.
        """
        gather, good = _Gather(size, device), self._good(missing)
        with ThreadPoolExecutor(1, "gather") as thread:
            try:
                coming = thread.submit(gather.next_batch, good)
                while (batch := coming.result()) is not None:
                    coming = thread.submit(gather.next_batch, good)
                    yield batch
            finally:
                self.close()

    def close(self) -> None:
        """Read no more, without waiting for images that are on their way."""
        for future in self.hand_over().values():
            future.cancel()

    def hand_over(self) -> dict[str, Future[T]]:
        """Return what is begun and not taken, by name, and read no more."""
        with self._lock:
            found = {**self._begun, **dict(self._waiting)}
            self._begun, self._names = {}, iter(())
            self._waiting.clear()
            return found

    def _first(self) -> tuple[str, Future[T]] | None:
        with self._lock:
            return self._waiting[0] if self._waiting else None

    def _go_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft()
        self._fill()

    def _fill(self) -> None:
        with self._lock:
            for name in islice(self._names, self._ahead - len(self._waiting)):
                future = self._begun.pop(name, None) or self._feeder.begin(
                    name, self.source, self.prepare, self._has_two_steps
                )
                self._waiting.append((name, future))

    def _good(self, missing: dict[str, NoPicture]) -> Iterator[tuple[str, T]]:
        for name, made in self:
            if isinstance(made, NoPicture):
                missing[name] = made
            else:
                yield name, made


class _Gather:
    """Two buffers in turns: one is filled while the device has the other."""

    def __init__(self, size: int, device: Device) -> None:
        self._size, self._device = size, device
        self._buffers: list[NDArray[Any]] = []

    def next_batch(self, rows: Iterator[tuple[str, Any]]) -> Batch | None:
        """Return the next batch, None after the last one."""
        names: list[str] = []
        buffer = None
        for name, row in islice(rows, self._size):
            if buffer is None:
                buffer = self._next_buffer(row)
            buffer[len(names)] = row
            names.append(name)
        if buffer is None:
            return None
        buffer[len(names) :] = 0
        return Batch(names, self._device.place(buffer))

    def _next_buffer(self, row: NDArray[Any]) -> NDArray[Any]:
        if len(self._buffers) < 2:
            self._buffers.append(self._device.buffer((self._size, *row.shape), row.dtype))
        self._buffers.reverse()
        return self._buffers[0]


class Feeder:
    """The threads that fetch and decode. `decoders`: images decoded at once, 1 or more."""

    def __init__(self, *, decoders: int) -> None:
        self._fetching = ThreadPoolExecutor(MOST_FETCHED, "fetch")
        self._decoding = ThreadPoolExecutor(decoders, "decode")
        self._lock = Lock()
        # Fetches whose turn has not come.
        self._to_fetch: deque[Callable[[], None]] = deque()
        # Images that are fetched, or were and are not decoded yet: how many there are, and may be.
        self._in_hand, self._most_in_hand = 0, FETCHED_AT_FIRST

    def read(
        self, names: Iterable[str], open_picture: OpenPicture, prepare: Callable[[Image.Image], T], *, ahead: int
    ) -> Reading[T]:
        """Begin to read images, each name once, and to prepare them in threads.

        `ahead`: how many are begun, 1 or more. Where `open_picture` is a `Reading` with the same `prepare`, what it has
        begun is taken over.
        """
        begun: dict[str, Future[T]] = {}
        while isinstance(open_picture, Reading):
            if open_picture.prepare == prepare:
                begun |= open_picture.hand_over()
            open_picture = open_picture.source
        return Reading(self, names, open_picture, prepare, ahead=ahead, begun=begun)

    def begin(
        self, name: str, source: OpenPicture, prepare: Callable[[Image.Image], T], has_two_steps: bool
    ) -> Future[T]:
        """Begin to read one image. `has_two_steps`: it is a `Source`."""
        # Not that of an executor, which cannot be cancelled once its work has begun.
        made: Future[T] = Future()
        if has_two_steps:
            self._to_fetch.append(partial(self._fetch, made, name, cast(Source, source), prepare))
            self._begin_fetches()
        else:
            self._decoding.submit(_settle, made, lambda: prepare(source(name)))
        return made

    def _begin_fetches(self) -> None:
        with self._lock:
            while self._to_fetch and self._in_hand < self._most_in_hand:
                self._in_hand += 1
                self._fetching.submit(self._to_fetch.popleft())

    def _fetch(self, made: Future[T], name: str, source: Source, prepare: Callable[[Image.Image], T]) -> None:
        fetched: Future[bytes] = Future()
        if not made.cancelled():
            _settle(fetched, lambda: source.fetch(name))
        self._decoding.submit(self._decode, made, lambda: prepare(source.decode(name, fetched.result())))

    def _decode(self, made: Future[T], step: Callable[[], T]) -> None:
        _settle(made, step)
        with self._lock:
            self._in_hand -= 1
            self._most_in_hand = min(self._most_in_hand + 1, MOST_FETCHED)
        self._begin_fetches()


def _settle(made: Future[T], step: Callable[[], T]) -> None:
    """Give `made` what `step` returns, or its error, unless nobody waits for it any more."""
    if made.cancelled():
        return
    # Cancelled in the meantime.
    with suppress(InvalidStateError):
        try:
            made.set_result(step())
        except Exception as error:  # noqa: BLE001 (raised where the image is taken)
            made.set_exception(error)


@cache
def shared_feeder() -> Feeder:
    """Return the feeder of this process."""
    return Feeder(decoders=os.cpu_count() or 1)


# Threads do not outlive a fork.
os.register_at_fork(after_in_child=shared_feeder.cache_clear)
