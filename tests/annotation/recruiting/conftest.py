"""Nothing that needs Django is imported before a fixture is used."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_django import Settings

from annotation.recruitment.prolific.connection import Connection
from tests.prolific import Local, local_platform

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from studies.models import Study


@pytest.fixture
def local(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    """A local platform; nobody waits before asking it again."""
    from annotation.actions.recruiting import prolific_account, signing_keys

    monkeypatch.setattr(prolific_account, "Connection", partial(Connection, sleep=lambda seconds: None))
    with local_platform(tmp_path) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        signing_keys.kept_keys.clear()
        yield running


@pytest.fixture
def by() -> User:
    from tests.factories import make_person

    return make_person("ada")


@pytest.fixture
def study() -> Study:
    """An open study whose project pays with the local platform's workspace."""
    from tests.factories import launch_study
    from tests.recruited import connect_to

    study = launch_study()
    connect_to(study.project)
    return study
