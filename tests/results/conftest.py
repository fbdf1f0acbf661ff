from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from studies import rules
from studies.kinds import KINDS, get_kind
from tests.cast import client, draft, researcher, study

if TYPE_CHECKING:
    from studies.models import Project

__all__ = ["client", "draft", "researcher", "study"]


@pytest.fixture
def project(made: str) -> "Project":
    """The project that the tests of a file look at, which calls `made` what makes it (`tests.databases.kept`)."""
    from studies.models import Project

    return Project.objects.get(slug=made)


@pytest.fixture
def describing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the kind of `tests.results.describing` into the registry."""
    monkeypatch.setitem(KINDS, "tell", "tests.results.describing.Tell")
    yield
    get_kind.cache_clear()
    rules.get_rule.cache_clear()
