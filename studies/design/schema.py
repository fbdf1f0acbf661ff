"""The JSON Schema of study files, generated from their definition. Pure.

It is published as docs/study-file.schema.json, so that editors check a study file while it is written.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from studies.design.entries import Section, entries_of
from studies.design.model import ASKING, PARTS, Design, before_parts
from studies.eligibility import RULES as ELIGIBILITY
from studies.kinds import KINDS
from studies.policies import POLICIES
from studies.rules import RULES


def study_schema() -> Mapping[str, Any]:
    """Return the JSON Schema (2020-12) of a study file, with defaults."""
    return _schema_with(tuple(KINDS), tuple(RULES), tuple(ELIGIBILITY), tuple(POLICIES))


@cache
def _schema_with(*registries: tuple[str, ...]) -> Mapping[str, Any]:
    found = Design.model_json_schema(schema_generator=StudyFileSchema)
    part = found["properties"][PARTS]["items"]["properties"]
    properties = before_parts(found["properties"], {name: part[name] for name in ASKING})
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "Lineup study file", **found, "properties": properties}


class StudyFileSchema(GenerateJsonSchema):
    """JSON Schema of sections as study files have them: None is not written, amounts are texts, no titles."""

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        found = super().generate(schema, mode)
        inlined: JsonSchemaValue = _inline(found, found.pop("$defs", {}))
        return inlined

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """Keep the order of the definition."""
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        properties = super().model_schema(schema).get("properties", {})
        section: type[Section] = schema["cls"]
        needed = [name for name, (entry, _) in entries_of(section).items() if entry.default is ...]
        required = {"required": needed} if needed else {}
        return {"type": "object", "additionalProperties": False, **required, "properties": properties}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        return {word: value for word, value in found.items() if word != "default" or value is not None}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        return {"type": "string"}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        return {"type": "object"}


def _inline(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with every reference replaced by what it refers to."""
    if isinstance(part, list):
        return [_inline(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref", "").removeprefix("#/$defs/") if isinstance(part.get("$ref"), str) else ""
    whole = definitions.get(reference, {}) | {name: value for name, value in part.items() if name != "$ref"}
    return {name: _inline(value, definitions) for name, value in whole.items()}
