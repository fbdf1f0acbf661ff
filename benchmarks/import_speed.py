"""Measure imports: the BiVLC manifest without images, and images of 512 x 512 with their renditions.

    python -m benchmarks.import_speed [--images 1000] [--folder DIR]

Each import runs as its own process on a new database, so that its peak memory is its own. The goals are 5 s for 7,512
rows and 30 s for 1,000 images on 2 cores (docs/performance.md). Memory is compared with that of half the work, to show
whether it grows.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
REAL_MANIFEST = ROOT.parent / "shared/data/bivlc/BiVLC_negative_imgs.csv"
REAL_PHOTOS = ROOT.parent / "shared/data/images/photos"
MANIFEST_ROWS = 7_512
CANDIDATES = 4
SIDE = 512


class Measurement(NamedTuple):
    """`cpu` beside `seconds` shows the effect of other load on the machine."""

    seconds: float
    cpu: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1_000, help="How many images to import.")
    parser.add_argument("--folder", type=Path, help="Where to work; a new temporary folder if not given.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
        print(f"{'import':<34}{'seconds':>9}{'goal':>7}{'ratio':>8}{'cpu s':>8}{'peak MB':>9}")
        rows = manifest()
        half = [line for number, line in enumerate(rows.splitlines()) if number <= MANIFEST_ROWS // 2]
        for label, content, goal in (
            (f"{MANIFEST_ROWS // 2:,} rows", "\n".join(half) + "\n", 2.5),
            (f"{MANIFEST_ROWS:,} rows", rows, 5.0),
        ):
            file = folder / "manifest.jsonl"
            file.write_text(content, encoding="utf-8")
            show(label, measure(folder, file, "jsonl", "--images-later"), goal)
        if REAL_MANIFEST.is_file():
            show("BiVLC's manifest", measure(folder, REAL_MANIFEST, "bivlc-manifest", "--images-later"), 5.0)
        draw(folder / "images", options.images)
        for count in (options.images // 2, options.images):
            file = folder / "sets.jsonl"
            file.write_text(sets(count), encoding="utf-8")
            found = measure(folder, file, "jsonl", "--images", str(folder / "images"))
            show(f"{count:,} images of {SIDE} x {SIDE}", found, 30.0 * count / 1_000)


def manifest() -> str:
    names = [f"candidate_{number}.jpg" for number in range(CANDIDATES)]
    return "".join(
        json.dumps(
            {
                "key": str(number),
                "caption": f"A cat on couch {number}.",
                "negative_caption": f"A dog on couch {number}.",
                "images": [f"{number}_{name}" for name in names],
            }
        )
        + "\n"
        for number in range(MANIFEST_ROWS)
    )


def sets(count: int) -> str:
    return "".join(
        json.dumps({"key": str(first), "caption": "A cat.", "images": [f"{first + n}.jpg" for n in range(CANDIDATES)]})
        + "\n"
        for first in range(0, count, CANDIDATES)
    )


def draw(folder: Path, count: int) -> None:
    """Create different JPEGs of 60 to 100 KB: real photos if available, else noise as busy as a photo."""
    folder.mkdir()
    photos = sorted(REAL_PHOTOS.glob("*.jpg"))
    for number in range(count + CANDIDATES):
        if photos:
            with Image.open(photos[number % len(photos)]) as photo:
                picture = photo.convert("RGB").resize((SIDE, SIDE))
        else:
            picture = Image.merge("RGB", [Image.effect_noise((SIDE, SIDE), 24) for _ in range(3)])
        picture.putpixel((number % SIDE, number // SIDE), (number % 256, number // 256, 0))
        picture.save(folder / f"{number}.jpg", quality=90)


def measure(folder: Path, file: Path, format: str, *options: str) -> Measurement:
    """Run the import command, including the start of Python."""
    data = tempfile.mkdtemp(dir=folder)
    environment = os.environ | {"DATA_DIR": data, "DATABASE_URL": f"sqlite:///{data}/db.sqlite3"}
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=environment, check=True)
    command = [*manage, "import_instances", "bench", str(file), "--format", format, "-v0", *options]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit("The import failed; its message is above.")
    return Measurement(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1_024)


def show(label: str, found: Measurement, goal: float) -> None:
    ratio = found.seconds / goal
    print(f"{label:<34}{found.seconds:>9.1f}{goal:>7.1f}{ratio:>8.2f}{found.cpu:>8.1f}{found.megabytes:>9.0f}")


if __name__ == "__main__":
    main()
