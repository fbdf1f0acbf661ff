"""A project, what is in it, and what can be done with it."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import quote

import httpx

from lineup_client.errors import MOST_SHOWN, LineupError
from lineup_client.rows import Rows

ROWS_AT_ONCE = 500
IMAGES_ASKED_AT_ONCE = 1000
PAGE = 1000
ENDED = frozenset({"ready", "failed", "withdrawn"})
PUSHED = frozenset({"pushed", "failed"})
IMPORT_ENDED = frozenset({"done", "failed", "cancelled"})
PIECE = 4 << 20

Images = Path | Mapping[str, Path | bytes]
"""Where images are: a folder in which the rows' names are found, or name in the rows -> file or bytes."""


class Connection(Protocol):
    """What the parts of a project need of a client."""

    def json(self, method: str, path: str, *, makes: bool = False, **options: Any) -> dict[str, Any]: ...

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...

    def request(self, method: str, path: str, **options: Any) -> httpx.Response: ...


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
        self.webhooks = Webhooks(site, self.path)

    def read(self) -> dict[str, Any]:
        """Return what the project is called and how much is in it."""
        return self._site.json("GET", self.path)

    def rename(self, name: str) -> dict[str, Any]:
        """Call it otherwise on its pages; its addresses stay. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"name": name})

    def archive(self) -> dict[str, Any]:
        """Put it away: it can be looked at and exported, and nothing in it goes on. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"archived": True})

    def reopen(self) -> dict[str, Any]:
        """Take it out of the archive."""
        return self._site.json("PATCH", self.path, json={"archived": False})

    def members(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}members/"))

    def invite(self, role: str, *, days: int = 7, whom: str = "", mail: str = "") -> dict[str, Any]:
        """Make a link by which one person becomes a member; `link` is given this once. Raises LineupError.

        mail: where the site sends it, if it sends mail.
        """
        wanted = {"role": role, "days": days, "whom": whom, "mail": mail}
        return self._site.json("POST", f"{self.path}invitations/", makes=True, json=wanted)

    def invitations(self) -> Rows:
        """Return those that can still be used, without their links."""
        return Rows(lambda: self._site.rows(f"{self.path}invitations/"))

    def cancel_invitation(self, id: int) -> None:
        self._site.request("DELETE", f"{self.path}invitations/{id}/")

    def change_role(self, username: str, role: str) -> dict[str, Any]:
        """Make a member something else: viewer, editor or owner. Raises LineupError."""
        return self._site.json("PATCH", f"{self.path}members/{quote(username, safe='')}/", json={"role": role})

    def remove_member(self, username: str) -> None:
        """End a membership; one's own anybody may end. Raises LineupError."""
        self._site.request("DELETE", f"{self.path}members/{quote(username, safe='')}/")

    def people(self) -> Rows:
        """Return who has come to its studies, by pseudonym, and whether their answers count."""
        return Rows(lambda: self._site.rows(f"{self.path}people/", limit=PAGE))

    def exclude(self, name: str, reason: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let the answers of the person with this pseudonym count nowhere, until `include`; return what follows."""
        return self._change_person(name, "exclude", {"reason": reason, "dry_run": dry_run})

    def include(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let the answers of somebody who was excluded count again; return what follows."""
        return self._change_person(name, "include", {"dry_run": dry_run})

    def withdraw(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Take somebody's answers out who took back their consent. It cannot be undone."""
        return self._change_person(name, "withdraw", {"dry_run": dry_run})

    def reopen_slots(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Offer the places of somebody's answers that count no more to others."""
        return self._change_person(name, "reopen", {"dry_run": dry_run})

    def _change_person(self, name: str, change: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        path = f"{self.path}people/{quote(name, safe='')}/{change}/"
        return self._site.json("POST", path, makes=True, json=wanted)

    def events(self) -> Rows:
        """Who did what, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}events/"))

    def hub_pushes(self) -> Rows:
        """What was pushed to the Hugging Face Hub, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}hub-pushes/"))

    def push_to_hub(self, release: str, repository: str, *, token: str, private: bool = True) -> "HubPush":
        """Have a frozen release pushed to a dataset repository of the Hub, OWNER/NAME, in the background.

        token: of the Hub, one that may write there. private: whether a repository that is not there yet is made so.
        """
        wanted = {"release": release, "repository": repository, "token": token, "private": private}
        told = self._site.json("POST", f"{self.path}hub-pushes/", makes=True, json=wanted)
        return HubPush(self._site, self.path, told)

    def study(self, slug: str) -> "Study":
        """Return the study called so; nothing is asked yet."""
        return Study(self._site, self.path, slug)


class Instances:
    """The instances of a project; called, it returns them."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

    def __call__(self, **filters: str) -> Rows:
        """Return the instances, by `type`, `subtype`, `split`, `key` or `tag` where that is given."""
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
            answer = self._site.json(
                "POST",
                f"{self._path}instances/",
                makes=True,
                data={"format": "jsonl", "images_later": str(images_later).lower()},
                files={"manifest": ("rows.jsonl", manifest.encode()), "images": ("images.json", json.dumps(sent))},
            )
            told = {name: count + answer[name] for name, count in told.items()}
        return told

    def import_file(self, file: Path, format: str, images: Images | None = None, **options: Any) -> dict[str, Any]:
        """Bring in a file of any format that the command `import_instances` knows; `images` by name, as it has them.

        options: `caption_rule`, `images_later`, `dry_run`. Raises LineupError.
        """
        names = images if isinstance(images, Mapping) else {}
        sent = self._send_images(names, images)
        with file.open("rb") as manifest:
            return self._site.json(
                "POST",
                f"{self._path}instances/",
                makes=True,
                data={"format": format} | {name: str(value).lower() for name, value in options.items()},
                files={"manifest": (file.name, manifest.read()), "images": ("images.json", json.dumps(sent))},
            )

    def import_later(
        self, rows: Path | Sequence[Path], format: str, images: Sequence[Path] = (), **options: Any
    ) -> "Import":
        """Send files in pieces and have them imported in the background: gigabytes need no connection that lasts.

        images: single ones, under their names alone, and zips. A piece whose answer is lost is looked for before it is
        sent again. options: `caption_rule`, `images_later`, `dry_run`. Raises LineupError.
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
        """Return what was asked for to be imported in the background, newest first."""
        return Rows(lambda: self._site.rows(f"{self._path}imports/"))

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


class Import:
    """An import in the background. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}imports/{told['id']}/"

    def wait(self, *, seconds: float = 7200, look_every_seconds: float = 1) -> "Import":
        """Wait until it is done. Raises TimeoutError, and LineupError with the bad rows when nothing was imported."""
        self.told = waited_for(self._site, self.path, self.told, IMPORT_ENDED, seconds, look_every_seconds)
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


def waited_for(
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
        return self._site.json(
            "POST",
            f"{self._path}predictions/",
            makes=True,
            data={"format": "scores", "model": model, "version": version, "weights": weights},
            files={"file": ("scores.jsonl", lines.encode())},
        )


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
        told = self._site.json("POST", f"{self._path}studies/", makes=True, **_body(source))
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

    def ask_more(self, what: str = "answers", number: int = 1, *, dry_run: bool = False) -> dict[str, Any]:
        """Ask for `number` more `answers` to every question, for up to `number` to each that stays `undecided`, or
        about `instances` that came since; return what that brings, or with `dry_run` would bring."""
        wish = {"what": what, "number": number, "dry_run": dry_run}
        return self._site.json("POST", f"{self.path}more/", json=wish, makes=True)

    def _change(self, name: str) -> dict[str, Any]:
        return self._site.json("POST", f"{self.path}{name}/", makes=True)

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
        """Return what became of each question, under the columns of the export `decisions`, and by which `id` it is
        settled."""
        return self._rows("decisions")

    def settle(self, id: int, choice: str, note: str = "") -> dict[str, Any]:
        """Decide a question that the answers have left undecided; `id` of its decision. Raises LineupError."""
        path, wanted = f"{self.path}decisions/{id}/settle/", {"choice": choice, "note": note}
        return self._site.json("POST", path, makes=True, json=wanted)

    def unsettle(self, id: int) -> dict[str, Any]:
        """Take a settlement back: the answers decide again. Raises LineupError."""
        return self._site.json("POST", f"{self.path}decisions/{id}/unsettle/", makes=True)

    def _rows(self, name: str) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}{name}/", limit=PAGE))

    def releases(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}releases/"))

    def export(self, format: str) -> "Export":
        """Ask for an export; it is made in the background."""
        told = self._site.json("POST", f"{self.path}exports/", makes=True, json={"format": format})
        return Export(self._site, self._project, told)

    def release(self, name: str, format: str, **texts: str) -> "Export":
        """Freeze a release and have it written. texts: `description`, `licence`, `citation`."""
        wanted = {"name": name, "format": format, **texts}
        told = self._site.json("POST", f"{self.path}releases/", makes=True, json=wanted)
        return Export(self._site, self._project, told)


class Webhooks:
    """The addresses that are told what happens in a project; called, it returns them."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

    def __call__(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self._path}webhooks/"))

    def make(self, url: str, topics: Sequence[str]) -> tuple[dict[str, Any], str]:
        """Have an address told of topics (docs/webhooks.md); return the webhook, and the key that its messages bear."""
        wanted = {"url": url, "topics": list(topics)}
        made = self._site.json("POST", f"{self._path}webhooks/", makes=True, json=wanted)
        return made, self.change_key(made["id"], hours=0)

    def change_key(self, id: int, *, hours: int = 24) -> str:
        """Give a webhook a new key and return it; the one before signs too for so many hours."""
        return str(self._act("webhooks", id, "key", json={"hours": hours})["key"])

    def try_out(self, id: int) -> dict[str, Any]:
        """Send a message that says nothing; return what is known of it."""
        return self._act("webhooks", id, "try")

    def switch_on(self, id: int) -> dict[str, Any]:
        return self._act("webhooks", id, "on")

    def delete(self, id: int) -> None:
        self._site.request("DELETE", f"{self._path}webhooks/{id}/")

    def deliveries(self, id: int) -> Rows:
        """What a webhook was sent, newest first."""
        return Rows(lambda: self._site.rows(f"{self._path}webhooks/{id}/deliveries/"))

    def repeat(self, delivery: int) -> dict[str, Any]:
        """Send a message again."""
        return self._act("deliveries", delivery, "repeat")

    def _act(self, kind: str, id: int, name: str, **options: Any) -> dict[str, Any]:
        return self._site.json("POST", f"{self._path}{kind}/{id}/{name}/", **options)


class HubPush:
    """A push to the Hub. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}hub-pushes/{told['id']}/"

    def wait(self, *, seconds: float = 3600, look_every_seconds: float = 1) -> "HubPush":
        """Wait until it is over. Raises TimeoutError, and LineupError when nothing came of it."""
        self.told = waited_for(self._site, self.path, self.told, PUSHED, seconds, look_every_seconds)
        if self.told["state"] != "pushed":
            raise LineupError(409, {"detail": self.told["error"]})
        return self


class Export:
    """A file that is made in the background. `told` is what was last said of it."""

    def __init__(self, site: Connection, project: str, told: Mapping[str, Any]) -> None:
        self._site = site
        self.told = told
        self.path = f"{project}exports/{told['id']}/"

    def wait(self, *, seconds: float = 600, look_every_seconds: float = 1) -> "Export":
        """Wait until it is ready. Raises TimeoutError, and LineupError when there will be no file."""
        self.told = waited_for(self._site, self.path, self.told, ENDED, seconds, look_every_seconds)
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
