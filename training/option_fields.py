"""Fields of a form for the options of a recipe, and the options that somebody filled in. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.recipes import Recipe

PREFIX = "option-"


@dataclass(frozen=True)
class OptionField:
    """A field for an option of a recipe. `choices`: none where a value is written; `value`: as text."""

    name: str
    label: str
    about: str
    value: str
    choices: Sequence[str] = ()
    is_number: bool = False

    @property
    def field(self) -> str:
        """The name of the field in the form."""
        return f"{PREFIX}{self.name}"


def option_fields(recipe: type[Recipe], posted: Mapping[str, str]) -> list[OptionField]:
    """Return a field for each option, with what was posted or else with the paper's value."""
    properties: Mapping[str, Any] = recipe.model_json_schema()["properties"]
    return [_field(name, schema, posted) for name, schema in properties.items()]


def _field(name: str, schema: Mapping[str, Any], posted: Mapping[str, str]) -> OptionField:
    choices = [
        _text(value) for value in schema.get("enum", ("true", "false") if schema.get("type") == "boolean" else ())
    ]
    return OptionField(
        name,
        name.replace("_", " ").capitalize(),
        schema.get("description", ""),
        posted.get(f"{PREFIX}{name}", _text(schema.get("default", ""))),
        [_text(value) for value in choices],
        schema.get("type") in {"integer", "number"},
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def read_options(recipe: type[Recipe], posted: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that differ from the paper's, as the recipe reads them; numbers that are none stay texts."""
    given = {}
    for field, default in zip(option_fields(recipe, posted), option_fields(recipe, {}), strict=True):
        if field.value.strip() and field.value != default.value:
            given[field.name] = read_value(field.value.strip())
    return given


def read_value(written: str) -> Any:
    """Return a written value: a number, a truth value, or a text."""
    try:
        return json.loads(written)
    # Too many brackets are too deep to be read.
    except (ValueError, RecursionError):
        return written
