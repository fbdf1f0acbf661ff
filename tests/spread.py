"""Pytest plugin: how the tests are spread over xdist's workers.

Tests that look at what is made once because it takes long (`kept` of `tests/databases.py`, a fixture for a session) are
run by one worker, so that no other makes it again. So are those that mostly wait for processes which they start, or all
would wait at once. What takes longest is begun first, so that no worker is still at it when the others have nothing
left.

A worker that crashes, as one does whose test takes too long, costs the test that it ran: this one fails, and the other
workers run the rest.
"""

from collections.abc import Generator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# File -> what it is called together with the others that one worker runs.
TOGETHER = {
    "tests/background/test_workers.py": "waiting for workers",
    "tests/config/test_celery_workers.py": "waiting for workers",
    "tests/predictions/test_worker.py": "waiting for workers",
    "tests/upgrades/test_*.py": "the upgraded database",
    "tests/flows/test_crowd.py": "the server that is killed",
    "tests/flows/test_lost_celery_worker.py": "the server that is killed",
    "tests/flows/test_outage.py": "the server that is killed",
    "tests/flows/test_two_sites.py": "the server that is killed",
    "tests/flows/test_pooled.py": "the server that is killed",
    "tests/flows/test_replica.py": "the server that is killed",
    "tests/flows/test_two_roles.py": "the server that is killed",
    **{
        file: file
        for file in (
            "tests/contracts/test_formats.py",
            "tests/flows/test_accepted_items.py",
            "tests/flows/test_one_truth.py",
            "tests/predictions/test_published_numbers.py",
            "tests/predictions/test_upgrades.py",
            "tests/simulation/replay/test_replay_bivlc.py",
            "tests/simulation/replay/test_replay_imagecode.py",
            "tests/simulation/test_demo.py",
            "tests/results/actions/test_descriptions.py",
            "tests/results/actions/test_releases.py",
            "tests/results/actions/test_what_leaves.py",
            "tests/results/queries/test_instance_stats.py",
            "tests/results/queries/test_human_model_disagreement.py",
            "tests/results/test_by_hand.py",
            "tests/results/views/test_instances.py",
            "tests/results/views/test_human_model_disagreement.py",
            "tests/results/views/test_bulk_actions.py",
            "tests/test_commands_by.py",
            "tests/workspace/api/test_explorer.py",
            "tests/workspace/views/test_permissions.py",
        )
    },
}
# What one worker is at for half a minute or more; and what takes several seconds, as does most of what is run together.
LONGEST = (
    "tests/background/test_workers.py",
    "tests/config/test_celery_workers.py",
    "tests/predictions/test_worker.py",
    "tests/flows/test_hidden_gold.py",
    "tests/flows/test_readme_walk.py",
    "tests/simulation/replay/test_whole_paper.py",
    "tests/upgrades/test_held_answers.py",
    "tests/upgrades/test_upgrade.py",
    "tests/workspace/api/test_schema.py",
    "tests/workspace/views/test_permissions.py",
)
LONG = (
    *TOGETHER,
    "tests/browser/test_describing_in_weather.py",
    "tests/browser/test_image_set_pages.py",
    "tests/browser/test_newcomer.py",
    "tests/browser/test_pipeline_pages.py",
    "tests/browser/test_real_sets.py",
    "tests/browser/test_researcher.py",
    "tests/browser/test_skipping.py",
    "tests/browser/test_uploading.py",
    "tests/browser/test_weather.py",
    "tests/contracts/test_checklists.py",
    "tests/contracts/test_kinds_on_pages.py",
    "tests/flows/test_*.py",
    "tests/simulation/test_*.py",
    "tests/studies/actions/test_importer.py",
    "tests/studies/importing/test_any_bytes.py",
)


class Spread(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out tests one by one, but those that belong together as one.

    After a crash xdist 3.8 itself waits without end (its issues 1323 and 1327) and runs the crashed test again (1371).
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Hand what `node` has not run to the other workers; return the test at which it crashed, if it did."""
        groups: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        unfinished = [(group, test) for group, tests in groups.items() for test in tests]
        if not unfinished:
            return None
        (_, crashed), *left = unfinished
        for group, test in left:
            self.workqueue.setdefault(group, {})[test] = False
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node not in self.registered_collections:
            pytest.exit("The worker that replaces a crashed one found other tests. Run them again.", returncode=1)

    def _reschedule(self, node: WorkerController) -> None:
        """Give `node` work, or end it where none is left."""
        if node not in self.registered_collections:
            # It replaces a crashed worker and still looks for the tests.
            return
        # A worker that has crashed too cannot be written to: what it was given is handed on when that is noticed.
        with suppress(OSError):
            super()._reschedule(node)
            # A worker begins a test when it knows the next one.
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget what is finished: xdist 3.8 goes through all that a worker was ever given after each of its tests."""
        test = self.registered_collections[node][item_index]
        mine, group = self.assigned_work[node], self._split_scope(test)
        del mine[group][test]
        if not mine[group]:
            del mine[group]
        self._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return what the tests have in common that one worker runs together with this one; else its own name."""
    file = nodeid.partition("::")[0]
    return next((name for pattern, name in TOGETHER.items() if fnmatch(file, pattern)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread:
    return Spread(config, log)


# Around pytest-randomly, which shuffles. A browser's tests stay last whatever they take (tests/browser/conftest.py).
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    yield
    items.sort(key=lambda item: (item.get_closest_marker("browser") is not None, _turn(item.path)))


@cache
def _turn(file: Path) -> int:
    """Return when the tests of `file` begin: 0 comes first."""
    return next((turn for turn, files in enumerate((LONGEST, LONG)) if any(file.match(one) for one in files)), 2)
