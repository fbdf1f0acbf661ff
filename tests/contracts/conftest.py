"""Puts the made-up kinds into the registry, and their templates where the site looks for templates."""

from pathlib import Path

import pytest

from studies.kinds import KINDS
from tests.contracts import made_up

TEMPLATES = Path(__file__).parent / "templates"


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.template import engines
    from django.template.backends.django import DjangoTemplates

    for name, path in made_up.KINDS.items():
        monkeypatch.setitem(KINDS, name, path)
    # The engine that is there: a new one, as a changed setting makes it, would read every template anew for each test.
    site = engines["django"]
    assert isinstance(site, DjangoTemplates)
    monkeypatch.setattr(site.engine, "dirs", [*site.engine.dirs, TEMPLATES])
