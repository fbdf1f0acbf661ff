"""`make test` runs what is the same on both databases in one half, and everything in at least one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.halves import FREE, HALVES, home, is_left_out
from tests.homes import (
    NOT_PAGES,
    OF_RESULTS,
    ONE_AFTER_ANOTHER,
    PAGES,
    is_of_a_page,
    is_of_results,
    is_one_after_another,
)
from tests.spread import LONG, LONGEST, TOGETHER, group_of

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """
import pytest

def test_free(): ...

@pytest.mark.django_db
def test_on_each(): ...

@pytest.mark.django_db
@pytest.mark.once(on="sqlite", because="of the one")
def test_here(): ...

@pytest.mark.django_db
@pytest.mark.once(on="postgresql", because="of the other")
@pytest.mark.parametrize("n", [1, 2])
def test_there(n): ...
"""


def collect(folder: Path, sample: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Collect a test file that is none of ours, as `make test` does."""
    (folder / "test_sample.py").write_text(sample, encoding="utf-8")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("DJANGO_", "PYTEST_"))}
    # No others: a browser's and the like take longer to load than the rest.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    own = (f"tests.{name}" for name in ("services", "database_free", "halves"))
    plugins = [f"-p{name}" for name in ("pytest_django.plugin", *own)]
    command = [sys.executable, "-m", "pytest", *plugins, "--collect-only", "-q", *options, str(folder)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def named(collected: "subprocess.CompletedProcess[str]") -> set[str]:
    return {line.partition("::")[2] for line in collected.stdout.splitlines() if "::" in line}


def left_out_of(item: pytest.Item) -> list[str]:
    return [half for half in HALVES if is_left_out(item, half)]


def test_what_asks_for_no_database_is_left_out_on_postgresql(request: pytest.FixtureRequest) -> None:
    assert home(request.node) == FREE
    assert left_out_of(request.node) == ["postgresql"]


@pytest.mark.django_db
def test_what_asks_for_a_database_and_says_nothing_is_run_on_both(request: pytest.FixtureRequest) -> None:
    assert left_out_of(request.node) == []


@pytest.mark.django_db
@pytest.mark.once(on="postgresql", because="this test tries the mark")
def test_what_is_at_home_in_one_half_is_left_out_of_the_other(request: pytest.FixtureRequest) -> None:
    assert home(request.node) == ("postgresql", "this test tries the mark")
    assert left_out_of(request.node) == ["sqlite"]


@pytest.mark.django_db
@pytest.mark.both
@pytest.mark.once(on="sqlite", because="this test tries the mark")
def test_a_test_may_be_run_on_both_though_its_folder_is_not(request: pytest.FixtureRequest) -> None:
    assert left_out_of(request.node) == []


@pytest.mark.parametrize("pattern", [*PAGES, *NOT_PAGES, *OF_RESULTS, *ONE_AFTER_ANOTHER, *LONGEST, *LONG, *TOGETHER])
def test_each_file_that_is_named_is_there(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


def test_tests_of_single_pages_are_told_from_those_that_go_through_all_of_them() -> None:
    assert is_of_a_page(ROOT / "tests/annotation/test_entry.py")
    assert is_of_a_page(ROOT / "tests/results/views/test_result_pages.py")
    assert not is_of_a_page(ROOT / "tests/workspace/views/test_permissions.py")
    assert not is_of_a_page(ROOT / "tests/annotation/test_sessions.py")
    assert is_of_results(ROOT / "tests/results/actions/test_releases.py")
    assert not is_of_results(ROOT / "tests/annotation/test_sessions.py")
    assert is_one_after_another(ROOT / "tests/flows/test_retrieving.py")
    assert not is_one_after_another(ROOT / "tests/annotation/test_sessions.py")


def test_one_worker_runs_what_reads_the_rows_that_are_made_once() -> None:
    assert group_of("tests/upgrades/test_upgrade.py::test_a") == group_of("tests/upgrades/test_held_answers.py::test_b")
    assert group_of("tests/test_events.py::test_a[1]") == "tests/test_events.py::test_a[1]"
    files = {file: file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/test_*.py")}
    making = {str(file.relative_to(ROOT)) for file, text in files.items() if re.search(r"^\w+ = kept\(", text, re.M)}
    assert len(making) > 5
    assert {file for file in making if group_of(f"{file}::test_a") != file} == {"tests/config/test_kept.py"}


def test_a_half_names_what_it_leaves_out_and_why_and_a_plain_run_leaves_out_nothing(tmp_path: Path) -> None:
    half = collect(tmp_path, SAMPLE, "--half")
    assert named(half) == {"test_free", "test_on_each", "test_here"}, half.stdout + half.stderr
    # Pytest names a file by its way from the folder that it takes for the root, which depends on where the tree lies.
    assert re.search(
        r"2 tests are run once, on postgresql \(--half\): of the other \(\S*test_sample.py: 2\)\.", half.stdout
    )
    assert "of the one" not in half.stdout
    plain = collect(tmp_path, SAMPLE)
    assert named(plain) == named(half) | {"test_there[1]", "test_there[2]"}, plain.stdout + plain.stderr


@pytest.mark.django_db
@pytest.mark.parametrize(
    "mark",
    [
        pytest.mark.once(on="sqlite"),
        pytest.mark.once(on="mysql", because="it is there"),
        pytest.mark.once("sqlite", because="of it"),
        pytest.mark.once,
    ],
)
def test_a_mark_without_a_half_and_a_reason_is_refused(
    mark: pytest.MarkDecorator, request: pytest.FixtureRequest
) -> None:
    request.node.add_marker(mark)
    with pytest.raises(pytest.UsageError, match=r"write @pytest.mark.once\(on=sqlite or postgresql, because=...\)"):
        home(request.node)
