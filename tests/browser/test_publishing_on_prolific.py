"""An owner publishes a study on the local platform, adds places, pauses, resumes and stops it, click by click."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.models import ProlificAccount
from background.sealed_secrets import seal
from simulation.prolific_double.server import WORKSPACE
from studies.models import Study
from tests.browser.stage import sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import NOON, make_member
from tests.prolific import TOKEN, local_platform

LAPTOP, PHONE = (1366, 768), (390, 844)


class Clicks:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, button: Locator) -> None:
        self.count += 1
        button.click()


def check_fits(page: Page, width: int) -> None:
    """Fail if the page is wider than the window, or not accessible."""
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_study_is_published_extended_paused_resumed_and_stopped(
    page: Page,
    live_server: LiveServer,
    open_study: Callable[..., Study],
    settings: Settings,
    tmp_path: Path,
    size: tuple[int, int],
) -> None:
    study = open_study(instances=2, time={"estimated_minutes": 20}, pay={"per_session": "4.00"}, answers=3)
    ProlificAccount.objects.create(
        project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )
    page.set_viewport_size({"width": size[0], "height": size[1]})
    sign_in(page, live_server.url, make_member(study.project, "owner"))
    click = Clicks()
    with local_platform(tmp_path) as local:
        settings.PROLIFIC_ADDRESS = local.double.address
        page.goto(f"{live_server.url}/studies/vases/best-vase/recruit/")
        check_fits(page, size[0])
        click(page.get_by_role("link", name="Set up on Prolific"))
        check_fits(page, size[0])
        expect(page.get_by_text("USD 12.00 an hour")).to_be_visible()
        # Asked of the platform after the page has come: 3 places of 4.00, and a third of that.
        expect(page.get_by_text("Prolific says: USD 12.00 for people, USD 4.00 fee and taxes")).to_be_visible()
        page.get_by_label("Reward in USD").fill("2.00")
        expect(page.get_by_text("Prolific requires at least USD 8.00 an hour.")).to_be_visible()
        page.get_by_label("Reward in USD").fill("4.50")
        expect(page.get_by_text("USD 13.50 an hour")).to_be_visible()
        expect(page.get_by_text("Prolific says: USD 13.50 for people, USD 4.50 fee and taxes")).to_be_visible()
        click(page.get_by_role("button", name="Save draft on Prolific"))
        check_fits(page, size[0])
        expect(page.get_by_text("USD 18.00 Prolific says: USD 13.50 for people")).to_be_visible()
        click(page.get_by_role("button", name="Publish"))
        expect(page.get_by_text("0 of 3 taken")).to_be_visible()
        assert click.count == 3
        page.get_by_label("All places on Prolific").fill("5")
        click(page.get_by_role("button", name="Add places"))
        expect(page.get_by_text("0 of 5 taken")).to_be_visible()
        click(page.get_by_role("button", name="Pause on Prolific"))
        click(page.get_by_role("button", name="Resume on Prolific"))
        check_fits(page, size[0])
        click(page.get_by_text("Stop", exact=True))
        click(page.get_by_role("button", name="Stop on Prolific"))
        expect(page.get_by_role("link", name="Set up another round")).to_be_visible()
        assert click.count == 8
        [remote] = local.double.store.list("study")
        assert (remote["status"], remote["reward"], remote["total_available_places"]) == ("COMPLETED", 450, 5)
