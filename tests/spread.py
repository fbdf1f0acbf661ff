"""Pytest plugin: how `make test` spreads the tests over xdist's workers (`--dist loadgroup`).

Tests that read rows which are made once are run by one worker, so that no other makes them again. What takes longest
is begun first, so that no worker is still at it when the others have nothing left.
"""

import pytest

# Fixtures that hold what is made once: for the tests of one file, and for all that look at an upgraded database.
KEPT_FOR_A_FILE, KEPT_FOR_MANY = "keeper", "upgraded_database"
LONG = (
    "tests/contracts/test_checklists.py",
    "tests/flows/test_readme_walk.py",
    "tests/rehearsal/replay/test_whole_paper.py",
    "tests/rehearsal/test_demo.py",
    "tests/flows/test_simulated_study.py",
    "tests/background/test_workers.py",
    "tests/config/test_celery_workers.py",
    "tests/studies/actions/test_importing.py",
)


# Before xdist writes the group of a test behind its name.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = group_of(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))


# After pytest-randomly has shuffled them, but before tests/browser puts its own last.
@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
def begin_with_what_takes_long(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(item.path.match(file) for file in LONG))


def group_of(item: pytest.Item) -> str:
    """Return what the tests are called that one worker runs together with `item`, or "" where any may run it."""
    asked_for = getattr(item, "fixturenames", ())
    if KEPT_FOR_MANY in asked_for:
        return KEPT_FOR_MANY
    return item.nodeid.partition("::")[0] if KEPT_FOR_A_FILE in asked_for else ""
