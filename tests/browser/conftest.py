"""A real Chromium beside a live server. This file is read before the settings are chosen, so it imports no models."""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

if TYPE_CHECKING:
    from annotation.models import Session
    from studies.models import Study

# The first that is there. The shell is the same engine without the browser's own windows: a new page costs it a quarter
# of the processor time.
CHROMIUMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
BROWSER_TESTS = Path(__file__).parent
REST_SECONDS = 10
# A limit for what never comes. Playwright's own five seconds are too few on a busy machine.
EXPECT_MS = 30_000
BECAUSE = "what a page does in a browser does not depend on the database; one whole survey is run on both"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Mark what lies here before `-m` looks for marks, and run it last, whatever order others have made: the browser's
    driver leaves an event loop running in this process."""
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.once(on="sqlite", because=BECAUSE))
    yield
    items.sort(key=lambda item: item.path.is_relative_to(BROWSER_TESTS))


expect.set_options(timeout=EXPECT_MS)


@pytest.fixture(scope="session", autouse=True)
def _database_beside_the_drivers_loop() -> Iterator[None]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(autouse=True)
def _server_at_rest(live_server: LiveServer) -> Iterator[None]:
    """Let the server end what a closed page still asked of it, before the database is emptied under its feet."""
    from django.core.signals import request_finished, request_started

    under_way: set[int] = set()

    def started(**about: Any) -> None:
        under_way.add(threading.get_ident())

    def finished(**about: Any) -> None:
        under_way.discard(threading.get_ident())

    request_started.connect(started)
    request_finished.connect(finished)
    yield
    deadline = time.monotonic() + REST_SECONDS
    while under_way and time.monotonic() < deadline:
        time.sleep(0.02)
    request_started.disconnect(started)
    request_finished.disconnect(finished)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    chromium = next((program for program in CHROMIUMS if program.exists()), None)
    if chromium is None:
        pytest.skip(f"{CHROMIUMS[-1]} is missing: install the package chromium to run the browser tests.")
    quiet = ("background-networking", "component-update", "sync", "quic", "gpu")
    return {
        "executable_path": str(chromium),
        "args": ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)],
    }


@pytest.fixture(scope="session")
def base_url() -> None:
    """Stand in for the plugin's own fixture, whose form pytest warns of; the tests name their addresses whole."""


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "viewport": {"width": 1366, "height": 650}}


@pytest.fixture
def open_study(live_server: LiveServer) -> "Callable[..., Study]":
    """Return what makes and launches a study with drawn pictures."""
    from tests.browser.stage import open_study

    return open_study


@pytest.fixture
def arrived(live_server: LiveServer, page: Page) -> "Callable[..., Session]":
    """Return what brings the page to the first page of a session in a new study."""
    from django.utils import timezone

    from tests.browser.stage import open_study
    from tests.factories import arrive

    def come(**wanted: Any) -> "Session":
        session = arrive(open_study(**wanted), now=timezone.now())
        page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
        return session

    return come


@pytest.fixture
def at_work(live_server: LiveServer, page: Page) -> "Callable[..., Session]":
    """Return what brings the page to the first question of a session in a new study, and waits until its images are
    seen unless they cannot be."""
    from django.utils import timezone

    from tests.browser.stage import SEEN, open_study
    from tests.factories import arrive_at_work

    def begun(*, is_seen: bool = True, **wanted: Any) -> "Session":
        session = arrive_at_work(open_study(**wanted), now=timezone.now())
        page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
        if is_seen:
            page.locator(SEEN).wait_for()
        return session

    return begun
