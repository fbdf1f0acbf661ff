"""Handles of background work: follow it, wait for it, cancel it."""

import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Self

from lineup_client.connection import PAGE, Connection
from lineup_client.errors import MOST_SHOWN, LineupError
from lineup_client.rows import Rows


class BackgroundWork:
    """Background work of the server. `told`: its state in the last response."""

    _kind: str
    _succeeds: str
    _ends: frozenset[str]
    _patience_seconds: float

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self._project = project
        self.path = f"{project}{self._kind}/{told['id']}/"

    def wait(self, *, seconds: float | None = None, look_every_seconds: float = 1) -> Self:
        """Wait until it ends. Raises TimeoutError, and LineupError if it failed: for an import, with the bad rows.

        seconds: the longest wait; None for the default of this kind of work.
        """
        until = time.monotonic() + (self._patience_seconds if seconds is None else seconds)
        while self.told["state"] not in self._ends:
            if time.monotonic() > until:
                raise TimeoutError(f"It is still {self.told['state']}.")
            time.sleep(look_every_seconds)
            self.told = self._site.json("GET", self.path)
        if self.told["state"] != self._succeeds:
            raise self._failure()
        return self

    def _failure(self) -> LineupError:
        return LineupError(409, {"detail": self.told["error"] or "It was cancelled."})


class Import(BackgroundWork):
    """A background import. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "imports", "done", 7200
    _ends = frozenset({"done", "failed", "cancelled"})

    def _failure(self) -> LineupError:
        """Return the error with the first bad rows."""
        bad = list(islice(self.problems(), MOST_SHOWN))
        return LineupError(422, {"detail": self.told["error"], "errors": bad})

    def problems(self) -> Rows:
        """Return all bad rows, with number, field and reason."""
        return Rows(lambda: self._site.rows(f"{self.path}problems/", limit=PAGE))

    def cancel(self) -> None:
        """Cancel it; nothing is imported. Raises LineupError if it has ended."""
        self.told = self._site.json("POST", f"{self.path}cancel/")

    def again(self) -> "Import":
        """Repeat it after a failure, or run it after a check."""
        told = self._site.json("POST", f"{self.path}again/", makes=True)
        return Import(self._site, self._project, told)

    def change_mapping(self, mapping: Mapping[str, str]) -> "Import":
        """Change what the columns of an imported table are, until a study asks about its instances. Raises LineupError.

        mapping: column -> what it becomes, for every column. Return the change, to be waited for.
        """
        told = self._site.json("POST", f"{self.path}mapping/", makes=True, json={"mapping": dict(mapping)})
        return Import(self._site, self._project, told)


class Export(BackgroundWork):
    """A file that is written in the background. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "exports", "ready", 600
    _ends = frozenset({"ready", "failed", "withdrawn"})

    def _failure(self) -> LineupError:
        return LineupError(410, {"detail": self.told["error"] or "It is no longer available."})

    def save(self, to: Path) -> Path:
        """Download the file to `to`, and return `to`. Raises LineupError and NotReached.

        It is first written beside `to`, as `to` with the number of the export and `.part` appended, block by block. If
        the connection breaks, or such a file is left from an earlier call, only the rest is downloaded. It gets
        its name when it is as long as the server says.
        """
        part = to.with_name(f"{to.name}.{self.told['id']}.part")
        self._site.download(f"{self.path}file/", part)
        part.replace(to)
        return to


class StudyJob(BackgroundWork):
    """The launch or the extension of a large study. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "jobs", "done", 3600
    _ends = frozenset({"done", "failed", "cancelled"})


class HubPush(BackgroundWork):
    """A push to the Hub. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "hub-pushes", "pushed", 3600
    _ends = frozenset({"pushed", "failed"})


class ModelPush(HubPush):
    """A push of a trained model to the Hub. `told`: its state in the last response."""

    _kind, _patience_seconds = "model-pushes", 86_400


class Training(BackgroundWork):
    """A training run. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "trainings", "done", 86_400
    _ends = frozenset({"done", "failed", "cancelled"})

    def cancel(self) -> None:
        """Cancel it; its worker keeps the last checkpoint. Raises LineupError if it has ended."""
        self.told = self._site.json("POST", f"{self.path}cancel/")

    def resume(self) -> None:
        """Resume it from its last checkpoint. Raises LineupError if it has not stopped."""
        self.told = self._site.json("POST", f"{self.path}resume/")

    def card(self) -> str:
        """Return the model card of the trained model. Raises LineupError until it is trained."""
        return str(self._site.json("GET", f"{self.path}card/")["text"])

    def hub_pushes(self) -> Rows:
        """Return the pushes of the trained model to the Hugging Face Hub, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}hub-pushes/"))

    def push_to_hub(
        self, repository: str, *, token: str, licence: str = "", private: bool = True, with_weights: bool = True
    ) -> ModelPush:
        """Push the trained model to a model repository of the Hub, OWNER/NAME: its card, then its weights.

        token: of the Hub, with write access. private: whether a new repository is private. with_weights: False for the
        card alone. Raises LineupError.
        """
        wanted = {"repository": repository, "token": token, "licence": licence, "private": private}
        address = f"{self.path}hub-pushes/"
        told = self._site.json("POST", address, makes=True, json=wanted | {"with_weights": with_weights})
        return ModelPush(self._site, self._project, told)

    def delete(self) -> None:
        """Delete it with its model and its weights. Raises LineupError while somebody needs it."""
        self._site.request("DELETE", self.path)


class Run(BackgroundWork):
    """A model run. `told`: its state in the last response."""

    _kind, _succeeds, _patience_seconds = "runs", "done", 7200
    _ends = frozenset({"done", "failed", "cancelled"})

    def cancel(self) -> None:
        """Cancel it; scores so far are kept. Raises LineupError if it has ended."""
        self.told = self._site.json("POST", f"{self.path}cancel/")
