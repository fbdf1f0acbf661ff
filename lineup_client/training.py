"""Models that are trained on a project's accepted items."""

from collections.abc import Mapping
from typing import Any

from lineup_client.connection import PAGE, ProjectPart
from lineup_client.rows import Rows
from lineup_client.waiting import Training


class Trainings(ProjectPart):
    """The training runs of a project; call it to list them."""

    def __call__(self) -> Rows:
        """Return the training runs, newest first."""
        return Rows(lambda: self._site.rows(f"{self._path}trainings/", limit=PAGE))

    def start(
        self,
        name: str,
        *,
        recipe: str,
        base: str,
        release: str = "",
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> Training:
        """Train a model of the site by a recipe, on the accepted items or on a release. Raises LineupError."""
        wanted = {"name": name, "recipe": recipe, "base": base, "release": release, "options": dict(options or {})}
        told = self._site.json("POST", f"{self._path}trainings/", makes=True, json=wanted | {"seed": seed})
        return Training(self._site, self._path, told)
