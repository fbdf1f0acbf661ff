"""Pytest plugin: the tests of single pages are run on SQLite only (docs/decisions/0020).

What a page stores and reads goes through actions and queries, whose tests are run on both databases. On PostgreSQL
`tests/annotation/test_every_page.py`, `tests/contracts/test_kinds_on_pages.py` and
`tests/workspace/views/test_permissions.py` go through all the pages. A test of a page that hands a database what the
two may take differently (a NUL, a number that is too large, letters that sort or fold) has the mark `both`.
"""

from pathlib import Path

import pytest

PAGES = (
    "tests/results/views/test_*.py",
    "tests/studies/views/test_*.py",
    "tests/workspace/views/test_*.py",
    "tests/workspace/api/test_*.py",
    "tests/annotation/test_*_pages.py",
    "tests/annotation/test_entry.py",
    "tests/annotation/test_language.py",
    "tests/annotation/test_looking_back.py",
    "tests/annotation/test_offline.py",
)
# They look after the database itself.
NOT_PAGES = (
    "tests/workspace/views/test_health.py",
    "tests/workspace/views/test_permissions.py",
    "tests/workspace/api/test_permissions.py",
    "tests/workspace/api/test_once.py",
)
BECAUSE = (
    "on PostgreSQL every role goes through all its pages, every kind through all pages, and an annotator through every "
    "address; what a page stores and reads is tried on both without it"
)


# Before `tests/halves.py` asks where each test is at home.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_of_a_page(item.path):
            item.add_marker(pytest.mark.once(on="sqlite", because=BECAUSE))


def is_of_a_page(file: Path) -> bool:
    return _is_one_of(file, PAGES) and not _is_one_of(file, NOT_PAGES)


def _is_one_of(file: Path, patterns: tuple[str, ...]) -> bool:
    return any(file.match(pattern) for pattern in patterns)
