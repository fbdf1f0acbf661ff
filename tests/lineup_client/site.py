"""A site that answers what a test tells it to."""

from collections.abc import Iterator
from typing import Any

import httpx

from lineup_client import Lineup

FINE = {"slug": "birds"}


class Site:
    """Answers in turn what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers: Iterator[httpx.Response | Exception] = iter(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, tries: int = 3) -> Lineup:
        transport = httpx.MockTransport(self)
        return Lineup("https://lineup.example/", "lineup_abc", tries=tries, wait_seconds=0, transport=transport)


def lost() -> Exception:
    return httpx.ReadError("The line was cut.")


def answer(body: Any = FINE, status: int = 200, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})
