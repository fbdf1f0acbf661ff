"""The feeder reads in order and ahead, within its limits, and stops at once."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import FETCHED_AT_FIRST, MOST_FETCHED, Batch, Feeder, Host, NoPicture
from predictions.pictures import Pictures, reader_of
from tests.receivers import Request, answer_with, receiving
from tests.waiting import wait_until

GONE = "The image is gone. Import it again."
SECONDS = 10


def level(name: str) -> int:
    """Return the number that a name like "bird-7" ends in."""
    return int(name.rpartition("-")[2])


def open_picture(name: str) -> Image.Image:
    if name.startswith("gone"):
        raise NoPicture(GONE)
    return Image.new("RGB", (3, 2), (level(name), 0, 0))


def names(count: int) -> list[str]:
    return [f"bird-{number}" for number in range(count)]


class Slow:
    """A source in two steps that counts: `fetching` and `decoding` take so many seconds."""

    def __init__(self, *, fetching: float = 0, decoding: float = 0) -> None:
        self.seconds = {"fetch": fetching, "decode": decoding}
        self.now, self.most, self.all = Counter[str](), Counter[str](), Counter[str]()
        self.lock = Lock()

    def __call__(self, name: str) -> Image.Image:
        return self.decode(name, self.fetch(name))

    def fetch(self, name: str) -> bytes:
        with self.counted("fetch"):
            return name.encode()

    def decode(self, name: str, data: bytes) -> Image.Image:
        with self.counted("decode"):
            return open_picture(data.decode())

    @contextmanager
    def counted(self, step: str) -> Iterator[None]:
        with self.lock:
            self.now[step] += 1
            self.all[step] += 1
            self.most[step] = max(self.most[step], self.now[step])
        time.sleep(self.seconds[step])
        yield
        with self.lock:
            self.now[step] -= 1


class Recorder(Host):
    """A device that notes what it was given."""

    def __init__(self) -> None:
        self.placed: list[NDArray[Any]] = []

    def place(self, batch: NDArray[Any]) -> Any:
        self.placed.append(batch.copy())
        return batch


def levels(batch: Batch) -> list[int]:
    return [int(row[0, 0, 0]) for row in batch.rows]


@pytest.fixture
def feeder() -> Feeder:
    return Feeder(decoders=2)


def test_batches_hold_eight_bit_pixels_in_order_and_end_with_zeros(feeder: Feeder) -> None:
    missing: dict[str, NoPicture] = {}
    wanted = ["bird-1", "bird-2", "gone-0", "bird-3", "bird-4", "bird-5"]
    batches = feeder.read(wanted, open_picture, np.asarray, ahead=4).batches(3, Host(), missing)
    found = []
    for batch in batches:
        assert (batch.rows.dtype, batch.rows.shape) == (np.uint8, (3, 2, 3, 3))
        found.append((list(batch.names), levels(batch)))
    assert found == [(["bird-1", "bird-2", "bird-3"], [1, 2, 3]), (["bird-4", "bird-5"], [4, 5, 0])]
    assert {name: str(why) for name, why in missing.items()} == {"gone-0": GONE}


def test_nothing_to_read_is_no_batch(feeder: Feeder) -> None:
    missing: dict[str, NoPicture] = {}
    assert list(feeder.read([], open_picture, np.asarray, ahead=4).batches(3, Host(), missing)) == []
    assert list(feeder.read(["gone-1"], open_picture, np.asarray, ahead=4).batches(3, Host(), missing)) == []
    assert missing.keys() == {"gone-1"}


def test_the_next_batch_is_on_the_device_while_one_is_computed(feeder: Feeder) -> None:
    device = Recorder()
    batches = feeder.read(names(6), open_picture, np.asarray, ahead=4).batches(2, device, {})
    first = next(batches)
    wait_until(lambda: len(device.placed) == 2, seconds=SECONDS, why=lambda: str(len(device.placed)))
    assert levels(first) == [0, 1]
    assert [int(row[0, 0, 0]) for row in device.placed[1]] == [2, 3]
    # Not a third one, for which there is no buffer.
    assert [levels(each) for each in batches] == [[2, 3], [4, 5]]
    assert len(device.placed) == 3


def test_no_more_is_read_than_stated_before_it_is_taken(feeder: Feeder) -> None:
    source = Slow()
    reading = feeder.read(names(50), source, np.asarray, ahead=5)
    wait_until(lambda: source.all["decode"] == 5, seconds=SECONDS, why=lambda: str(source.all))
    taken = iter(reading)
    next(taken)
    wait_until(lambda: source.all["decode"] == 6, seconds=SECONDS, why=lambda: str(source.all))
    time.sleep(0.1)
    assert source.all == {"fetch": 6, "decode": 6}
    assert [level(name) for name, _ in taken] == list(range(1, 50))


def test_as_many_are_decoded_at_once_as_there_are_decoders(feeder: Feeder) -> None:
    source = Slow(decoding=0.01)
    assert len(list(feeder.read(names(40), source, np.asarray, ahead=30))) == 40
    assert source.most["decode"] == 2


def test_images_of_one_step_are_opened_by_the_decoders(feeder: Feeder) -> None:
    source = Slow(decoding=0.01)
    assert len(list(feeder.read(names(20), lambda name: source(name), np.asarray, ahead=15))) == 20
    assert max(source.most.values()) == 2


def test_more_are_fetched_at_once_the_farther_the_source_is(feeder: Feeder) -> None:
    near, far = Slow(decoding=0.01), Slow(fetching=0.1, decoding=0.005)
    assert len(list(feeder.read(names(60), near, np.asarray, ahead=40))) == 60
    assert len(list(feeder.read(names(400), far, np.asarray, ahead=200))) == 400
    assert near.most["fetch"] < 12 < far.most["fetch"] <= MOST_FETCHED


def test_the_first_images_of_the_next_reading_are_ready_before_it_is_taken(feeder: Feeder) -> None:
    source = Slow()
    now = feeder.read(names(4), source, np.asarray, ahead=2)
    coming = feeder.read([f"next-{number}" for number in range(4)], source, np.asarray, ahead=2)
    wait_until(lambda: source.all["decode"] == 4, seconds=SECONDS, why=lambda: str(source.all))
    assert [name for name, _ in now] == names(4)
    # Some are known by now, and another one is wanted besides.
    wanted = ["next-1", "next-3", "bird-9"]
    assert [name for name, _ in feeder.read(wanted, coming, np.asarray, ahead=2)] == wanted
    assert source.all["decode"] == 4 + 2 + 2
    # Prepared for one model it is not ready for another one.
    coming = feeder.read(["next-9"], source, np.asarray, ahead=2)
    ((_, small),) = feeder.read(["next-9"], coming, lambda picture: picture.size, ahead=2)
    assert small == (3, 2)


def test_an_error_of_the_source_ends_the_reading(feeder: Feeder) -> None:
    def fail(name: str) -> Image.Image:
        if level(name) == 3:
            raise OSError("the disk")
        return open_picture(name)

    batches = feeder.read(names(9), fail, np.asarray, ahead=4).batches(2, Host(), {})
    assert levels(next(batches)) == [0, 1]
    with pytest.raises(OSError, match="the disk"):
        list(batches)
    assert [name for name, _ in feeder.read(names(2), fail, np.asarray, ahead=4)] == names(2)


def test_closing_does_not_wait_for_images_on_their_way_and_begins_no_more(feeder: Feeder) -> None:
    answers, begun, ended = Event(), Counter[str](), list[str]()

    def hang(name: str) -> Image.Image:
        begun[name] += 1
        if level(name) >= 2:
            answers.wait(SECONDS)
            ended.append(name)
        return open_picture(name)

    batches = feeder.read(names(100), hang, np.asarray, ahead=50).batches(2, Host(), {})
    assert levels(next(batches)) == [0, 1]
    wait_until(lambda: len(begun) == 4, seconds=SECONDS, why=lambda: str(begun))
    batches.close()
    assert ended == []
    answers.set()
    assert [name for name, _ in feeder.read(names(2), open_picture, np.asarray, ahead=2)] == names(2)
    assert len(begun) == 4


def test_what_is_closed_before_its_turn_is_not_fetched(feeder: Feeder) -> None:
    answers = Event()

    class Hanging(Slow):
        def fetch(self, name: str) -> bytes:
            data = super().fetch(name)
            answers.wait(SECONDS)
            return data

    source = Hanging()
    reading = feeder.read(names(100), source, np.asarray, ahead=50)
    wait_until(lambda: source.all["fetch"] == FETCHED_AT_FIRST, seconds=SECONDS, why=lambda: str(source.all))
    reading.close()
    answers.set()
    # Fetched after the turn of all that was closed.
    assert [name for name, _ in feeder.read(names(2), Slow(), np.asarray, ahead=2)] == names(2)
    assert source.all["fetch"] == FETCHED_AT_FIRST


@contextmanager
def a_site(answer: Callable[[int], bool]) -> Iterator[tuple[Pictures, list[str], list[int]]]:
    """Serve 30 distinct images; `answer` says which request, by its number, gets one. Yields clients' ports, too."""
    stored, ports, lock = {}, list[int](), Lock()
    for number in range(30):
        out = BytesIO()
        Image.new("RGB", (8, 6), (number, 0, 0)).save(out, "PNG")
        stored[hashlib.sha256(out.getvalue()).hexdigest()] = out.getvalue()

    def give(handler: BaseHTTPRequestHandler, request: Request) -> None:
        with lock:
            ports.append(handler.client_address[1])
            number = len(ports)
        if answer(number):
            answer_with(200, stored[request.path.rpartition("/")[2]])(handler, request)
        else:
            handler.close_connection = True

    with receiving(give, keeps_alive=True) as server:
        read = reader_of(f"http://127.0.0.1:{server.port}", token="a long random text")
        yield Pictures(read, max_pixels=1000), list(stored), ports


def test_a_connection_serves_many_images(feeder: Feeder) -> None:
    with a_site(lambda number: True) as (pictures, wanted, ports):
        found = list(feeder.read(wanted, pictures, np.asarray, ahead=10))
    assert [row[0, 0, 0] for _, row in found if not isinstance(row, NoPicture)] == list(range(30))
    assert len(ports) == 30
    # No more than images are begun at once.
    assert len(set(ports)) <= 10


def test_a_server_that_drops_every_third_answer_is_asked_again(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predictions.pictures.PAUSES_SECONDS", (0.01, 0.01))
    with a_site(lambda number: number % 3 != 0) as (pictures, wanted, ports):
        found = list(feeder.read(wanted, pictures, np.asarray, ahead=20))
    assert [row[0, 0, 0] for _, row in found if not isinstance(row, NoPicture)] == list(range(30))
    # Of 44 requests 14 are dropped.
    assert len(ports) == 44


KILLED = """
import sys, numpy as np
from pathlib import Path
from predictions.feeder import Feeder, Host
from predictions.pictures import Pictures, reader_of
source = Pictures(reader_of(sys.argv[1], token="a long random text"), max_pixels=1000)
reading = Feeder(decoders=2).read([f"{number:064x}" for number in range(100)], source, np.asarray, ahead=50)
print("begun", flush=True)
for batch in reading.batches(4, Host(), {}): pass
"""


def test_a_killed_process_leaves_no_process_and_no_shared_memory() -> None:
    stay = Event()

    def hang(handler: BaseHTTPRequestHandler, request: Request) -> None:
        stay.wait(SECONDS)

    with receiving(hang) as server:
        command = [sys.executable, "-c", KILLED, f"http://127.0.0.1:{server.port}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            wait_until(lambda: len(server.requests) >= FETCHED_AT_FIRST, seconds=SECONDS, why=lambda: "no requests")
            # What it has mapped would stay.
            assert "/shm/" not in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
            process.send_signal(signal.SIGKILL)
        stay.set()
        # Nobody is left in its session.
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
