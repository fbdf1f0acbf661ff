"""Servers on this machine that a site under test sends something to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


# Answers a request through its handler, which has been read whole.
Answer = Callable[[BaseHTTPRequestHandler, Request], None]


@dataclass
class Receiver:
    """A server that listens, and what it was sent."""

    port: int
    requests: list[Request] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/news"


def answer_with(status: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if request.method != "HEAD":
            handler.wfile.write(body)

    return answer


@contextmanager
def receiving(answer: Answer, tls: SSLContext | None = None, *, keeps_alive: bool = False) -> Iterator[Receiver]:
    """Run a server that answers every request so, until the block ends. `keeps_alive`: its connections stay open."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keeps_alive else "HTTP/1.0"
        # Or a connection that stays open keeps the server from stopping.
        timeout = 1 if keeps_alive else None

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            receiver.requests.append(request)
            answer(self, request)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Clients that go away are what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
