"""Pytest plugin: `make test` is two halves, one on each database. What is the same on both is run in one of them only.

A test is run in both unless it says, or its folder says for it, where it is at home and why that is enough:

    @pytest.mark.once(on="postgresql", because="its plans are PostgreSQL's; the small replay is run on both")

What asks for no database at all is at home on SQLite (`tests/database_free.py` keeps it from every database). Each home
is one of the halves, so everything is run at least once. `--half` leaves out what is at home in the other half, and
says at the end how many tests of which files that were, and why; without it everything named is run.
"""

from collections import Counter
from typing import Any

import pytest

from tests.database_free import asks_for_database

HALVES = ("sqlite", "postgresql")
FREE = ("sqlite", "they ask for no database")
# One line of the summary: where the tests are run instead, why, and the file that they are in.
LeftOut = tuple[str, str, str]
_left_out = pytest.StashKey["Counter[LeftOut]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--half",
        action="store_true",
        help="leave out what make test runs on the other database, because one run says all there is to say",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "once(on, because): in make test, run in the half on that database only")
    config.addinivalue_line("markers", "both: run in both halves, whatever its folder says")


def home(item: pytest.Item) -> tuple[str, str] | None:
    """Return the only half that `item` is run in and why, or None where it is run in both."""
    if not asks_for_database(item):
        return FREE
    mark = item.get_closest_marker("once")
    if mark is None or item.get_closest_marker("both") is not None:
        return None
    on, because = mark.kwargs.get("on"), mark.kwargs.get("because")
    if mark.args or on not in HALVES or not because:
        raise pytest.UsageError(f"{item.nodeid}: write @pytest.mark.once(on={' or '.join(HALVES)}, because=...)")
    return str(on), str(because)


def is_left_out(item: pytest.Item, half: str) -> bool:
    """Return whether the half of `make test` on the database `half` leaves `item` to the other one."""
    found = home(item)
    return found is not None and found[0] != half


# After tests/browser has marked what lies there.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Each of them, so that a mark that says too little is refused in a plain run too.
    homes = {item: home(item) for item in items}
    if not config.getoption("half"):
        return
    here = config.getoption("database")
    elsewhere = {item: found for item, found in homes.items() if found is not None and is_left_out(item, here)}
    items[:] = [item for item in items if item not in elsewhere]
    config.hook.pytest_deselected(items=list(elsewhere))
    left_out = Counter((*found, item.nodeid.partition("::")[0]) for item, found in elsewhere.items())
    config.stash[_left_out] = left_out
    # Under xdist each worker collects everything; the controller, which speaks, hears it from one of them.
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["left_out"] = [(*line, number) for line, number in left_out.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    lines = getattr(node, "workeroutput", {}).get("left_out", ())
    node.config.stash[_left_out] = Counter({(on, because, file): number for on, because, file, number in lines})


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash.get(_left_out, Counter())
    for on, because in sorted({(on, because) for on, because, _ in left_out}):
        files = {file: number for (*why, file), number in left_out.items() if tuple(why) == (on, because)}
        named = "" if because == FREE[1] else f" ({', '.join(f'{file}: {n}' for file, n in sorted(files.items()))})"
        tests = f"{sum(files.values())} tests are run"
        terminalreporter.write_line(f"{tests} once, on {on} (--half): {because}{named}.")
