"""The notebook of the documentation, cell after cell, against a running site."""

import ast
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.factories import make_person
from tests.lineup_client.inside import people_answer
from tests.workspace.api.asking import token_of

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"


def cells() -> list[dict[str, Any]]:
    return list(json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"])


def run(cell: dict[str, Any], names: dict[str, Any]) -> Any:
    """Run a cell; return what Jupyter would show below it, the value of its last line."""
    code = ast.parse("".join(cell["source"]), f"{NOTEBOOK.name}:{cell['id']}")
    last = code.body.pop()
    exec(compile(code, NOTEBOOK.name, "exec"), names)  # noqa: S102
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)  # noqa: S307
    exec(compile(ast.Module([last], []), NOTEBOOK.name, "exec"), names)  # noqa: S102
    return None


@pytest.mark.django_db(transaction=True)
def test_it_leads_from_pictures_to_agreement(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.chdir(tmp_path)
    settings.SITE_URL = live_server.url
    monkeypatch.setenv("LINEUP_URL", live_server.url)
    monkeypatch.setenv("LINEUP_TOKEN", token_of(make_person("ann")))
    names: dict[str, Any] = {}
    try:
        for cell in (cell for cell in cells() if cell["cell_type"] == "code"):
            shown = run(cell, names)
            if "people-answer" in cell["metadata"].get("tags", []):
                # What is shown here is handed out.
                assert httpx.get(shown).status_code == 200
                people_answer()
    finally:
        names["site"].close()
    # Everybody gave the reference's answer to each of the three, and it is not the same for all.
    assert names["by_person"].shape == (3, 3)
    assert names["alpha"] == 1
    assert "100.0%" in names["plot"].to_html()
    assert list(names["decisions"]["winner"]) == ["candidate-0", "candidate-1", "candidate-2"]


def test_it_is_committed_without_what_was_shown_when_somebody_ran_it() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert {(cell["execution_count"], len(cell["outputs"])) for cell in code} == {(None, 0)}
    assert len({cell["id"] for cell in cells()}) == len(cells())
