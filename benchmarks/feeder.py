"""Measure how busy the feeder keeps a device, without a GPU.

    python -m benchmarks.feeder [--share 0.5] [--rounds 3] [--pictures 2000]

The device is made up: it takes a stated time for a batch, in which it sleeps without the interpreter's lock. The same
distinct JPEGs of 640 x 480 come from a folder, from a server on this machine, and from that server 50 ms late. They are
read in two chunks; the second is begun while the first is computed, as by a worker with models.

The floor is a plain pool of threads that fetch, decode and resize from the same source, measured before and after each
run. It is the best of three pools, of as many threads as there are cores, twice as many, and 64. The device computes
`--share` of that many images a second (it is the slower one), and then three times as many (decoding is). The goal is
0.9 of the slower of the two. Decoding and resizing alone, from bytes in memory, is printed too: over HTTP client and
server take processor time from the same cores.

Then a node is made up, too: 16 cores that take 4 ms for an image, near its source or 50 ms away. Last, distinct images
of 224 x 224 that are decoded already go through the same feeder to a device of 3,000 a second. Each is copied and
normalized; the device sleeps for what normalizing leaves of its time.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.model_worker import draw_pictures
from predictions.feeder import BATCHES_AHEAD, MOST_FETCHED, Feeder, Host, NoPicture, OpenPicture
from predictions.pictures import Pictures, reader_of
from predictions.scorers.batches import in_batches

ROOT = Path(__file__).resolve().parents[1]
TOKEN, MOST_PIXELS = "a long random text", 50_000_000
SIDE, BATCH, CHUNKS, DELAY_SECONDS = 224, 64, 2, 0.05
CORES = os.cpu_count() or 1
# Images of which the floor is measured.
MEASURED = 600
READY_SPEED, READY_IMAGES, READY_BATCH = 3000, 6000, 256
NODE_CORES, NODE_SECONDS = 16, 0.004
# Seconds to the source -> images that the device computes a second.
NODE_SPEEDS = {0.0: 2000, 0.05: 1000}
# CLIP's, by colour.
MEAN, DEVIATION = (0.4815, 0.4578, 0.4082), (0.2686, 0.2613, 0.2758)

# Takes the time of a batch on the device.
Compute = Callable[[NDArray[Any]], None]


def main() -> None:
    arguments = _arguments()
    print(f"{CORES} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        names = draw_pictures(folder, arguments.pictures)
        with _server(folder, 0) as near, _server(folder, DELAY_SECONDS) as far:
            for what, where in {"folder": str(folder), "HTTP": near, "HTTP, 50 ms": far}.items():
                source = Pictures(reader_of(where, token=TOKEN), max_pixels=MOST_PIXELS)
                in_memory = _in_memory(Pictures(reader_of(str(folder), token=""), max_pixels=MOST_PIXELS), names)
                print(f"{what}: decoding from memory {_pooled(in_memory, names[:MEASURED], CORES):.0f}/s", flush=True)
                for share in (arguments.share, 3):
                    _measure(what, source, names, share, arguments.rounds)
    ready = np.random.default_rng(0).integers(0, 256, (READY_IMAGES, SIDE, SIDE, 3), dtype=np.uint8)
    _measure_node(ready, arguments.rounds)
    _measure_ready(ready, arguments.rounds)
    print(f"load {os.getloadavg()[0]:.1f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.5, help="The device's speed as a share of decoding's.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--folder", type=Path, help="Where the images stay for the next run.")
    return parser.parse_args()


def _measure(what: str, source: OpenPicture, names: Sequence[str], share: float, rounds: int) -> None:
    for _ in range(rounds):
        before = _plain(source, names)
        speed = share * before
        reached = _reach(source, names, _sleeping(speed), prepare=_resize, batch=BATCH)
        after = _plain(source, names)
        ratio = reached.per_second / min(speed, mean((before, after)))
        print(
            f"{what}: plain pool {before:.0f} and {after:.0f}/s, device {speed:.0f}/s, {reached}, ratio {ratio:.2f}",
            flush=True,
        )


@dataclass(frozen=True)
class _Reached:
    """Images per second, and the share of the time that the device waited."""

    per_second: float
    waited: float

    def __str__(self) -> str:
        return f"reached {self.per_second:.0f}/s, waited {self.waited:.0%}"


def _reach(
    source: OpenPicture,
    names: Sequence[str],
    compute: Compute,
    *,
    prepare: Callable[[Any], Any],
    batch: int,
    decoders: int = CORES,
) -> _Reached:
    feeder, missing = Feeder(decoders=decoders), dict[str, NoPicture]()
    chunks = list(in_batches(names, -(-len(names) // CHUNKS)))
    computing = 0.0
    begun = perf_counter()
    readings = [feeder.read(chunks[0], source, prepare, ahead=BATCHES_AHEAD * batch)]
    for place in range(len(chunks)):
        coming = chunks[place + 1 : place + 2]
        readings += [feeder.read(chunk, source, prepare, ahead=BATCHES_AHEAD * batch) for chunk in coming]
        for each in readings[place].batches(batch, Host(), missing):
            since = perf_counter()
            compute(each.rows[: len(each.names)])
            computing += perf_counter() - since
    seconds = perf_counter() - begun
    if missing:
        raise SystemExit(str(next(iter(missing.values()))))
    return _Reached(len(names) / seconds, 1 - computing / seconds)


def _sleeping(speed: float) -> Compute:
    return lambda rows: time.sleep(len(rows) / speed)


def _plain(source: OpenPicture, names: Sequence[str]) -> float:
    """Return the images per second of the best of three pools."""
    return max(_pooled(source, names[:MEASURED], threads) for threads in (CORES, 2 * CORES, MOST_FETCHED))


def _pooled(source: OpenPicture, names: Sequence[str], threads: int) -> float:
    """Return the images per second that a pool of threads opens and resizes."""
    with ThreadPoolExecutor(threads) as pool:
        begun = perf_counter()
        list(pool.map(lambda name: _resize(source(name)), names))
        return len(names) / (perf_counter() - begun)


def _in_memory(pictures: Pictures, names: Sequence[str]) -> OpenPicture:
    fetched = {name: pictures.fetch(name) for name in names[:MEASURED]}
    return lambda name: pictures.decode(name, fetched[name])


def _resize(picture: Image.Image) -> NDArray[Any]:
    """Return the middle square of `SIDE` pixels, as CLIP's preprocessing does."""
    scale = SIDE / min(picture.size)
    width, height = (round(side * scale) for side in picture.size)
    left, top = (width - SIDE) // 2, (height - SIDE) // 2
    small = picture.resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(small.crop((left, top, left + SIDE, top + SIDE)))


class _Node:
    """A source whose steps take the time of another machine, without processor time of this one."""

    def __init__(self, ready: NDArray[Any], delay: float) -> None:
        self._ready, self._delay = ready, delay

    def __call__(self, name: str) -> Any:
        return self.decode(name, self.fetch(name))

    def fetch(self, name: str) -> bytes:
        time.sleep(self._delay)
        return b""

    def decode(self, name: str, data: bytes) -> Any:
        time.sleep(NODE_SECONDS)
        return self._ready[int(name)]


def _measure_node(ready: NDArray[Any], rounds: int) -> None:
    names = [str(number) for number in range(READY_IMAGES)]
    for delay, speed in NODE_SPEEDS.items():
        for _ in range(rounds):
            reached = _reach(
                _Node(ready, delay), names, _sleeping(speed), prepare=_same, batch=READY_BATCH, decoders=NODE_CORES
            )
            where = f"{NODE_CORES} made-up cores, source {1000 * delay:.0f} ms away"
            print(f"{where}: device {speed}/s, {reached}, ratio {reached.per_second / speed:.2f}", flush=True)


def _same(picture: Any) -> Any:
    return picture


def _measure_ready(ready: NDArray[Any], rounds: int) -> None:
    names = [str(number) for number in range(READY_IMAGES)]
    floats = np.empty((SIDE, SIDE * 3), np.float32)
    scale = np.tile(1 / (255 * np.array(DEVIATION, np.float32)), SIDE)
    shift = np.tile(np.array(MEAN, np.float32) / np.array(DEVIATION, np.float32), SIDE)

    def compute(rows: NDArray[Any]) -> None:
        begun = perf_counter()
        for row in rows:
            np.multiply(row.reshape(SIDE, -1), scale, out=floats)
            np.subtract(floats, shift, out=floats)
        time.sleep(max(0, len(rows) / READY_SPEED - (perf_counter() - begun)))

    def open_ready(name: str) -> Any:
        return ready[int(name)]

    for _ in range(rounds):
        reached = _reach(open_ready, names, compute, prepare=_same, batch=READY_BATCH)
        ratio = reached.per_second / READY_SPEED
        print(f"decoded already: device {READY_SPEED}/s, {reached}, ratio {ratio:.2f}", flush=True)


@contextmanager
def _server(folder: Path, delay: float) -> Iterator[str]:
    """Run a server of the folder's images in another process; yield its address."""
    command = [sys.executable, "-m", "benchmarks.feeder", "--serve", str(folder), str(delay)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


async def _serve(folder: Path, delay: float) -> None:
    """Answer requests for images after `delay` seconds, over connections that stay open; print the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                name = request.split(b" ", 2)[1].rpartition(b"/")[2].decode()
                await asyncio.sleep(delay)
                data = (folder / "images" / name[:2] / name).read_bytes()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(_serve(Path(sys.argv[2]), float(sys.argv[3])))
    else:
        main()
