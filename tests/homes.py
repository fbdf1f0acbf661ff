"""Pytest plugin: the tests of single pages are run on SQLite only, those of the actions and queries behind what leads
to results, and of what people do one after another, on PostgreSQL only (docs/decisions/0020).

What a page stores and reads goes through actions and queries. On PostgreSQL these are tried by themselves, and
`tests/annotation/test_every_page.py`, `tests/contracts/test_kinds_on_pages.py` and
`tests/workspace/views/test_permissions.py` go through all the pages. On SQLite the pages, the demo, the README's walk
and the flows from an import to a release go through the same actions and queries. A test that hands a database what the
two may take differently (a NUL, a number that is too large, letters that sort or fold, many at once) has the mark
`both`.
"""

from functools import cache
from pathlib import Path

import pytest

PAGES = (
    "tests/results/views/test_*.py",
    "tests/results/paying/test_*.py",
    "tests/studies/views/test_*.py",
    "tests/workspace/views/test_*.py",
    "tests/workspace/api/test_*.py",
    "tests/annotation/test_*_pages.py",
    "tests/annotation/test_entry.py",
    "tests/annotation/test_language.py",
    "tests/annotation/test_answer_review.py",
    "tests/annotation/test_offline.py",
)
# They look after the database itself, or go through all pages.
NOT_PAGES = (
    "tests/workspace/views/test_health.py",
    "tests/workspace/views/test_permissions.py",
    "tests/workspace/api/test_permissions.py",
    "tests/workspace/api/test_idempotency.py",
)
OF_RESULTS = (
    "tests/results/actions/test_*.py",
    "tests/results/commands/test_*.py",
    "tests/results/queries/test_*.py",
    "tests/results/test_by_hand.py",
    "tests/predictions/actions/test_*.py",
    "tests/predictions/commands/test_*.py",
    "tests/predictions/queries/test_*.py",
    "tests/training/queries/test_*.py",
    "tests/contracts/test_formats.py",
    "tests/contracts/test_what_comes_out.py",
    "tests/annotation/test_live_sessions.py",
    "tests/flows/test_one_truth.py",
    "tests/workspace/api/test_permissions.py",
    "tests/workspace/views/test_permissions.py",
    "tests/test_commands_by.py",
    "tests/test_events.py",
)
ONE_AFTER_ANOTHER = (
    "tests/annotation/paying/test_killed_workers.py",
    "tests/annotation/paying/test_paid_elsewhere.py",
    "tests/annotation/paying/test_paying_faults.py",
    "tests/annotation/paying/test_payment_decisions.py",
    "tests/annotation/paying/test_send_payments.py",
    "tests/annotation/paying/test_study_fee.py",
    "tests/annotation/recruiting/test_prolific_people.py",
    "tests/annotation/recruiting/test_prolific_studies.py",
    "tests/annotation/recruiting/test_submissions.py",
    "tests/annotation/recruiting/test_webhooks.py",
    "tests/annotation/test_how_texts_are_written.py",
    "tests/annotation/test_orders.py",
    "tests/annotation/test_pipeline.py",
    "tests/annotation/test_removals.py",
    "tests/annotation/test_repetitions.py",
    "tests/annotation/test_skip_question.py",
    "tests/contracts/test_rules.py",
    "tests/flows/test_retrieving.py",
    "tests/flows/test_who_retrieves.py",
    "tests/flows/test_withdrawal.py",
)
BECAUSE_A_PAGE = (
    "on PostgreSQL every role goes through all its pages, every kind through all pages, and an annotator through every "
    "address; what a page stores and reads is tried there without it"
)
BECAUSE_OF_RESULTS = (
    "on SQLite every page that shows these numbers or does these actions is tried by itself, and the demo, the "
    "README's walk and the flows go from an import to a release"
)
BECAUSE_ONE_AFTER_ANOTHER = (
    "on SQLite the same statements are run by the tests of pages, in a browser, of many at once and after an upgrade"
)


# Before `tests/halves.py` asks where each test is at home.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_of_a_page(item.path):
            item.add_marker(pytest.mark.once(on="sqlite", because=BECAUSE_A_PAGE))
        elif is_of_results(item.path):
            item.add_marker(pytest.mark.once(on="postgresql", because=BECAUSE_OF_RESULTS))
        elif is_one_after_another(item.path):
            item.add_marker(pytest.mark.once(on="postgresql", because=BECAUSE_ONE_AFTER_ANOTHER))


@cache
def is_of_results(file: Path) -> bool:
    return _is_one_of(file, OF_RESULTS)


@cache
def is_one_after_another(file: Path) -> bool:
    return _is_one_of(file, ONE_AFTER_ANOTHER)


@cache
def is_of_a_page(file: Path) -> bool:
    return _is_one_of(file, PAGES) and not _is_one_of(file, NOT_PAGES)


def _is_one_of(file: Path, patterns: tuple[str, ...]) -> bool:
    return any(file.match(pattern) for pattern in patterns)
