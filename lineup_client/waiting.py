"""Handles of background work: follow it, wait for it, cancel it."""

import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from lineup_client.connection import PAGE, Connection
from lineup_client.errors import MOST_SHOWN, LineupError
from lineup_client.rows import Rows

IMPORT_ENDED = frozenset({"done", "failed", "cancelled"})
EXPORT_ENDED = frozenset({"ready", "failed", "withdrawn"})
PUSH_ENDED = frozenset({"pushed", "failed"})
RUN_ENDED = frozenset({"done", "failed", "cancelled"})


def _wait_until_ended(
    site: Connection,
    path: str,
    told: Mapping[str, Any],
    ended: frozenset[str],
    seconds: float,
    look_every_seconds: float,
) -> Mapping[str, Any]:
    """Poll background work until its `state` is in `ended`. Raises TimeoutError."""
    until = time.monotonic() + seconds
    while told["state"] not in ended:
        if time.monotonic() > until:
            raise TimeoutError(f"It is still {told['state']}.")
        time.sleep(look_every_seconds)
        told = site.json("GET", path)
    return told


class Import:
    """A background import. `told` is its last known state."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}imports/{told['id']}/"

    def wait(self, *, seconds: float = 7200, look_every_seconds: float = 1) -> "Import":
        """Wait until it ends. Raises TimeoutError, and LineupError with the bad rows if it failed."""
        self.told = _wait_until_ended(self._site, self.path, self.told, IMPORT_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "done":
            raise LineupError(422, {"detail": self.told["error"], "errors": list(islice(self.problems(), MOST_SHOWN))})
        return self

    def problems(self) -> Rows:
        """Return all bad rows, with number, field and reason."""
        return Rows(lambda: self._site.rows(f"{self.path}problems/", limit=PAGE))

    def cancel(self) -> None:
        """Cancel it; nothing is imported. Raises LineupError if it has ended."""
        self.told = self._site.json("POST", f"{self.path}cancel/")

    def again(self) -> "Import":
        """Repeat it after a failure, or run it after a check."""
        told = self._site.json("POST", f"{self.path}again/", makes=True)
        return Import(self._site, self.path.partition("imports/")[0], told)


class Export:
    """A file that is written in the background. `told` is its last known state."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}exports/{told['id']}/"

    def wait(self, *, seconds: float = 600, look_every_seconds: float = 1) -> "Export":
        """Wait until it is ready. Raises TimeoutError, and LineupError if it failed."""
        self.told = _wait_until_ended(self._site, self.path, self.told, EXPORT_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "ready":
            raise LineupError(410, {"detail": self.told["error"] or "It is no longer given out."})
        return self

    def save(self, to: Path) -> Path:
        """Download its file, continuing an interrupted download. Raises LineupError.

        A partial file has the name of `to` with the number of the export and `.part` appended.
        """
        part = to.with_name(f"{to.name}.{self.told['id']}.part")
        have = part.stat().st_size if part.exists() else 0
        headers = {"Range": f"bytes={have}-"} if have else {}
        try:
            answer = self._site.request("GET", f"{self.path}file/", headers=headers)
        except LineupError as error:
            if error.status != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            # The file was already complete.
        else:
            with part.open("ab" if answer.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as out:
                out.write(answer.content)
        part.replace(to)
        return to


class HubPush:
    """A push to the Hub. `told` is its last known state."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}hub-pushes/{told['id']}/"

    def wait(self, *, seconds: float = 3600, look_every_seconds: float = 1) -> "HubPush":
        """Wait until it ends. Raises TimeoutError, and LineupError if it failed."""
        self.told = _wait_until_ended(self._site, self.path, self.told, PUSH_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "pushed":
            raise LineupError(409, {"detail": self.told["error"]})
        return self


class Run:
    """A model run. `told` is its last known state."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}runs/{told['id']}/"

    def wait(self, *, seconds: float = 7200, look_every_seconds: float = 1) -> "Run":
        """Wait until it ends. Raises TimeoutError, and LineupError if it failed."""
        self.told = _wait_until_ended(self._site, self.path, self.told, RUN_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "done":
            raise LineupError(409, {"detail": self.told["error"] or "It was cancelled."})
        return self

    def cancel(self) -> None:
        """Cancel it; scores so far are kept. Raises LineupError if it has ended."""
        self.told = self._site.json("POST", f"{self.path}cancel/")
