from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytest_django import Settings

from annotation.recruitment.prolific.connection import Connection
from tests.prolific import Local, local_platform


@pytest.fixture
def local(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    """A local platform; nobody waits before asking it again."""
    from annotation.actions.recruiting import prolific_account, signing_keys

    monkeypatch.setattr(prolific_account, "Connection", partial(Connection, sleep=lambda seconds: None))
    with local_platform(tmp_path) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        signing_keys.kept_keys.clear()
        yield running
