"""Compare a description of Prolific's API (OpenAPI 3) with what the client sends and reads."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from annotation.recruitment.prolific.operations import OPERATIONS, Operation

Schema = Mapping[str, Any]
_JSON = "application/json"


def find_differences(description: Schema) -> list[str]:
    """Return what the description has otherwise than the client, as sentences, in the order of the operations.

    Fields and operations that the client does not use are ignored. Raises LookupError, TypeError or AttributeError for
    something that is no description.
    """
    paths = {_without_names(path): operations for path, operations in description["paths"].items()}
    return [
        f"{operation.method} {operation.path}: {difference}"
        for operation in OPERATIONS
        for difference in _compare(operation, paths, description)
    ]


def _without_names(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def _compare(operation: Operation[Any], paths: Schema, root: Schema) -> Iterator[str]:
    theirs = paths.get(_without_names(operation.path), {}).get(operation.method.lower())
    if theirs is None:
        yield "does not exist."
        return
    yield from _compare_query(operation, theirs, root)
    yield from _compare_request(operation, theirs, root)
    yield from _compare_response(operation, theirs, root)


def _compare_query(operation: Operation[Any], theirs: Schema, root: Schema) -> Iterator[str]:
    names = set()
    for parameter in theirs.get("parameters", []):
        if parameter["in"] != "query":
            continue
        # A parameter that is an object stands in the query by its properties.
        fields = {name for variant in _variants(parameter["schema"], root) for name in variant.properties}
        names |= {parameter["name"], *fields}
        if parameter.get("required") and not {parameter["name"], *fields} & set(operation.query):
            yield f"the parameter `{parameter['name']}` is required, and the client does not send it."
    # Lists of other platforms' age have no parameters described at all.
    for name in operation.query:
        if names and name not in names:
            yield f"the parameter `{name}` does not exist."


def _compare_request(operation: Operation[Any], theirs: Schema, root: Schema) -> Iterator[str]:
    schema = theirs.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema")
    if operation.sends is None:
        if schema and any(variant.required for variant in _variants(schema, root)):
            yield "a body is required, and the client sends none."
    elif schema is None:
        yield "takes no body, and the client sends one."
    else:
        ours = operation.sends.model_json_schema(mode="serialization")
        yield from _Comparison(is_sent=True).fit("the request", _variants(ours, ours), _variants(schema, root))


def _compare_response(operation: Operation[Any], theirs: Schema, root: Schema) -> Iterator[str]:
    if operation.reads is None:
        return
    success: Schema = next((body for status, body in theirs["responses"].items() if status.startswith("2")), {})
    schema = success.get("content", {}).get(_JSON, {}).get("schema")
    if schema is None:
        yield "has no response in JSON."
        return
    ours = TypeAdapter(operation.reads).json_schema(mode="validation")
    yield from _Comparison(is_sent=False).fit("the response", _variants(schema, root), _variants(ours, ours))


@dataclass(frozen=True)
class _Variant:
    """A schema of one type, "" for any; `root` resolves what it refers to."""

    type: str
    schema: Schema
    root: Schema

    @property
    def properties(self) -> Mapping[str, Schema]:
        found: Mapping[str, Schema] = self.schema.get("properties", {})
        return found

    @property
    def required(self) -> frozenset[str]:
        return frozenset(self.schema.get("required", ()))

    @property
    def values(self) -> frozenset[Any] | None:
        """The values of an enumeration, None if any value of the type is allowed."""
        if "const" in self.schema:
            return frozenset({self.schema["const"]})
        return frozenset(self.schema["enum"]) if "enum" in self.schema else None


def _variants(schema: Schema, root: Schema) -> list[_Variant]:
    """Return the alternatives that a schema allows."""
    if "$ref" in schema:
        found: Any = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return _variants(found, root)
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return [variant for one in schema[key] for variant in _variants(one, root)]
    if "allOf" in schema:
        merged: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        for part in [variant for one in schema["allOf"] for variant in _variants(one, root)]:
            merged["properties"].update(part.properties)
            merged["required"] += part.required
        return [_Variant("object", merged, root)]
    types = schema.get("type", "object" if "properties" in schema else "")
    return [_Variant(type_, schema, root) for type_ in (types if isinstance(types, list) else [types])]


@dataclass(frozen=True)
class _Comparison:
    """Whether what one side writes can be read by the other. `is_sent`: we write, else we read."""

    is_sent: bool

    def fit(self, where: str, written: list[_Variant], read: list[_Variant]) -> list[str]:
        """Return why some alternative that is written fits none that is read."""
        found: list[str] = []
        for one in written if self.is_sent else _merge_objects(written):
            reasons = [self._fit_one(where, one, other) for other in read]
            if all(reasons):
                # Of the alternatives, what the nearest one would need.
                nearest: list[str] = min(reasons, key=len)
                found += nearest
        return list(dict.fromkeys(found))

    def _fit_one(self, where: str, written: _Variant, read: _Variant) -> list[str]:
        if not written.type or not read.type:
            return []
        if written.type != read.type and (written.type, read.type) != ("integer", "number"):
            ours, theirs = (written, read) if self.is_sent else (read, written)
            return [f"{where} is of type {theirs.type}, and the client has {ours.type}."]
        if read.values is not None:
            return self._fit_values(where, written.values, read.values)
        if written.type == "array":
            items = [_variants(one.schema.get("items", {}), one.root) for one in (written, read)]
            return self.fit(f"an item of {where}", items[0], items[1])
        return self._fit_fields(where, written, read) if written.type == "object" else []

    def _fit_values(self, where: str, written: frozenset[Any] | None, read: frozenset[Any]) -> list[str]:
        if written is None:
            return [f"{where} has fixed values, and the client sends any."] if self.is_sent else []
        unknown = ", ".join(sorted(map(str, written - read)))
        says = "no longer allows" if self.is_sent else "may be new:"
        return [f"{where} {says} {unknown}."] if unknown else []

    def _fit_fields(self, where: str, written: _Variant, read: _Variant) -> list[str]:
        found = []
        ours, theirs = (written, read) if self.is_sent else (read, written)
        if self.is_sent:
            # What has a value from the start is always sent.
            always = {name for name, field in ours.properties.items() if field.get("default") is not None}
            missing = sorted(theirs.required - ours.required - always)
            found += [f"`{name}` of {where} is required, and the client may leave it out." for name in missing]
        for name, field in ours.properties.items():
            if field.get("undocumented"):
                continue
            if name not in theirs.properties:
                found.append(f"`{name}` of {where} does not exist.")
                continue
            pair = [_variants(one.properties[name], one.root) for one in (written, read)]
            found += self.fit(f"`{name}` of {where}", *map(self._without_null, pair))
        return found

    def _without_null(self, variants: list[_Variant]) -> list[_Variant]:
        """Leave out null: what we do not know is not sent, and a field that is read as null is one without a value."""
        return [variant for variant in variants if variant.type != "null"]


def _merge_objects(variants: list[_Variant]) -> list[_Variant]:
    """Return alternatives of which one at most is an object, with the fields of all: some have more than others."""
    objects = [variant for variant in variants if variant.type == "object"]
    if len(objects) < 2:
        return variants
    fields: dict[str, list[Schema]] = {}
    for variant in objects:
        for name, field in variant.properties.items():
            fields.setdefault(name, []).append(field)
    merged = {"properties": {name: {"anyOf": alternatives} for name, alternatives in fields.items()}}
    others = [variant for variant in variants if variant.type != "object"]
    return [*others, _Variant("object", merged, objects[0].root)]
