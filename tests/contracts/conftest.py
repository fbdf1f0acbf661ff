"""Puts the made-up kinds into the registry, and their templates where the site looks for templates."""

from pathlib import Path

import pytest

from studies.kinds import KINDS
from tests.contracts import made_up

TEMPLATES = Path(__file__).parent / "templates"


@pytest.fixture(autouse=True)
def _made_up_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in(monkeypatch)


def put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the site know the made-up kinds, and how their questions look, until the end of a test."""
    from django.template import engines
    from django.template.backends.jinja2 import Jinja2
    from jinja2 import FileSystemLoader

    for name, path in made_up.KINDS.items():
        monkeypatch.setitem(KINDS, name, path)
    # The engine that is there: a new one, as a changed setting makes it, would read every template anew for each test.
    site = engines["questions"]
    assert isinstance(site, Jinja2)
    loader = site.env.loader
    assert isinstance(loader, FileSystemLoader)
    monkeypatch.setattr(loader, "searchpath", [*loader.searchpath, str(TEMPLATES)])
