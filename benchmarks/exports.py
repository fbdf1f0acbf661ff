"""Time exports: 10,000 responses as tables, and a release of 3,000 instances with 600 MB of images.

    python -m benchmarks.exports [--instances 3000] [--folder DIR]

A table is timed in two ways: as a background worker writes it, the best of some rounds, and as the platform's command
in its own process, with the start of Python. A release is written by its command, at half and at full size, to show
whether memory grows with size. The images are JPEGs of 512 x 512, each file different, in the storage's folder.
"""

import argparse
import hashlib
import io
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

import django
import psycopg
from PIL import Image as Picture

from benchmarks.annotator_loop import make_instances
from benchmarks.answering import answer_seats
from benchmarks.results_pages import make_study
from benchmarks.site import ROOT, machine
from tests.servers import postgresql_cluster

RESPONSES = 10_000
GOAL_SECONDS = 1.0
TABLES = ("jsonl", "csv", "responses")
SIDE, NOISE = 512, 24
DIFFERENT_PICTURES = 100
DESIGN = """\
study: {slug}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: best_of_n
surveys: {{size: 100, double_seats: 0}}
instances: {{type: [{types}]}}
consent: ""
"""


Made = TypeVar("Made")


class Measured(NamedTuple):
    seconds: float
    megabytes: float


def manage(environment: Mapping[str, str], *arguments: str) -> Measured:
    """Run a command of the platform; return its seconds and peak memory."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("The command failed; its message is above.")
    return Measured(time.perf_counter() - started, usage.ru_maxrss / 1024)


def write_tables(*, rounds: int, folder: Path, environment: Mapping[str, str]) -> dict[str, float]:
    """Return the seconds per table in a process that has already started."""
    os.environ.update(environment)
    django.setup()
    from results.actions.exports import write_export
    from studies.models import Study

    study = Study.objects.select_related("project").get()
    found: dict[str, float] = {}
    for name in TABLES:
        for _ in range(rounds):
            started = time.perf_counter()
            write_export(study=study, format=name, folder=folder, report=lambda done, total: None)
            found[name] = min(found.get(name, math.inf), time.perf_counter() - started)
    return found


def make_releases(*, instances: int, folder: Path, environment: Mapping[str, str]) -> None:
    """Create two studies that accepted everything: `half` about half of the instances, `whole` about all."""
    os.environ.update(environment)
    django.setup()
    from django.core.management import call_command

    from studies.models import Instance, InstanceImage, Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug="benchmark", name="Benchmark")
    make_instances(project.pk, instances)
    pictures = _pictures(2 * instances, folder)
    known = list(Instance.objects.order_by("pk"))
    Instance.objects.filter(pk__in=[one.pk for one in known[: instances // 2]]).update(type="first")
    Instance.objects.filter(type="").update(type="second")
    for number, instance in enumerate(known):
        InstanceImage.objects.filter(instance=instance, position=0).update(image=pictures[2 * number])
    InstanceImage.objects.bulk_create(
        InstanceImage(instance=instance, role="image", filename="original.jpg", image_id=pictures[2 * number + 1])
        for number, instance in enumerate(known)
    )
    for slug, types in (("half", "first"), ("whole", "first, second")):
        file = folder / f"{slug}.yaml"
        file.write_text(DESIGN.format(slug=slug, types=types), encoding="utf-8")
        call_command("create_study", str(file), project="benchmark", stdout=io.StringIO())
        call_command("launch_study", slug, stdout=io.StringIO())
    answer_seats(environment["DATABASE_URL"], instances)
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE annotation_decision SET state = 'accepted', winner = 'candidate-0'")


def _pictures(count: int, folder: Path) -> list[str]:
    """Store `count` JPEGs of about 100 kB, and return their names in the storage."""
    from django.core.files.base import ContentFile
    from django.core.files.storage import default_storage

    from studies.actions.images import original_name
    from studies.models import Image

    drawn = [_jpeg() for _ in range(DIFFERENT_PICTURES)]
    stored = []
    for number in range(count):
        # Decoders ignore bytes after the end of a JPEG; they make each file different.
        content = drawn[number % len(drawn)] + str(number).encode()
        name = hashlib.sha256(content).hexdigest()
        default_storage.save(original_name(name), ContentFile(content))
        stored.append(Image(sha256=name, width=SIDE, height=SIDE, format="JPEG", byte_size=len(content)))
    Image.objects.bulk_create(stored, batch_size=1000)
    return [image.sha256 for image in stored]


def _jpeg() -> bytes:
    out = io.BytesIO()
    Picture.merge("RGB", [Picture.effect_noise((SIDE, SIDE), NOISE) for _ in range(3)]).save(out, "JPEG", quality=82)
    return out.getvalue()


def _in_its_own_process(work: Callable[..., Made], **arguments: object) -> Made:
    # Django reads only once which database to use.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(work, **arguments).result()


def _environment(url: str, folder: str) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": url,
        "DATA_DIR": folder,
        "LOG_LEVEL": "WARNING",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=3_000, help="instances of the release (default 3000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often tables are written; the best counts")
    parser.add_argument("--folder", type=Path, help="where to work; a new temporary folder if not given")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, postgresql_cluster(durable=True) as cluster:
        tables = _environment(cluster.url("tables"), folder)
        releases = _environment(cluster.url("releases"), folder)
        _in_its_own_process(make_study, responses=RESPONSES, folder=Path(folder), environment=tables)
        print(machine())
        print(f"{'':<42}{'seconds':>9}{'goal':>6}{'command s':>11}{'peak MB':>9}", flush=True)
        written = _in_its_own_process(write_tables, rounds=options.rounds, folder=Path(folder), environment=tables)
        for name, seconds in written.items():
            export = ("export", "benchmark", "--format", name, "--out", f"{folder}/{name}")
            best = min(manage(tables, *export) for _ in range(options.rounds))
            label = f"{RESPONSES:,} responses, {name}"
            print(f"{label:<42}{seconds:>9.2f}{GOAL_SECONDS:>6}{best.seconds:>11.2f}{best.megabytes:>9.0f}", flush=True)
        _in_its_own_process(make_releases, instances=options.instances, folder=Path(folder), environment=releases)
        for study, count in (("half", options.instances // 2), ("whole", options.instances)):
            found = manage(
                releases, *("release", "benchmark", "--study", study, "--name", study, "--out", f"{folder}/{study}")
            )
            size = sum(file.stat().st_size for file in Path(folder, study).rglob("*") if file.is_file())
            label = f"release of {count:,}, hf, {size / 1_000_000:.0f} MB"
            print(f"{label:<42}{'':>15}{found.seconds:>11.2f}{found.megabytes:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
