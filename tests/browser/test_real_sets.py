"""The main job on real data: really generated sets, two annotators by keyboard, and the export equals the clicks."""

import csv
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Session
from studies.models import Study
from tests.browser.stage import NONE, answer, come_from_prolific, picture_of, question_number

IMAGES = Path(__file__).resolve().parents[3] / "shared" / "data" / "images"
# All 26, by hand: REAL_SETS=26.
SETS = int(os.environ.get("REAL_SETS", "8"))
STUDY = f"""\
study: real-sets
title: Which image fits the description?
contact: Ada Lovelace, ada@example.org
kind: best_of_n
ask: {{caption: caption}}
recruitment: {{any_ids: true}}
answers: 2
surveys: {{size: {SETS}}}
consent: You may stop at any time.
"""
KEYS = ["1", "2", "3", "4", "a", "b", "c", "d", "0", "n"]


@pytest.fixture
def candidates(tmp_path: Path) -> dict[str, tuple[str, str]]:
    """Launch a study of the real sets; return picture -> (set, option) as the source file has them."""
    manifest = IMAGES / "best_of_4.jsonl"
    if not manifest.exists():
        pytest.skip(f"The real data is not beside the project: {manifest} is missing.")
    file = tmp_path / "real-sets.yaml"
    file.write_text(STUDY, encoding="utf-8")
    some = tmp_path / "manifest" / "some.jsonl"
    some.parent.mkdir()
    some.write_text("".join(manifest.read_text(encoding="utf-8").splitlines(keepends=True)[:SETS]), encoding="utf-8")
    call_command("import_instances", "real", str(some), format="jsonl", images=IMAGES, verbosity=0)
    call_command("create_study", str(file), project="real", verbosity=0)
    call_command("launch_study", "real-sets", verbosity=0)
    sets = [json.loads(line) for line in some.read_text(encoding="utf-8").splitlines()]
    assert len(sets) == SETS
    return {
        digest: (row["set_id"], f"candidate-{position}")
        for row in sets
        for position, digest in enumerate(row["sha256"])
    }


@contextmanager
def laptop(browser: Browser) -> Iterator[Page]:
    """A browser of one's own, with nothing remembered; closing the block closes the laptop."""
    with browser.new_context(viewport={"width": 1366, "height": 650}) as context:
        yield context.new_page()


def arrive(page: Page, live_server: LiveServer, person: str) -> None:
    come_from_prolific(page, live_server.url, Study.objects.get(slug="real-sets"), person)


def begin(page: Page) -> None:
    for button in ("I agree", "Start"):
        page.get_by_role("button", name=button, exact=True).focus()
        page.keyboard.press("Enter")


def click_through(
    page: Page,
    candidates: dict[str, tuple[str, str]],
    clicked: dict[str, str],
    dice: random.Random,
    *,
    until: int,
    like: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Answer by keyboard up to question `until`, noting the option chosen for each set: that of `like`, or any."""
    options = {NONE: NONE} | {picture: option for picture, (_, option) in candidates.items()}
    while len(clicked) < until:
        assert question_number(page) == len(clicked) + 1
        name, _ = candidates[picture_of(page, "1")]
        keys = [key for key in KEYS if name not in like or options[picture_of(page, key)] == like[name]]
        clicked[name] = options[answer(page, dice.choice(keys))]


@pytest.mark.django_db(transaction=True)
def test_two_annotators_answer_the_real_sets_and_the_export_is_what_they_clicked(
    browser: Browser, live_server: LiveServer, candidates: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    ann: dict[str, str] = {}
    ben: dict[str, str] = {}
    with laptop(browser) as page:
        arrive(page, live_server, "ann")
        begin(page)
        click_through(page, candidates, ann, random.Random("ann"), until=SETS // 2)
        question_number(page)
        page.reload()
        click_through(page, candidates, ann, random.Random("ann again"), until=SETS)
        expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    with laptop(browser) as page:
        arrive(page, live_server, "ben")
        begin(page)
        click_through(page, candidates, ben, random.Random("ben"), until=3)
        expect(page.locator("[data-answered]")).to_have_text("3")
    with laptop(browser) as page:
        arrive(page, live_server, "ben")
        click_through(page, candidates, ben, random.Random("ben again"), until=SETS, like=ann)
        expect(page.get_by_role("heading", level=1)).to_have_text("All saved. Thank you!")
    assert Session.objects.count() == 2

    call_command("export", "real", format="responses", out=tmp_path, verbosity=0)
    call_command("export", "real", format="jsonl", out=tmp_path, verbosity=0)
    [long_table] = tmp_path.glob("*responses*.csv")
    with long_table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 2 * SETS
    given: dict[str, dict[str, str]] = {}
    for row in rows:
        given.setdefault(row["worker"], {})[row["task"]] = row["label"]
    assert Counter(map(str, map(sorted, map(dict.items, given.values())))) == Counter(
        [str(sorted(ann.items())), str(sorted(ben.items()))]
    )
    [accepted_file] = tmp_path.glob("*.jsonl")
    accepted = [json.loads(line) for line in accepted_file.read_text(encoding="utf-8").splitlines()]
    agreed = {name: option for name, option in ann.items() if ben[name] == option != NONE}
    assert agreed
    picture_by_position = {position: digest for digest, position in candidates.items()}
    assert {row["key"]: row["negative_image_sha256"] for row in accepted} == {
        name: picture_by_position[name, option] for name, option in agreed.items()
    }
