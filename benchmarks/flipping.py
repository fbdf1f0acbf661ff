"""Trace frames while a person flips between the images of a set: python -m benchmarks.flipping.

A describer's page with ten images in a real Chromium. Its own trace has the time of each key, the time when its change
was drawn, and the dropped frames. Images are real image sets if available, else drawn scenes. Server, database and
browser share the machine's cores.
"""

import argparse
import io
import json
import os
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
from playwright.sync_api import Page, sync_playwright

from benchmarks.page import begin_sitting, chromium, wait_until
from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, serve
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import describe_instances
from tests.servers import postgresql_cluster

REAL_SETS = ROOT.parent / "shared" / "data" / "images"
STUDY = "flipping"
SET_SIZE = 10
DESIGN = f"""\
study: {STUDY}
title: Describe the marked image
contact: Ada Lovelace, ada@example.org
kind: describe
seed: benchmark
"""
TRACED = ["devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"]
BETWEEN_MS = {"one by one": 250, "key held": 33}


@dataclass(frozen=True)
class Flips:
    """Measurements of each flip.

    Milliseconds from the key to the drawing of its change, and the frame in which that was drawn, from 1 for the first
    after the key. `dropped`: frames that were not drawn while flipping.
    """

    to_drawn: Sequence[float]
    frames: Sequence[int]
    dropped: int


def make_study(folder: Path) -> None:
    """Import ten similar images and launch a study that asks to describe one of them."""
    django.setup()
    from django.core.management import call_command

    quiet = {"stdout": io.StringIO()}
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    manifest, images = folder / "sets.jsonl", folder / "images"
    if REAL_SETS.is_dir():
        lines = (REAL_SETS / "sets_of_10.jsonl").read_text(encoding="utf-8").splitlines()
        manifest.write_text(f"{lines[0]}\n", encoding="utf-8")
        images = REAL_SETS
    else:
        manifest.write_text(json.dumps({"directory": "scenes", "kind": "video"}), encoding="utf-8")
        _draw(images / "scenes")
    call_command("import_instances", STUDY, str(manifest), format="imagecode", images=images, verbosity=0, **quiet)
    design = folder / "study.yaml"
    design.write_text(DESIGN, encoding="utf-8")
    call_command("create_study", str(design), project=STUDY, **quiet)
    call_command("launch_study", STUDY, **quiet)


def _draw(folder: Path) -> None:
    folder.mkdir(parents=True)
    scenes = [scene for instance in describe_instances(seed="flip", per_category=2) for scene in instance.candidates]
    for number, scene in enumerate(scenes[:SET_SIZE]):
        draw_scene(scene, seed=str(number)).save(folder / f"img{number}.jpg", quality=92)


def flip(page: Page, *, times: int, between: int, trace: Path) -> Flips:
    """Press the arrow key `times` times at this interval, and read the browser's trace."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, path=trace, categories=TRACED)
    for _ in range(times):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(between)
    browser.stop_tracing()
    return read_trace(json.loads(trace.read_text(encoding="utf-8"))["traceEvents"])


def read_trace(events: Sequence[dict[str, Any]]) -> Flips:
    """Return the flips of a trace. Times in it are microseconds."""
    pressed = sorted(
        event["ts"]
        for event in events
        if event["name"] == "EventDispatch" and event.get("args", {}).get("data", {}).get("type") == "keydown"
    )
    drawn, begun = (
        sorted(event["ts"] for event in events if event["name"] == name) for name in ("DrawFrame", "BeginFrame")
    )
    pairs = [(at, drawn[bisect_right(drawn, at)]) for at in pressed if at < drawn[-1]]
    return Flips(
        to_drawn=[(end - at) / 1000 for at, end in pairs],
        frames=[max(1, bisect_right(begun, end) - bisect_right(begun, at)) for at, end in pairs],
        dropped=sum(event["name"] == "DroppedFrame" for event in events),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=100, help="flips at each pace (default 100)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name, postgresql_cluster(durable=True) as cluster:
        folder = Path(name)
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("flipping"),
            "DATA_DIR": name,
            "STATIC_ROOT": str(folder / "staticfiles"),
            "LOG_LEVEL": "WARNING",
        }
        os.environ.update(environment)
        make_study(folder)
        with (
            serve("config.wsgi", environment=environment, workers=2, threads=4, configuration=PRODUCTION) as site,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
            _open(page, site)
            measured = {
                pace: flip(page, times=options.flips, between=between, trace=folder / "trace.json")
                for pace, between in BETWEEN_MS.items()
            }
            version = browser.version
            browser.close()
    print(machine())
    print(f"Chromium {version}, 1366 x 768; {'a real set' if REAL_SETS.is_dir() else 'drawn scenes'}")
    print(f"{'ms from the key to the frame drawn':<36}{'flips':>7}{'p50':>8}{'p95':>8}{'most':>8}  next frame")
    for pace, flips in measured.items():
        within = sum(frame == 1 for frame in flips.frames) / len(flips.frames)
        print(
            f"{pace:<36}{len(flips.to_drawn):>7}{percentile(flips.to_drawn, 0.5):>8.1f}"
            f"{percentile(flips.to_drawn, 0.95):>8.1f}{max(flips.to_drawn):>8.1f}  {within:.0%}"
            f" (goal: 100%), frames dropped: {flips.dropped}"
        )


def _open(page: Page, site: Site) -> None:
    page.goto(begin_sitting(site, "flipping", study=STUDY), wait_until="commit")
    wait_until(page, "document.querySelector('[data-stage] [data-question][data-seen]') !== null")
    page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    main()
