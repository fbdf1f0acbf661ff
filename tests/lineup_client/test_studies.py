"""How studies are made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lineup_client.site import Site, answer


@pytest.mark.parametrize(
    ("source", "type"),
    [(lambda folder: {"study": "one"}, "application/json"), (lambda folder: "study: one\n", "application/yaml")],
)
def test_a_study_is_made_from_values_or_from_text(tmp_path: Path, source: Callable[[Path], Any], type: str) -> None:
    site = Site(answer({"slug": "one"}, 201))
    assert site.client().project("birds").studies.create(source(tmp_path)).slug == "one"
    assert site.asked[0].headers["Content-Type"] == type
