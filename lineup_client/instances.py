"""The instances of a project, and their images."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

from lineup_client.connection import PAGE, ProjectPart
from lineup_client.errors import LineupError
from lineup_client.rows import Rows
from lineup_client.waiting import Import

ROWS_AT_ONCE = 500
IMAGES_ASKED_AT_ONCE = 1000
TAGGED_AT_ONCE = 5000
PIECE = 4 << 20

Images = Path | Mapping[str, Path | bytes]
"""Source of images: a folder with the rows' file names, or name in the rows -> file or bytes."""


class Table(Protocol):
    """The part of a data frame's interface that is used here."""

    def to_dict(self, orient: Literal["records"]) -> Sequence[Mapping[Any, Any]]: ...


class Instances(ProjectPart):
    """The instances of a project; call it to list them."""

    def __call__(self, **filters: str | float) -> Rows:
        """Return the instances that match the filters, or have this `key`.

        Filters have the names of the explorer's address: `type`, `tag`, `study`, `state`, `question`, `model` and so
        on. Raises LineupError for unknown ones, and while statistics that they need are being computed.
        """
        return Rows(lambda: self._site.rows(f"{self._path}instances/", limit=PAGE, **filters))

    def upload(
        self, rows: Table | Iterable[Mapping[str, Any]], images: Images | None = None, *, images_later: bool = False
    ) -> dict[str, int]:
        """Import rows of the format `jsonl` (docs/import-formats.md) with their images.

        images_later: rows may wait for missing images. Images that the project has are not sent again, and its rows
        stay as they are, so an interrupted upload can be repeated. Returns the number of rows (`records`), of those
        `added`, and of those `already_there`. Raises LineupError for a batch with a bad row; the batches before it
        stay.
        """
        told = {"records": 0, "added": 0, "already_there": 0}
        listed = iter(_without_empty_cells(rows.to_dict("records")) if hasattr(rows, "to_dict") else rows)
        while batch := list(islice(listed, ROWS_AT_ONCE)):
            sent = self._send_images(dict.fromkeys(name for row in batch for name in _image_names(row)), images)
            manifest = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch)
            answer = self._import("rows.jsonl", manifest.encode(), sent, format="jsonl", images_later=images_later)
            told = {name: count + answer[name] for name, count in told.items()}
        return told

    def import_file(self, file: Path, format: str, images: Images | None = None, **options: Any) -> dict[str, Any]:
        """Import a file of any format of the command `import_instances`; `images` by name, as there.

        options: `caption_rule`, `images_later`, `dry_run`. Raises LineupError.
        """
        sent = self._send_images(images if isinstance(images, Mapping) else {}, images)
        return self._import(file.name, file.read_bytes(), sent, format=format, **options)

    def _import(
        self, name: str, manifest: bytes, sent: Mapping[str, str], *, format: str, **options: Any
    ) -> dict[str, Any]:
        data = {"format": format} | {option: str(value).lower() for option, value in options.items()}
        files = {"manifest": (name, manifest), "images": ("images.json", json.dumps(sent))}
        return self._site.json("POST", f"{self._path}instances/", makes=True, data=data, files=files)

    def import_later(
        self, rows: Path | Sequence[Path], format: str, images: Sequence[Path] = (), **options: Any
    ) -> Import:
        """Upload files in pieces and import them in the background: gigabytes survive lost connections.

        images: single files, by name only, and zips. A piece without a response is looked up before it is sent again.
        options: `mapping`, `caption_rule`, `images_later`, `dry_run`. Raises LineupError.
        """
        upload = self._site.json("POST", f"{self._path}uploads/", makes=True)["id"]
        path = f"{self._path}uploads/{upload}/"
        for part, files in {"rows": [rows] if isinstance(rows, Path) else rows, "images": images}.items():
            for file in files:
                self._send_file(path, part, file)
        wanted = {"upload": upload, "format": format} | options
        told = self._site.json("POST", f"{self._path}imports/", makes=True, json=wanted)
        return Import(self._site, self._path, told)

    def imports(self) -> Rows:
        """Return the background imports, newest first."""
        return Rows(lambda: self._site.rows(f"{self._path}imports/"))

    def tag(self, tag: str, instances: Iterable[int]) -> int:
        """Add a tag to instances by id; return how many did not have it. Raises LineupError."""
        return self._tag("tag", tag, instances)

    def untag(self, tag: str, instances: Iterable[int]) -> int:
        """Remove a tag from instances by id; return how many had it. Raises LineupError."""
        return self._tag("untag", tag, instances)

    def _tag(self, change: str, tag: str, instances: Iterable[int]) -> int:
        changed, listed = 0, iter(instances)
        while batch := list(islice(listed, TAGGED_AT_ONCE)):
            wanted = {"tag": tag, "instances": batch}
            try:
                told = self._site.json("POST", f"{self._path}instances/{change}/", makes=True, json=wanted)
            except LineupError:
                if not changed:
                    raise
                # The server deletes a tag with its last use.
                break
            changed += told["changed"]
        return changed

    def _send_file(self, path: str, part: str, file: Path) -> None:
        have, size = 0, file.stat().st_size
        with file.open("rb") as data:
            while have < size:
                data.seek(have)
                try:
                    have = self._site.json(
                        "PUT",
                        f"{path}{part}/",
                        params={"name": file.name, "offset": have},
                        content=data.read(PIECE),
                        headers={"Content-Type": "application/octet-stream"},
                    )["have"]
                except LineupError as error:
                    there = self._site.json("GET", path)[part].get(file.name, 0)
                    if error.type != "misplaced" or there == have:
                        raise
                    have = there

    def _send_images(self, names: Iterable[str], images: Images | None) -> dict[str, str]:
        """Upload missing images; return name -> SHA-256 of all that exist."""
        found = {name: where for name in names if (where := _find_image(name, images)) is not None}
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


def _without_empty_cells(rows: Iterable[Mapping[Any, Any]]) -> Iterator[dict[str, Any]]:
    """Drop empty cells of a data frame: None, and NaN, which does not equal itself."""
    for row in rows:
        yield {name: value for name, value in row.items() if value is not None and not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _image_names(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a row's images: a list, or by role one name or a list."""
    images = row.get("images")
    for names in images.values() if isinstance(images, Mapping) else [images]:
        yield from [names] if isinstance(names, str) else names or []


def _find_image(name: str, images: Images | None) -> Path | bytes | None:
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
