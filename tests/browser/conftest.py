"""A real Chromium beside a live server. This file is read before the settings are chosen, so it imports no models."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

if TYPE_CHECKING:
    from annotation.models import Session
    from studies.models import Study

CHROMIUM = Path("/usr/bin/chromium")
BROWSER_TESTS = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, and run it last: the browser's driver leaves an event loop running in this process."""
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.path.is_relative_to(BROWSER_TESTS))


@pytest.fixture(scope="session", autouse=True)
def _database_beside_the_drivers_loop() -> Iterator[None]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: install the package chromium to run the browser tests.")
    quiet = ("background-networking", "component-update", "sync", "quic", "gpu")
    return {
        "executable_path": str(CHROMIUM),
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
    from tests.cast import arrive

    def come(**wanted: Any) -> "Session":
        session = arrive(open_study(**wanted), now=timezone.now())
        page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
        return session

    return come


@pytest.fixture
def at_work(live_server: LiveServer, page: Page) -> "Callable[..., Session]":
    """Return what brings the page to the first question of a session in a new study."""
    from django.utils import timezone

    from tests.browser.stage import open_study
    from tests.cast import arrive_at_work

    def begun(**wanted: Any) -> "Session":
        session = arrive_at_work(open_study(**wanted), now=timezone.now())
        page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
        return session

    return begun
