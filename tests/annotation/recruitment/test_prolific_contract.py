import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from annotation.recruitment.prolific.contract import find_differences
from annotation.recruitment.prolific.operations import OPERATIONS
from tests.prolific import DESCRIPTION
from tests.studies.real_data import needs_real_data

SUBMISSION = "GET /api/v1/submissions/{id}/"
MESSAGE = "POST /api/v1/messages/"


def described(path: str, method: str, **operation: object) -> dict[str, Any]:
    return {"paths": {path: {method: {"responses": {}, **operation}}}}


def differences(operation: str, description: dict[str, Any]) -> list[str]:
    """Return what is said of one operation."""
    said = [one.removeprefix(f"{operation}: ") for one in find_differences(description)]
    return [one for one in said if not one.endswith("does not exist.") or "`" in one]


def in_json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def test_an_operation_that_is_gone_is_named() -> None:
    said = find_differences({"paths": {}})
    assert len(said) == len(OPERATIONS)
    assert said[0] == "GET /api/v1/users/me/: does not exist."


def message(**schema: object) -> dict[str, Any]:
    fields = {name: {"type": "string"} for name in ("recipient_id", "body", "study_id")}
    body = {"type": "object", "properties": fields, "required": ["recipient_id", "body", "study_id"], **schema}
    return described("/api/v1/messages/", "post", requestBody=in_json(body))


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, []),
        (
            {"required": ["recipient_id", "body", "study_id", "channel_id"]},
            ["`channel_id` of the request is required, and the client may leave it out."],
        ),
        (
            {"properties": {"recipient_id": {"type": "string"}, "body": {"type": "string"}}},
            ["`study_id` of the request does not exist."],
        ),
        (
            {"properties": {name: {"type": "integer"} for name in ("recipient_id", "body", "study_id")}},
            [
                f"`{name}` of the request is of type integer, and the client has string."
                for name in ("recipient_id", "body", "study_id")
            ],
        ),
    ],
)
def test_a_request_that_the_client_would_get_wrong_is_described(schema: dict[str, Any], said: list[str]) -> None:
    assert differences(MESSAGE, message(**schema)) == said


def submission(**fields: dict[str, Any]) -> dict[str, Any]:
    known = {
        **{name: {"type": "string"} for name in ("id", "study_id", "participant", "status", "started_at")},
        **{name: {"type": ["string", "null"]} for name in ("completed_at", "entered_code", "return_requested")},
        "bonus_payments": {"type": "array", "items": {"type": "number"}},
    }
    answer = {"200": in_json({"type": "object", "properties": {**known, **fields}})}
    return described("/api/v1/submissions/{submission_id}/", "get", responses=answer)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        # The name of an id in a path is nobody's business.
        ({}, []),
        (
            {"status": {"type": "string", "enum": ["ACTIVE", "EXPIRED"]}},
            ["`status` of the response may be new: EXPIRED."],
        ),
        (
            {"bonus_payments": {"type": "array", "items": {"type": "string"}}},
            ["an item of `bonus_payments` of the response is of type string, and the client has number."],
        ),
        ({"another": {"type": "string"}}, []),
    ],
)
def test_a_response_that_the_client_would_not_know_is_described(fields: dict[str, Any], said: list[str]) -> None:
    assert differences(SUBMISSION, submission(**fields)) == said


def test_a_query_that_is_newly_required_is_described() -> None:
    parameters = [
        {"name": "study", "in": "query", "required": True, "schema": {"type": "string"}},
        {"name": "workspace", "in": "query", "required": True, "schema": {"type": "string"}},
        {"name": "page", "in": "query", "schema": {"type": "integer"}},
        {"name": "page_size", "in": "query", "schema": {"type": "integer"}},
    ]
    body = in_json({"type": "object", "properties": {"results": {"type": "array"}}})
    description = described("/api/v1/submissions/", "get", parameters=parameters, responses={"200": body})
    assert differences("GET /api/v1/submissions/", description) == [
        "the parameter `workspace` is required, and the client does not send it.",
        "the parameter `ordering` does not exist.",
    ]


@needs_real_data
def test_the_published_description_is_what_the_client_uses() -> None:
    assert find_differences(json.loads(DESCRIPTION.read_text(encoding="utf-8"))) == []


@needs_real_data
def test_a_code_type_that_is_no_longer_allowed_is_found_in_the_published_description() -> None:
    changed = copy.deepcopy(json.loads(DESCRIPTION.read_text(encoding="utf-8")))
    types = changed["components"]["schemas"]["CreateStudyCompletionCodesItemsCodeType"]["enum"]
    types.remove("NO_CONSENT")
    [said] = find_differences(changed)
    where = "`code_type` of an item of `completion_codes` of the request"
    assert said == f"POST /api/v1/studies/: {where} no longer allows NO_CONSENT."


def test_the_command_lists_what_differs_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "openapi.yaml"
    file.write_text(yaml.safe_dump({"openapi": "3.1.0", "paths": {}}))
    with pytest.raises(CommandError, match=rf"{len(OPERATIONS)} differences\."):
        call_command("prolific_contract", file)
    assert len(capsys.readouterr().out.splitlines()) == len(OPERATIONS)


@needs_real_data
def test_the_command_says_that_nothing_differs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("prolific_contract", DESCRIPTION)
    assert capsys.readouterr().out == f"No differences in the {len(OPERATIONS)} operations that Lineup uses.\n"


@pytest.mark.parametrize("text", ["[1, 2]", "openapi: 3.1.0", "paths: {/api/v1/users/me/: {get: 3}}"])
def test_the_command_refuses_what_is_no_description(tmp_path: Path, text: str) -> None:
    file = tmp_path / "openapi.yaml"
    file.write_text(text)
    with pytest.raises(CommandError, match="is not an OpenAPI 3 description of an API"):
        call_command("prolific_contract", file)


def test_the_command_refuses_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("prolific_contract", tmp_path / "none.json")
