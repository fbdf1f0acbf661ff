"""Asking the API as a script does."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from studies.models import Project
from workspace.actions.tokens import make_token
from workspace.models import Scope

API = "/api/v1/"
BIRDS = f"{API}projects/birds/"
STUDY = f"{BIRDS}studies/birds-step-3/"


def token_of(owner: User, *, scope: str = Scope.WRITE, project: Project | None = None) -> str:
    """Return the text of a new token."""
    told: dict[str, Any] = {"name": "tests", "scope": scope, "days": 7, "project": project, "now": timezone.now()}
    return make_token(owner=owner, **told).text


class Script:
    """Somebody's script, which shows its token with every request; without one it shows none."""

    def __init__(self, token: str = "") -> None:
        self.browser = Client(headers={"Authorization": f"Bearer {token}"} if token else {})

    def ask(self, method: str, path: str, body: Any = None, *, type: str = "application/json", **headers: str) -> Any:
        """Return the answer; a `body` that is no bytes goes as JSON. Names of headers are written with _ for -."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.browser.generic(method, path, data, type, headers=named)

    def get(self, path: str, **headers: str) -> Any:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.ask("POST", path, body, **headers)

    def send_form(self, path: str, fields: dict[str, Any], **headers: str) -> Any:
        """Send a form with files, as `curl -F` does."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.browser.post(path, fields, headers=named)


def script_of(owner: User, *, scope: str = Scope.WRITE, project: Project | None = None) -> Script:
    return Script(token_of(owner, scope=scope, project=project))


def content(answer: Any) -> bytes:
    """Return all that was sent, and so close the file that it came from."""
    return b"".join(answer.streaming_content) if answer.streaming else answer.content
