"""A browser fetches each picture in the smallest size that holds all that is painted of it."""

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import PIL.Image
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from playwright.sync_api import Error, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Response
from studies.actions.images import rendition_name
from studies.importing.pictures import PictureFacts, stored_sizes
from studies.models import Instance, InstanceImage
from tests.browser.stage import question_number, set_window
from tests.factories import arrive_at_work, launch_study, make_image, make_instance, make_project

WINDOWS = [(360, 640), (844, 390), (768, 1024), (1366, 768), (1920, 1080)]
SHAPES = [(360, 640), (640, 360), (500, 500), (200, 640)]
# Of each picture: its shape, how wide it is painted, and how wide the page said it would be at most.
SAID = """() => [...document.querySelectorAll("[data-stage] [data-question] img")].map((image) => {
  const [width, height] = ["width", "height"].map((name) => Number(image.getAttribute(name)));
  const probe = document.body.appendChild(document.createElement("div"));
  const said = image.sizes.split(/, (?=\\(|max)/).map((part) => part.match(/^(\\(.*?\\))? ?(.*)$/));
  probe.style.width = said.find(([, condition]) => !condition || matchMedia(condition).matches)[2];
  const most = Math.ceil(probe.getBoundingClientRect().width);
  probe.remove();
  const painted = width * Math.min(image.clientWidth / width, image.clientHeight / height);
  return [`${width}x${height}`, Math.floor(painted), most];
})"""


@dataclass(frozen=True)
class Case:
    kind: str
    roles: Sequence[str]
    ask: Mapping[str, Any] = field(default_factory=dict)


CASES = [
    Case("best_of_n", ["candidate"] * 4),
    Case("best_of_n", ["candidate"] * 2),
    Case("text_to_image", ["image", "negative_image"], {"captions": ["caption"]}),
    Case("image_to_text", ["image"], {"images": ["image"]}),
    Case("rating", ["image"]),
    Case("compare", ["candidate"] * 4, {"images": ["candidate"], "criteria": ["Fits"]}),
]


def show(instance: Instance, role: str, position: int, size: tuple[int, int]) -> None:
    """Give `instance` a picture of `size` in `role`; its files have that shape."""
    image = make_image(f"{position}-{size}", width=size[0], height=size[1])
    place = position if role == "candidate" else 0
    InstanceImage.objects.create(instance=instance, role=role, position=place, filename=f"{position}.png", image=image)
    out = io.BytesIO()
    PIL.Image.new("RGB", size, (90, 120, 60)).save(out, "WEBP")
    for name in stored_sizes(PictureFacts(*size, "PNG")):
        if not default_storage.exists(rendition_name(image.sha256, name)):
            default_storage.save(rendition_name(image.sha256, name), ContentFile(out.getvalue()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{len(case.roles)}")
def test_no_picture_is_painted_wider_than_the_page_said(page: Page, live_server: LiveServer, case: Case) -> None:
    shapes = len(SHAPES)
    for turn in range(shapes):
        captions = {"caption": "A vase.", "negative_caption": "A cup."}
        instance = make_instance(make_project(), str(turn), candidates=0, captions=captions)
        for number, role in enumerate(case.roles):
            show(instance, role, number, SHAPES[(turn + number) % shapes])
    study = launch_study(instances=0, kind=case.kind, ask=case.ask)
    session = arrive_at_work(study, now=timezone.now())
    page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
    seen = set()
    for number in range(1, shapes + 1):
        assert question_number(page) == number
        # What is on its way when the window changes is what the next test is about.
        expect(page.locator("[data-ahead] [data-loading]")).to_have_count(0)
        for width, height in WINDOWS:
            set_window(page, width, height)
            for shape, painted, said in page.evaluate(SAID):
                seen.add(shape)
                assert painted <= said, (shape, width, height)
                # On a screen of that size another rendition would be another wait.
                assert (width, height) != (1366, 768) or said <= 2 * painted, (shape, painted, said)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
    assert len(seen) == shapes


def test_a_window_that_changes_while_pictures_come_fails_none_of_them(page: Page, live_server: LiveServer) -> None:
    for turn in range(2):
        instance = make_instance(make_project(), str(turn), candidates=0)
        for number in range(4):
            show(instance, "candidate", number, (640, 640))
    session = arrive_at_work(launch_study(instances=0), now=timezone.now())
    held: list[Route] = []
    page.route("**/images/**", lambda route: held.append(route))
    set_window(page, 800, 600)
    with page.expect_request("**/images/*/card"):
        page.goto(f"{live_server.url}/s/{session.token}/", wait_until="domcontentloaded")
    expect(page.locator("html")).to_have_attribute("data-scripts", "running")
    with page.expect_request("**/images/*/view"):
        set_window(page, 2560, 1440)
    page.unroute("**/images/**")
    for route in held:
        # What the browser has let go of meanwhile is waited for by nobody.
        with suppress(Error):
            route.continue_()
    assert question_number(page) == 1
    expect(page.locator("[data-stage] img[srcset]")).to_have_count(4)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    assert question_number(page) == 2
    expect(page.locator("[data-answered]")).to_have_text("1")
    (seen,) = Response.objects.values_list("images_seen", flat=True)
    assert [image["failed_loads"] for image in seen] == [0] * 4
