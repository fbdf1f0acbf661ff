"""A held sitting survives a browser that is killed and started again without a line."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, BrowserType, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response, Session
from tests.browser.stage import Opener, answer, go_offline, open_study, question_number, stored_pictures
from tests.factories import arrive_at_work

# Nothing listens there, so that nothing gets through, not even to this machine: as without a line.
NO_LINE = ("--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>")
Starts = Callable[..., Any]


@pytest.fixture
def started(browser_type: BrowserType, browser_type_launch_args: dict[str, Any], tmp_path: Path) -> Starts:
    """Return what starts the same browser, with what it has on its disk, once more."""

    @contextmanager
    def start(*switches: str) -> Iterator[BrowserContext]:
        args = {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], *switches]}
        context = browser_type.launch_persistent_context(tmp_path / "profile", **args)
        yield context
        context.close()

    return start


def kill_browser(profile: Path) -> None:
    """End the browser of that profile as a crash or an empty battery does."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if f"--user-data-dir={profile}" in command and not any(part.startswith("--type=") for part in command):
            os.kill(int(process.name), signal.SIGKILL)


def wait_until_kept(page: Page, session: Session) -> None:
    address = f"/s/{session.token}/"
    for _ in range(200):
        if page.evaluate(f"caches.match('{address}').then(Boolean)"):
            return
        page.wait_for_timeout(50)
    raise AssertionError("The page was not kept.")


def is_kept(page: Page, session: Session) -> bool:
    return bool(page.evaluate(f"caches.match('/s/{session.token}/').then(Boolean)"))


def wait_until_safe(page: Page, number: int) -> None:
    expect(page.locator("[data-saved]")).to_have_text(
        f"Offline. Answers saved on this device, to be sent automatically: {number}"
    )


def test_a_killed_browser_goes_on_without_a_line_and_loses_nothing(
    live_server: LiveServer, started: Starts, tmp_path: Path
) -> None:
    session = arrive_at_work(open_study(instances=7), now=timezone.now())
    address = f"{live_server.url}/s/{session.token}/"
    with started() as context:
        page = context.new_page()
        page.goto(address)
        clicked = [answer(page, "1")]
        expect(page.locator("[data-answered]")).to_have_text("1")
        wait_until_kept(page, session)
        expect(page.locator("[data-ahead] [data-question]")).to_have_count(3)
        go_offline(page)
        clicked += [answer(page, "2"), answer(page, "n")]
        assert question_number(page) == 4
        wait_until_safe(page, 2)
        with context.expect_event("close"):
            kill_browser(tmp_path / "profile")
    assert Response.objects.count() == 1
    with started(*NO_LINE) as context:
        page = context.new_page()
        page.goto(address)
        assert question_number(page) == 4
        expect(page.locator("[data-answered]")).to_have_text("1")
        expect(page.locator("[data-saved]")).to_have_attribute("data-state", "kept")
        context.set_offline(True)
        wait_until_safe(page, 2)
        clicked.append(answer(page, "4"))
        assert question_number(page) == 5
        wait_until_safe(page, 3)
        assert Response.objects.count() == 1
    with started() as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("[data-answered]")).to_have_text("4")
        assert question_number(page) == 5
        clicked += [answer(page, "3"), answer(page, "1"), answer(page, "2")]
        expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
        assert not is_kept(page, session)
    assert stored_pictures(session) == clicked
    assert Response.objects.count() == 7


NO_ANSWER_ON_THE_DISK = """
const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (...what) {
  if (this.name === "answers") throw new DOMException("full", "QuotaExceededError");
  return put.apply(this, what);
};
"""


def test_without_its_answer_on_the_disk_a_question_is_asked_again(
    live_server: LiveServer, started: Starts, tmp_path: Path
) -> None:
    """Otherwise whoever is killed before the disk has the answer would never be asked, and never answer."""
    session = arrive_at_work(open_study(instances=7), now=timezone.now())
    address = f"{live_server.url}/s/{session.token}/"
    with started() as context:
        context.add_init_script(NO_ANSWER_ON_THE_DISK)
        page = context.new_page()
        page.goto(address)
        wait_until_kept(page, session)
        go_offline(page)
        answer(page, "2")
        wait_until_safe(page, 1)
        # As a browser that is killed before it has written down what is in its local storage.
        page.evaluate("localStorage.clear()")
        with context.expect_event("close"):
            kill_browser(tmp_path / "profile")
    with started(*NO_LINE) as context:
        page = context.new_page()
        page.goto(address)
        assert question_number(page) == 1


def test_a_browser_without_room_for_the_page_raises_no_error(page: Page, at_work: Opener) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(
        """Cache.prototype.put = async () => {
          document.documentElement.dataset.refused = "";
          throw new DOMException("There is no room.", "QuotaExceededError");
        };"""
    )
    # On its first visit the page keeps itself; from the second on, the worker keeps it, whose cache has room.
    at_work(instances=2)
    page.locator("html[data-refused]").wait_for()
    assert answer(page, "1")
    assert question_number(page) == 2
    assert errors == []
