"""Puts the made-up kinds into the registry, and their templates where the site looks for templates."""

import copy
from pathlib import Path

import pytest
from pytest_django import Settings

from studies.kinds import KINDS
from tests.contracts import made_up

TEMPLATES = Path(__file__).parent / "templates"


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    for name, path in made_up.KINDS.items():
        monkeypatch.setitem(KINDS, name, path)
    engines = copy.deepcopy(settings.TEMPLATES)
    engines[0]["DIRS"] = [*engines[0]["DIRS"], TEMPLATES]
    settings.TEMPLATES = engines
