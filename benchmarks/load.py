"""Generate load: annotators that send and get the next question, over keep-alive connections, in one process.

Reads one JSON object from standard input and prints one JSON object with the measurements. It is a separate process
with bare sockets under asyncio, to take as little as possible of the cores it shares with the server; floor and product
get the same treatment. A connection that the server closes between two requests is opened again, within the measured
time.
"""

import asyncio
import json
import re
import sys
import time
import uuid
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import TypedDict
from urllib.parse import urlencode

# Headers that Chromium sends with a script's request.
BROWSERS_HEADERS = (
    'sec-ch-ua-platform: "Linux"\r\n'
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 "
    "Safari/537.36\r\n"
    'sec-ch-ua: "Chromium";v="156", "Not.A/Brand";v="24"\r\n'
    "sec-ch-ua-mobile: ?0\r\n"
    "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"
)
SEEN = json.dumps(
    [
        {"value": str(number), "natural": [512, 512], "shown": [300, 300], "loaded_ms": 41, "failed_loads": 0}
        for number in range(1, 5)
    ]
)
# What every answer says alike, encoded once.
SAID_ALIKE = urlencode(
    {
        "unmeasured": "",
        "hidden_ms": "0",
        "changes_of_mind": "0",
        "window_width": "1366",
        "window_height": "650",
        "images": SEEN,
    }
)
GZIP = 16 + zlib.MAX_WBITS
SLOT = re.compile(r'name=\\?"slot\\?" value=\\?"(\d+)')
WARM_UP_SECONDS = 1.0


class Wire(asyncio.Protocol):
    """An open connection that reads one response at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[tuple[int, bytes, bytes]] | None = None
        self._received = b""
        self._head: tuple[int, bytes, int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._head is None and b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            found = re.search(rb"(?i)content-length: *(\d+)", head)
            assert found is not None, "a response without Content-Length"
            self._head = (int(head[9:12]), head, int(found[1]))
        if self._head is not None and len(self._received) >= self._head[2]:
            status, head, length = self._head
            body, self._received, self._head = self._received[:length], self._received[length:], None
            if b"connection: close" in head.lower() and self.transport is not None:
                self.transport.close()
            if self.answer is not None and not self.answer.done():
                self.answer.set_result((status, head, body))

    def connection_lost(self, exc: Exception | None) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("The server closed the connection."))

    @property
    def usable(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()


class Connection:
    """A keep-alive connection to a port, reopened when the server has closed it; one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._wire = Wire()

    async def ask(
        self, method: str, path: str, fields: dict[str, str] | None = None, *, and_encoded: str = ""
    ) -> tuple[int, bytes, bytes]:
        """Return status, head and body of the response."""
        body = "&".join(filter(None, (urlencode(fields or {}), and_encoded))).encode()
        loop = asyncio.get_running_loop()
        if not self._wire.usable:
            _, self._wire = await loop.create_connection(Wire, "127.0.0.1", self._port)
        assert self._wire.transport is not None
        self._wire.answer = loop.create_future()
        self._wire.transport.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nConnection: keep-alive\r\n{BROWSERS_HEADERS}"
            f"Origin: http://127.0.0.1:{self._port}\r\nReferer: http://127.0.0.1:{self._port}/\r\n"
            "Accept: application/json\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        status, head, received = await self._wire.answer
        packed = re.search(rb"(?i)content-encoding: *gzip", head)
        return status, head, zlib.decompress(received, GZIP) if packed else received


@dataclass
class Measurement:
    """`cycle_ms` holds one time per answered question; `errors` counts answers that were not stored."""

    seconds: float = 0.0
    cycle_ms: list[float] = field(default_factory=list)
    errors: int = 0
    out_of_questions: bool = False


Cycle = Callable[[], Awaitable[bool]]


async def _floor_cycle(port: int, floor: str) -> Cycle:
    connection = Connection(port)

    async def cycle() -> bool:
        status, _, _ = await connection.ask("POST", floor, {"choice": "candidate-1"})
        return status == 200

    return cycle


class OutOfQuestions(Exception):
    """Every place of the study is taken: the run was too long for the study."""


class LoadSession:
    """One annotator's session, as the page's script holds it: the current question and those ahead."""

    def __init__(self, study: str, kind: str = "best_of_n") -> None:
        self._study = study
        self._kind = kind
        self.path = ""
        self.slots: list[str] = []
        self._shown_at = 0.0

    async def begin(self, connection: Connection) -> None:
        person = uuid.uuid4().hex[:24]
        query = urlencode({"PROLIFIC_PID": person, "STUDY_ID": "benchmark", "SESSION_ID": person})
        status, head, _ = await connection.ask("POST", f"/take/{self._study}/?{query}", {})
        if status != 303:
            raise OutOfQuestions
        found = re.search(rb"(?i)location: *(\S+)", head)
        assert found is not None
        self.path = found[1].decode()
        await connection.ask("POST", f"{self.path}begin/", {})
        _, _, body = await connection.ask("GET", self.path)
        self.slots = list(dict.fromkeys(SLOT.findall(body.decode())))
        self._shown_at = time.monotonic()

    async def answer(self, connection: Connection) -> bool:
        slot, *ahead = self.slots
        # As long as it took: a claim of more is noted for each answer.
        shown_ms = str(int((time.monotonic() - self._shown_at) * 1000))
        fields = {
            "slot": slot,
            "have": ",".join(ahead),
            "submission": str(uuid.uuid4()),
            "first_choice_ms": shown_ms,
            "send_ms": shown_ms,
        }
        # Texts about one set of images must differ.
        fields |= {"text": f"The vase {uuid.uuid4()} is open."} if self._kind == "describe" else {"choice": "1"}
        status, _, body = await connection.ask("POST", f"{self.path}answer/", fields, and_encoded=SAID_ALIKE)
        if status != 200:
            return False
        told = json.loads(body)
        self._shown_at = time.monotonic()
        self.slots = [*self.slots[1:], *SLOT.findall(told["next"] or "")]
        return bool(told["saved"])


async def _begin_sessions(port: int, entries: list[str], kind: str) -> list[LoadSession]:
    """Begin a session for each place (the name of a study), before the measurement."""
    connection = Connection(port)
    sittings = [LoadSession(study, kind) for study in entries]
    for sitting in sittings:
        await sitting.begin(connection)
    return sittings


async def _product_cycle(port: int, waiting: list[LoadSession]) -> Cycle:
    """Answer a session, then further sessions of `waiting`, which all annotators share.

    It is not known in advance how annotators share the server: one whose worker has little else to do answers several
    times as much as the others.
    """
    connection = Connection(port)
    at_work = waiting.pop()

    async def cycle() -> bool:
        nonlocal at_work
        while not at_work.slots:
            if not waiting:
                raise OutOfQuestions
            at_work = waiting.pop()
        return await at_work.answer(connection)

    return cycle


async def _annotate(cycle: Cycle, measured: Measurement, *, start: float, end: float) -> None:
    """Answer until `end`; requests before `start` warm up and are not counted."""
    while (asked := time.perf_counter()) < end:
        try:
            stored = await cycle()
        except OutOfQuestions:
            measured.out_of_questions = True
            return
        except (ConnectionError, AssertionError):
            stored = False
        if asked >= start:
            measured.cycle_ms.append((time.perf_counter() - asked) * 1000)
            measured.errors += not stored


class Task(TypedDict):
    """`entries`: the name of a study per session; if empty, the floor at that path is measured. `kind`: of them all."""

    port: int
    annotators: int
    seconds: float
    entries: list[str]
    kind: str
    floor: str


async def _cycles(task: Task) -> list[Cycle]:
    if not task["entries"]:
        return [await _floor_cycle(task["port"], task["floor"]) for _ in range(task["annotators"])]
    waiting = await _begin_sessions(task["port"], task["entries"], task["kind"])
    return [await _product_cycle(task["port"], waiting) for _ in range(task["annotators"])]


async def _measure(task: Task) -> Measurement:
    cycles = await _cycles(task)
    measured = Measurement(seconds=task["seconds"])
    start = time.perf_counter() + WARM_UP_SECONDS
    end = start + measured.seconds
    await asyncio.gather(*(_annotate(cycle, measured, start=start, end=end) for cycle in cycles))
    return measured


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_measure(json.load(sys.stdin))))))
