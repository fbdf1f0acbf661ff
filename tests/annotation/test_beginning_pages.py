"""The pages before the questions: one heading each, and nothing that is final at once."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.answering import responses
from annotation.models import SessionState
from tests.annotation.test_pipeline import two_parts
from tests.annotation.test_responses import send
from tests.annotation.test_work_pages import page_of
from tests.factories import arrive, fresh, launch_study

pytestmark = pytest.mark.django_db


def headings(html: bytes) -> list[str]:
    return [heading.get_text() for heading in BeautifulSoup(html, "html.parser").select("main :is(h1, h2, h3)")]


def test_a_refusal_is_asked_about_once_more_with_the_way_back(client: Client) -> None:
    approval = "Approved by the ethics board of <Vases>, no. 2026/14."
    session = arrive(launch_study(consent="# Your part in it\n\nAgree?", ethics=approval))
    shown = client.get(page_of(session)).content
    assert headings(shown) == ["Your part in it"]
    assert approval in [paragraph.get_text() for paragraph in BeautifulSoup(shown, "html.parser").select("main p")]
    asked = client.post(f"{page_of(session)}consent/", {"agree": "no"})
    assert fresh(session).state == SessionState.CONSENT
    page = BeautifulSoup(asked.content, "html.parser")
    assert page.select(f"main a[href='{page_of(session)}']")
    fields = {str(field["name"]): str(field["value"]) for field in page.select("main form [name]")}
    client.post(f"{page_of(session)}consent/", fields)
    assert fresh(session).state == SessionState.NO_CONSENT


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# What you *see*\n\nTwo.\n\n## Details\n\nMore.", ["What you see", "Details"]),
        ("### Small\n\nTwo.", ["Small"]),
        ("Under it\n====\n\nTwo.", ["Under it"]),
        ("Two.\n\n# Later", ["Instructions", "Later"]),
    ],
)
def test_the_heading_that_a_text_begins_with_heads_its_page(client: Client, text: str, shown: list[str]) -> None:
    session = arrive(launch_study(instructions=text))
    assert headings(client.get(page_of(session)).content) == shown


def test_a_later_part_says_how_many_questions_it_has(client: Client) -> None:
    # Two questions in each of its two parts.
    session = two_parts()
    for slot in responses.open_slots(session=session, limit=2):
        send(session, slot)
    (said,) = BeautifulSoup(client.get(page_of(session)).content, "html.parser").select(".eyebrow")
    assert said.get_text(strip=True) == "Part 2 of 2: 2 questions"
