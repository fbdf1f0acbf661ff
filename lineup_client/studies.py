"""The studies of a project, and their results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from lineup_client.connection import PAGE, Connection, ProjectPart
from lineup_client.rows import Rows
from lineup_client.waiting import Export, StudyJob


class Studies(ProjectPart):
    """The studies of a project; call it to list them."""

    def __call__(self) -> list[dict[str, Any]]:
        """Return the studies with their details, oldest first."""
        return list(self._site.rows(f"{self._path}studies/"))

    def create(self, source: Path | str | Mapping[str, Any]) -> "Study":
        """Create a draft from a study file, its text, or its values. Raises LineupError with the bad lines."""
        told = self._site.json("POST", f"{self._path}studies/", makes=True, **_body(source))
        return Study(self._site, self._path, told["slug"])

    def check(self, source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
        """Return what a study file would create, and what prevents a launch; nothing is created."""
        return self._site.json("POST", f"{self._path}check-study/", **_body(source))


def _body(source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return {"json": dict(source)}
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    return {"content": text.encode(), "headers": {"Content-Type": "application/yaml"}}


class Study:
    """A study of a project on the site. `slug` is its name in addresses and commands."""

    def __init__(self, site: Connection, project: str, slug: str) -> None:
        self._site = site
        self._project = project
        self.slug = slug
        self.path = f"{project}studies/{slug}/"

    def read(self) -> dict[str, Any]:
        """Return its state and, for members who may share them, its links.

        `invite_url`: for people whom you invite. `take_url`: for Prolific, which adds its ids; refused without them.
        """
        return self._site.json("GET", self.path)

    def launch(self) -> dict[str, Any]:
        """Freeze the design and open the study; return `read` with the links. It cannot be undone.

        The server launches a large study in the background; this waits for it. Raises LineupError.
        """
        told, job = self._await_job("launch/")
        return self.read() if job else told

    def pause(self) -> dict[str, Any]:
        return self._change("pause")

    def resume(self) -> dict[str, Any]:
        return self._change("resume")

    def close(self) -> dict[str, Any]:
        """Close the study. It cannot be undone."""
        return self._change("close")

    def ask_more(self, what: str = "answers", number: int = 1, *, dry_run: bool = False) -> dict[str, Any]:
        """Ask for more answers, or about new instances; return the effect, or with `dry_run` a preview.

        what: `answers` (`number` more for every question), `undecided` (up to `number` more for each undecided one) or
        `instances` (those added since the launch). The server extends a large study in the background; this waits for
        it. Raises LineupError.
        """
        told, job = self._await_job("more/", json={"what": what, "number": number, "dry_run": dry_run})
        return dict(job.told["result"] or {}) if job else told

    def _await_job(self, path: str, **options: Any) -> tuple[dict[str, Any], StudyJob | None]:
        """Return the answer to a request, and the job that did it, once it is done, if the server has made one."""
        answer = self._site.request("POST", f"{self.path}{path}", makes=True, **options)
        told = dict(answer.json())
        if answer.status_code != httpx.codes.ACCEPTED:
            return told, None
        return told, StudyJob(self._site, self.path, told).wait()

    def _change(self, name: str) -> dict[str, Any]:
        return self._site.json("POST", f"{self.path}{name}/", makes=True)

    def delete(self) -> None:
        """Delete a draft."""
        self._site.request("DELETE", self.path)

    def progress(self) -> dict[str, Any]:
        return self._site.json("GET", f"{self.path}progress/")

    def policies(self) -> list[dict[str, Any]]:
        """Return where the study stands under each of its policies."""
        found: list[dict[str, Any]] = self._site.json("GET", f"{self.path}policies/")["policies"]
        return found

    def sessions(self) -> Rows:
        return self._rows("sessions")

    def owed(self) -> Rows:
        """Return the pay owed to each annotator: `name` (pseudonym), `amount` in `currency`, `why` and `items`.

        Amounts are strings, such as "1.20", and exclude fees and taxes.
        """
        return self._rows("owed")

    def ratings(self) -> list[dict[str, Any]]:
        """Return mean, interval, spread and distribution of ratings, by kind, image role and category."""
        told: list[dict[str, Any]] = self._site.json("GET", f"{self.path}ratings/")["ratings"]
        return told

    def responses(self) -> Rows:
        """Return the answers that count, with the columns of the export `responses` (docs/exports.md)."""
        return self._rows("responses")

    def decisions(self) -> Rows:
        """Return each question's decision, with the columns of the export `decisions`; `settle` takes its `id`."""
        return self._rows("decisions")

    def settle(self, id: int, choice: str, note: str = "") -> dict[str, Any]:
        """Settle a question that its answers left undecided; `id` of its decision. Raises LineupError."""
        path, wanted = f"{self.path}decisions/{id}/settle/", {"choice": choice, "note": note}
        return self._site.json("POST", path, makes=True, json=wanted)

    def unsettle(self, id: int) -> dict[str, Any]:
        """Take back a settlement: the answers decide again. Raises LineupError."""
        return self._site.json("POST", f"{self.path}decisions/{id}/unsettle/", makes=True)

    def _rows(self, name: str) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}{name}/", limit=PAGE))

    def releases(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}releases/"))

    def export(self, format: str) -> Export:
        """Request an export; it is written in the background."""
        told = self._site.json("POST", f"{self.path}exports/", makes=True, json={"format": format})
        return Export(self._site, self._project, told)

    def release(self, name: str, format: str, *, dataset: bool = False, **texts: str) -> Export:
        """Freeze a release and have it written. texts: `description`, `licence`, `citation`.

        dataset: whether it holds the whole dataset of the project that the study belongs to.
        """
        wanted = {"name": name, "format": format, "dataset": dataset, **texts}
        told = self._site.json("POST", f"{self.path}releases/", makes=True, json=wanted)
        return Export(self._site, self._project, told)
