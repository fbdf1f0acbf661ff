"""A study with drawn pictures, and what was clicked beside what is stored, both told by pictures, never by letters."""

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import PIL.Image
import PIL.ImageDraw
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.actions.launching.launch import launch
from annotation.models import Response, Session
from studies.actions.images import rendition_name
from studies.models import Image, Study
from studies.picture_handles import sha256_of
from tests.factories import TESTS, create_draft
from tests.pages import signed_in

# What brings a page to a session in a new study; the keywords are those of `open_study`.
Opener = Callable[..., Session]
NONE = "none"
# The question that is shown, once its images have been seen.
SEEN = "[data-stage] [data-question][data-seen]"
SQUARE = (512, 512)
VALUE_OF_KEY = {"0": NONE, "n": NONE, "a": "1", "b": "2", "c": "3", "d": "4"}


def open_study(*, size: tuple[int, int] = SQUARE, **wanted: Any) -> Study:
    """Return an open study whose pictures exist in `size`; the other keywords are those of `create_draft`.

    A question keeps the size that its pictures have at the launch.
    """
    study = create_draft(**wanted)
    draw_all(size)
    launch(study=study, by=TESTS, now=timezone.now())
    return study


def draw_all(size: tuple[int, int] = SQUARE) -> None:
    """Give every image files of that many pixels, told apart by the colours that its name spells."""
    for sha256 in Image.objects.values_list("sha256", flat=True):
        for rendition in ("card", "view", "full"):
            # What the storage does besides for each file takes longer than a study takes to be made.
            file = Path(default_storage.path(rendition_name(sha256, rendition)))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_drawn(sha256, size))
    Image.objects.update(width=size[0], height=size[1])


@cache
def _drawn(sha256: str, size: tuple[int, int]) -> bytes:
    """Return the picture of that name; every test has the same few."""
    digest = bytes.fromhex(sha256)
    picture = PIL.Image.new("RGB", size, tuple(digest[:3]))
    PIL.ImageDraw.Draw(picture).ellipse((96, 96, 416, 416), fill=tuple(digest[3:6]))
    out = io.BytesIO()
    picture.save(out, "WEBP", method=0)
    return out.getvalue()


def sign_in(page: Page, site: str, person: User) -> Page:
    """Return `page` as that of somebody who has signed in before."""
    session = signed_in(person).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": site}])
    return page


def come_from_prolific(page: Page, site: str, study: Study, person: str = "ann") -> None:
    """Open the link that Prolific gives, and press Start by keyboard unless there is a session already."""
    ids = f"PROLIFIC_PID={person}&STUDY_ID=study&SESSION_ID=sitting-of-{person}"
    page.goto(f"{site}/take/{study.entry_name}/?{ids}")
    if "/take/" in page.url:
        page.get_by_role("button", name="Start", exact=True).focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/**")


def set_window(page: Page, width: int, height: int) -> None:
    """Give the window that size, and wait for the frame in which the page's scripts have heard of it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")


def hurry(page: Page) -> None:
    """Let what the scripts of the pages to come wait for by the clock pass in a tenth of the time."""
    page.add_init_script(
        """for (const wait of ["setTimeout", "setInterval"]) {
          const own = window[wait].bind(window);
          window[wait] = (then, ms, ...more) => own(then, (ms ?? 0) / 10, ...more);
        }"""
    )


def assert_no_wider_than_the_window(page: Page) -> None:
    """On a phone, and on a laptop, where the page is left."""
    for width, height in ((390, 844), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (page.url, width)


def go_offline(*pages: Page) -> None:
    """Cut the connection of `pages`, which share a browser, once the images of the questions they hold are loaded."""
    for page in pages:
        expect(page.locator("[data-ahead] [data-loading]")).to_have_count(0)
    pages[0].context.set_offline(True)


def question_number(page: Page) -> int:
    """Return the number of the question that is shown, once its images have been seen."""
    page.locator(SEEN).wait_for()
    found = re.match(r"Question (\d+) of", page.locator("[data-stage] [data-heading]").inner_text())
    assert found is not None
    return int(found[1])


def picture_of(page: Page, key: str) -> str:
    """Return what the key or option `key` stands for in the question that is shown: a picture's name, or NONE."""
    value = VALUE_OF_KEY.get(key, key)
    if value == NONE:
        return NONE
    address = page.locator(f"[data-stage] [data-option='{value}'] img").get_attribute("src")
    return picture_at(address or "")


def picture_at(address: str) -> str:
    """Return the SHA-256 of the picture that an address on an annotator's page leads to."""
    found = re.search(r"/images/([\w-]+)/", address)
    assert found is not None
    picture = sha256_of(found[1])
    assert picture, address
    return picture


def answer(page: Page, key: str) -> str:
    """Answer the question that is shown by keyboard; return the picture chosen, or NONE."""
    question_number(page)
    chosen = picture_of(page, key)
    page.keyboard.press(key)
    page.locator("[data-stage] [data-send]:enabled").wait_for()
    page.keyboard.press("Enter")
    return chosen


def stored_pictures(session: Session) -> list[str]:
    """Return, in the order of the questions, the picture (or NONE) of each current response of `session`."""
    responses = Response.objects.filter(session=session, is_current=True).select_related("question")
    return [_picture(response) for response in responses.order_by("slot__position")]


def _picture(response: Response) -> str:
    pictures = {option["key"]: option["image"] for option in response.question.content["options"]}
    return NONE if response.choice == NONE else pictures[response.choice]
