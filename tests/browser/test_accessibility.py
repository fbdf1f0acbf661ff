"""Every annotator page and state, light and dark, in front of axe; and one question in one window."""

from collections import Counter
from itertools import pairwise

from axe_playwright_python.base import AXE_SCRIPT, AxeResults  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response, Session, SessionState
from tests.browser.stage import Opener, answer, come_from_prolific, go_offline, open_study, question_number, set_window
from tests.factories import arrive_at_work, make_instance, make_project

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What axe finds by colours alone, and nothing else is otherwise in the dark.
RULES_OF_COLOURS = ["color-contrast", "link-in-text-block"]
# Axe describes each element that it looked at, unless it is told that those that passed are not asked for.
VIOLATIONS = """(rules) => axe.run({ runOnly: rules, resultTypes: ["violations"] })
  .then(({ violations, url }) => ({ violations, url }))"""
DESIGN = {
    "consent": "# What this is\n\nYou may stop at any time.",
    "practice": {
        "pass": 1,
        "rounds": 1,
        "questions": [{"instance": "vase-0", "right": "candidate-0", "feedback": "Look at the map."}],
    },
}
# A page has few colours, of which each of its texts has some: axe would read the same ones a thousand times.
COLOURS_READ_ONCE = """(() => {
  const { prototype } = axe.commons.color.Color;
  const { parseString } = prototype;
  const known = new Map();
  prototype.parseString = function (text) {
    if (!known.has(text)) {
      const { r, g, b, alpha } = parseString.call(this, text);
      known.set(text, { r, g, b, alpha });
    }
    return Object.assign(this, known.get(text));
  };
})()"""
SCROLLED_SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
CAPTION_HEIGHTS = (
    "(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector('.caption'))"
)
BOXES = """all => all.map((one) => {
  const { top, bottom, width, height } = one.getBoundingClientRect();
  return [top, bottom, Math.min(width, height)];
})"""
LONG_CAPTION = "Рыжая кошка спит на синем кресле, рядом стоят две белые чашки, тарелка, чайник. " * 5


# What axe lets pass: roles of which each needs a name of its own on a page of researchers.
NAMED_APART = frozenset({"button", "DisclosureTriangle", "navigation", "region", "search"})
# The levels of the headings, and what stands in tables that nothing names.
OUTLINE = """() => {
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true });
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(isShown);
  const tables = [...document.querySelectorAll("table")].filter(isShown);
  const unnamed = tables.filter((one) => !one.caption && !one.closest("[aria-label], [aria-labelledby]"));
  return [headings.map((one) => Number(one.tagName[1])), unnamed.map((one) => one.innerText.slice(0, 60))];
}"""


def assert_accessible(page: Page) -> None:
    """Try every rule in light, and in the dark those that look at colours."""
    page.wait_for_load_state()
    if page.locator("body.workspace").count():
        assert_told_apart(page)
    assert_no_violation(page, RULES)
    page.emulate_media(color_scheme="dark")
    assert_no_violation(page, RULES_OF_COLOURS)
    page.emulate_media(color_scheme="light")


def assert_told_apart(page: Page) -> None:
    """Read the page as a screen reader does: one first heading, no level left out, and a name of its own for all."""
    levels, unnamed = page.evaluate(OUTLINE)
    assert levels.count(1) == 1
    assert [(one, other) for one, other in pairwise([0, *levels]) if other > one + 1] == []
    assert unnamed == []
    reader = page.context.new_cdp_session(page)
    names = Counter[tuple[str, str]]()
    for node in reader.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value", "")
        if not node["ignored"] and role in NAMED_APART:
            names[role, node.get("name", {}).get("value", "")] += 1
    reader.detach()
    assert [named for named, number in names.items() if number > 1 or not named[1]] == []


def assert_no_violation(page: Page, rules: list[str]) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"{AXE_SCRIPT};{COLOURS_READ_ONCE}")
    results = AxeResults(page.evaluate(VIOLATIONS, rules))
    assert results.violations_count == 0, results.generate_report()


def test_every_page_on_the_way_is_accessible(page: Page, arrived: Opener) -> None:
    page.route("https://app.prolific.com/**", lambda route: route.fulfill(body="Prolific"))
    arrived(instances=3, **DESIGN)
    assert_accessible(page)
    page.get_by_role("button", name="I agree", exact=True).click()
    assert_accessible(page)
    page.get_by_role("button", name="Start the practice").click()
    question_number(page)
    assert_accessible(page)
    page.keyboard.press("1")
    page.get_by_role("button", name="Send").click()
    onward = page.locator("[data-onward]")
    onward.wait_for()
    assert_accessible(page)
    # The page that says the same without scripts, and after a reload.
    page.reload()
    assert_accessible(page)
    onward.click()


def test_every_state_of_the_question_is_accessible(page: Page, context: BrowserContext, at_work: Opener) -> None:
    at_work(instances=6)
    for key in ("?", "i", "z"):
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        assert_accessible(page)
        page.keyboard.press("Escape")
    page.get_by_role("link", name="Help").click()
    assert_accessible(page)
    page.get_by_role("link", name="Stop here").click()
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.locator("dialog[open]").wait_for()
    assert_accessible(page)
    page.keyboard.press("Escape")
    answer(page, "2")
    page.get_by_role("link", name="Change my last answer").click()
    expect(page.get_by_text("You are changing")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Keep my earlier answer").click()
    question_number(page)
    go_offline(page)
    while page.locator("[data-stage] [data-question]").count():
        answer(page, "2")
    page.get_by_text("You are offline. The next question appears").wait_for()
    page.get_by_role("status").filter(has_text="Offline. Answers saved on this device").wait_for()
    assert_accessible(page)
    context.set_offline(False)
    question_number(page)
    answer(page, "2")
    page.get_by_role("heading", name="All saved. Thank you!").wait_for()
    page.get_by_label("Anything to tell us? (optional)").focus()
    assert_accessible(page)


def test_the_other_endings_and_the_problems_are_accessible(page: Page, live_server: LiveServer) -> None:
    study = open_study(instances=3, consent="Stop when you like.")
    take = f"{live_server.url}/take/{study.entry_name}/"
    page.goto(f"{take}?PROLIFIC_PID=ann&STUDY_ID=study&SESSION_ID=sitting")
    assert_accessible(page)
    come_from_prolific(page, live_server.url, study)
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("heading", name="You do not agree?").wait_for()
    assert_accessible(page)
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("heading", name="You did not agree to take part").wait_for()
    assert_accessible(page)
    for query in ("", "?PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D&STUDY_ID=s&SESSION_ID=t", "?invite=wrong"):
        page.goto(take + query)
        assert_accessible(page)
    page.goto(f"{take}?invite={study.invite_token}")
    assert_accessible(page)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I agree", exact=True).click()
    session = page.url
    for name in ("help", "take-back", "give-up"):
        page.goto(f"{session}{name}/")
        assert_accessible(page)
    page.get_by_role("button", name="Stop here").click()
    page.get_by_role("heading", name="You have stopped").wait_for()
    assert_accessible(page)
    for state in (SessionState.LEFT_OUT, SessionState.LAPSED):
        Session.objects.filter(annotator__provider="invite").update(state=state)
        page.reload()
        assert_accessible(page)
    for address in ("/nothing-here/", "/take/nothing-here/"):
        page.goto(f"{live_server.url}{address}")
        assert_accessible(page)


def test_an_image_with_texts_to_choose_from_works_and_is_accessible(page: Page, at_work: Opener) -> None:
    for key in ("one", "two"):
        make_instance(make_project(), key, candidates=1)
    roles = {"images": ["candidate"], "captions": ["negative_caption", "caption"]}
    session = at_work(instances=2, kind="image_to_text", ask=roles)
    page.keyboard.press("z")
    expect(page.get_by_role("dialog", name="The image")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    clicked = []
    for key in ("2", "a"):
        question_number(page)
        page.keyboard.press(key)
        clicked.append(page.locator("[data-stage] label:has(:checked) span").inner_text())
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="All saved. Thank you!").wait_for()
    responses = Response.objects.filter(session=session).order_by("slot__position").select_related("question")
    texts = [{option["key"]: option["text"] for option in one.question.content["options"]} for one in responses]
    assert [text[one.choice] for text, one in zip(texts, responses, strict=True)] == clicked
    assert [image["value"] for one in responses for image in one.images_seen] == ["image", "image"]


# Two and four stand in test_layout.py, in more windows.
def test_one_question_fits_any_window_without_scrolling(page: Page, at_work: Opener) -> None:
    captions = {"caption": "x", "negative_caption": LONG_CAPTION}
    so_many = {3, 5, 6, 8, 9}
    for images in so_many:
        make_instance(make_project(), f"long-{images}", candidates=images, captions=captions)
    at_work(instances=len(so_many))
    looked_at = set()
    for number in range(1, len(so_many) + 1):
        assert question_number(page) == number
        images = page.locator("[data-stage] img").count()
        for width, height in [(1366, 650), (1366, 768), (1920, 950), (390, 844)]:
            window = (images, width, height)
            set_window(page, width, height)
            assert page.evaluate(SCROLLED_SIZE) == [width, height], window
            whole, seen = page.evaluate(CAPTION_HEIGHTS)
            assert whole <= seen, window
            boxes = page.locator(
                "[data-stage] img, [data-stage] label .choice, [data-stage] label.choice, [data-stage] [data-send]"
            ).evaluate_all(BOXES)
            assert len(boxes) == images * 2 + 2, window
            assert all(top >= 0 and bottom <= height for top, bottom, _ in boxes), window
            assert min(shorter for _, _, shorter in boxes[0 : images * 2 : 2]) >= 90, window
        looked_at.add(images)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
    assert looked_at == so_many


def smallest_sides(page: Page) -> dict[str, float]:
    """Return how many pixels the shorter side of everything that can be pressed on the question's page has."""
    targets = page.locator("header :is(a, button):visible, [data-stage] :is(label, button:visible, a)").all()
    assert len(targets) >= 10
    boxes = [(target.inner_text(), target.bounding_box()) for target in targets]
    return {name: min(box["width"], box["height"]) for name, box in boxes if box is not None}


def test_everything_that_can_be_pressed_is_large_enough_for_a_mouse_and_for_a_finger(
    page: Page, browser: Browser, live_server: LiveServer
) -> None:
    session = arrive_at_work(open_study(instances=2))
    page.goto(f"{live_server.url}/s/{session.token}/")
    question_number(page)
    assert {name: side for name, side in smallest_sides(page).items() if side < 24} == {}
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/s/{session.token}/")
        question_number(page)
        assert {name: side for name, side in smallest_sides(page).items() if side < 44} == {}
        page.get_by_role("link", name="Image A (enlarge)").tap()
        buttons = page.locator("#zoom button:visible, #zoom .check").all()
        assert len(buttons) >= 12
        for button in buttons:
            box = button.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44, button.inner_text()
