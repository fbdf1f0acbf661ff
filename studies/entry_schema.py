"""JSON Schemas of the entries of a list in study files, whose name says which properties they have. Pure."""

from collections.abc import Mapping
from typing import Any


def entry_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an entry with these properties; those without a default are required."""
    needed = [name for name, part in properties.items() if "default" not in part]
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": needed}
