"""A project, what is in it, and what can be done with it."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

import httpx

from lineup_client.errors import LineupError
from lineup_client.rows import Rows

ROWS_AT_ONCE = 500
IMAGES_ASKED_AT_ONCE = 1000
PAGE = 1000
ENDED = frozenset({"ready", "failed", "withdrawn"})

Images = Path | Mapping[str, Path | bytes]
"""Where images are: a folder in which the rows' names are found, or name in the rows -> file or bytes."""


class Connection(Protocol):
    """What the parts of a project need of a client."""

    def json(self, method: str, path: str, **options: Any) -> dict[str, Any]: ...

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...

    def request(self, method: str, path: str, *, makes: bool = False, **options: Any) -> httpx.Response: ...


class Table(Protocol):
    """A data frame, as far as it is needed here."""

    def to_dict(self, orient: Literal["records"]) -> Sequence[Mapping[Any, Any]]: ...


class Project:
    """One project of a site."""

    def __init__(self, site: Connection, slug: str) -> None:
        self._site = site
        self.slug = slug
        self.path = f"projects/{slug}/"
        self.instances = Instances(site, self.path)
        self.predictions = Predictions(site, self.path)
        self.studies = Studies(site, self.path)

    def read(self) -> dict[str, Any]:
        """Return what the project is called and how much is in it."""
        return self._site.json("GET", self.path)

    def members(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}members/"))

    def events(self) -> Rows:
        """Who did what, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}events/"))

    def study(self, slug: str) -> "Study":
        """Return the study called so; nothing is asked yet."""
        return Study(self._site, self.path, slug)


class Instances:
    """The instances of a project; called, it returns them."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

    def __call__(self, **filters: str) -> Rows:
        """Return the instances, by `type`, `subtype`, `split` or `key` where that is given."""
        return Rows(lambda: self._site.rows(f"{self._path}instances/", limit=PAGE, **filters))

    def upload(
        self, rows: Table | Iterable[Mapping[str, Any]], images: Images | None = None, *, images_later: bool = False
    ) -> dict[str, int]:
        """Bring in rows of the form `jsonl` (docs/import-formats.md) and the images that they name.

        images_later: rows may wait for images that are not there. Images that the project has are not sent again, and
        rows that it has stay as they are, so an upload that broke off is begun anew. Returns how many rows there were
        (`records`), were `added`, and were `already_there`. Raises LineupError for a batch of rows in which one is
        bad; the batches before it are in then.
        """
        told = {"records": 0, "added": 0, "already_there": 0}
        listed = iter(_without_gaps(rows.to_dict("records")) if hasattr(rows, "to_dict") else rows)
        while batch := list(islice(listed, ROWS_AT_ONCE)):
            sent = self._send_images(dict.fromkeys(name for row in batch for name in _images_of(row)), images)
            manifest = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch)
            answer = self._site.request(
                "POST",
                f"{self._path}instances/",
                makes=True,
                data={"format": "jsonl", "images_later": str(images_later).lower()},
                files={"manifest": ("rows.jsonl", manifest.encode()), "images": ("images.json", json.dumps(sent))},
            ).json()
            told = {name: count + answer[name] for name, count in told.items()}
        return told

    def import_file(self, file: Path, format: str, images: Images | None = None, **options: Any) -> dict[str, Any]:
        """Bring in a file of any format that the command `import_instances` knows; `images` by name, as it has them.

        options: `caption_rule`, `images_later`, `dry_run`. Raises LineupError.
        """
        names = images if isinstance(images, Mapping) else {}
        sent = self._send_images(names, images)
        with file.open("rb") as manifest:
            return dict(
                self._site.request(
                    "POST",
                    f"{self._path}instances/",
                    makes=True,
                    data={"format": format} | {name: str(value).lower() for name, value in options.items()},
                    files={"manifest": (file.name, manifest.read()), "images": ("images.json", json.dumps(sent))},
                ).json()
            )

    def _send_images(self, names: Iterable[str], images: Images | None) -> dict[str, str]:
        """Send those that the project does not have; return name -> SHA-256 of those that there are."""
        found = {name: where for name in names if (where := _found(name, images)) is not None}
        hashes = {name: _sha256(where) for name, where in found.items()}
        by_hash = {sha256: found[name] for name, sha256 in hashes.items()}
        wanted = iter(by_hash)
        while batch := list(islice(wanted, IMAGES_ASKED_AT_ONCE)):
            missing = self._site.json("POST", f"{self._path}images/missing/", json={"sha256": batch})["missing"]
            for sha256 in missing:
                where = by_hash[sha256]
                data = where if isinstance(where, bytes) else where.read_bytes()
                headers = {"Content-Type": "application/octet-stream"}
                self._site.request("PUT", f"{self._path}images/{sha256}/", content=data, headers=headers)
        return hashes


def _without_gaps(rows: Iterable[Mapping[Any, Any]]) -> Iterator[dict[str, Any]]:
    """Leave out the cells of a data frame that hold nothing: NaN, which is not itself, and None."""
    for row in rows:
        yield {name: value for name, value in row.items() if value is not None and not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _images_of(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the images of a row: of a list of them, or by role one or a list."""
    images = row.get("images")
    for names in images.values() if isinstance(images, Mapping) else [images]:
        yield from [names] if isinstance(names, str) else names or []


def _found(name: str, images: Images | None) -> Path | bytes | None:
    if images is None:
        return None
    if isinstance(images, Mapping):
        return images.get(name)
    path = images / name
    return path if path.is_file() else None


def _sha256(where: Path | bytes) -> str:
    if isinstance(where, bytes):
        return hashlib.sha256(where).hexdigest()
    with where.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Predictions:
    """What models said about the instances of a project; called, it returns it."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

    def __call__(self, **filters: str) -> Rows:
        """Return the predictions, by `model` or `kind` where that is given."""
        return Rows(lambda: self._site.rows(f"{self._path}predictions/", limit=PAGE, **filters))

    def upload(
        self, rows: Iterable[Mapping[str, Any]], *, model: str, version: str = "", weights: str = ""
    ) -> dict[str, Any]:
        """Bring in a model's scores, rows of the form `scores` (docs/predictions.md). Raises LineupError."""
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        answer = self._site.request(
            "POST",
            f"{self._path}predictions/",
            makes=True,
            data={"format": "scores", "model": model, "version": version, "weights": weights},
            files={"file": ("scores.jsonl", lines.encode())},
        )
        return dict(answer.json())


class Studies:
    """The studies of a project; called, it returns them."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

    def __call__(self) -> list[dict[str, Any]]:
        """Return what there is to say of each, in the order in which they were made."""
        return list(self._site.rows(f"{self._path}studies/"))

    def create(self, source: Path | str | Mapping[str, Any]) -> "Study":
        """Make a draft from a study file, its text, or its values. Raises LineupError with the lines that are wrong."""
        told = self._site.request("POST", f"{self._path}studies/", makes=True, **_body(source)).json()
        return Study(self._site, self._path, told["slug"])

    def check(self, source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
        """Return what a study file would make, and what stands in the way of a launch; nothing is made."""
        return self._site.json("POST", f"{self._path}check-study/", **_body(source))


def _body(source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return {"json": dict(source)}
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    return {"content": text.encode(), "headers": {"Content-Type": "application/yaml"}}


class Study:
    """One study."""

    def __init__(self, site: Connection, project: str, slug: str) -> None:
        self._site = site
        self._project = project
        self.slug = slug
        self.path = f"{project}studies/{slug}/"

    def read(self) -> dict[str, Any]:
        """Return its state and, for who may hand them out, its links."""
        return self._site.json("GET", self.path)

    def launch(self) -> dict[str, Any]:
        """Freeze its design and let annotators in. It cannot be undone."""
        return self._change("launch")

    def pause(self) -> dict[str, Any]:
        return self._change("pause")

    def resume(self) -> dict[str, Any]:
        return self._change("resume")

    def close(self) -> dict[str, Any]:
        """Let nobody in any more, for good."""
        return self._change("close")

    def _change(self, name: str) -> dict[str, Any]:
        return dict(self._site.request("POST", f"{self.path}{name}/", makes=True).json())

    def delete(self) -> None:
        """Delete it while it is a draft."""
        self._site.request("DELETE", self.path)

    def progress(self) -> dict[str, Any]:
        return self._site.json("GET", f"{self.path}progress/")

    def sessions(self) -> Rows:
        return self._rows("sessions")

    def responses(self) -> Rows:
        """Return the answers that count, under the columns of the export `responses` (docs/exports.md)."""
        return self._rows("responses")

    def decisions(self) -> Rows:
        """Return what became of each question, under the columns of the export `decisions`."""
        return self._rows("decisions")

    def _rows(self, name: str) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}{name}/", limit=PAGE))

    def releases(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}releases/"))

    def export(self, format: str) -> "Export":
        """Ask for an export; it is made in the background."""
        told = self._site.request("POST", f"{self.path}exports/", makes=True, json={"format": format}).json()
        return Export(self._site, self._project, told)

    def release(self, name: str, format: str, **texts: str) -> "Export":
        """Freeze a release and have it written. texts: `description`, `licence`, `citation`."""
        wanted = {"name": name, "format": format, **texts}
        told = self._site.request("POST", f"{self.path}releases/", makes=True, json=wanted).json()
        return Export(self._site, self._project, told)


class Export:
    """A file that is made in the background. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}exports/{told['id']}/"

    def wait(self, *, seconds: float = 600, look_every_seconds: float = 1) -> "Export":
        """Wait until it is ready. Raises TimeoutError, and LineupError when there will be no file."""
        until = time.monotonic() + seconds
        while self.told["state"] not in ENDED:
            if time.monotonic() > until:
                raise TimeoutError(f"The export is still {self.told['state']}.")
            time.sleep(look_every_seconds)
            self.told = self._site.json("GET", self.path)
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
