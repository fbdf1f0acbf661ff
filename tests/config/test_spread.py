"""A worker that crashes costs the test that it ran and no other, and no run waits without end (`tests/spread.py`)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """
import os
import pytest

@pytest.mark.parametrize("number", range(12))
def test_one(number):
    if number in {crashing}:
        os._exit(1)
"""


def run(folder: Path, *, workers: int, crashing: list[int]) -> str:
    """Run twelve tests, of which those numbered in `crashing` end their process; return what pytest says."""
    (folder / "test_sample.py").write_text(SAMPLE.format(crashing=crashing), encoding="utf-8")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("DJANGO_", "PYTEST_"))}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.spread", "-p", "no:cacheprovider", "-c"]
    command += [os.devnull, "--rootdir", str(folder), "-n", str(workers), str(folder)]
    # A run that waits without end fails here.
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("workers", "crashing"),
    [
        pytest.param(1, [5, 11], id="one worker, in the middle and at the end"),
        pytest.param(2, [0, 1, 10], id="two workers, both at the start and one near the end"),
    ],
)
def test_a_crash_fails_its_test_and_the_others_are_run(tmp_path: Path, workers: int, crashing: list[int]) -> None:
    said = run(tmp_path, workers=workers, crashing=crashing)
    named = re.findall(
        r"^worker 'gw\d+' crashed while running 'test_sample\.py::test_one\[(\d+)\]'$", said, re.MULTILINE
    )
    assert sorted(map(int, named)) == crashing, said
    assert f"{len(crashing)} failed, {12 - len(crashing)} passed" in said
