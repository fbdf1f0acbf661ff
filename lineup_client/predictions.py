"""Predictions of models for a project's instances."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lineup_client.connection import PAGE, ProjectPart
from lineup_client.rows import Rows
from lineup_client.waiting import Run


class Predictions(ProjectPart):
    """The predictions of a project; call it to list them."""

    def __call__(self, **filters: str) -> Rows:
        """Return the predictions, of `model` or `kind` if given."""
        return Rows(lambda: self._site.rows(f"{self._path}predictions/", limit=PAGE, **filters))

    def upload(
        self, rows: Iterable[Mapping[str, Any]], *, model: str, version: str = "", weights: str = ""
    ) -> dict[str, Any]:
        """Import a model's scores, rows of the format `scores` (docs/predictions.md). Raises LineupError."""
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        return self._site.json(
            "POST",
            f"{self._path}predictions/",
            makes=True,
            data={"format": "scores", "model": model, "version": version, "weights": weights},
            files={"file": ("scores.jsonl", lines.encode())},
        )

    def ask(self, model: str, *, study: str = "", kind: str = "", variant: str = "") -> Run:
        """Run a model of the site on a study's questions, or on those of a kind about all instances.

        Raises LineupError.
        """
        wanted = {"model": model, "study": study, "kind": kind, "variant": variant}
        return Run(self._site, self._path, self._site.json("POST", f"{self._path}runs/", makes=True, json=wanted))
