"""The client, talking to the site in this process: no port, no server."""

import httpx
from django.contrib.auth.models import User
from django.test import Client

from lineup_client import Lineup
from simulation.annotators import BrowserInProcess, annotators, take_part
from studies.models import Project, Study
from tests.workspace.api.asking import token_of
from workspace.models import Scope


def through(browser: Client) -> httpx.MockTransport:
    """Return what carries the requests of httpx to the site in this process."""

    def carry(request: httpx.Request) -> httpx.Response:
        headers = {name: value for name, value in request.headers.items() if name != "content-type"}
        answer = browser.generic(
            request.method,
            request.url.raw_path.decode("ascii"),
            request.read(),
            request.headers.get("content-type", ""),
            headers=headers,
        )
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
        return httpx.Response(answer.status_code, headers=list(answer.items()), content=content)

    return httpx.MockTransport(carry)


def people_answer(*, count: int = 3) -> Study:
    """Have people come into the only study and answer as the reference says; return it."""
    study = Study.objects.get()
    for person in annotators(count=count, accuracy=1.0, seed="1"):
        take_part(browser=BrowserInProcess(), study=study, person=person)
    return study


def client_of(owner: User, *, scope: str = Scope.WRITE, project: Project | None = None) -> Lineup:
    """Return a client that asks this process."""
    token = token_of(owner, scope=scope, project=project)
    return Lineup("http://localhost", token, tries=1, wait_seconds=0, transport=through(Client()))
