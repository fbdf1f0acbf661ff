"""An owner approves, orders a bonus, and reads in the ledger that both were paid."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Submission
from tests.annotation.paying.stage import Stage, stage
from tests.browser.stage import assert_no_wider_than_the_window, set_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_member

STUDY = "/studies/vases/birds-step-3/"


@pytest.fixture
def paying(live_server: LiveServer, page: Page, tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as begun:
        sign_in(page, live_server.url, make_member(begun.study.project, "owner", name="olga"))
        yield begun


def test_an_owner_approves_and_orders_a_bonus_and_both_are_paid(
    page: Page, live_server: LiveServer, paying: Stage
) -> None:
    page.goto(f"{live_server.url}{STUDY}review/")
    page.get_by_role("button", name="Approve all 3").click()
    expect(page.get_by_text("3 approved, USD 12.00 without fees.")).to_be_visible()
    page.locator("details th a").first.click()
    page.get_by_label("Amount, USD").fill("1.50")
    preview = page.get_by_role("button", name="Preview").bounding_box()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("status")).to_contain_text("USD 2.00 with Prolific’s fee and taxes")
    order = page.get_by_role("button", name="Order this bonus").bounding_box()
    # A double click on the first does not order: the second is below it.
    assert preview is not None
    assert order is not None
    assert order["y"] > preview["y"] + preview["height"] / 2
    page.get_by_role("button", name="Order this bonus").click()
    expect(page.get_by_text("1 payment ordered, USD 1.50 in all")).to_be_visible()
    paying.minute(2)
    page.get_by_role("link", name="Money").click()
    expect(page.get_by_text("4 payments, without fees: paid USD 13.50")).to_be_visible()
    assert (paying.paid("reward"), sum(paying.paid())) == ([400, 400, 400], 150)


def test_the_pages_of_money_are_accessible_and_fit_a_phone(page: Page, live_server: LiveServer, paying: Stage) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(flag=Submission.Flag.WRONG_CODE)
    held = paying.held()
    paying.approve(paying.sessions[1:2])
    session = f"{STUDY}review/{paying.sessions[0].pk}/"
    addresses = [f"{STUDY}owed/", f"{STUDY}review/", session, f"{session}reject/", f"{STUDY}bonuses/"]
    addresses += [f"/projects/vases/money/{rest}" for rest in ("", "prolific/", f"payments/{held.pk}/")]
    for address in addresses:
        page.goto(f"{live_server.url}{address}")
        assert_no_wider_than_the_window(page)
        set_window(page, 390, 844)
        assert_accessible(page)
