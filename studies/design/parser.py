"""Parser of study files: from YAML to plain values and the line of each. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from studies.design.problems import DesignRefused, Problem

Path = tuple[str | int, ...]
"""The place of a value: the names and list positions that lead to it, () for the whole file."""
Lines = Mapping[Path, int]

LARGEST_FILE = 1_000_000
# Far more than a study needs; nested aliases could expand to billions.
MOST_ENTRIES = 300_000


class _Loader(yaml.SafeLoader):
    """Reads plain YAML, dates as text: no entry of a study file is a date."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_values(text: str, *, file: str = "study file", guide: str = "docs/studies.md") -> tuple[dict[str, Any], Lines]:
    """Return the values of a file, unchecked, and the line of each; `file` is what people call it.

    Raises DesignRefused.
    """
    value, lines = _load(text, file)
    if not isinstance(value, dict):
        raise DesignRefused([Problem(None, f"The {file} must consist of `name: value` lines; see {guide}.")])
    return value, lines


def read_value(text: str) -> Any:
    """Return the value of a piece of YAML, unchecked. Raises DesignRefused."""
    return _load(text)[0]


def _load(text: str, file: str = "study file") -> tuple[Any, Lines]:
    if len(text) > LARGEST_FILE:
        raise DesignRefused([Problem(None, f"The {file} is larger than 1 MB. Is it the right file?")])
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise DesignRefused([Problem(None, f"The {file} is empty.")])
        lines: dict[Path, int] = {}
        unusable = [*_walk(node, (), lines, set())]
        if unusable:
            raise DesignRefused(unusable)
        return loader.construct_document(node), lines
    except yaml.YAMLError as error:
        raise DesignRefused([_explain(error)]) from error
    except (ValueError, RecursionError) as error:
        raise DesignRefused([Problem(None, "This cannot be read as YAML.")]) from error


# What the parser says of a mistake -> what to do about it. SIGN: what it found.
_ADVICE = {
    r"mapping values are not allowed": (
        "A colon stands where none can be. Put quotation marks around a text with a colon, or correct the indentation."
    ),
    r"could not find expected ':'": "A colon is missing. Write a line as `name: value`.",
    r"found character '\\t'": "A tab cannot indent a line. Use spaces.",
    r"found character '(?P<sign>.)'": "A text cannot begin with SIGN. Put quotation marks around it.",
    r"found undefined alias '?(?P<sign>[^']*)": "A text cannot begin with *. Put quotation marks around *SIGN.",
    r"expected <block end>": "The line does not fit those above. Indent names of a section alike, and close quotes.",
    r"expected ',' or": "Between brackets or braces a comma is missing, or the ] or } at the end.",
    r"constructor for the tag": "A text cannot begin with !. Put quotation marks around it.",
}
_UNCLOSED = "A bracket or brace is not closed: add the missing ] or } at its end."
_UNQUOTED = "A quotation mark is not closed: add one at the end of the text."


def _explain(error: yaml.YAMLError) -> Problem:
    """Return a mistake in YAML with its line and what to do about it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return Problem(None, "This has a character that a study file cannot contain. Remove it.")
    said, context = error.problem or "", error.context or ""
    mark = error.problem_mark or error.context_mark
    if "quoted scalar" in context and error.context_mark:
        return Problem(error.context_mark.line + 1, _UNQUOTED)
    if "flow" in context and error.context_mark and "<stream end>" in said:
        return Problem(error.context_mark.line + 1, _UNCLOSED)
    line = mark.line + 1 if mark else None
    for pattern, advice in _ADVICE.items():
        if match := re.search(pattern, said):
            return Problem(line, advice.replace("SIGN", match.groupdict().get("sign", "")))
    return Problem(line, "This is not valid YAML. Check its indentation, colons, quotation marks and brackets.")


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int], above: set[int]) -> Iterator[Problem]:
    """Record the line of every value, and yield problems with constructs that YAML allows and study files do not."""
    lines[path] = node.start_mark.line + 1
    if len(lines) > MOST_ENTRIES:
        raise DesignRefused([Problem(lines[path], "The study file has too many entries. Do aliases repeat aliases?")])
    if id(node) in above:
        yield Problem(lines[path], "A value contains itself; write it out instead of using an alias.")
        return
    above = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        yield from _walk_section(node, path, lines, above)
    elif isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            yield from _walk(entry, (*path, number), lines, above)


def _walk_section(node: yaml.MappingNode, path: Path, lines: dict[Path, int], above: set[int]) -> Iterator[Problem]:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            yield Problem(line, "A name before a colon must be a word, not a list or a section.")
            continue
        if key.value in seen:
            yield Problem(line, f"`{key.value}` is given twice; keep one.")
        seen.add(str(key.value))
        yield from _walk(value, (*path, str(key.value)), lines, above)
        lines[(*path, str(key.value))] = line
