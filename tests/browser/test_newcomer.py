"""A newcomer's walk, from an empty site to a release on their own disk, without a shell; its clicks are counted."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import FilePayload, Locator, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.actions.arriving.draw_questions import UNDO
from annotation.actions.launching.complete_study import note_completed
from background.models import Job
from simulation.annotators import BrowserInProcess, annotators, take_part
from simulation.demo.manifest import IMAGES, write_manifest
from simulation.demo.scenes import SceneInstance, describe_instances
from studies.actions.events import TIMETABLE
from studies.models import Import, Study
from tests.factories import PASSWORD, make_person
from tests.jobs import run_now

# Every press of a button and every link that is followed; typing and choosing from lists is beside it. A walk that
# takes more has got a stumble.
MOST_CLICKS = 20
PROJECT = "Drawn scenes"


class Walker:
    """Somebody with a mouse, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def press(self, name: str, *, within: Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("button", name=name))

    def follow(self, name: str, *, within: Locator | None = None) -> None:
        self.click((within or self.page).get_by_role("link", name=name))

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.first.click()


def scenes() -> list[SceneInstance]:
    return list(describe_instances(seed="newcomer", per_category=1))


@pytest.fixture
def material(tmp_path: Path) -> tuple[bytes, bytes]:
    """Return a manifest of seven drawn scenes and a zip of their pictures, as somebody has them on a laptop."""
    manifest, out = write_manifest(scenes(), tmp_path), BytesIO()
    with zipfile.ZipFile(out, "w") as pictures:
        for file in sorted((tmp_path / IMAGES).iterdir()):
            pictures.write(file, file.name)
    return manifest.read_bytes(), out.getvalue()


def do_all_jobs() -> None:
    """Do what the worker of a site does meanwhile."""
    for job in Job.objects.filter(finished_at=None):
        assert run_now(job).error == ""


def sign_in(walker: Walker, site: str) -> None:
    walker.page.goto(site)
    walker.page.get_by_label("Name").fill("newcomer")
    walker.page.get_by_label("Password").fill(PASSWORD)
    walker.press("Sign in")


def make_a_project(walker: Walker) -> None:
    walker.follow("New project")
    walker.page.locator("#name").fill(PROJECT)
    walker.press("Create project")


def import_what_is_on_the_laptop(walker: Walker, rows: bytes, pictures: bytes) -> None:
    page = walker.page
    walker.follow("Import instances")
    page.get_by_label("Format", exact=True).select_option("jsonl")
    page.set_input_files("#rows", FilePayload(name="scenes.jsonl", mimeType="text/plain", buffer=rows))
    page.set_input_files("#images", FilePayload(name="scenes.zip", mimeType="application/zip", buffer=pictures))
    walker.press("Upload and check")
    page.wait_for_url("**/imports/")
    do_all_jobs()
    page.reload()
    expect(page.get_by_text("Checked. Nothing is imported yet.")).to_be_visible()
    walker.press("Import it now")
    do_all_jobs()
    assert Import.objects.latest("pk").project.instances.count() == 7


def launch_a_study(walker: Walker) -> Study:
    walker.follow(PROJECT)
    walker.follow("New study")
    walker.follow("Pick the best image for a caption, or none")
    walker.page.get_by_label("Title").fill("Best of four")
    walker.page.get_by_label("Contact").fill("newcomer@lab.example")
    # What follows is told while it is typed.
    walker.page.get_by_label("Pay per survey").fill("4,50 $")
    expect(walker.page.locator(".plan")).to_contain_text("Hourly pay USD 67.50", use_inner_text=True)
    walker.press("Create draft")
    walker.follow("Launch")
    walker.press("Launch")
    study = Study.objects.get()
    assert study.state == "open"
    return study


def answer_all(study: Study) -> None:
    for person in annotators(count=8, accuracy=1.0, seed="newcomer"):
        take_part(browser=BrowserInProcess(), study=study, person=person)
    # As the clock does once a minute; an answer can be taken back for a few seconds.
    note_completed(by=TIMETABLE, now=timezone.now() + UNDO)


def close_the_study(walker: Walker) -> None:
    walker.follow(PROJECT)
    expect(walker.page.get_by_text("All answers of best-of-four are in.")).to_be_visible()
    walker.follow("Close or add answers")
    walker.follow("Close study")
    walker.press("Close study")


def fetch_a_release(walker: Walker) -> Path:
    page = walker.page
    walker.follow(PROJECT)
    walker.follow("New release")
    page.locator("#name").fill("v1")
    page.get_by_label("Format", exact=True).select_option("jsonl")
    walker.press("Create release")
    do_all_jobs()
    page.reload()
    with page.expect_download() as waited:
        walker.follow("Download")
    return Path(waited.value.path())


def test_from_an_empty_site_to_a_release_without_a_shell(
    page: Page,
    live_server: LiveServer,
    settings: Settings,
    material: tuple[bytes, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.ANYBODY_MAKES_PROJECTS = True
    for sends in ("workspace.views.projects.imports.send", "results.views.exports.send", "results.views.releases.send"):
        monkeypatch.setattr(sends, lambda job: None)
    make_person("newcomer")
    walker = Walker(page)
    sign_in(walker, live_server.url)
    make_a_project(walker)
    import_what_is_on_the_laptop(walker, *material)
    answer_all(launch_a_study(walker))
    close_the_study(walker)
    with zipfile.ZipFile(fetch_a_release(walker)) as released:
        (name,) = [name for name in released.namelist() if name.endswith("/instances.jsonl")]
        # Everybody chose the picture that the scene was drawn for, so what is released are the scenes that have one.
        assert len(released.read(name).splitlines()) == sum(each.right is not None for each in scenes())
    assert walker.clicks <= MOST_CLICKS, walker.clicks
