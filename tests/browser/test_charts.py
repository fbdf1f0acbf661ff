"""Charts and cards of results.

On a phone letters keep their size, long labels are above the marks, and wider charts scroll.
"""

from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page

from results.reports import charts
from results.reports.base import LONGEST_SHORT_LABEL, Chart, Point, Series
from tests.browser.stage import set_window
from tests.browser.test_accessibility import assert_accessible

PHONE = (390, 844)
STYLES = Path(settings.BASE_DIR) / "static" / "css"


def frame(page: Page, letters: int) -> dict[str, float]:
    """Return the widths of the frame of a bar chart whose labels have so many letters, and of what is in it.

    letter: the height of a letter of its axes, which are 12 px high.
    """
    points = [Point(f"{number}".rjust(letters, "m"), number) for number in (70, 68)]
    chart = Chart("funnel", "Funnel", "", "bars", "count", "Instances", [Series("", points)])
    card = '<article class="result" style="margin: 1rem">'
    figure = f'<figure class="chart">{charts.draw(chart).svg}</figure>'
    set_window(page, *PHONE)
    styles = "".join((STYLES / f"{name}.css").read_text(encoding="utf-8") for name in ("workspace", "results"))
    styles = f":root {{ --surface: white }} body {{ margin: 0 }} {styles}"
    page.set_content(f"<!doctype html><style>{styles}</style>{card}{figure}</article>")
    widths: dict[str, float] = page.evaluate(
        """() => {
            const figure = document.querySelector("figure"), svg = figure.querySelector("svg");
            return {
                frame: figure.clientWidth, content: figure.scrollWidth, chart: svg.getBoundingClientRect().width,
                page: document.documentElement.scrollWidth, shadows: getComputedStyle(figure).backgroundImage.length,
                letter: 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
            };
        }"""
    )
    return widths


@pytest.mark.parametrize(
    ("letters", "scrolls"), [(1, True), (LONGEST_SHORT_LABEL, True), (LONGEST_SHORT_LABEL + 1, False)]
)
def test_a_chart_wider_than_a_phone_scrolls_in_its_frame_and_letters_keep_their_size(
    page: Page, letters: int, *, scrolls: bool
) -> None:
    found = frame(page, letters)
    assert found["letter"] == pytest.approx(12)
    assert (found["content"] > found["frame"]) == scrolls
    assert found["page"] == PHONE[0]
    assert found["shadows"] > len("none")


def test_of_the_two_drawings_of_a_chart_a_window_shows_the_one_that_fits(page: Page) -> None:
    points = [Point("m" * (LONGEST_SHORT_LABEL + 40), 0.5)]
    chart = Chart("rates", "Rates", "", "bars", "share", "Share", [Series("", points)])
    drawn = charts.draw(chart)
    both = f'<div class="on-screens">{drawn.svg}</div><div class="on-phones">{drawn.narrow}</div>'
    styles = "".join((STYLES / f"{name}.css").read_text(encoding="utf-8") for name in ("workspace", "results"))
    card = f'<article class="result" style="margin: 1rem"><figure class="chart">{both}</figure></article>'
    page.set_content(f"<!doctype html><style>body {{ margin: 0 }} {styles}</style>{card}")
    for size, shown in (((1366, 768), [True, False]), (PHONE, [False, True])):
        set_window(page, *size)
        assert [page.locator("svg").nth(place).is_visible() for place in range(2)] == shown
        frame = page.locator("figure").evaluate("each => [each.scrollWidth, each.clientWidth]")
        assert frame[0] <= frame[1]


def test_cards_keep_their_heights_in_two_columns_and_an_open_one_has_the_whole_width(page: Page) -> None:
    def card(height: int) -> str:
        parts = f'<div class="parts"><details><summary>Table</summary></details></div><p style="height: {height}px">'
        return f'<article class="result" style="height: {height}px">{parts}</article>'

    sections = "".join(
        f"<section><h2>Section</h2>{''.join(map(card, heights))}</section>" for heights in ([400], [150], [150, 80])
    )
    set_window(page, 1366, 768)
    styles = "".join((STYLES / f"{name}.css").read_text(encoding="utf-8") for name in ("workspace", "results"))
    styles = f"body {{ margin: 0 }} {styles} .result {{ box-sizing: border-box }}"
    page.set_content(f'<!doctype html><style>{styles}</style><body class="workspace"><div class="cards">{sections}')
    where = """() => [...document.querySelectorAll("article")].map(card => {
        const box = card.getBoundingClientRect();
        return [Math.round(box.height), box.left > 683 ? "right" : "left", box.width > 683];
    })"""
    assert page.evaluate(where) == [
        *([400, "left", False], [150, "right", False]),
        *([150, "right", False], [80, "right", False]),
    ]
    page.locator("summary").nth(1).click()
    assert page.evaluate(where)[1][1:] == ["left", True]
    tops = page.evaluate(
        "() => [...document.querySelectorAll('article')].map(each => each.getBoundingClientRect().top)"
    )
    assert tops[0] < tops[1] < tops[2], "the open card stays between those before and after it"


def test_marks_with_links_are_reached_by_keyboard_and_named_for_screen_readers(page: Page) -> None:
    points = [Point(f"study {number}", number, link=f"?study={number}&state=accepted") for number in range(1, 24)]
    chart = Chart("funnel", "Funnel", "", "bars", "count", "Instances", [Series("", points)])
    svg = charts.with_addresses(charts.draw(chart).svg, lambda link: f"#there{link}")
    styles = "".join((STYLES / f"{name}.css").read_text(encoding="utf-8") for name in ("workspace", "results"))
    head = "<!doctype html><html lang=en><title>Results</title>"
    styles = f"<style>:root {{ --ink: black; --ink-soft: #555; --line: #ddd }} {styles}</style>"
    figure = f'<figure class="chart" role="region" aria-label="Chart" tabindex="0">{svg}</figure>'
    set_window(page, 1366, 768)
    page.set_content(f"{head}{styles}<main><h1>Results</h1>{figure}</main>")
    assert_accessible(page)
    assert page.get_by_role("link").count() == len(points)
    # After the chart as a whole come twenty of its marks; the table has them all.
    reached = []
    for _ in range(25):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert reached[:21] == ["Chart", *(f"study {number}: {number}" for number in range(1, 21))]
    assert not {f"study {number}: {number}" for number in (21, 22, 23)} & set(reached)
    third = page.get_by_role("link", name="study 3: 3")
    third.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert third.locator("path").evaluate("mark => getComputedStyle(mark).strokeWidth") == "2px"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#there?study=3&state=accepted"
