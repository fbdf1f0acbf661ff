"""Follows every link of the site."""

from collections import Counter
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from django.test import Client
from django.urls import Resolver404, resolve

# So often one page is asked for, with another query each time; and so many pages of one kind.
MOST_QUERIES, MOST_OF_A_KIND = 4, 20


def crawl(client: Client, start: Iterable[str], *, most: int = 1000) -> dict[str, int]:
    """Follow every link of the site from the addresses `start` on; return what was asked for, each with its status.

    What leads out of the site or signs out is not followed, nor a page under more than some queries: each list of
    instances is one, and hands its own on to every instance. Of one kind of page some are followed beside `start`.
    """
    statuses: dict[str, int] = {}
    queries: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    named = list(start)
    waiting = list(named)
    while waiting and len(statuses) < most:
        path = waiting.pop(0)
        page = path.partition("?")[0]
        kind = _kind_of(page)
        is_enough = queries[page] >= MOST_QUERIES or kinds[kind] >= MOST_OF_A_KIND
        if path in statuses or (is_enough and path not in named):
            continue
        queries[page] += 1
        kinds[kind] += 1
        response = _seen(client, path)
        statuses[path] = response.status_code
        waiting += [link for link in _links(response, path) if link not in statuses]
    return statuses


def _kind_of(page: str) -> str:
    """Return the pattern of the page's address; of an address without one, which answers 404, itself."""
    try:
        return str(resolve(page).route)
    except Resolver404:
        return page


def _seen(client: Client, path: str) -> Any:
    """Return what `path` answers, a file read to its end."""
    response = client.get(path)
    if response.streaming:
        b"".join(response)
    return response


class _Page(HTMLParser):
    """A page of which only the links are kept: no tree is needed for them."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if (tag == "a" and "href" in said) or "hx-get" in said:
            self.links.append(str(said.get("href") or said.get("hx-get")))


def _links(response: Any, path: str) -> Iterator[str]:
    if response.status_code in {301, 302, 303} and urlsplit(response["Location"]).netloc in {"", "testserver"}:
        yield _inside(response["Location"])
    if response.streaming or not response["Content-Type"].startswith("text/html"):
        return
    page = _Page()
    page.feed(response.content.decode())
    for href in page.links:
        if href.startswith("?"):
            href = f"{path.partition('?')[0]}{href}"
        if href.startswith("/") and not href.startswith(("//", "/admin/", "/images/", "/sign-out/", "/take/")):
            yield href.partition("#")[0]


def _inside(location: str) -> str:
    parts = urlsplit(location)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
