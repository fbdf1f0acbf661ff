"""Building blocks of the definition of study files: sections and their entries. Pure.

A section is a Pydantic model, and an entry is one of its fields. The field defines everything about the entry: type,
default, limits, description in the schema and the form, and the behaviour of versions without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer, PlainValidator


class Section(BaseModel):
    """A part of a study file. Immutable: `model_copy` returns a changed copy."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)


@dataclass(frozen=True)
class Entry:
    """Properties of an entry besides its name and type; see `entry`."""

    default: Any
    limits: Mapping[str, Any]
    since: int
    before: Any
    group: str
    first: str
    label: str

    def __call__(self, schema: dict[str, JsonValue]) -> None:
        """Add the limits and the default to the JSON Schema of the entry; Pydantic calls this."""
        if "description" in schema:
            schema["description"] = " ".join(str(schema["description"]).split())
        if "enum" in self.limits:
            schema.pop("type", None)
        for name, limit in self.limits.items():
            schema[name] = limit() if callable(limit) else list(limit) if name == "enum" else limit
        if self.default not in (..., None) and not callable(self.default):
            schema["default"] = self.default


def entry(
    default: Any,
    *,
    alias: str | None = None,
    group: str = "",
    first: str = "",
    label: str = "",
    since: int = 0,
    before: Any = ...,
    optional: bool = False,
    **limits: Any,
) -> Any:
    """Return the field of one entry. Editors and the form show the text below it in the definition.

    If the entry has a `pattern`, that text is also the reason in the error about a value that does not match.

    default: what holds where a study file leaves the entry out: a value, None for nothing, or a function of all other
    values of the file. `...` where the file must have it.
    alias: the name in the file, where that is a word of Python.
    group: the part of the form that the entry stands in; without it, one of its own.
    first: the heading under which it stands on the first screen of the form; "" for an entry that is in Advanced.
    label: its label in the form, where that is not its name.
    since: the first version of designs that has it; `before`: what versions before it did, a value or a function of the
    stored design, the default unless given.
    optional: it is stored only where it is not the default, so that designs without it need no new version. For
    entries whose default is what Lineup did before.
    limits: words of JSON Schema, each with its value or a function that returns it. They hold for study files; a stored
    design keeps to the limits of its time.
    """
    extra = Entry(default, limits, since, default if before is ... else before, group, first, label)
    if optional:
        stored = tuple(default) if isinstance(default, list) else default
        return Field(stored, alias=alias, json_schema_extra=extra, exclude_if=lambda value: value == stored)
    return Field(alias=alias, json_schema_extra=extra)


def _read_only(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))


Options = Annotated[
    Mapping[str, Any], PlainValidator(_read_only, json_schema_input_type=dict[str, Any]), PlainSerializer(dict)
]
"""A section whose entries a kind of question knows. It cannot be changed."""


@cache
def entries_of(section: type[Section]) -> Mapping[str, tuple[Entry, type[Section] | None]]:
    """Return the entries of a section by their names in a study file, each with its own section if it is one."""
    found = {}
    for name, field in section.model_fields.items():
        sort: Any = field.annotation
        entry: Any = field.json_schema_extra
        found[field.alias or name] = entry, sort if isinstance(sort, type) and issubclass(sort, Section) else None
    return found


def fill(section: type[Section], values: Mapping[str, Any], value_of: Callable[[Entry], Any]) -> dict[str, Any]:
    """Return `values`, with the entries that are left out filled by `value_of`; `...` leaves one out.

    An empty text counts as left out.
    """
    filled = dict(values)
    for name, (entry, inner) in entries_of(section).items():
        if filled.get(name, "") == "" and (value := value_of(entry)) is not ...:
            filled[name] = value
        if inner and isinstance(filled.get(name), Mapping):
            filled[name] = fill(inner, filled[name], value_of)
    return filled


def with_defaults(values: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` with the defaults of a JSON Schema, including its sections and lists."""
    filled = dict(values)
    for name, part in schema.get("properties", {}).items():
        if name not in filled and "default" in part:
            filled[name] = part["default"]
        if part.get("type") == "object" and name in filled:
            filled[name] = with_defaults(filled[name], part)
        if part.get("type") == "array" and name in filled and "properties" in part["items"]:
            filled[name] = [with_defaults(each, part["items"]) for each in filled[name]]
    return filled
