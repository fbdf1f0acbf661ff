"""Pytest plugin: how `make test` spreads the tests over xdist's workers (`--dist loadgroup`).

Tests that read rows which are made once are run by one worker, so that no other makes them again. What takes longest
is begun first, so that no worker is still at it when the others have nothing left.
"""

import pytest

# A fixture that somebody keeps for many tests -> which of these tests belong together.
KEPT = ("keeper", "upgraded_database")
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
        if not set(KEPT).isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group(_group(item)))


# After pytest-randomly has shuffled them, but before tests/browser puts its own last.
@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
def begin_with_what_takes_long(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(item.path.match(file) for file in LONG))


def _group(item: pytest.Item) -> str:
    if "upgraded_database" in getattr(item, "fixturenames", ()):
        return "upgraded"
    return item.nodeid.partition("::")[0]
