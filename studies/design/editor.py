"""Changes of single values in the text of a study file; comments, order and all other lines stay. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from studies.design.lists import replace_rows
from studies.design.parser import Path, read_values
from studies.design.problems import DesignRefused
from studies.design.spans import end_of
from studies.design.yaml_writer import block_yaml, inline_yaml

# Marks a value that a change removes.
LEFT_OUT = None
_ANEW = (
    "# Written by Lineup: a value could not be changed in place, so the whole file was rewritten, without comments.\n"
)
_STEP = 2
# A list that is longer than this on one line is written with a line for each entry.
_LONGEST_LINE = 100


def apply_changes(source: str, changes: Mapping[Path, Any]) -> str:
    """Return the text of a study file with these changes; None leaves a value out.

    Missing sections are added, and sections that become empty are removed. If a value cannot be changed in the text,
    for example because another value refers to it, the whole file is rewritten. Raises DesignRefused for an unreadable
    text.
    """
    for path, value in changes.items():
        values, _ = read_values(source)
        wanted = _change_value(values, path, value)
        source = ensure_values(_edit_text(source, path, value, value_at(values, path)), wanted)
    return source


def ensure_values(source: str, wanted: Mapping[str, Any]) -> str:
    """Return `source` if its values are `wanted`, else a new study file with the values `wanted`."""
    return source if _says(source, wanted) else _ANEW + block_yaml(wanted)


def changed_values(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> Mapping[str, Any]:
    """Return plain values with these changes."""
    for path, value in changes.items():
        values = _change_value(values, path, value)
    return values


def value_at(values: Any, path: Path) -> Any:
    """Return the value at `path`, None if there is none."""
    for name in path:
        is_entry = isinstance(values, list) and isinstance(name, int) and name < len(values)
        if not is_entry and not (isinstance(values, Mapping) and name in values):
            return LEFT_OUT
        values = values[name]
    return values


def _says(source: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return read_values(source)[0] == wanted
    except DesignRefused:
        return False


def _change_value(values: Any, path: Path, value: Any) -> Any:
    """Return plain `values` with a changed value at `path`, without sections that become empty."""
    first, *rest = path
    # A name before a colon may also be a number or a boolean.
    if isinstance(first, int) and isinstance(values, list):
        entries = list(values)
        entries[first] = _change_value(entries[first], tuple(rest), value) if rest else value
        return entries
    section = dict(values) if isinstance(values, dict) else {}
    inner = _change_value(section.get(first, {}), tuple(rest), value) if rest else value
    if inner is LEFT_OUT or (rest and inner == {}):
        section.pop(first, None)
    else:
        section[first] = inner
    return section


def _edit_text(source: str, path: Path, value: Any, said: Any) -> str:
    """Return the text with `value` in place of the present value `said` at `path`."""
    whole = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(whole, yaml.MappingNode):
        return source
    way = _way(whole, path)
    if len(way) == len(path) and value is LEFT_OUT:
        # Removes the outermost section that contains nothing else.
        while len(way) > 1 and isinstance(way[-1][0], yaml.MappingNode) and len(way[-1][0].value) == 1:
            way.pop()
        return _without(source, *way[-1])
    if value is LEFT_OUT:
        return source
    if len(way) == len(path):
        return _replace_value(source, way[-1], value, said)
    section = _value_at(*way[-1]) if way else whole
    missing = path[len(way) :]
    return _add_entry(source, section, way, str(missing[0]), _nest(missing[1:], value))


_Step = tuple[yaml.Node, int]
"""A mapping or a list of the file, and the position of the entry to go on with."""


def _way(node: yaml.Node, path: Path) -> list[_Step]:
    """Return the steps to `path`, as many as exist."""
    way: list[_Step] = []
    for name in path:
        found = _place(node, name)
        if found is None:
            break
        way.append((node, found))
        node = _value_at(node, found)
    return way


def _place(node: yaml.Node, name: str | int) -> int | None:
    if isinstance(node, yaml.MappingNode):
        return next((place for place, (key, _) in enumerate(node.value) if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(name, int) and name < len(node.value):
        return name
    return None


def _value_at(node: yaml.Node, place: int) -> yaml.Node:
    entry = node.value[place]
    found: yaml.Node = entry[1] if isinstance(node, yaml.MappingNode) else entry
    return found


def _nest(path: Path, value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _replace_value(source: str, step: _Step, value: Any, said: Any = None) -> str:
    node, place = step
    old = _value_at(node, place)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return source[: old.start_mark.index] + _in_brackets(value) + source[end_of(source, old) :]
    key = node.value[place][0]
    if isinstance(value, list):
        rows = replace_rows(source, key, old, said, value)
        if rows is not None:
            return rows
    colon = source.index(":", key.end_mark.index) + 1
    indent = key.start_mark.column
    # Comments between a name and its value stay there.
    between, new = source[colon : old.start_mark.index].rstrip(), _after_colon(value, indent)
    if between and not new.startswith("\n"):
        new = f"\n{' ' * (indent + _STEP)}{new.lstrip()}"
    return source[:colon] + between + new + source[max(colon, end_of(source, old)) :]


def _add_entry(source: str, section: yaml.Node, way: Sequence[_Step], name: str, value: Any) -> str:
    """Return the text with one more entry in `section`, which `way` leads to."""
    if not isinstance(section, yaml.MappingNode) or not section.value:
        return _replace_value(source, way[-1], {name: value}) if way else source
    if section.flow_style:
        end = end_of(source, section.value[-1][1])
        return f"{source[:end]}, {name}: {_in_brackets(value)}{source[end:]}"
    indent = section.value[0][0].start_mark.column
    # Behind a comment on the same line.
    line_end = source.find("\n", end_of(source, section))
    end = len(source) if line_end < 0 else line_end
    entry = f"\n{' ' * indent}{inline_yaml(name)}:{_after_colon(value, indent)}"
    return source[:end] + entry + source[end:]


def _without(source: str, node: yaml.Node, place: int) -> str:
    if not isinstance(node, yaml.MappingNode):
        return source
    if node.flow_style:
        return _without_in_braces(source, node, place)
    key, value = node.value[place]
    start = source.rfind("\n", 0, key.start_mark.index) + 1
    line_end = source.find("\n", max(key.end_mark.index, end_of(source, value)))
    return source[:start] + (source[line_end + 1 :] if line_end >= 0 else "")


def _without_in_braces(source: str, section: yaml.MappingNode, place: int) -> str:
    key, value = section.value[place]
    start, end = key.start_mark.index, end_of(source, value)
    if section.value[place + 1 :]:
        end = section.value[place + 1][0].start_mark.index
    elif place:
        before = end_of(source, section.value[place - 1][1])
        # A comma is allowed before the brace, so a comment after it can stay.
        start = start if "#" in source[before:start] else before
    return source[:start] + source[end:]


def _in_brackets(value: Any) -> str:
    """Return a value as YAML inside brackets or braces, where more texts need quotes."""
    return inline_yaml([value])[1:-1]


def _after_colon(value: Any, indent: int) -> str:
    """Return a value as YAML after the colon of a name that begins in the column `indent`."""
    if isinstance(value, str) and "\n" not in value:
        return f" {inline_yaml(value)}"
    if not isinstance(value, str | dict | list) or not value:
        return f" {inline_yaml(value)}"
    if isinstance(value, list) and not any(isinstance(entry, dict | list) for entry in value):
        line = inline_yaml(value)
        if len(line) <= _LONGEST_LINE and "\n" not in line:
            return f" {line}"
    # Written as the value of a name, so that a text of several lines becomes a block.
    inner = block_yaml({"x": value}).removeprefix("x:").removesuffix("\n")
    first, *rest = inner.split("\n")
    return "\n".join([first, *(f"{' ' * indent}{line}" if line else "" for line in rest)])
