"""A stand-in for the Hugging Face Hub: what pushing by Git LFS, and reading a dataset, take of its protocol.

Written after what the library `huggingface_hub` sends and expects, not after the Hub itself.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote

from tests.receivers import Request, answer_with, receiving

TOKEN = "hf_aTokenThatMayWrite"
NO_REPOSITORY = {"error": "Repository not found"}
NO_REVISION = {"error": "Invalid rev id"}


@dataclass
class Repository:
    """files: name -> its bytes. commits: their messages, oldest first. tags: name -> number of the commit."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)


@dataclass
class Hub:
    """What the stand-in holds, and whom it lets write. `before`: called with every request, and may answer it."""

    url: str = ""
    token: str = TOKEN
    repositories: dict[str, Repository] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    before: Callable[[Request], tuple[int, Any] | None] = lambda request: None
    # Answers a request by its handler, whatever it sends; returns whether it has.
    instead: Callable[[BaseHTTPRequestHandler, Request], bool] = lambda handler, request: False

    def answer(self, request: Request) -> tuple[int, Any]:
        path = request.path.partition("?")[0]
        self.sent.append(f"{request.method} {path}")
        if (instead := self.before(request)) is not None:
            return instead
        if path.startswith("/lfs/"):
            return self._take(path.removeprefix("/lfs/"), request.body)
        if request.headers.get("authorization") != f"Bearer {self.token}" and not self._is_public(path, request):
            return 401, {"error": "Invalid username or password."}
        if path == "/api/repos/create":
            return self._create(json.loads(request.body))
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        return self._in_repository(path, request)

    def _is_public(self, path: str, request: Request) -> bool:
        """Whether a request without a token reads a repository that is not private."""
        repository = self.repositories.get("/".join(_parts(path)[:2]))
        is_anonymous = "authorization" not in request.headers
        return is_anonymous and request.method in {"GET", "HEAD"} and repository is not None and not repository.private

    def _create(self, told: dict[str, Any]) -> tuple[int, Any]:
        name = f"{told['organization']}/{told['name']}"
        url = f"{self.url}/datasets/{name}"
        if name in self.repositories:
            return 409, {"error": "You already created this dataset repo", "url": url}
        self.repositories[name] = Repository(private=told.get("private", told.get("visibility") == "private"))
        return 200, {"url": url, "name": name, "id": name}

    def _in_repository(self, path: str, request: Request) -> tuple[int, Any]:
        """Answer under /api/datasets/OWNER/NAME/ or /api/models/OWNER/NAME/, and where Git LFS asks."""
        parts = _parts(path)
        repository = self.repositories.get("/".join(parts[:2]).removesuffix(".git"))
        if repository is None:
            return 404, NO_REPOSITORY
        match parts[2:]:
            case ["preupload", "main"]:
                return 200, {"files": [_mode(each, repository) for each in json.loads(request.body)["files"]]}
            case ["info", "lfs", "objects", "batch"]:
                return 200, self._batch(json.loads(request.body))
            case ["commit", "main"]:
                return self._commit(repository, request.body, "/".join(parts[:2]))
            case ["tag", tag] if request.method == "DELETE":
                del repository.tags[tag]
                return 200, {}
            case ["refs"]:
                tags = [_ref(name, number) for name, number in repository.tags.items()]
                return 200, {"branches": [], "converts": [], "tags": tags}
            case ["tag", revision]:
                return self._tag(repository, json.loads(request.body), revision)
            case ["tree", "main"]:
                return 200, [_entry(name, data) for name, data in sorted(repository.files.items())]
            case ["revision", revision] if revision not in {"main", _name_of(len(repository.commits))}:
                return 404, NO_REVISION
            case ["revision", _] | []:
                files = [{"rfilename": name, "size": len(data)} for name, data in sorted(repository.files.items())]
                sha = _name_of(len(repository.commits))
                return 200, {"id": "/".join(parts[:2]), "sha": sha, "siblings": files}
            case ["resolve", _, *name]:
                return 200, repository.files["/".join(name)]
        return 404, {"error": f"There is no {path} here"}

    def _batch(self, told: dict[str, Any]) -> dict[str, Any]:
        objects = []
        for each in told["objects"]:
            known = each["oid"] in self.blobs
            upload = {"upload": {"href": f"{self.url}/lfs/{each['oid']}"}}
            objects.append({"oid": each["oid"], "size": each["size"]} | ({} if known else {"actions": upload}))
        return {"transfer": "basic", "objects": objects}

    def _take(self, oid: str, data: bytes) -> tuple[int, Any]:
        if hashlib.sha256(data).hexdigest() != oid:
            return 400, {"error": "These are other bytes"}
        self.blobs[oid] = data
        return 200, {}

    def _commit(self, repository: Repository, body: bytes, name: str) -> tuple[int, Any]:
        for line in body.splitlines():
            said = json.loads(line)
            value = said["value"]
            match said["key"]:
                case "header":
                    repository.commits.append(value["summary"])
                case "file":
                    repository.files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    repository.files[value["path"]] = self.blobs[value["oid"]]
                case "deletedFile":
                    del repository.files[value["path"]]
        oid = _name_of(len(repository.commits))
        return 200, {"success": True, "commitOid": oid, "commitUrl": f"{self.url}/datasets/{name}/commit/{oid}"}

    def _tag(self, repository: Repository, told: dict[str, Any], revision: str) -> tuple[int, Any]:
        if told["tag"] in repository.tags:
            return 409, {"error": "Tag reference exists already"}
        repository.tags[told["tag"]] = int(revision, 16)
        return 200, {}


def _parts(path: str) -> list[str]:
    name = unquote(path).removeprefix("/api").removeprefix("/datasets").removeprefix("/models")
    return name.removeprefix("/").split("/")


def _name_of(number: int) -> str:
    """Return how a commit is called: forty hexadecimal digits."""
    return f"{number:040x}"


def _ref(tag: str, commit: int) -> dict[str, str]:
    return {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": _name_of(commit)}


def _is_large(path: str) -> bool:
    return path.endswith((".parquet", ".jpg", ".png", ".pt", ".safetensors"))


def _git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _mode(file: dict[str, Any], repository: Repository) -> dict[str, Any]:
    mode = "lfs" if _is_large(file["path"]) else "regular"
    told = {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}
    if (data := repository.files.get(file["path"])) is not None:
        told["oid"] = hashlib.sha256(data).hexdigest() if mode == "lfs" else _git_oid(data)
    return told


def _entry(name: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": name, "size": len(data), "oid": _git_oid(data)}


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Run a stand-in of the Hub on this machine until the block ends."""
    hub = Hub()

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        if hub.instead(handler, request):
            return
        status, told = hub.answer(request)
        if isinstance(told, bytes):
            about = {"ETag": f'"{_git_oid(told)}"', "X-Repo-Commit": request.path.split("/")[5]}
            if span := request.headers.get("range"):
                status, told = 206, told[int(span.removeprefix("bytes=").removesuffix("-")) :]
            answer_with(status, told, **about)(handler, request)
            return
        codes = [(NO_REPOSITORY, "RepoNotFound"), (NO_REVISION, "RevisionNotFound")]
        headers = {"Content-Type": "application/json"}
        for error, code in codes:
            if told == error:
                headers["X-Error-Code"] = code
        answer_with(status, json.dumps(told).encode(), **headers)(handler, request)

    with receiving(answer) as receiver:
        hub.url = f"http://127.0.0.1:{receiver.port}"
        yield hub
