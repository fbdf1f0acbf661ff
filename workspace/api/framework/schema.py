"""Schema of the endpoints: parameters, responses, and the problems that any of them may return."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "type": "object",
    "description": "What is wrong (RFC 9457). `detail` is a sentence for people; `errors` says where.",
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
    "400": "What was sent cannot be understood.",
    "401": "No token, or one that opens nothing.",
    "403": "The token, or its owner's role, does not allow it.",
    "404": "There is nothing here that the token's owner may see.",
    "409": "Not as things stand; the sentence says what to do.",
    "410": "It is no longer given out.",
    "413": "Too large.",
    "415": "Not a media type that this address takes.",
    "416": "The file has no such range.",
    "422": "What was sent was understood and cannot be used; `errors` says why.",
    "429": "Too often; `Retry-After` says how long to wait, in seconds.",
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
