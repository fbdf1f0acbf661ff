"""Count the keys and the mouse travel of one answer, and predict its time: python -m benchmarks.keystrokes.

Measures, for each kind of question in a real Chromium, the mean distance from the middle of an option (its whole card
chooses) to the middle of Send. Predicts the time of an answer that takes one decision, with the keystroke-level model
of Card, Moran and Newell (1980). Its operators are K 0.20 s for a skilled typist, B 0.10 s for a press or a release, H
0.40 s for a hand that moves between keyboard and mouse, and M 1.35 s for a decision. For pointing it uses their
measured law of the mouse (Card, English and Burr 1978): 1.03 + 0.096 log2(D/S + 0.5) seconds.

By mouse: decide, point at the option from the middle of the window, click, point at Send, click. By keyboard: decide,
press the option's key, press the key that sends. Looking and thinking take longer than all of it.

Other tools are not measured here. Their keys are counted from their documentation, for the same question: one of four
images or None. The wait after sending (the model's R) was measured with them on a machine of two cores, from the click
to the next four images painted, p50, local; ours is measured by benchmarks/page.py. The distance between their options
and buttons is unknown, so there is no prediction for their mouse.
"""

import argparse
import io
import itertools
import json
import math
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.page import begin_sitting
from benchmarks.site import PRODUCTION, Site, serve
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import describe_instances
from studies.kinds import KINDS, get_kind

WINDOW = (1366, 768)
KEY, BUTTON, HAND, MENTAL = 0.20, 0.10, 0.40, 1.35
GOAL = 350
INSTANCES = 3
BOXES = """() => {
  const box = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2, size: Math.min(width, height) };
  };
  const stage = document.querySelector("[data-stage]");
  return {
    options: [...stage.querySelectorAll("[data-option] label")].map(box),
    send: box(stage.querySelector("[data-send]")),
  };
}"""

Box = Mapping[str, float]


@dataclass(frozen=True)
class Tool:
    """A tool at one choice of four.

    keys: of one answer, with modifiers. seconds: until the next question is seen.
    """

    keys: Sequence[str]
    response: float
    source: str


TOOLS = {
    "Lineup": Tool(("1", "Enter"), 0.035, "benchmarks/page.py, fast line"),
    "Potato 2.12.1": Tool(
        ("1", "Right"), 0.308, "sequential_key_binding: digits choose; an arrow goes on, which saves"
    ),
    "Label Studio 1.23.2": Tool(("1", "Ctrl", "Enter"), 0.822, "digits choose; Ctrl+Enter submits"),
}


def distance(one: Box, other: Box) -> float:
    return math.hypot(one["x"] - other["x"], one["y"] - other["y"])


def pointing_seconds(way: float, size: float) -> float:
    """Return the seconds to move a mouse `way` pixels to a target `size` pixels wide."""
    return 1.03 + 0.096 * math.log2(way / size + 0.5)


def mouse_seconds(option: Box, send: Box) -> float:
    """Return the seconds of one answer by mouse, with the hand already on it."""
    middle = {"x": WINDOW[0] / 2, "y": WINDOW[1] / 2}
    to_option = pointing_seconds(distance(middle, option), option["size"])
    return MENTAL + to_option + 2 * BUTTON + pointing_seconds(distance(option, send), send["size"]) + 2 * BUTTON


def keyboard_seconds(keys: int) -> float:
    """Return the seconds of one answer by `keys` keys, with the hands already on the keyboard."""
    return MENTAL + keys * KEY


def combined_seconds(option: Box) -> float:
    """Return the seconds of an answer chosen by mouse and sent by a key, with the hand's way there and back."""
    middle = {"x": WINDOW[0] / 2, "y": WINDOW[1] / 2}
    to_option = pointing_seconds(distance(middle, option), option["size"])
    return MENTAL + to_option + 2 * BUTTON + HAND + KEY + HAND


def make_studies(folder: Path) -> None:
    """Launch a typical study of every kind about the same drawn scenes."""
    import django

    django.setup()
    from django.core.management import call_command

    quiet: dict[str, Any] = {"stdout": io.StringIO()}
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    images = folder / "images"
    images.mkdir()
    rows = []
    scenes = describe_instances(seed="travel", per_category=INSTANCES)
    for number, instance in enumerate(itertools.islice(scenes, INSTANCES)):
        names = [f"{number}-{place}.png" for place in range(4)]
        for place, name in enumerate(names):
            draw_scene(instance.candidates[place], seed=name).save(images / name)
        texts = {"caption": "A blue ball to the left of a house.", "negative_caption": "A ball in a blue house."}
        roles = {"image": names[:1], "negative_image": names[1:2], "candidate": names}
        rows.append({"key": str(number), **texts, "images": roles})
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    call_command("import_instances", "travel", str(manifest), format="jsonl", images=images, verbosity=0, **quiet)
    for kind in measured_kinds():
        design = folder / f"{kind}.yaml"
        slug = kind.replace("_", "-")
        design.write_text(
            json.dumps({"study": slug, "title": kind, "kind": kind, "contact": "bench@example.org"}), encoding="utf-8"
        )
        call_command("create_study", str(design), project="travel", **quiet)
        call_command("launch_study", slug, **quiet)


def measured_kinds() -> Sequence[str]:
    """Return the kinds that are answered with one of the options; writing and several answers are other work."""
    return [name for name in KINDS if get_kind(name).has_one_label and not get_kind(name).asks_about_answers]


def measure(browser: Browser, site: Site, kind: str) -> tuple[float, float, float]:
    """Return the mean distance from an option to Send in pixels, and two mean predictions in seconds.

    The predictions are for the mouse alone, and for mouse and keyboard.
    """
    page = browser.new_page(viewport={"width": WINDOW[0], "height": WINDOW[1]})
    page.goto(begin_sitting(site, kind, study=kind.replace("_", "-")))
    page.locator("[data-stage] [data-seen]").wait_for()
    boxes = page.evaluate(BOXES)
    page.close()
    options, send = boxes["options"], boxes["send"]
    ways = [distance(option, send) for option in options]
    mouse = [mouse_seconds(option, send) for option in options]
    both = [combined_seconds(option) for option in options]
    return sum(ways) / len(ways), sum(mouse) / len(mouse), sum(both) / len(both)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name:
        folder = Path(name)
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{folder / 'travel.sqlite3'}",
            "DATA_DIR": name,
            "STATIC_ROOT": str(folder / "staticfiles"),
            "LOG_LEVEL": "WARNING",
        }
        os.environ.update(environment)
        make_studies(folder)
        with (
            serve("config.wsgi", environment=environment, workers=1, threads=4, configuration=PRODUCTION) as site,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            figures = {kind: measure(browser, site, kind) for kind in measured_kinds()}
            browser.close()
    print(f"{WINDOW[0]} x {WINDOW[1]}, from the middle of an option to the middle of Send; goal <= {GOAL} px")
    print(f"{'':<20}{'px':>8}{'s by mouse':>14}{'s by both':>14}")
    for kind, (way, mouse, both) in figures.items():
        print(f"{kind:<20}{way:>8.0f}{mouse:>14.2f}{both:>14.2f}")
    ways = [way for way, _, _ in figures.values()]
    print(f"{'mean':<20}{sum(ways) / len(ways):>8.0f}")
    print(f"{'by keyboard':<20}{'keys':>8}{'s to answer':>14}{'s to the next':>14}")
    for name, tool in TOOLS.items():
        seconds = keyboard_seconds(len(tool.keys))
        print(f"{name:<20}{len(tool.keys):>8}{seconds:>14.2f}{seconds + tool.response:>14.2f}   {tool.source}")


if __name__ == "__main__":
    main()
