"""What a worker that trains reads from the site: its examples, what to push, and whether to go on. Pure."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from training.messages import Order, PushOrder

TIMEOUT_SECONDS = 30
# For the short answer whether to go on.
STATE_SECONDS = 10
CHUNK = 1 << 20
GONE, LOST = 410, 404
# A site that is started again answers within a minute.
PATIENCE = urllib3.Retry(6, redirect=0, status_forcelist=[502, 503, 504], backoff_factor=1, raise_on_status=False)


class Stopped(Exception):
    """The site no longer waits for this worker: the run was cancelled, or another worker has it."""


class CannotFetch(Exception):
    """The examples cannot be read; the message is for people and says what to do."""


def fetch_examples(order: Order, part: str, file: Path) -> None:
    """Write a part of the examples into `file`, unless it is there. Raises CannotFetch, Stopped and OSError."""
    wanted = order["sha256"][part]
    if file.exists() and _digest(file) == wanted:
        return
    unfinished = file.with_suffix(".unfinished")
    address = f"{order['site']}/worker/training/examples/{part}"
    is_whole = False
    try:
        answer = _get(order, address, stream=True, retries=PATIENCE)
        try:
            if answer.status == GONE:
                raise Stopped
            if answer.status == LOST:
                raise CannotFetch("The site has lost the examples of this run. Resume it, and they are prepared again.")
            if answer.status != 200:
                raise CannotFetch(_advise(order, f"answered {answer.status}"))
            with unfinished.open("wb") as out:
                for chunk in answer.stream(CHUNK):
                    out.write(chunk)
            is_whole = True
        finally:
            answer.release_conn()
    except urllib3.exceptions.HTTPError as error:
        raise CannotFetch(_advise(order, f"did not answer ({error.__cause__ or error})")) from error
    finally:
        if not is_whole:
            unfinished.unlink(missing_ok=True)
    if _digest(unfinished) != wanted:
        unfinished.unlink()
        raise CannotFetch("The examples came with other bytes than the site wrote. Resume to fetch them again.")
    os.replace(unfinished, file)


def _advise(order: Order, problem: str) -> str:
    return (
        f"The worker cannot fetch the examples: {order['site']} {problem}. Check that the worker reaches the site at "
        "this address, or set the site's SITE_URL to one that it reaches. Then resume."
    )


def is_wanted(order: Order) -> bool:
    """Return whether the site still wants this worker to train; True while the site is down."""
    with suppress(urllib3.exceptions.HTTPError):
        address = f"{order['site']}/worker/training/state"
        answer = _get(order, address, stream=False, retries=False, seconds=STATE_SECONDS)
        return answer.status != GONE
    return True


def fetch_push(order: PushOrder) -> Mapping[str, Any]:
    """Return what the site tells of a push, with the token that it lends. Raises CannotFetch and Stopped."""
    address = f"{order['site']}/worker/models/push"
    try:
        answer = _get(order, address, stream=False, retries=PATIENCE)
    except urllib3.exceptions.HTTPError as error:
        raise CannotFetch(_advise_on_push(order, "did not answer")) from error
    if answer.status == GONE:
        raise Stopped
    if answer.status != 200:
        raise CannotFetch(_advise_on_push(order, f"answered {answer.status}"))
    told: Mapping[str, Any] = json.loads(answer.data)
    return told


def _advise_on_push(order: PushOrder, problem: str) -> str:
    return (
        f"The worker cannot ask the site what to push: {order['site']} {problem}. Check its SITE_URL, and push again."
    )


def is_push_wanted(order: PushOrder) -> bool:
    """Return whether the site still wants this worker to push; True while the site is down."""
    with suppress(urllib3.exceptions.HTTPError):
        return _get(order, f"{order['site']}/worker/models/push", stream=False, retries=False).status != GONE
    return True


def _get(
    order: Order | PushOrder,
    address: str,
    *,
    stream: bool,
    retries: urllib3.Retry | bool,
    seconds: float = TIMEOUT_SECONDS,
) -> urllib3.BaseHTTPResponse:
    parts = urlsplit(address)
    proxy = "" if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme, "")
    web = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()
    headers = {"Authorization": f"Bearer {order['key']}"}
    # Redirects are not followed, because they would carry the key elsewhere.
    return web.request(
        "GET",
        address,
        headers=headers,
        redirect=False,
        retries=retries,
        timeout=seconds,
        preload_content=not stream,
    )


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
