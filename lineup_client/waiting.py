"""What is made in the background, and is waited for."""

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


def _waited_for(
    site: Connection,
    path: str,
    told: Mapping[str, Any],
    ended: frozenset[str],
    seconds: float,
    look_every_seconds: float,
) -> Mapping[str, Any]:
    """Ask for what is made in the background until its `state` is one of `ended`. Raises TimeoutError."""
    until = time.monotonic() + seconds
    while told["state"] not in ended:
        if time.monotonic() > until:
            raise TimeoutError(f"It is still {told['state']}.")
        time.sleep(look_every_seconds)
        told = site.json("GET", path)
    return told


class Import:
    """An import in the background. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}imports/{told['id']}/"

    def wait(self, *, seconds: float = 7200, look_every_seconds: float = 1) -> "Import":
        """Wait until it is done. Raises TimeoutError, and LineupError with the bad rows when nothing was imported."""
        self.told = _waited_for(self._site, self.path, self.told, IMPORT_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "done":
            raise LineupError(422, {"detail": self.told["error"], "errors": list(islice(self.problems(), MOST_SHOWN))})
        return self

    def problems(self) -> Rows:
        """Return every bad row, with its number, field and reason."""
        return Rows(lambda: self._site.rows(f"{self.path}problems/", limit=PAGE))

    def cancel(self) -> None:
        """Give it up; nothing of it is kept. Raises LineupError when it is over."""
        self.told = self._site.json("POST", f"{self.path}cancel/")

    def again(self) -> "Import":
        """Try it again where it came to nothing, or do it where it was only looked over."""
        told = self._site.json("POST", f"{self.path}again/", makes=True)
        return Import(self._site, self.path.partition("imports/")[0], told)


class Export:
    """A file that is made in the background. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}exports/{told['id']}/"

    def wait(self, *, seconds: float = 600, look_every_seconds: float = 1) -> "Export":
        """Wait until it is ready. Raises TimeoutError, and LineupError when there will be no file."""
        self.told = _waited_for(self._site, self.path, self.told, EXPORT_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "ready":
            raise LineupError(410, {"detail": self.told["error"] or "It is no longer given out."})
        return self

    def save(self, to: Path) -> Path:
        """Fetch its file, going on where an earlier fetch broke off. Raises LineupError.

        Until it is whole it is called like `to`, with the number of the export and `.part` behind.
        """
        part = to.with_name(f"{to.name}.{self.told['id']}.part")
        have = part.stat().st_size if part.exists() else 0
        headers = {"Range": f"bytes={have}-"} if have else {}
        try:
            answer = self._site.request("GET", f"{self.path}file/", headers=headers)
        except LineupError as error:
            if error.status != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            # All of it was there.
        else:
            with part.open("ab" if answer.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as out:
                out.write(answer.content)
        part.replace(to)
        return to


class HubPush:
    """A push to the Hub. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}hub-pushes/{told['id']}/"

    def wait(self, *, seconds: float = 3600, look_every_seconds: float = 1) -> "HubPush":
        """Wait until it is over. Raises TimeoutError, and LineupError when nothing came of it."""
        self.told = _waited_for(self._site, self.path, self.told, PUSH_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "pushed":
            raise LineupError(409, {"detail": self.told["error"]})
        return self


class Run:
    """What a model is asked. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}runs/{told['id']}/"

    def wait(self, *, seconds: float = 7200, look_every_seconds: float = 1) -> "Run":
        """Wait until it is over. Raises TimeoutError, and LineupError when it came to nothing."""
        self.told = _waited_for(self._site, self.path, self.told, RUN_ENDED, seconds, look_every_seconds)
        if self.told["state"] != "done":
            raise LineupError(409, {"detail": self.told["error"] or "It was cancelled."})
        return self

    def cancel(self) -> None:
        """Give it up; what is scored by then stays. Raises LineupError when it is over."""
        self.told = self._site.json("POST", f"{self.path}cancel/")
