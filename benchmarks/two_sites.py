"""Kill, and upgrade, a site on two machines while people answer: python -m benchmarks.two_sites.

Two web servers, two Celery workers and a beat behind nginx share a PostgreSQL, a Redis and a media folder, as
docs/larger-sites.md says. They start with the version `--from`. While annotators answer, processes and whole machines
are killed with -9 (`--kills`). Then the database is migrated, with one migration more that adds a column to the
answers, and one machine after the other is taken away and comes back with this version, whose scripts and styles have
other names. A browser meanwhile opens pages with all their files. Exits with 1 if a browser would have shown an error,
or if the stored answers are not exactly those promised. Needs the history of git, nginx, PostgreSQL and Redis.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.site import ROOT, machine
from tests.flows.crowd import Crowd
from tests.flows.site import browser_at, site_over
from tests.flows.two_sites import Machine, TwoSites, check_answers, two_sites
from tests.servers import postgresql_cluster, redis_process

SIZE = 5
STUDY, LOOKED_AT = "upgraded", "looked-at"
STATIC = re.compile(r'(?:src|href)="(/static/[^"]+)"')
LOOK_EVERY_SECONDS = 0.2
# What an upgrade may do beside the version before: a column that its inserts need not name.
MIGRATION = """\
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "{last}")]
    operations = [
        migrations.AddField("response", "of_this_benchmark", models.BooleanField(default=False, db_default=False)),
    ]
"""


@dataclass
class Looks:
    """What a browser got that opens a page with its files: status -> how often; and the first errors."""

    statuses: Counter[int] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--from", dest="version", default="27e1ea70", help="the commit that the machines start with")
    arguments.add_argument("--annotators", type=int, default=32)
    arguments.add_argument("--places", type=int, default=400, help=f"surveys of {SIZE} questions")
    arguments.add_argument("--seconds-per-question", type=float, default=0.5)
    arguments.add_argument("--kills", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "SECRET_KEY": "two-sites" * 8, "LOG_LEVEL": "WARNING"}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        before, after = _tree(options.version, folder / "before"), _tree("HEAD", folder / "after")
        _add_migration(after)
        _change_static_files(after)
        cluster = stack.enter_context(postgresql_cluster(durable=True))
        url, redis_url = cluster.url("two_sites"), stack.enter_context(redis_process())
        (folder / "sites").mkdir()
        _prepare(before, folder, url, options.places)
        collected = {"STATIC_WITHOUT_COLLECT": "0", "STATIC_ROOT": str(before / "staticfiles")}
        sites = stack.enter_context(
            two_sites(database_url=url, redis_url=redis_url, folder=folder / "sites", root=before, **collected)
        )
        sites.beats.append(sites.machines[0].start_beat())
        print(f"{machine()}; from {options.version} to this version")
        crowd = Crowd(sites.address, STUDY, seconds_per_question=options.seconds_per_question)
        running = threading.Thread(target=crowd.run, args=(options.annotators,))
        running.start()
        _kill(sites, crowd, options.kills, random.Random(options.seed))
        with _looking(sites) as looks:
            _upgrade(sites, crowd, after)
        if not running.is_alive():
            sys.exit("The crowd was done before the upgrade: give more --places.")
        running.join()
        print(f"{len(crowd.acknowledged)} answers acknowledged; sent again by the page: {Counter(crowd.errors)}")
        print(f"pages and their files: {dict(looks.statuses)} {looks.errors}")
        check_answers(url, crowd, places=options.places, size=SIZE)
        if looks.errors or crowd.shown:
            sys.exit(f"A browser would have shown: {[*crowd.shown, *looks.errors]}")


def _tree(commit: str, folder: Path) -> Path:
    """Write the files of `commit` into `folder`."""
    folder.mkdir()
    with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "--extract", "--directory", str(folder)], stdin=archive.stdout, check=True)
    if archive.returncode != 0:
        sys.exit(f"git has no commit {commit}: a shallow clone lacks history (git fetch --unshallow).")
    return folder


def _add_migration(tree: Path) -> None:
    folder = tree / "annotation/migrations"
    last = max(path.stem for path in folder.glob("0*.py"))
    (folder / "9999_of_the_benchmark.py").write_text(MIGRATION.format(last=last), encoding="utf-8")


def _change_static_files(tree: Path) -> None:
    for file, more in (("css/app.css", "\n.of-this-benchmark { color: red }\n"), ("js/whole/work.js", "\nvoid 0;\n")):
        with (tree / "static" / file).open("a", encoding="utf-8") as out:
            out.write(more)


def _prepare(tree: Path, folder: Path, url: str, places: int) -> None:
    site = replace(site_over(database_url=url, data_dir=folder), root=tree)
    site.run("manage.py", "migrate", "--verbosity", "0")
    common = {"answers": 1, "surveys": {"size": SIZE}, "recruitment": {"sessions_per_annotator": 0}}
    studies = [{"study": STUDY, "instances": places * SIZE}, {"study": LOOKED_AT, "instances": SIZE}]
    site.run("-m", "tests.flows.launch_studies", *(json.dumps(study | common) for study in studies))
    _collect(site.environment, tree)


def _collect(environment: dict[str, str], tree: Path) -> None:
    collected = environment | {"STATIC_WITHOUT_COLLECT": "0", "STATIC_ROOT": str(tree / "staticfiles")}
    command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(command, cwd=tree, env=collected, check=True)


def _kill(sites: TwoSites, crowd: Crowd, kills: int, dice: random.Random) -> None:
    for _ in range(kills):
        killed, what = dice.choice(sites.machines), dice.choice(["web", "worker", "machine"])
        began = len(crowd.acknowledged)
        if what == "web":
            killed.site.kill_a_worker()
        elif what == "worker":
            killed.kill_worker()
            killed.start_worker()
        else:
            killed.kill()
            killed.start()
        time.sleep(1)
        print(f"killed a {what}; {len(crowd.acknowledged) - began} answers meanwhile", flush=True)


def _upgrade(sites: TwoSites, crowd: Crowd, tree: Path) -> None:
    # The last page of the version before may ask for its files when that version is gone.
    shutil.copytree(sites.machines[0].site.root / "staticfiles", tree / "staticfiles")
    _collect(sites.environment, tree)
    began = len(crowd.acknowledged)
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=tree, env=sites.environment, check=True
    )
    print(f"migrated; {len(crowd.acknowledged) - began} answers meanwhile", flush=True)
    for upgraded in sites.machines:
        began = len(crowd.acknowledged)
        _replace(upgraded, tree)
        print(f"upgraded a machine; {len(crowd.acknowledged) - began} answers meanwhile", flush=True)


def _replace(upgraded: Machine, tree: Path) -> None:
    upgraded.stop()
    upgraded.site.root = tree
    upgraded.site.environment["STATIC_ROOT"] = str(tree / "staticfiles")
    upgraded.start()


@contextmanager
def _looking(sites: TwoSites) -> Iterator[Looks]:
    """Open the page of a session, and every file that it names, again and again until the block ends."""
    looks, over = Looks(), threading.Event()
    thread = threading.Thread(target=_look, args=(sites, looks, over))
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()


def _look(sites: TwoSites, looks: Looks, over: threading.Event) -> None:
    with browser_at(sites.address) as browser:
        ids = {"PROLIFIC_PID": "looker", "STUDY_ID": "study", "SESSION_ID": "looks"}
        page = browser.post(f"/take/{LOOKED_AT}/", params=ids).url.path
        browser.post(f"{page}begin/")
        while not over.wait(LOOK_EVERY_SECONDS):
            shown = browser.get(page)
            for address in [page, *dict.fromkeys(STATIC.findall(shown.text))]:
                status = (shown if address == page else browser.get(address)).status_code
                looks.statuses[status] += 1
                if status >= 400:
                    looks.errors.append(f"{address}: {status}")


if __name__ == "__main__":
    main()
