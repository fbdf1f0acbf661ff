"""Charts of results on a phone: all of one is in sight, or its frame scrolls and shows that more follows."""

from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page

from results.reports import charts
from results.reports.base import LONGEST_SHORT_LABEL, Chart, Point, Series
from tests.browser.stage import set_window

PHONE = (390, 844)
STYLES = Path(settings.BASE_DIR) / "static" / "css" / "results.css"


def frame(page: Page, letters: int) -> dict[str, float]:
    """Return the widths of the frame of a bar chart whose labels have so many letters, and of what is in it."""
    points = [Point(f"{number}".rjust(letters, "m"), number) for number in (70, 68)]
    chart = Chart("funnel", "Funnel", "", "bars", "count", "Instances", [Series("", points)])
    card = f'<article class="result{" wide" if chart.is_wide else ""}" style="margin: 1rem">'
    figure = f'<figure class="chart">{charts.draw(chart).svg}</figure>'
    set_window(page, *PHONE)
    styles = f":root {{ --surface: white }} {STYLES.read_text(encoding='utf-8')}"
    page.set_content(f"<!doctype html><style>{styles}</style>{card}{figure}</article>")
    widths: dict[str, float] = page.evaluate(
        """() => {
            const figure = document.querySelector("figure"), svg = figure.querySelector("svg");
            return {
                frame: figure.clientWidth, content: figure.scrollWidth, chart: svg.getBoundingClientRect().width,
                page: document.documentElement.scrollWidth, shadows: getComputedStyle(figure).backgroundImage.length,
            };
        }"""
    )
    return widths


@pytest.mark.parametrize("letters", [1, LONGEST_SHORT_LABEL])
def test_a_chart_is_as_narrow_as_a_phone(page: Page, letters: int) -> None:
    found = frame(page, letters)
    assert found["content"] == found["frame"]
    assert found["chart"] <= found["frame"]
    assert found["page"] == PHONE[0]


def test_a_chart_with_long_labels_scrolls_in_its_frame_and_stays_readable(page: Page) -> None:
    found = frame(page, LONGEST_SHORT_LABEL + 1)
    assert found["content"] > found["frame"]
    assert found["chart"] >= 36 * 16
    assert found["page"] == PHONE[0]
    assert found["shadows"] > len("none")
