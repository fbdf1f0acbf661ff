"""Measure how the time to launch a study about image sets grows with the number of sets.

    python -m benchmarks.launch [--sets 100] [--times 10] [--rounds 3] [--postgresql]

Image sets of ten, three questions about each, surveys of 30: the shipped study file `imagecode-describe`. Prints
seconds, processor seconds of the launching process and number of statements for the two sizes, the least of the rounds,
and their ratio. Launching is linear if the ratio is about that of the sets. On SQLite or PostgreSQL, in a database of
its own.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import django

from tests.servers import postgresql_cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100, help="Number of sets of the smaller study.")
    parser.add_argument("--times", type=int, default=10, help="Size of the larger study, as a multiple.")
    parser.add_argument("--rounds", type=int, default=3, help="Launches of each.")
    parser.add_argument("--postgresql", action="store_true", help="On PostgreSQL instead of SQLite.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ.pop("DATABASE_URL", None)
        if options.postgresql:
            os.environ["DATABASE_URL"] = running.enter_context(postgresql_cluster(durable=True)).url("launch")
        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        sizes = (options.sets, options.times * options.sets)
        # In turns, so that other load on the machine affects both.
        measured = [[launch(size, number) for size in sizes] for number in range(options.rounds)]
        connections.close_all()
    least = [[min(values) for values in zip(*of_size, strict=True)] for of_size in zip(*measured, strict=True)]
    print(f"{'sets':>8}{'seconds':>9}{'cpu s':>9}{'statements':>12}")
    for size, (seconds, cpu, statements) in zip(sizes, least, strict=True):
        print(f"{size:>8,}{seconds:>9.2f}{cpu:>9.2f}{statements:>12,}")
    ratios = [many / few for few, many in zip(*least, strict=True)]
    print("{:>8}{:>9.1f}{:>9.1f}{:>12.1f}".format("ratio", *ratios))


def launch(sets: int, number: int) -> tuple[float, float, int]:
    """Launch a study about `sets` new image sets; return seconds, processor seconds and number of statements."""
    import yaml
    from django.db import connection
    from django.utils import timezone

    from annotation.actions.launching import launch
    from studies.actions.studies import create_study
    from studies.models import Project
    from studies.shipped_designs import shipped_designs

    project = Project.objects.create(slug=f"sets-{sets}-{number}", name="Sets")
    make_sets(project.pk, sets)
    design = yaml.safe_load(shipped_designs()["imagecode-describe"].source) | {"contact": "nobody", "eligibility": []}
    study = create_study(project=project, source=yaml.safe_dump(design), by="benchmark", now=timezone.now())
    counted: list[str] = []

    def count(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        counted.append(sql[:10])
        return execute(sql, *arguments)

    started, cpu = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(count):
        launch.launch(study=study, by="benchmark", now=timezone.now())
    return time.perf_counter() - started, time.process_time() - cpu, len(counted)


def make_sets(project: int, sets: int) -> None:
    from studies.descriptions import SET, SET_SIZE, STATIC
    from studies.models import Image, Instance, InstanceImage

    images = [
        Image.objects.get_or_create(sha256=f"{place:064x}", defaults={"width": 4, "height": 2, "byte_size": 1})[0]
        for place in range(SET_SIZE)
    ]
    instances = Instance.objects.bulk_create(
        Instance(
            project_id=project,
            key=f"{STATIC}-{row}",
            type=STATIC,
            captions={},
            caption_rule="as-is-v1",
            source_file="sets.jsonl",
            source_row=row,
        )
        for row in range(sets)
    )
    InstanceImage.objects.bulk_create(
        InstanceImage(instance=instance, role=SET, position=place, filename=f"{instance.key}/{place}.png", image=image)
        for instance in instances
        for place, image in enumerate(images)
    )


if __name__ == "__main__":
    main()
