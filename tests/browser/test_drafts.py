"""A draft's study file, changed in a real browser: readable, accessible, and kept whatever goes wrong."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from studies.models import Study
from tests.browser.stage import assert_no_wider_than_the_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import create_draft, make_person, make_project

PAGE = "/studies/vases/best-vase/"


@pytest.fixture
def draft(page: Page, live_server: LiveServer) -> Study:
    """A draft on whose page somebody is."""
    ana = make_person("ana")
    study = create_draft(make_project(members=[ana]))
    sign_in(page, live_server.url, ana).goto(f"{live_server.url}{PAGE}")
    return study


def test_a_study_file_is_mended_and_saved(page: Page, draft: Study) -> None:
    file = page.get_by_label("Study file (YAML)")
    expect(file).to_be_hidden()
    page.get_by_text("Study file (YAML)").first.click()
    typed = f"{draft.source}anwsers: 3\n"
    file.fill(typed)
    page.get_by_role("button", name="Save the study file").click()
    expect(page.get_by_role("alert")).to_contain_text("Did you mean answers?")
    expect(file).to_have_value(typed)
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
    file.fill(typed.replace("anwsers", "answers"))
    page.get_by_role("button", name="Save the study file").click()
    expect(page.get_by_text("The study file is changed.")).to_be_visible()
    draft.refresh_from_db()
    assert draft.design.answers == 3


def test_a_draft_is_duplicated_and_the_copy_deleted(page: Page, draft: Study) -> None:
    page.get_by_text("More actions").click()
    page.get_by_role("link", name="Duplicate").click()
    assert_accessible(page)
    page.get_by_label("Name of the copy, in addresses and commands").fill("again")
    page.get_by_role("button", name="Duplicate").click()
    page.get_by_text("More actions").click()
    page.get_by_role("link", name="Delete").click()
    assert_accessible(page)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The draft again is deleted.")).to_be_visible()
    assert Study.objects.get() == draft
