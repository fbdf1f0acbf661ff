"""Walk through flagged sessions by keyboard, in a real Chromium: python -m benchmarks.desk_walk [--sessions 50]

A third of the simulated people of a study choose nearly at random. Their sessions are flagged by the site's own rules,
and reviewed one after the other at 1366 x 768 with keys only: one is upheld, the next dismissed, and every tenth
gets a note of five words. Measured are the time from a key to the next page with its images, and the keys. The
words and answers that can be seen without scrolling are counted. Keys take what they take skilled typists, and a
decision its time, in the keystroke-level model (benchmarks/keystrokes.py); what is left of five minutes is for reading.
"""

import argparse
import io
import itertools
import os
import random
import shutil
import statistics
import tempfile
import time
import uuid
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.keystrokes import KEY, MENTAL, WINDOW
from benchmarks.site import PRODUCTION, Site, machine, percentile, serve

PROJECT, STUDY, REVIEWER = "desk", "desk-walk", "ada"
QUESTIONS, SURVEYS, GOLD, MINUTES = 20, 2, 2, 5
CAREFUL, CARELESS = 0.95, 0.05
NOTE = "no comment, and little time"
# Words a minute of silent reading of prose (Brysbaert 2019).
READING = 238
DESIGN = """\
study: {study}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: best_of_n
ask: {{caption: negative_caption, images: candidate, becomes: negative_image}}
surveys: {{size: {questions}}}
answers: {people}
seed: benchmark
checks:
  instruction: {{per_survey: 1}}
  gold:
    per_survey: {gold}
    questions:
{questions_with_right_answers}
"""
IMAGES_IN_VIEW = """() => [...document.images].every(
  (each) => each.complete || each.getBoundingClientRect().top >= innerHeight
)"""
SEEN = """() => {
  const inView = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && top < innerHeight && bottom > 0;
  };
  const words = (elements) => elements.filter(inView).map((each) => each.innerText).join(" ").split(/\\s+/).length;
  return {
    evidence: words([...document.querySelectorAll(".flag-lines")]),
    buttons: [...document.querySelectorAll("button[data-key=u], button[data-key=e]")].every(inView),
    words: words([...document.querySelectorAll(".flag-words")]),
    answers: [...document.querySelectorAll(".answer-line")].filter(inView).length,
    height: document.documentElement.scrollHeight,
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""


def make_flagged_sessions(folder: Path, sessions: int) -> str:
    """Fill a study of which a third of the people are careless, and return a signed-in session of its owner."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from simulation.demo.manifest import IMAGES, write_manifest
    from simulation.demo.scenes import describe_instances

    quiet: dict[str, Any] = {"stdout": io.StringIO()}
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create_user(REVIEWER)
    number = SURVEYS * (QUESTIONS + GOLD)
    scenes = list(itertools.islice(describe_instances(seed="desk", per_category=number), number))
    manifest = write_manifest(scenes, folder)
    gold = [f"      - {{instance: {each.key}, right: {each.right_option}}}" for each in scenes[: SURVEYS * GOLD]]
    drawn = folder / IMAGES
    options = {"format": "jsonl", "images": drawn, "owner": REVIEWER, "verbosity": 0}
    call_command("import_instances", PROJECT, str(manifest), **options, **quiet)
    file = folder / "study.yaml"
    values = {"study": STUDY, "questions": QUESTIONS, "people": ceil(3 * sessions / SURVEYS), "gold": GOLD}
    file.write_text(DESIGN.format(**values, questions_with_right_answers="\n".join(gold)), encoding="utf-8")
    call_command("create_study", str(file), project=PROJECT, by=REVIEWER, **quiet)
    call_command("launch_study", STUDY, by=REVIEWER, **quiet)
    answer_all(sessions)
    call_command("flag_sessions", PROJECT)
    client = Client()
    client.force_login(owner)
    return client.cookies["sessionid"].value


def answer_all(sessions: int) -> None:
    """Let `sessions` careless people, and twice as many careful ones, answer all questions by the site's actions."""
    from django.db import transaction

    from annotation.actions.answering import responses
    from annotation.actions.answering.responses import Submission
    from studies.kinds import get_kind
    from studies.models import Study
    from tests.factories import NOON, arrive_at_work

    dice, study = random.Random("desk walk"), Study.objects.get(slug=STUDY)
    accuracies = [CARELESS] * sessions + [CAREFUL] * 2 * sessions
    dice.shuffle(accuracies)
    for number, accuracy in enumerate(accuracies):
        now = NOON + timedelta(hours=number)
        with transaction.atomic():
            session = arrive_at_work(study, f"person-{number}", now=now)
            for slot in responses.open_slots(session=session, limit=1_000):
                order = responses.order_for(session=session, question=slot.question)
                right = slot.question.right or get_kind(slot.question.kind).reference_label(
                    slot.question.instance.reference
                )
                wrong = [each for each in (*order, "none") if each != right]
                label = right if dice.random() < accuracy else dice.choice(wrong)
                choice = "none" if label == "none" else str(order.index(label) + 1)
                seconds = dice.lognormvariate(2.1, 0.45)
                now += timedelta(seconds=seconds)
                measured = {"first_choice_ms": int(800 * seconds), "send_ms": int(1000 * seconds), "hidden_ms": 0}
                sent = Submission(slot.pk, uuid.uuid4(), posted={"choice": choice}, measured=measured)
                responses.submit(token=session.token, sent=sent, now=now)


def press(page: Page, key: str) -> float:
    """Press a key that leads to another page, and return the seconds until it stands there with its images."""
    begun = time.perf_counter()
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press(key)
    page.wait_for_function(IMAGES_IN_VIEW)
    return time.perf_counter() - begun


def walk(page: Page, site: Site, sessions: int) -> None:
    """Review `sessions` sessions by keys, and print what it took."""
    page.goto(f"{site.address}/projects/{PROJECT}/flags/")
    first = press(page, "r")
    seconds, keys, seen = [], [], []
    names = set()
    begun = time.perf_counter()
    for number in range(sessions):
        names.add(page.locator("h1 .pseudonym").inner_text())
        seen.append(page.evaluate(SEEN))
        pressed = 1
        if number % 10 == 9:
            page.keyboard.press("w")
            page.keyboard.type(NOTE)
            page.keyboard.press("Escape")
            pressed += len(NOTE) + 2
        seconds.append(press(page, "ud"[number % 2]))
        keys.append(pressed)
    whole = time.perf_counter() - begun
    assert len(names) == sessions, f"{len(names)} people in {sessions} sessions"
    machine_share, hands = statistics.fmean(seconds), KEY * statistics.fmean(keys) + MENTAL
    left = 60 * MINUTES / sessions - machine_share - hands
    words = statistics.fmean(each["evidence"] + each["words"] for each in seen)
    print(f"{sessions} sessions of {QUESTIONS} answers, {WINDOW[0]} x {WINDOW[1]}, all by keys in {whole:.1f} s")
    print(f"from the list to the first session: 1 key, {1000 * first:.0f} ms")
    print(
        f"from a verdict to the next session with its images, ms: mean {1000 * machine_share:.0f}, "
        f"p50 {1000 * statistics.median(seconds):.0f}, p95 {1000 * percentile(seconds, 95):.0f}, "
        f"longest {1000 * max(seconds):.0f}"
    )
    print(f"keys per session: {statistics.median(keys):g} (with notes, mean {statistics.fmean(keys):.1f})")
    print(
        f"in view without scrolling: {words:.0f} words about the session, verdicts in view in all: "
        f"{all(each['buttons'] for each in seen)}, answers in view {min(each['answers'] for each in seen)} or more, "
        f"pages too wide {sum(each['wide'] for each in seen)}"
    )
    print(
        f"seconds per session of {60 * MINUTES / sessions:.1f}: machine {machine_share:.2f}, keys and decision "
        f"{hands:.2f}, left for reading {left:.2f}, which are {left * READING / 60:.0f} words"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--screenshot", type=Path, help="where to save the first session as an image")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name:
        folder = Path(name)
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{folder / 'desk.sqlite3'}",
            "DATA_DIR": name,
            "STATIC_ROOT": str(folder / "staticfiles"),
            "LOG_LEVEL": "WARNING",
        }
        os.environ.update(environment)
        cookie = make_flagged_sessions(folder, given.sessions)
        print(machine())
        with (
            serve("config.wsgi", environment=environment, workers=1, threads=4, configuration=PRODUCTION) as site,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = browser.new_context(viewport={"width": WINDOW[0], "height": WINDOW[1]})
            context.add_cookies([{"name": "sessionid", "value": cookie, "url": site.address}])
            page = context.new_page()
            if given.screenshot:
                page.goto(f"{site.address}/projects/{PROJECT}/flags/")
                page.get_by_role("link", name="Review one by one").click()
                page.wait_for_function(IMAGES_IN_VIEW)
                page.screenshot(path=given.screenshot)
            walk(page, site, given.sessions)
            browser.close()


if __name__ == "__main__":
    main()
