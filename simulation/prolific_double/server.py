"""The HTTP server of the local platform: the API, the pages, and the work that time brings."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from simulation.prolific_double import api, pages, signed_links
from simulation.prolific_double.deliveries import Deliveries
from simulation.prolific_double.platform import Platform
from simulation.prolific_double.routes import Result, error
from simulation.prolific_double.rules import FIRST_BALANCE
from simulation.prolific_double.store import Document, Store
from simulation.prolific_double.switches import Switch

FILE = "prolific.sqlite3"
WORKSPACE = "5f00000000000000000000bb"
# Seconds between looking for what is due.
PAUSE = 0.2


class Double:
    """The platform behind one port. `token`: what the API accepts. `slow_seconds`: how long `slow` takes.

    study_prefix: what ids of studies begin with.
    """

    def __init__(
        self,
        folder: Path,
        *,
        token: str,
        port: int = 0,
        balance: int = FIRST_BALANCE,
        slow_seconds: float = 30,
        real_now: Callable[[], datetime] = lambda: datetime.now(UTC),
        study_prefix: str = "",
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._token, self._slow_seconds, self._lock = token, slow_seconds, RLock()
        self.store = Store(folder / FILE)
        self.platform = Platform(
            self.store, workspace=WORKSPACE, balance=balance, real_now=real_now, study_prefix=study_prefix
        )
        self._deliveries = Deliveries(self.platform, self._lock)
        self.platform.announce = self._deliveries.announce
        self._stopped = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def tick(self) -> None:
        """Do what is due at the platform's time, and send webhooks."""
        with self._lock:
            self.platform.tick()
            self.store.commit()
        self._deliveries.send_due()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Answer requests until the block ends."""
        server = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        server.start()
        try:
            yield
        finally:
            self._stopped.set()
            self._server.shutdown()
            server.join()

    def close(self) -> None:
        """Give the port and the file back."""
        self._stopped.set()
        self._server.server_close()
        with self._lock:
            self.store.close()

    def run(self) -> None:
        """Answer requests and do what is due, until the process is interrupted."""
        with self.listening():
            while not self._stopped.wait(PAUSE):
                self.tick()

    def answer(self, method: str, target: str, headers: Any, content: bytes) -> Result | None:
        """Answer a request; None hangs up."""
        path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query))
        is_api = path.startswith("/api/") or path == signed_links.KEYS
        if is_api and (refused := self._refuse(headers, needs_token=path != signed_links.KEYS)):
            return refused
        with self._lock:
            if self._stopped.is_set():
                return None
            try:
                body = _read(content, headers.get("Content-Type", ""))
                if path == signed_links.KEYS:
                    result = Result(signed_links.public_keys(self.store))
                elif is_api:
                    result = api.answer(self.platform, method, path, query, body, headers["Host"])
                else:
                    result = pages.answer(self.platform, method, path, query, body, headers)
            except (KeyError, TypeError, ValueError) as trouble:
                self.store.rollback()
                return error(400, f"The request cannot be read: {trouble!r}.")
            is_lost = is_api and self.platform.switches.use(Switch.REPLY_LOST)
            self.store.commit()
        return None if is_lost else result

    def clock(self) -> float:
        """Return the time that headers have, in seconds since 1970."""
        with self._lock:
            platform = self.platform
            return time.time() if self._stopped.is_set() else platform.display(platform.now()).timestamp()

    def _refuse(self, headers: Any, *, needs_token: bool) -> Result | None:
        """Return the answer of a switch, or to a wrong token."""
        with self._lock:
            if self._stopped.is_set():
                return None
            used = [
                switch
                for switch in (Switch.SLOW, Switch.AWAY, Switch.RATE_LIMITED, Switch.TOKEN_REVOKED)
                if self.platform.switches.use(switch)
            ]
            self.store.commit()
        if Switch.SLOW in used:
            self._stopped.wait(self._slow_seconds)
        if Switch.AWAY in used:
            return error(503, "The service is not available.")
        if Switch.RATE_LIMITED in used:
            return error(429, "Request was throttled.", headers={"Retry-After": "1"})
        if needs_token and (Switch.TOKEN_REVOKED in used or headers.get("Authorization") != f"Token {self._token}"):
            return error(401, "Invalid token.")
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30
            # One packet for headers and body: two would wait for each other for 40 ms.
            wbufsize = -1

            def handle_any(self) -> None:
                # Who no longer waits for an answer hangs up.
                with suppress(ConnectionError):
                    self._answer()

            def _answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                result = double.answer(self.command, self.path, self.headers, content)
                if result is None:
                    self.close_connection = True
                    return
                self.send_response(result.status)
                data, type_ = _write(result.body)
                if data:
                    self.send_header("Content-Type", type_)
                for name, value in result.headers.items():
                    self.send_header(name, value)
                if result.status != 204:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def date_time_string(self, timestamp: float | None = None) -> str:
                return super().date_time_string(double.clock() if timestamp is None else timestamp)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing: the page shows what happens."""

        return Handler


def _read(content: bytes, content_type: str) -> Document:
    if not content:
        return {}
    if content_type.startswith("application/json"):
        body = json.loads(content)
        if not isinstance(body, dict):
            raise ValueError("not an object")
        return body
    return dict(parse_qsl(content.decode(), keep_blank_values=True))


def _write(body: Any) -> tuple[bytes, str]:
    if body is None:
        return b"", ""
    if isinstance(body, pages.Html):
        return body.encode(), "text/html; charset=utf-8"
    return json.dumps(body).encode(), "application/json"
