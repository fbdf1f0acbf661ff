"""The published numbers beside the project, and the shapes that their ratings come in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analytics.scores import Outcomes

DATA = Path(__file__).parents[3] / "shared" / "data"


def shared_file(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"The real data is not beside the project: there is no {path}.")
    return path


def shared_json(name: str) -> Any:
    return json.loads(shared_file(name).read_text(encoding="utf-8"))


def patterns(found: Outcomes) -> list[str]:
    """Return the outcomes of each instance as four digits, in the order Ipos2T Ineg2T Tpos2I Tneg2I."""
    columns = np.stack([found.ipos2t, found.ineg2t, found.tpos2i, found.tneg2i], axis=1)
    return ["".join("01"[right] for right in row) for row in columns.astype(int).tolist()]


def outcomes(*rows: str) -> Outcomes:
    """Return outcomes from four digits each, in the same order."""
    return Outcomes(*np.array([[digit == "1" for digit in row] for row in rows], dtype=np.bool_).reshape(-1, 4).T)


def agreement_cases() -> list[dict[str, Any]]:
    """Return the published cases; none where the data is not beside the project."""
    path = DATA / "agreement.json"
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []
    return cases


def agreement_case(name: str) -> dict[str, Any]:
    shared_file("agreement.json")
    return next(case for case in agreement_cases() if case["id"] == name)


def units_by_raters(data: dict[str, Any]) -> list[list[Any]]:
    """Lay out the data of a case, in whatever layout it was published, as units x raters with None for missing."""
    if "table" in data:
        return [
            [row, column]
            for row, cells in enumerate(data["table"])
            for column, count in enumerate(cells)
            for _ in range(count)
        ]
    if "counts" in data:
        return [[label for label, count in enumerate(unit) for _ in range(count)] for unit in data["counts"]]
    if "a" in data:
        return [list(pair) for pair in zip(data["a"], data["b"], strict=True)]
    if data["layout"].startswith("long"):
        workers = sorted({worker for worker, _, _ in data["ratings"]})
        tasks = sorted({task for _, task, _ in data["ratings"]})
        given = {(task, worker): label for worker, task, label in data["ratings"]}
        return [[given.get((task, worker)) for worker in workers] for task in tasks]
    return [list(unit) for unit in zip(*data["ratings"], strict=True)]
