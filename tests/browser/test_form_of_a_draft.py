"""A study is asked in parts in a form, by keyboard alone, with and without scripts."""

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from studies.models import Study
from tests.browser.test_accessibility import assert_accessible
from tests.factories import PASSWORD, create_draft, make_person, make_project

FORM = "/studies/vases/best-vase/form/"
FOCUSED = "(({ type, value, name }) => (type === 'submit' ? value : name))(document.activeElement)"


def go_to(page: Page, focused: str, key: str = "Tab") -> None:
    """Press the key that goes on, or back, until it has come there."""
    for _ in range(150):
        page.keyboard.press(key)
        if page.evaluate(FOCUSED) == focused:
            return
    raise AssertionError(focused)


@pytest.mark.parametrize(
    ("scripts", "size"), [(True, (1366, 768)), (False, (390, 844))], ids=["laptop", "phone without scripts"]
)
def test_a_part_comes_by_keyboard(
    browser: Browser, live_server: LiveServer, scripts: bool, size: tuple[int, int]
) -> None:
    study = create_draft(make_project(members=[make_person("ana")]), rule="majority-v1")
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(f"{live_server.url}{FORM}")
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="best-vase")).to_be_visible()
    page.locator(".advanced > summary").focus()
    page.keyboard.press("Enter")
    go_to(page, "add:parts")
    page.keyboard.press("Enter")
    # The cursor is in the part that came, which is in sight.
    expect(page.locator('[name="parts.1.kind"]')).to_be_focused()
    expect(page.locator('[name="parts.1.kind"]')).to_be_in_viewport()
    page.keyboard.type("rating")
    go_to(page, "show:parts.1.kind")
    page.keyboard.press("Enter")
    expect(page.locator('[name="parts.1.kind"]')).to_be_focused()
    # Roles are lists of those that are there: the first letters choose one.
    for name, value, key in (("caption", "negative_caption", "Shift+Tab"), ("images", "candidate", "Tab")):
        go_to(page, f"parts.1.ask.{name}", key)
        page.keyboard.type(value)
    if scripts:
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    go_to(page, "save")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The study is changed.")).to_be_visible()
    context.close()
    study.refresh_from_db()
    assert [part.kind for part in study.design.parts] == ["best_of_n", "rating"]
    assert Study.objects.count() == 1
