"""Measure how many images a second a worker with models scores end to end through Celery.

    python -m benchmarks.model_worker --model SPEC [--pictures 50000] [--folder DIR] [--redis]

No Django and no database: the benchmark speaks to the worker as the site does, four chunks of 20 seconds at a time, and
waits for its answers. The broker is its own: files or, with --redis, a Redis server that it starts (which needs
requirements-dev.txt). All images are distinct JPEGs of 640 x 480, so nothing is embedded twice; they stay in DIR for
the next run. Two floors are measured before in this process, with the same model on the same device: the bare forward
pass of its image tower, and fetching, decoding and preprocessing without the model. The worker cannot be faster than
the slower of the two; the ratio shows how close it comes. Goals: 0.8 of the bare forward pass for models as large as
ViT-L/14, 0.8 of the slower one for ViT-B/32.
"""

import argparse
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from celery import Celery
from kombu.simple import SimpleQueue
from PIL import Image

from background.broker import transport_options
from predictions.messages import BEGUN, DEFAULT, GPU, LOAD, LOADED, SCORE, STORE, Item
from predictions.pictures import Pictures, reader_of
from predictions.scorers import NoPicture, Scorer, scorer_of
from predictions.scorers.batches import BatchedScorer, in_batches

EMBEDDED_URL = "filesystem://localhost"
ROOT = Path(__file__).resolve().parents[1]
SECONDS_PER_CHUNK, MOST_PER_CHUNK, WINDOW, PICTURES_PER_ITEM = 20, 2000, 4, 2
READ_AHEAD = 4000
MOST_PIXELS = 50_000_000
PATIENCE_SECONDS = 600


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch) / "pictures"
        names = draw_pictures(folder, arguments.pictures)
        forward, reading = _floors(arguments.model, folder, names)
        gc.collect()
        with _redis() if arguments.redis else nullcontext(EMBEDDED_URL) as broker:
            seconds = _end_to_end(arguments.model, folder, names, broker=broker, data=Path(scratch) / "data")
    reached, slower = len(names) / seconds, min(forward, reading)
    print(f"{len(names):,} distinct images of 640 x 480, {os.cpu_count()} cores")
    print(f"bare forward pass of the image tower: {forward:.0f} images/s")
    print(f"fetching, decoding and preprocessing alone: {reading:.0f} images/s")
    print(f"end to end through Celery, texts included: {reached:.0f} images/s, {seconds:.0f} s")
    print(f"ratio to the bare forward pass: {reached / forward:.2f}; to the slower floor: {reached / slower:.2f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, metavar="SPEC")
    parser.add_argument("--pictures", type=int, default=50_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--redis", action="store_true", help="Send messages by Redis, which must be installed.")
    return parser.parse_args()


def _redis() -> AbstractContextManager[str]:
    # Imported here, because a machine with only models does not have it.
    from tests.servers import redis_process

    return redis_process()


def draw_pictures(folder: Path, number: int) -> list[str]:
    """Return the names of `number` images in `folder`, drawing those that are missing."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(_draw, [folder] * number, range(number), chunksize=100))


def _draw(folder: Path, number: int) -> str:
    """Store image `number`, blocks of random colours, where a site would; return its SHA-256."""
    listed = folder / "drawn" / str(number)
    if listed.exists():
        return listed.read_text(encoding="ascii")
    blocks = np.random.default_rng(number).integers(0, 256, (24, 32, 3), dtype=np.uint8)
    out = BytesIO()
    Image.fromarray(blocks).resize((640, 480), Image.Resampling.BICUBIC).save(out, "JPEG", quality=85)
    name = hashlib.sha256(out.getvalue()).hexdigest()
    path = folder / "images" / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out.getvalue())
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(name, encoding="ascii")
    return name


def _floors(spec: str, folder: Path, names: list[str]) -> tuple[float, float]:
    """Return images per second of the model alone, and of everything before it."""
    scorer = _fast(scorer_of(spec), spec)
    forward = scorer.pictures_per_second()
    open_picture = Pictures(reader_of(str(folder), token=""), max_pixels=MOST_PIXELS)
    missing: dict[str, NoPicture] = {}
    some = names[:READ_AHEAD]
    begun = perf_counter()
    for _ in scorer.read_pictures(some, open_picture).batches(scorer.batch, scorer.images_on, missing):
        pass
    reading = len(some) / (perf_counter() - begun)
    if missing:
        raise SystemExit(str(next(iter(missing.values()))))
    return forward, reading


def _fast(scorer: Scorer, spec: str) -> BatchedScorer:
    """Return the model at the worker's precision."""
    fast = scorer.in_half() or scorer
    if not isinstance(fast, BatchedScorer):
        raise SystemExit(f"{spec} does not take images in batches, so it cannot be measured.")
    return fast


def _end_to_end(spec: str, folder: Path, names: list[str], *, broker: str, data: Path) -> float:
    """Return the seconds from the first chunk sent to the last response."""
    options = transport_options(broker, data / "broker")
    site = Celery("benchmark", fixups=[], set_as_current=False)
    site.conf.update(broker_url=broker, broker_transport_options=options, task_default_queue=GPU)
    with _worker(folder, broker, data), site.connection_for_read() as connection:
        answers = connection.SimpleQueue(DEFAULT)
        site.send_task(LOAD, kwargs={"run": 1, "spec": spec}, queue=GPU)
        loaded = _answer(answers, LOADED)
        size = max(1, min(MOST_PER_CHUNK, int(loaded["pictures_per_second"] * SECONDS_PER_CHUNK / PICTURES_PER_ITEM)))
        chunks = in_batches(_items(names), size)
        numbers = count(1)
        at_work = 0
        begun = perf_counter()
        while True:
            while at_work < WINDOW and (chunk := next(chunks, None)):
                told = {"run": 1, "chunk": next(numbers), "spec": spec, "items": chunk}
                site.send_task(SCORE, kwargs=told, queue=GPU)
                at_work += 1
            if not at_work:
                return perf_counter() - begun
            scored = _answer(answers, STORE)
            if wrong := [result["error"] for result in scored["results"] if "error" in result]:
                raise SystemExit(wrong[0])
            at_work -= 1


def _items(names: list[str]) -> Iterator[Item]:
    for number, pair in enumerate(in_batches(names, PICTURES_PER_ITEM)):
        text = f"picture {number} of blocks"
        yield Item(content=str(number), matches={str(place): (text, name) for place, name in enumerate(pair)})


def _answer(answers: SimpleQueue, task: str) -> dict[str, Any]:
    """Return the response of the next message with this name; skip messages that only report a start."""
    while True:
        message = answers.get(timeout=PATIENCE_SECONDS)
        message.ack()
        name, (_, told, _) = message.headers["task"], message.payload
        if name == BEGUN:
            continue
        answer: dict[str, Any] = told["answer"]
        if name != task or "error" in answer:
            raise SystemExit(answer.get("error", f"The worker answered {name}."))
        return answer


@contextmanager
def _worker(folder: Path, broker: str, data: Path) -> Iterator[None]:
    environment = os.environ | {"CELERY_BROKER_URL": broker, "LINEUP_IMAGES": str(folder), "DATA_DIR": str(data)}
    command = [sys.executable, "-m", "celery", "-A", "predictions.worker", "worker", "--loglevel", "WARNING"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


if __name__ == "__main__":
    main()
