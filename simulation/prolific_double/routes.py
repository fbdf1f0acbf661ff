"""Addresses of the local platform's API: how they are registered and answered, and its errors and lists."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from simulation.prolific_double.platform import Platform
from simulation.prolific_double.rules import Refusal
from simulation.prolific_double.store import Document
from simulation.prolific_double.switches import Switch

PAGE_SIZE = 20
SMALL_PAGE = 5


@dataclass(frozen=True)
class Call:
    """A request: the ids in its path, its query, its JSON, and its address without the query."""

    platform: Platform
    ids: tuple[str, ...]
    query: Mapping[str, str]
    body: Document
    address: str

    @property
    def id(self) -> str:
        return self.ids[0]

    def need(self, *fields: str) -> None:
        """Raise Refusal if the body lacks a field."""
        if missing := {name: ["This field is required."] for name in fields if name not in self.body}:
            raise Refusal(missing)


@dataclass(frozen=True)
class Result:
    """What an address answers; body None: nothing."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Route:
    """`has_plain_errors`: whether its error bodies are not wrapped in `error`, which the description has for some."""

    method: str
    path: re.Pattern[str]
    answer: Callable[[Call], Result]
    has_plain_errors: bool


ROUTES: list[Route] = []


def route(
    method: str, path: str, *, has_plain_errors: bool = False
) -> Callable[[Callable[[Call], Result]], Callable[[Call], Result]]:
    """Register a function for a path with {} where the ids are."""
    pattern = re.compile(re.escape(f"/api/v1{path}").replace(r"\{\}", "([^/]+)"))

    def register(answer: Callable[[Call], Result]) -> Callable[[Call], Result]:
        ROUTES.append(Route(method, pattern, answer, has_plain_errors))
        return answer

    return register


def error(status: int, detail: Any, *, is_plain: bool = False, headers: Mapping[str, str] | None = None) -> Result:
    titles = {400: "Bad request", 401: "Authentication failed", 404: "Not found", 429: "Too many requests"}
    inner = {
        "status": status,
        "error_code": 140000 + status,
        "title": titles.get(status, "Error"),
        "detail": detail,
        "additional_information": "",
        "traceback": "",
        "interactive": False,
    }
    return Result(inner if is_plain else {"error": inner}, status, headers or {})


def page_of(call: Call, items: list[Document]) -> Result:
    """Return the page of a list that is asked for, with its links. A page past the end is not found."""
    asked = int(call.query.get("page_size") or PAGE_SIZE)
    size = SMALL_PAGE if call.platform.switches.is_on(Switch.SMALL_PAGES) else asked
    page, last = int(call.query.get("page") or 1), max(-(-len(items) // size), 1)
    if page > last:
        raise Refusal("Invalid page.", status=404)

    def link(number: int, title: str) -> dict[str, str | None]:
        href = f"{call.address}?{urlencode({**call.query, 'page': number, 'page_size': size})}"
        return {"href": href if 1 <= number <= last else None, "title": title}

    links = {
        "self": link(page, "Current"),
        "next": link(page + 1, "Next"),
        "previous": link(page - 1, "Previous"),
        "last": link(last, "Last"),
    }
    results = items[(page - 1) * size : page * size]
    return Result({"results": results, "_links": links, "meta": {"count": len(items)}})
