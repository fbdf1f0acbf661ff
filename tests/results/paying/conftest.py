from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def paying(db: None, tmp_path: Path) -> Iterator[Any]:
    """A study with three people who wait for review."""
    from tests.annotation.paying.stage import stage

    with stage(tmp_path) as begun:
        yield begun


@pytest.fixture
def owner(paying: Any) -> Any:
    """The browser of an owner."""
    from tests.factories import make_member
    from tests.pages import signed_in

    return signed_in(make_member(paying.study.project, "owner", name="olga"))
