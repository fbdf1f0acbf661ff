"""The forms of studies and projects: by keyboard alone, with and without scripts, sent twice, and after Back."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from studies.models import Project, Study
from tests.browser.stage import sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import PASSWORD, create_draft, draw_instance, make_person, make_project
from workspace.models import Token

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


@pytest.fixture
def editor(browser: Browser, live_server: LiveServer, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page, with or without scripts, of somebody who may edit the project vases, which has instances."""
    ana = make_person("ana")
    project = make_project(members=[ana])
    for number in range(3):
        draw_instance(project, number)
    with browser.new_context(java_script_enabled=getattr(request, "param", True)) as context:
        yield sign_in(context.new_page(), live_server.url, ana)


@pytest.mark.parametrize("editor", [True, False], ids=["scripts", "no scripts"], indirect=True)
def test_back_to_a_form_that_made_a_draft_leads_to_the_draft(editor: Page, live_server: LiveServer) -> None:
    editor.goto(f"{live_server.url}/projects/vases/new-study/")
    editor.get_by_role("link", name="Pick the best image for a caption, or none").click()
    editor.get_by_label("Title").fill("Which vase is best?")
    editor.get_by_role("button", name="Create draft").click()
    editor.wait_for_url("**/studies/vases/which-vase-is-best/")
    editor.go_back()
    # What was typed is there, and where it is saved.
    expect(editor.get_by_label("Title")).to_have_value("Which vase is best?")
    expect(editor.get_by_role("status")).to_contain_text("You already sent this form, and it created this.")
    editor.get_by_label("Title").fill("Which vase is the best one?")
    editor.get_by_role("button", name="Save", exact=True).last.click()
    expect(editor.get_by_text("The study is changed.")).to_be_visible()
    study = Study.objects.get()
    assert (study.slug, study.title) == ("which-vase-is-best", "Which vase is the best one?")


@pytest.mark.parametrize("editor", [True, False], ids=["scripts", "no scripts"], indirect=True)
def test_back_to_a_study_file_that_made_a_draft_leads_to_the_draft(editor: Page, live_server: LiveServer) -> None:
    editor.goto(f"{live_server.url}/projects/vases/new-study/")
    editor.get_by_text("Or use your own study file").click()
    source = "study: which-vase\ntitle: Which vase?\ncontact: Ada\nkind: best_of_n\n"
    editor.get_by_label("Study file").fill(source)
    editor.get_by_role("button", name="Create draft").click()
    editor.wait_for_url("**/studies/vases/which-vase/")
    editor.go_back()
    expect(editor.get_by_label("Study file")).to_have_value(source)
    expect(editor.get_by_role("status")).to_contain_text("You already sent this form, and it created this.")


def test_back_to_the_forms_of_a_copy_and_of_a_project_leads_to_what_they_made(
    editor: Page, live_server: LiveServer
) -> None:
    create_draft(Project.objects.get())
    editor.goto(f"{live_server.url}/studies/vases/best-vase/duplicate/")
    editor.get_by_label("Name of the copy").fill("again")
    editor.get_by_role("button", name="Duplicate").click()
    editor.wait_for_url("**/studies/vases/again/")
    editor.go_back()
    expect(editor).to_have_url(f"{live_server.url}/studies/vases/again/form/")
    editor.goto(f"{live_server.url}/new-project/")
    editor.get_by_label("Name", exact=True).fill("Birds")
    editor.get_by_role("button", name="Create project").click()
    editor.wait_for_url("**/projects/birds/")
    editor.go_back()
    expect(editor).to_have_url(f"{live_server.url}/projects/birds/")
    expect(editor.get_by_role("status")).to_contain_text("You already sent this form")
    editor.get_by_role("link", name="Open an empty form").click()
    expect(editor.get_by_label("Name", exact=True)).to_have_value("")


@pytest.mark.parametrize("editor", [True, False], ids=["scripts", "no scripts"], indirect=True)
def test_a_double_click_creates_one_of_each(editor: Page, live_server: LiveServer) -> None:
    create_draft(Project.objects.get())
    editor.goto(f"{live_server.url}/projects/vases/new-study/form/?kind=ambiguity")
    editor.get_by_role("button", name="Create draft").dblclick()
    editor.wait_for_url("**/studies/vases/*/")
    editor.goto(f"{live_server.url}/studies/vases/best-vase/duplicate/")
    editor.get_by_label("Name of the copy").fill("again")
    editor.get_by_role("button", name="Duplicate").dblclick()
    editor.wait_for_url("**/studies/vases/again/")
    editor.goto(f"{live_server.url}/new-project/")
    editor.get_by_label("Name", exact=True).fill("Birds")
    editor.get_by_role("button", name="Create project").dblclick()
    editor.wait_for_url("**/projects/birds/")
    assert Project.objects.count() == 2
    assert Study.objects.count() == 3


@pytest.mark.parametrize("editor", [True, False], ids=["scripts", "no scripts"], indirect=True)
def test_a_double_click_makes_one_token_and_shows_it(editor: Page, live_server: LiveServer) -> None:
    editor.goto(f"{live_server.url}/tokens/")
    editor.get_by_label("What it is for").fill("laptop")
    editor.get_by_role("button", name="Create token").dblclick()
    shown = editor.get_by_role("textbox", name="Token", exact=True)
    expect(shown).to_have_value(re.compile("^lineup_[0-9a-f]{64}$"))
    assert shown.input_value().endswith(Token.objects.get().ending)


@pytest.mark.parametrize("editor", [True, False], ids=["scripts", "no scripts"], indirect=True)
def test_a_refused_form_leads_by_keyboard_to_each_mistake(editor: Page, live_server: LiveServer) -> None:
    editor.goto(f"{live_server.url}/projects/vases/new-study/form/?kind=ambiguity")
    editor.get_by_label("Pay per survey").fill("eight or so")
    editor.locator(".advanced > summary").click()
    editor.get_by_label("More minutes").fill("soon")
    editor.get_by_role("button", name="Create draft").click()
    problems = editor.locator("#study-file-problems")
    expect(problems).to_be_focused()
    # Each field says what is wrong with it, also to a screen reader; its section in Advanced is open.
    late = editor.get_by_label("More minutes")
    expect(late).to_be_visible()
    expect(late).to_have_accessible_description(re.compile("“Time: More minutes” must be a whole number"))
    editor.locator(".advanced > summary").click()
    expect(late).to_be_hidden()
    for field, label in ((editor.get_by_label("Pay per survey"), "Pay per survey"), (late, "More minutes")):
        problems.get_by_role("link", name=label).focus()
        editor.keyboard.press("Enter")
        expect(field).to_be_focused()
        expect(field).to_be_in_viewport()


# Numbers what can get the focus on a page, in reading order; returns how many that are.
NUMBER = """() => {
  const all = [...document.querySelectorAll("#main :is(a[href], button, input, select, textarea, summary)")];
  const shown = all.filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.tabIndex >= 0);
  for (const [place, each] of shown.entries()) each.dataset.place = place;
  return shown.length;
}"""
HERE = """() => {
  const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement);
  return [document.activeElement.dataset.place, outlineStyle !== "none" || boxShadow !== "none"];
}"""


@pytest.mark.parametrize(
    "address",
    [
        "/projects/vases/new-study/form/?kind=ambiguity",
        "/studies/vases/best-vase/form/",
        "/studies/vases/best-vase/practice/",
        "/studies/vases/best-vase/launch/",
        "/projects/vases/imports/new/",
        "/new-project/",
    ],
)
def test_a_form_is_walked_in_reading_order_with_a_visible_focus(
    editor: Page, live_server: LiveServer, address: str
) -> None:
    create_draft(Project.objects.get())
    editor.goto(f"{live_server.url}{address}", wait_until="networkidle")
    editor.evaluate("document.querySelectorAll('#main details').forEach((each) => (each.open = true))")
    count = editor.evaluate(NUMBER)
    editor.locator("#main").focus()
    visited = []
    for _ in range(count):
        editor.keyboard.press("Tab")
        place, is_visible = editor.evaluate(HERE)
        assert is_visible, place
        visited.append(int(place))
    assert visited == list(range(count))
    assert count > 1


def test_the_name_of_a_new_study_follows_its_title_until_it_is_typed(page: Page, live_server: LiveServer) -> None:
    ana = make_person("ana")
    draw_instance(make_project(members=[ana]), 1)
    sign_in(page, live_server.url, ana)
    page.goto(f"{live_server.url}/projects/vases/new-study/form/?kind=best_of_n")
    name, title = page.locator("#study"), page.locator("#title")
    expect(name).to_have_value("best-of-n")
    title.fill("Été: which  Vase?")
    expect(name).to_have_value("ete-which-vase")
    title.fill("花瓶")
    expect(name).to_have_value("ete-which-vase")
    title.fill("Which image fits the caption best?")
    expect(name).to_have_value("best-of-n")
    name.fill("pilot")
    title.fill("Another")
    expect(name).to_have_value("pilot")
    # So does one that is typed as it stood, also after an error.
    page.goto(f"{live_server.url}/projects/vases/new-study/form/?kind=best_of_n")
    name.fill("best-of-n")
    title.fill("Another")
    expect(name).to_have_value("best-of-n")
    page.locator("#answers").fill("many")
    page.get_by_role("button", name="Create draft").click()
    expect(page.locator("#study-file-problems")).to_be_focused()
    title.fill("One more")
    expect(name).to_have_value("best-of-n")


def test_the_short_name_of_a_new_project_follows_its_name_until_typed(page: Page, live_server: LiveServer) -> None:
    sign_in(page, live_server.url, make_person("ana"))
    page.goto(f"{live_server.url}/new-project/")
    name, slug = page.locator("#name"), page.locator("#slug")
    name.fill("Birds & fish")
    expect(slug).to_have_value("birds-fish")
    name.fill("我的基准数据集")
    expect(slug).to_have_value("project")
    expect(slug).to_have_accessible_description(re.compile("^URLs have Latin letters"))
    name.fill("Fish")
    expect(slug).to_have_accessible_description(re.compile("^It follows the name"))
    slug.fill("vases")
    name.fill("Birds")
    page.wait_for_timeout(600)
    expect(slug).to_have_value("vases")
    # Refused, it stays typed.
    slug.fill("two words")
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("alert")).to_be_visible()
    name.fill("Cats")
    page.wait_for_timeout(600)
    expect(slug).to_have_value("two words")
