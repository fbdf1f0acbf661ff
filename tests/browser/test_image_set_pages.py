"""What researchers see of describers and retrievers, in a real browser: accessible, and as wide as the window."""

import random
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.models import SessionState
from studies.kinds import get_kind
from studies.models import Question, Study
from tests.browser.stage import assert_no_wider_than_the_window, draw_all, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import NOON, arrive_at_work, make_person, make_project
from tests.results.describing import launched, make_set

# What other pages of these kinds look like, test_pipeline_pages.py sees.
PAGES = (
    "/projects/sets/instances/static-a/",
    "/projects/sets/results/",
    "/studies/sets/describe/results/",
    "/studies/sets/describe/questions/",
    "/studies/sets/describe/annotators/",
    "/studies/sets/retrieve/results/",
    "/studies/sets/retrieve/disagreements/",
)
TYPED = {"keys": 40, "pastes": 0, "pasted": [], "from_first_key_ms": 20_000}
PASTED = {"keys": 2, "pastes": 1, "pasted": [35], "from_first_key_ms": 3_000}
NOT_POSSIBLE = "not possible"


def say(study: Study, person: str, said: Mapping[str, str], **measured: Any) -> None:
    """Let `person` answer, and go: what is `said` of a question, by its set and variant or by the text that it asks
    about. Texts are written; "right" and "wrong" choose an image; what nothing is said of is left."""
    session = arrive_at_work(study, person)
    for slot in responses.open_slots(session=session, limit=100):
        question, kind = slot.question, get_kind(slot.question.kind)
        word = said.get((question.source or {}).get("text", f"{question.instance.key} {question.variant}"))
        if word is None:
            continue
        order = responses.order_for(session=session, question=question)
        label = _chosen(question, right=word == "right") if word in {"right", "wrong"} else word
        posted = kind.simulate(question.content, order, dice=random.Random(0), label=label)
        if word == NOT_POSSIBLE:
            posted = {"text": "", "not_possible": "yes"}
        sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted=posted, measured=measured)
        responses.submit(token=session.token, sent=sent, now=NOON)
    sessions.leave(session=session, to=SessionState.RETURNED, now=NOON)


def _chosen(question: Question, *, right: bool) -> str:
    if right:
        return question.right
    return next(label for label in get_kind(question.kind).categories(question.content) if label != question.right)


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer) -> Page:
    """A page of the researcher of two image sets, which some describe and others find: one text is found by both who
    look for it, one by nobody, one by two of three, and of one something is left."""
    ana = make_person("ana")
    project = make_project("sets", members=[ana])
    for key in ("static-a", "video-b"):
        make_set(project, key)
    draw_all()
    pay = '{currency: USD, per_session: "1.00", per_answer: "0.20"}'
    describe = launched(
        project,
        study="describe",
        kind="describe",
        purpose="filter",
        rule="described-v1",
        answers=1,
        max_answers=3,
        consent="We keep how you write.",
        pay=pay,
    )
    retrieve = launched(
        project,
        study="retrieve",
        kind="retrieve",
        purpose="filter",
        rule="retrieved-2-of-3-v1",
        answers=2,
        max_answers=3,
        instances="{from: describe}",
    )
    texts = ["The dog sits on a red chair.", "The dog stands beside the chair.", "The chair has no dog on it at all."]
    written = {f"static-a target-{number}": text for number, text in enumerate(texts, start=1)}
    say(describe, "ann", written | {"video-b target-1": NOT_POSSIBLE}, send_ms=30_000, writing=TYPED)
    last = "The hand is open, and the ball is in the air."
    say(describe, "emil", {"video-b target-2": last}, send_ms=9_000, writing=PASTED)
    say(retrieve, "ben", dict(zip([*texts, last], ["right", "wrong", "right", "right"], strict=True)), send_ms=7_000)
    say(retrieve, "cleo", dict(zip(texts, ["right", "wrong", "wrong"], strict=True)), send_ms=5_000)
    say(retrieve, "dora", {texts[2]: "right"}, send_ms=6_000)
    return sign_in(page, live_server.url, ana)


def test_every_page_is_accessible_and_none_is_wider_than_the_window(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    for address in PAGES:
        page.goto(f"{live_server.url}{address}")
        # An open menu would lie over the links below it; menus are tried in `test_pipeline_pages.py`.
        for summary in page.locator("main details:not(.menu) > summary").all():
            summary.click()
        assert_no_wider_than_the_window(page)
        assert_accessible(page)
    # From how texts were written the way leads to who finds them.
    page.goto(f"{live_server.url}/studies/sets/describe/results/")
    written = page.get_by_role("article", name="How were the texts written?")
    expect(written.locator(".answer")).to_contain_text("2 people wrote 4 texts")
    written.locator("summary").filter(has_text="Tables").click()
    expect(written.locator("#writers tbody tr")).to_have_count(3)
    page.get_by_role("main").get_by_role("link", name="retrieve", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Do people find the described image?")).to_be_visible()
    expect(page.get_by_role("heading", name="How many descriptions were accepted?")).to_be_visible()
