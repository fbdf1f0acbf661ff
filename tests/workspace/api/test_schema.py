"""The schema of the API: kept as it was promised, and what every endpoint does when it is tried by it."""

from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
import yaml
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from results.actions.exports import make_export, request_export
from results.models import Pseudonym, Release
from studies.actions.imports.uploads import begin_upload
from studies.actions.projects.membership import invite
from studies.models import Import, Membership, Study
from tests.factories import NOON, answer, make_member, questions, sit_down
from tests.training.site import waiting_run
from tests.workspace.api.asking import Script, content, token_of
from workspace.api.framework.documentation import schema_of_api
from workspace.models import Delivery, HubPush, ModelPush, Webhook

ROOT = Path(__file__).resolve().parents[3]
PROMISED = ROOT / "docs" / "api-v1.yaml"
METHODS = ("get", "post", "put", "patch", "delete")
# So many requests to each operation that its schema allows, and as many that it does not.
TRIES = 4
BOUNDED = settings(
    max_examples=TRIES,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# What a script sets itself.
SCRIPTS_OWN = {"Content-Type", "Content-Length", "Authorization"}
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                yield f"{method.upper()} {path}", methods[method]


def promises(schema: dict[str, Any]) -> set[str]:
    """Return what scripts rely on: operations, their parameters and answers, fields of what is sent, and choices."""
    found = set()
    for name, operation in operations(schema):
        found.add(name)
        found |= {f"{name} takes {each['in']} {each['name']}" for each in operation.get("parameters", [])}
        found |= {f"{name} takes {media}" for media in operation.get("requestBody", {}).get("content", {})}
        found |= {
            f"{name} answers {code} {media}: {told['schema']}"
            for code, answer in operation["responses"].items()
            for media, told in answer.get("content", {}).items()
        }
    for name, component in schema["components"]["schemas"].items():
        found |= {f"{name} may be {value}" for value in component.get("enum", [])}
        for field, told in component.get("properties", {}).items():
            kind = {each: told[each] for each in ("type", "format", "$ref", "items", "allOf") if each in told}
            found.add(f"{name}.{field} is {kind}")
            if not name.endswith("Request") and field in component.get("required", []):
                found.add(f"{name}.{field} is always there")
    return found


def demands(schema: dict[str, Any]) -> set[str]:
    """Return what a request must have."""
    found = {
        f"{name} needs {each['name']}"
        for name, operation in operations(schema)
        for each in operation.get("parameters", [])
        if each.get("required")
    }
    for name, component in schema["components"]["schemas"].items():
        if name.endswith("Request"):
            found |= {f"{name} needs {field}" for field in component.get("required", [])}
    return found


def test_nothing_that_was_promised_has_gone_and_nothing_more_is_demanded() -> None:
    kept, now = yaml.safe_load(PROMISED.read_text(encoding="utf-8")), schema_of_api()
    assert promises(kept) - promises(now) == set()
    new = {name for name, _ in operations(now)} - {name for name, _ in operations(kept)}
    new |= now["components"]["schemas"].keys() - kept["components"]["schemas"].keys()
    added = demands(now) - demands(kept)
    assert {each for each in added if not any(each.startswith(f"{name} ") for name in new)} == set()


def test_what_is_added_is_promised_too() -> None:
    is_current = yaml.safe_load(PROMISED.read_text(encoding="utf-8")) == schema_of_api()
    assert is_current, "docs/api-v1.yaml is out of date. Run: python manage.py api_schema > docs/api-v1.yaml"


def test_what_goes_is_noticed() -> None:
    """The comparison above sees each of these."""
    kept = promises(schema_of_api())
    goings: dict[str, Callable[[Any], object]] = {
        "Study.title is {'type': 'string'}": lambda all: all["Study"]["properties"].pop("title"),
        "Study.title is always there": lambda all: all["Study"]["required"].remove("title"),
        "StudyState may be paused": lambda all: all["StudyState"]["enum"].remove("paused"),
    }
    for promise, go in goings.items():
        schema = schema_of_api()
        go(schema["components"]["schemas"])
        assert promise in kept - promises(schema)
    schema = schema_of_api()
    del schema["paths"]["/api/v1/me/"]
    assert "GET /api/v1/me/" in kept - promises(schema)
    schema = schema_of_api()
    schema["components"]["schemas"]["ReleaseWantedRequest"]["required"].append("licence")
    assert demands(schema) - demands(schema_of_api()) == {"ReleaseWantedRequest needs licence"}


def test_the_schema_is_served_as_yaml_and_as_json(client: Client) -> None:
    assert yaml.safe_load(client.get("/api/schema/").content)["info"]["title"] == "Lineup"
    assert client.get("/api/schema/", headers={"Accept": "application/json"}).json()["openapi"].startswith("3.")


def test_a_command_prints_it_for_the_file() -> None:
    out = StringIO()
    call_command("api_schema", stdout=out)
    assert yaml.safe_load(out.getvalue()) == schema_of_api()


def test_the_page_that_shows_it_uses_nothing_from_elsewhere_and_no_script_in_it(client: Client) -> None:
    page = client.get("/api/docs/").content.decode()
    assert "//" not in page.replace("<!doctype html>", "")
    assert page.count("<script") == page.count("<script src=") + page.count('<script type="module" src=') == 2
    assert "<style" not in page


def test_every_operation_says_what_it_does_and_who_is_asked(client: Client) -> None:
    for name, operation in operations(schema_of_api()):
        assert operation["description"].endswith("."), name
        assert operation["security"] == [{"personalToken": []}], name
        assert operation["responses"]["401"]["content"].keys() == {"application/problem+json"}, name


def prepared(case: Any) -> requests.PreparedRequest:
    """Return the case as it goes over the line."""
    told = case.as_transport_kwargs(base_url="http://localhost")
    names = ("method", "url", "headers", "params", "json", "data", "files")
    return requests.Request(**{name: told[name] for name in names if name in told}).prepare()


def as_response(answer: Any, request: requests.PreparedRequest) -> Response:
    headers = {name.lower(): [value] for name, value in answer.items()}
    return Response(
        status_code=answer.status_code,
        headers=headers,
        content=content(answer),
        request=request,
        elapsed=0.0,
        verify=False,
    )


@pytest.fixture
def named(study: Study, researcher: User) -> dict[str, dict[str, Any]]:
    """Return what there is for the addresses to name, since guessed names find nothing: by the word before an id in the
    address, "" for the others -> what stands in its braces."""
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-1")
    export = request_export(study=study, format="jsonl", by=researcher, now=NOON)
    make_export(export=export, now=lambda: NOON)
    project = study.project
    webhook = Webhook.objects.create(project=project, url="https://example.org/", made_at=NOON)
    release = Release.objects.create(project=project, study=study, name="v1", made_at=NOON)
    make_member(project, "viewer")
    Membership.objects.filter(user=researcher).update(role="owner")
    Pseudonym.objects.update(name="A-34679")
    wanted: dict[str, Any] = {"role": "viewer", "days": 7, "whom": "", "by": researcher, "now": NOON}
    rows = {
        "exports": export,
        "instances": project.instances.all()[0],
        "hub-pushes": HubPush.objects.create(
            project=project, release=release, repository="lab/birds", requested_at=NOON
        ),
        "model-pushes": ModelPush.objects.create(
            project=project, run=waiting_run(project), repository="lab/clip", requested_at=NOON
        ),
        "webhooks": webhook,
        "deliveries": Delivery.objects.create(webhook=webhook, topic="release.made", made_at=NOON, due_at=NOON),
        "invitations": invite(project=project, **wanted)[0],
        "uploads": begin_upload(project, researcher, NOON),
        "imports": Import.objects.create(project=project, files=[], requested_at=NOON, finished_at=NOON),
        "decisions": study.decisions.all()[0],
    }
    others = {"project": "birds", "study": "birds-step-3", "username": "viewer", "name": "A-34679", "part": "rows"}
    return {"": others} | {word: {**others, "pk": str(row.pk)} for word, row in rows.items()}


def send(case: Any, script: Script, named: Mapping[str, Mapping[str, Any]]) -> None:
    """Send a case under an address that names what there is, and look at the answer."""
    of = next((of for of in named if of and f"/{of}/{{pk}}/" in case.path), "")
    case.path_parameters = {name: named[of].get(name, value) for name, value in (case.path_parameters or {}).items()}
    request = prepared(case)
    body = request.body if isinstance(request.body, bytes) else str(request.body or "").encode()
    headers = {name: str(value) for name, value in request.headers.items() if name not in SCRIPTS_OWN}
    media = str(request.headers.get("Content-Type", ""))
    # A header may have any name, that of a parameter for one.
    answered = script.browser.generic(case.method, request.path_url, body, media, headers=headers)
    case.validate_response(as_response(answered, request), checks=CHECKS)


def cases(operation: Any, mode: GenerationMode) -> st.SearchStrategy[Any]:
    try:
        found: st.SearchStrategy[Any] = operation.as_strategy(generation_mode=mode)
    except ValueError:
        # There is nothing that its schema does not allow.
        return st.nothing()
    return found


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_whatever_is_sent_is_answered_as_the_schema_says(
    named: dict[str, dict[str, Any]], researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation, tried with what its schema allows and what it does not: never a mistake of ours, never an answer
    that the schema does not have."""
    monkeypatch.setattr("workspace.actions.webhooks.look_up", lambda host, port: [])
    script, tried = Script(token_of(researcher)), set()

    def try_out(case: Any) -> None:
        send(case, script, named)
        tried.add((case.method, case.operation.path))

    for found in schemathesis.openapi.from_dict(schema_of_api()).get_all_operations():
        for mode in GenerationMode:
            strategy = cases(found.ok(), mode)  # type: ignore[union-attr]
            if not strategy.is_empty:
                BOUNDED(given(case=strategy)(try_out))()
    assert len(tried) == len(list(operations(schema_of_api())))
