from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prolific import Local, local_platform


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with local_platform(tmp_path) as running:
        yield running
