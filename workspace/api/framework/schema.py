"""Schema of the endpoints: parameters, responses, and the problems that any of them may return."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "type": "object",
    "description": "What is wrong (RFC 9457). `detail` is a sentence for people; `errors` lists the places.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "reason": {"type": "string"},
                    "field": {"type": "string"},
                    "line": {"type": "integer", "nullable": True},
                    "record": {"type": "integer", "nullable": True},
                },
                "required": ["reason"],
            },
        },
    },
    "required": ["type", "title", "status", "detail"],
}
REFUSALS = {
    "400": "The request cannot be read, or has an impossible value.",
    "401": "The token is missing, misspelled, expired or revoked.",
    "403": "The token or its owner's role does not allow this.",
    "404": "Not found, or not visible to the token's owner.",
    "409": "Impossible in the current state; `detail` says what to do.",
    "410": "The file is no longer available.",
    "413": "The request is too large; send it in parts.",
    "415": "This address does not accept the media type.",
    "416": "The file has no such range.",
    "422": "The content was read and cannot be used; `errors` says why.",
    "429": "Too many requests; `Retry-After` says how many seconds to wait.",
}
ALWAYS = ("400", "401", "404", "429")
WHEN_CHANGING = ("403", "409", "413", "415", "422")


class EndpointSchema(AutoSchema):
    """Add a summary, and the problems that an endpoint of this type may return."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        operation["summary"] = str(operation["description"]).partition("\n")[0]
        when_reading = ("403", *getattr(self.view, "when_reading", ()))
        codes = [*ALWAYS, *(WHEN_CHANGING if self.method != "GET" else when_reading)]
        for code in codes:
            operation["responses"].setdefault(code, problem(REFUSALS[code]))
        return operation

    def get_tags(self) -> list[str]:
        """Group the operations by subject."""
        return [getattr(self.view, "about", "Projects")]


def problem(description: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": description, "content": content}


def with_problem(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the problem to the components (a hook of drf-spectacular)."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    return result
