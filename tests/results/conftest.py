from collections.abc import Iterator

import pytest

from studies import rules
from studies.kinds import KINDS, get_kind
from tests.cast import client, draft, researcher, study

__all__ = ["client", "draft", "researcher", "study"]


@pytest.fixture
def describing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the kind of `tests.results.describing` into the registry."""
    monkeypatch.setitem(KINDS, "tell", "tests.results.describing.Tell")
    yield
    get_kind.cache_clear()
    rules.get_rule.cache_clear()
