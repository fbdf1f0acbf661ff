"""Measure the annotator's page in a real Chromium: python -m benchmarks.page.

Bytes and requests of a cold page; time to its first image and until it can be answered; time from a click on Send to
the next four images on the screen; LCP, CLS and INP as web.dev defines them. On a fast line, at 10 Mbit/s with 40 ms
round trip, and at 400 kbit/s with 400 ms. Images are the shared photos if available, else drawn scenes. Server,
database and browser share the machine's cores.
"""

import argparse
import io
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import django
import httpx
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, serve
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import describe_instances
from tests.servers import postgresql_cluster

PHOTOS = ROOT.parent / "shared" / "data" / "images" / "photos"
STUDY = "page"
QUESTIONS = 60
WAIT_SECONDS = 30
DESIGN = """\
study: {study}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: best_of_n
surveys: {{size: {questions}}}
answers: {people}
seed: benchmark
"""
# Bits per second, and milliseconds of a round trip; None: as fast as loopback.
LINES: dict[str, tuple[int, int] | None] = {
    "fast": None,
    "10 Mbit/s, 40 ms": (10_000_000, 40),
    "400 kbit/s, 400 ms": (400_000, 400),
}
GOALS = {
    "requests, cold": "<= 12",
    "kB without images, cold": "<= 120",
    "ms to first image, cold": "<= 300; at 10 Mbit/s <= 600",
    "ms until it can be answered, cold": "at 400 kbit/s <= 4000",
    "LCP ms, cold": "<= 2500",
    "ms from Send to four images, p50": "<= 30",
    "ms from Send to four images, p95": "<= 60",
    "requests per question without images": "<= 2",
    "questions that were waited for": "0",
    "INP ms, all questions": "<= 200",
    "CLS, all questions": "<= 0.1",
}
# Much less time than a person takes, and enough for the next question to arrive; on the slowest line the pace of a
# quick person.
THINKING_MS = {"fast": 400, "10 Mbit/s, 40 ms": 1500, "400 kbit/s, 400 ms": 6000}

# The browser reports when each image was first painted (Element Timing). Notes the first one and, for each press of
# Send, the last of the next four. Images loaded ahead are not painted. A question counts as waited for if its images,
# or the question, were missing when it was due. INP of so few interactions is the longest; CLS is the largest sum of
# shifts that follow one another within a second, in at most five seconds.
WATCH = """
window.firstImage = null;
window.sends = [];
const paintedAt = new Map();
let sentAt = null;
const question = () => document.querySelector("[data-stage] [data-question]");
const note = () => {
  const images = question() ? [...question().querySelectorAll("img")] : [];
  if (sentAt === null || !images.length || !images.every((image) => paintedAt.has(image))) return;
  const last = Math.max(...images.map((image) => paintedAt.get(image)));
  if (last < sentAt) return;
  window.sends.push(last - sentAt);
  sentAt = null;
};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    window.firstImage ??= entry.renderTime;
    paintedAt.set(entry.element, entry.renderTime);
  }
  note();
}).observe({ type: "element", buffered: true });
const mark = (image) => image.setAttribute("elementtiming", "picture");
new MutationObserver(() => document.querySelectorAll("img:not([elementtiming])").forEach(mark)).observe(
  document, { childList: true, subtree: true }
);
addEventListener("click", (event) => {
  if (event.target.closest("[data-send]")) sentAt = event.timeStamp;
}, true);
window.answerable = null;
window.waits = 0;
addEventListener("question:seen", () => (window.answerable ??= performance.now()));
addEventListener("question:shown", ({ target }) => {
  if (answerable !== null && ![...target.querySelectorAll("img")].every((image) => image.complete)) window.waits += 1;
});
addEventListener("answer:given", () => (window.waits += question() ? 0 : 1));
window.vitals = { LCP: 0, CLS: 0, INP: 0 };
const watch = (type, note, more) =>
  new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, ...more });
watch("largest-contentful-paint", ({ startTime }) => (vitals.LCP = startTime));
watch("event", ({ interactionId, duration }) => {
  if (interactionId) vitals.INP = Math.max(vitals.INP, duration);
}, { durationThreshold: 16 });
let shifts = [];
watch("layout-shift", (shift) => {
  if (shift.hadRecentInput) return;
  const since = (one) => shift.startTime - (one?.startTime ?? -Infinity);
  const isNext = since(shifts.at(-1)) < 1000 && since(shifts[0]) < 5000;
  shifts = isNext ? [...shifts, shift] : [shift];
  vitals.CLS = Math.max(vitals.CLS, shifts.reduce((sum, { value }) => sum + value, 0));
});
"""


@dataclass
class Traffic:
    """Traffic of the browser: type of resource and bytes over the wire by request."""

    kinds: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)

    def watch(self, session: CDPSession) -> None:
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _asked(self, event: dict[str, Any]) -> None:
        self.kinds[event["requestId"]] = event["type"]

    def _finished(self, event: dict[str, Any]) -> None:
        self.sizes[event["requestId"]] = event["encodedDataLength"]

    def other_sizes(self) -> list[float]:
        return [size for request, size in self.sizes.items() if self.kinds.get(request) != "Image"]

    def reset(self) -> None:
        self.kinds.clear()
        self.sizes.clear()


def make_study(folder: Path, *, people: int) -> None:
    """Import real images with the real importer and launch a study about them."""
    django.setup()
    from django.core.management import call_command

    quiet = {"stdout": io.StringIO()}
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    images = folder / "images"
    images.mkdir()
    names = list(_pictures(images))
    rows = (
        {"key": str(number), "negative_caption": "A red ball to the left of a blue house.", "images": four}
        for number, four in enumerate(zip(*[iter(names)] * 4, strict=False))
    )
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    call_command("import_instances", "page", str(manifest), format="jsonl", images=images, verbosity=0, **quiet)
    design = folder / "study.yaml"
    design.write_text(DESIGN.format(study=STUDY, questions=QUESTIONS, people=people), encoding="utf-8")
    call_command("create_study", str(design), project="page", **quiet)
    call_command("launch_study", STUDY, **quiet)


def _pictures(folder: Path) -> Iterator[str]:
    """Put 4 images per question into the folder and yield their names."""
    photos = sorted(PHOTOS.glob("*.jpg"))[: QUESTIONS * 4]
    for photo in photos:
        shutil.copy(photo, folder / photo.name)
        yield photo.name
    if photos:
        return
    scenes = (scene for instance in describe_instances(seed="page", per_category=9) for scene in instance.candidates)
    for number, scene in zip(range(QUESTIONS * 4), scenes, strict=False):
        draw_scene(scene, seed=str(number)).save(folder / f"{number}.jpg", quality=92)
        yield f"{number}.jpg"


def begin_sitting(site: Site, person: str, *, study: str = STUDY) -> str:
    """Take a person to the first question of `study`, and return the address of the session."""
    with httpx.Client(base_url=site.address, follow_redirects=True, timeout=30) as client:
        an_id = sha256(person.encode()).hexdigest()[:24]
        query = {"PROLIFIC_PID": an_id, "STUDY_ID": "benchmark", "SESSION_ID": an_id}
        page = client.post(f"/take/{study}/", params=query).url
        client.post(f"{page}begin/")
    return str(page)


def _on_line(context: BrowserContext, page: Page, line: tuple[int, int] | None) -> CDPSession:
    session = context.new_cdp_session(page)
    if line is not None:
        bits, latency = line
        session.send("Network.enable")
        speed = {"downloadThroughput": bits / 8, "uploadThroughput": bits / 8}
        session.send("Network.emulateNetworkConditions", {**speed, "latency": latency, "offline": False})
    return session


def wait_until(page: Page, condition: str) -> None:
    # Polled from outside, because the page's content security policy forbids Playwright's wait_for_function.
    deadline = time.monotonic() + WAIT_SECONDS
    while not page.evaluate(condition):
        if time.monotonic() > deadline:
            raise SystemExit(f"The page did not reach {condition} within {WAIT_SECONDS} s.")
        page.wait_for_timeout(20)


def measure(browser: Browser, site: Site, name: str, *, cold_pages: int, sends: int) -> dict[str, float]:
    """Return the measurements of one line."""
    firsts, answerables, paints, requests, kilobytes = [], [], [], [], []
    for number in range(cold_pages):
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        context.add_init_script(WATCH)
        page = context.new_page()
        traffic = Traffic()
        traffic.watch(_on_line(context, page, LINES[name]))
        page.goto(begin_sitting(site, f"{name} {number}"), wait_until="commit")
        wait_until(page, "window.firstImage !== null && window.answerable !== null")
        page.wait_for_load_state("networkidle")
        firsts.append(page.evaluate("window.firstImage"))
        answerables.append(page.evaluate("window.answerable"))
        paints.append(page.evaluate("vitals.LCP"))
        requests.append(len(traffic.other_sizes()))
        kilobytes.append(sum(traffic.other_sizes()) / 1000)
        if number < cold_pages - 1:
            context.close()
    traffic.reset()
    for number in range(sends):
        page.wait_for_timeout(THINKING_MS[name])
        page.locator("[data-stage] [data-question] .choice").first.click()
        page.locator("[data-stage] [data-send]:enabled").click()
        wait_until(page, f"window.sends.length === {number + 1}")
    page.wait_for_load_state("networkidle")
    times, waits, vitals = page.evaluate("[window.sends, window.waits, vitals]")
    context.close()
    return {
        "requests, cold": percentile(requests, 0.5),
        "kB without images, cold": percentile(kilobytes, 0.5),
        "ms to first image, cold": percentile(firsts, 0.5),
        "ms until it can be answered, cold": percentile(answerables, 0.5),
        "LCP ms, cold": percentile(paints, 0.5),
        "ms from Send to four images, p50": percentile(times, 0.5),
        "ms from Send to four images, p95": percentile(times, 0.95),
        "requests per question without images": len(traffic.other_sizes()) / sends,
        "questions that were waited for": waits,
        "INP ms, all questions": vitals["INP"],
        "CLS, all questions": vitals["CLS"],
    }


def chromium() -> str | None:
    """Return Debian's browser if installed; else Playwright uses its own."""
    return shutil.which("chromium")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cold-pages", type=int, default=5, help="cold pages per line (default 5)")
    parser.add_argument("--sends", type=int, default=20, help="answers sent per line (default 20, at most 58)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name, postgresql_cluster(durable=True) as cluster:
        folder = Path(name)
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("page"),
            "DATA_DIR": name,
            "STATIC_ROOT": str(folder / "staticfiles"),
            "LOG_LEVEL": "WARNING",
        }
        os.environ.update(environment)
        make_study(folder, people=options.cold_pages * len(LINES))
        columns = {}
        with (
            serve("config.wsgi", environment=environment, workers=2, threads=4, configuration=PRODUCTION) as site,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for line in LINES:
                columns[line] = measure(browser, site, line, cold_pages=options.cold_pages, sends=options.sends)
            version = browser.version
            browser.close()
    print(machine())
    print(f"Chromium {version}, 1366 x 768; {'photos' if PHOTOS.is_dir() else 'drawn scenes'}; 2 workers x 4 threads")
    print(f"{options.cold_pages} cold pages (median), {options.sends} answers sent, on each line")
    print(f"{'':<38}" + "".join(f"{line:>20}" for line in columns) + "   goal")
    for figure, goal in GOALS.items():
        print(
            f"{figure:<38}"
            + "".join(f"{column[figure]:>20{'.3f' if 'CLS' in figure else '.1f'}}" for column in columns.values())
            + f"   {goal}"
        )


if __name__ == "__main__":
    main()
