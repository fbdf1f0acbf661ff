"""ImageCoDe's two people on the real image sets, at work on each other: by keyboard, in two browsers, at once."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Decision, Response
from studies.models import Question, Study
from tests.browser.stage import come_from_prolific, hurry, picture_of, question_number
from tests.browser.test_real_sets import IMAGES, begin, laptop

DESIGNS = Path(__file__).resolve().parents[2] / "studies" / "designs"
# All 25, by hand: LIVE_SETS=25.
SETS = int(os.environ.get("LIVE_SETS", "3"))
# The page asks every two seconds whether there is something by now.
PATIENCE_MS = 15_000


@pytest.fixture
def studies(tmp_path: Path) -> tuple[Study, Study]:
    """The shipped study files over the real sets, one description each and one person who looks for its image."""
    manifest = IMAGES / "sets_of_10.jsonl"
    if not manifest.exists():
        pytest.skip(f"The real data is not beside the project: {manifest} is missing.")
    some = tmp_path / "some.jsonl"
    some.write_text("".join(manifest.read_text(encoding="utf-8").splitlines(keepends=True)[:SETS]), encoding="utf-8")
    call_command("import_instances", "sets", str(some), format="imagecode", images=IMAGES, verbosity=0)
    describing = open_shipped("imagecode-describe", tmp_path, ask={"targets": 1}, eligibility=[])
    others = [{"rule": "not_same_instance", "study": "imagecode-describe"}]
    chosen = {"from": "imagecode-describe"}
    return describing, open_shipped("imagecode-retrieve-train", tmp_path, instances=chosen, eligibility=others)


def open_shipped(name: str, folder: Path, **changed: Any) -> Study:
    file = yaml.safe_load((DESIGNS / f"{name}.yaml").read_text(encoding="utf-8"))
    people = {"any_ids": True, "sessions_per_annotator": 0}
    file |= {"contact": "Ada Lovelace, ada@example.org", "recruitment": people, **changed}
    written = folder / f"{name}.yaml"
    written.write_text(yaml.safe_dump(file), encoding="utf-8")
    call_command("create_study", str(written), project="sets", verbosity=0)
    call_command("launch_study", name, verbosity=0)
    return Study.objects.get(slug=name)


def describe(page: Page, text: str) -> None:
    """Look through the images with the arrow keys, write, and send."""
    question_number(page)
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("t")
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")


def find(page: Page) -> None:
    """Choose the image that the description shown is about."""
    question_number(page)
    text = page.locator("[data-stage] [data-caption]").inner_text()
    target = target_of(text)
    for key in "1234567890":
        if picture_of(page, key if key != "0" else "10") == target:
            page.keyboard.press(key)
    page.locator("[data-stage] [data-send]:enabled").wait_for()
    page.keyboard.press("Enter")


def target_of(text: str) -> str:
    asked = next(each for each in Question.objects.filter(kind="retrieve") if each.content["caption"] == text)
    return str(next(option["image"] for option in asked.content["options"] if option["key"] == asked.right))


@pytest.mark.django_db(transaction=True)
def test_one_writes_while_the_other_waits_and_finds_it_by_keyboard(
    browser: Browser, live_server: LiveServer, studies: tuple[Study, Study]
) -> None:
    write, look = studies
    texts = [f"Only here the shadow under thing {number} is cut off." for number in range(1, SETS + 1)]
    with laptop(browser) as ann, laptop(browser) as ben:
        hurry(ben)
        come_from_prolific(ben, live_server.url, look, "ben")
        begin(ben)
        ben.get_by_role("heading", name="You are next").wait_for()
        come_from_prolific(ann, live_server.url, write, "ann")
        begin(ann)
        describe(ann, texts[0])
        ben.locator("[data-stage]").wait_for(timeout=PATIENCE_MS)
        expect(ben.locator("[data-stage] [data-caption]")).to_have_text(texts[0])
        find(ben)
        # The sitting goes on with the next one, as long as he waits for it.
        more_or_end = ben.get_by_role("heading", level=1)
        expect(more_or_end).to_have_text("No more questions are ready at the moment")
        assert question_number(ann) == 2
        describe(ann, texts[1])
        expect(ben.locator("[data-stage] [data-caption]")).to_have_text(texts[1], timeout=PATIENCE_MS)
        assert question_number(ben) == 2
        find(ben)
        expect(more_or_end).to_have_text("No more questions are ready at the moment")
        ben.get_by_role("button", name="Finish now").focus()
        ben.keyboard.press("Enter")
        expect(more_or_end).to_have_text("All saved. Thank you!")
        for number, text in enumerate(texts[2:], start=3):
            assert question_number(ann) == number
            describe(ann, text)
        expect(ann.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
        # Who wrote all of them has none to look for.
        come_to_nothing(ann, live_server, look)
    with laptop(browser) as cleo:
        come_from_prolific(cleo, live_server.url, look, "cleo")
        begin(cleo)
        for _ in texts[2:]:
            find(cleo)
        expect(cleo.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert list(Decision.objects.filter(study=look).values_list("state", flat=True)) == ["accepted"] * SETS
    assert list(Decision.objects.filter(study=write).values_list("state", flat=True)) == ["accepted"] * SETS
    said = Response.objects.filter(study=write).order_by("pk")
    assert [response.answer for response in said] == [{"text": text} for text in texts]
    assert all((response.writing or {})["keys"] >= len(text) for response, text in zip(said, texts, strict=True))


def come_to_nothing(page: Page, live_server: LiveServer, study: Study) -> None:
    ids = "PROLIFIC_PID=ann&STUDY_ID=study&SESSION_ID=another-sitting-of-ann"
    page.goto(f"{live_server.url}/take/{study.entry_name}/?{ids}")
    expect(page.get_by_role("button", name="Start", exact=True)).to_have_count(0)
