"""Study files: YAML in, a checked design out, or every problem with its line. Pure."""

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
import yaml

from studies.kinds import KINDS, get_kind
from studies.naming import problem_with_line
from studies.rules import fitting, get_rule, misfit
from studies.study_file import study_schema

LARGEST_FILE = 1_000_000


@dataclass(frozen=True)
class Problem:
    """`line` counts from 1; None when the problem is of the file as a whole."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


class DesignRefused(Exception):
    """The study file cannot be used; `problems` says all that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def read_design(text: str) -> dict[str, Any]:
    """Return the design in a study file, every default filled in. Raises DesignRefused with all problems found."""
    if len(text) > LARGEST_FILE:
        raise DesignRefused([Problem(None, "The study file is larger than 1 MB. Is it the right file?")])
    value, lines = _load(text)
    if not isinstance(value, dict):
        raise DesignRefused([Problem(None, "The study file must consist of `name: value` lines; see docs/studies.md.")])
    schema = study_schema()
    problems = [*_check(value, schema, lines, ())]
    asked = _asked(value)
    if not asked and not problems:
        problems.append(Problem(None, "`kind` is missing in the study file, or `parts` in its place."))
    if "parts" in value and {"kind", "ask", "instructions"} & set(value):
        problems.append(Problem(lines.get(("parts",)), "With `parts`, write `kind`, `ask` and `instructions` inside."))
    for path, part in asked:
        problems += _check(part.get("ask", {}), dict(get_kind(part["kind"]).ask_schema), lines, (*path, "ask"))
    if problems:
        raise DesignRefused(sorted(problems, key=lambda problem: problem.line or 0))
    design = _with_defaults({name: part for name, part in value.items() if name != "parts"}, schema)
    design["parts"] = [_part(part) for _, part in asked]
    # The first part stands at the top too: most studies have no other.
    design |= design["parts"][0]
    design["purpose"] = design.get("purpose") or _usual_purpose(design)
    design["seed"] = design.get("seed") or design["study"]
    design["rule"] = design.get("rule") or get_kind(design["kind"]).rule
    design["max_answers"] = design.get("max_answers") or design["answers"]
    design["time"].setdefault("limit_minutes", shortest_limit(design["time"]["estimated_minutes"]))
    problems = [*_check_sense(design, lines)]
    if problems:
        raise DesignRefused(problems)
    return design


def _asked(value: Mapping[str, Any]) -> list[tuple["Path", Mapping[str, Any]]]:
    """Return the parts of a study file that name a known kind and have a readable `ask`, each with its path."""
    given = value.get("parts")
    parts: list[tuple[Path, Any]] = [(("parts", number), part) for number, part in enumerate(given or [])]
    if given is None or not isinstance(given, list):
        parts = [((), value)]
    return [
        (path, part)
        for path, part in parts
        if isinstance(part, dict) and part.get("kind") in KINDS and isinstance(part.get("ask", {}), dict)
    ]


def knows_right(design: Mapping[str, Any]) -> bool:
    """Tell whether a study asks questions whose right answer is known beforehand."""
    return any(get_kind(part["kind"]).knows_right(part["ask"]) for part in design["parts"])


def _usual_purpose(design: Mapping[str, Any]) -> str:
    if knows_right(design):
        return "baseline"
    return "collection" if all(get_kind(part["kind"]).collects for part in design["parts"]) else "filter"


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = get_kind(part["kind"])
    return {
        "kind": kind.name,
        "ask": _with_defaults(part.get("ask", {}), kind.ask_schema),
        "instructions": part.get("instructions") or kind.instructions,
    }


def shortest_limit(estimated_minutes: int) -> int:
    """Return the least maximum time, in minutes, that Prolific allows: 2 + 2t + 2 sqrt(t), rounded up.

    Source: prolific.md, section 3.5. Example: 20 -> 51.
    """
    return math.ceil(2 + 2 * estimated_minutes + 2 * math.sqrt(estimated_minutes))


Path = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """Reads plain YAML, leaving dates as text: nothing in a study file is a date."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _load(text: str) -> tuple[Any, dict[Path, int]]:
    """Return the value of a YAML text and the line of each of its parts."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise DesignRefused([Problem(None, "The study file is empty.")])
        lines: dict[Path, int] = {}
        unusable = [*_walk(node, (), lines, set())]
        if unusable:
            raise DesignRefused(unusable)
        return loader.construct_document(node), lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it is no YAML"
        raise DesignRefused([Problem(mark.line + 1 if mark else None, f"This cannot be read: {reason}.")]) from error
    except (ValueError, RecursionError) as error:
        raise DesignRefused([Problem(None, "This cannot be read as YAML.")]) from error


# Far more than a study needs; aliases of aliases could make billions.
MOST_ENTRIES = 300_000
# A quoted text can spell them out, though no YAML file may hold them as they are.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int], above: set[int]) -> Iterator[Problem]:
    lines[path] = node.start_mark.line + 1
    if len(lines) > MOST_ENTRIES:
        raise DesignRefused([Problem(lines[path], "The study file has too many entries. Do aliases repeat aliases?")])
    if id(node) in above:
        yield Problem(lines[path], "A value contains itself; write it out instead of using an alias.")
        return
    above = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield Problem(key.start_mark.line + 1, f"`{key.value}` is given twice; keep one.")
            seen.add(str(key.value))
            yield from _walk(value, (*path, str(key.value)), lines, above)
            lines[(*path, str(key.value))] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            yield from _walk(entry, (*path, number), lines, above)
    elif _UNSTORABLE.search(node.value):
        yield Problem(lines[path], "The text has a NUL or half a character, which cannot be stored. Remove it.")


def _check(value: Any, schema: Mapping[str, Any], lines: dict[Path, int], prefix: Path) -> Iterator[Problem]:
    validator = jsonschema.Draft202012Validator(dict(schema))
    for error in validator.iter_errors(value):
        path = (*prefix, *error.absolute_path)
        yield Problem(_line(lines, path, error), _say(error, path))


def _line(lines: dict[Path, int], path: Path, error: jsonschema.ValidationError) -> int | None:
    if error.validator == "additionalProperties":
        path = (*path, next(iter(_unknown(error)), ""))
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path) if path else (None if error.validator == "required" else lines.get(()))


def _rule(error: jsonschema.ValidationError) -> Mapping[str, Any]:
    """Return the part of the schema that was broken."""
    return error.schema if isinstance(error.schema, Mapping) else {}


def _unknown(error: jsonschema.ValidationError) -> list[str]:
    known = _rule(error).get("properties", {})
    instance: Any = error.instance
    return [str(name) for name in instance if name not in known]


_TYPE_NAMES = {
    "string": "text (put it in quotes)",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a section of `name: value` lines",
}


def _say(error: jsonschema.ValidationError, path: Path) -> str:
    """Put a schema error into a sentence a researcher can act on."""
    name = ".".join(str(part) for part in path) or "the study file"
    limit: Any = error.validator_value
    instance: Any = error.instance
    rule = _rule(error)
    match error.validator:
        case "additionalProperties":
            unknown = _unknown(error)[0]
            near = difflib.get_close_matches(unknown, rule.get("properties", {}), n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known are: {', '.join(rule['properties'])}."
            return f"`{unknown}` is not known here. {hint}"
        case "required":
            missing = [entry for entry in limit if entry not in instance]
            return f"`{missing[0]}` is missing in {name}."
        case "type":
            return f"`{name}` must be {_TYPE_NAMES[str(limit)]}, not {instance!r}."
        case "enum":
            return f"`{name}` is {instance!r}. Choose one of: {', '.join(map(str, limit))}."
        case "minimum":
            return f"`{name}` is {instance}; it must be at least {limit}."
        case "maximum":
            return f"`{name}` is {instance}; it must be at most {limit}."
        case "pattern":
            return f"`{name}` is {instance!r}. {rule.get('description', '')}".strip()
        case "minLength":
            return f"`{name}` is empty."
        case "maxLength":
            return f"`{name}` is longer than {limit} characters."
        case "uniqueItems":
            return f"`{name}` names something twice."
    return f"`{name}`: {error.message}."


def _with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` with the schema's defaults filled in, sections too."""
    filled = dict(value)
    for name, part in schema.get("properties", {}).items():
        if name not in filled and "default" in part:
            filled[name] = part["default"]
        if part.get("type") == "object" and name in filled:
            filled[name] = _with_defaults(filled[name], part)
        if part.get("type") == "array" and name in filled and "properties" in part["items"]:
            filled[name] = [_with_defaults(entry, part["items"]) for entry in filled[name]]
    return filled


def _check_part(part: Mapping[str, Any], rule: str, lines: dict[Path, int], path: Path) -> Iterator[Problem]:
    kind = get_kind(part["kind"])
    for entry, sentence in kind.problems(part["ask"]):
        yield Problem(_nearest(lines, (*path, "ask", entry)), sentence)
    if lacking := misfit(get_rule(rule), kind, part["ask"]):
        fit = " or ".join(fitting(kind, part["ask"]))
        yield Problem(lines.get(("rule",)), f"Rule {rule} does not fit {kind.name}: it {lacking}. Use {fit}.")


def _nearest(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of `path`, or of what it stands in."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _check_sense(design: Mapping[str, Any], lines: dict[Path, int]) -> Iterator[Problem]:
    """Find what the schema cannot say."""
    if reason := problem_with_line(design["title"]):
        yield Problem(lines.get(("title",)), f"`title` cannot be used. {reason}")
    for number, part in enumerate(design["parts"]):
        yield from _check_part(part, design["rule"], lines, ("parts", number) if ("parts",) in lines else ())
    if design["max_answers"] < design["answers"]:
        yield Problem(
            lines.get(("max_answers",)),
            f"`max_answers` is {design['max_answers']}, less than the {design['answers']} answers every question gets.",
        )
    if design["purpose"] == "baseline" and not knows_right(design):
        yield Problem(
            lines.get(("purpose",)),
            "A baseline compares answers with the right one, and these questions have none. Use another `purpose`.",
        )
    if design.get("dataset") and design["purpose"] not in ("filter", "collection"):
        yield Problem(
            lines.get(("dataset",)),
            f"A study whose purpose is {design['purpose']} keeps nothing, so `dataset` must be false or left out.",
        )
    if design["instances"]["from"] == design["study"]:
        yield Problem(lines.get(("instances", "from")), "A study cannot take its instances from itself.")
    recruitment, practice, time = design["recruitment"], design["practice"], design["time"]
    if not recruitment["prolific"] and not recruitment["invite"]:
        yield Problem(lines.get(("recruitment",)), "Nobody could come in: turn on `prolific`, `invite` or both.")
    if practice["pass"] > len(practice["questions"]):
        yield Problem(
            lines.get(("practice", "pass")),
            f"`practice.pass` asks for {practice['pass']} right answers of {len(practice['questions'])} questions.",
        )
    shortest = shortest_limit(time["estimated_minutes"])
    if recruitment["prolific"] and time["limit_minutes"] < shortest:
        yield Problem(
            lines.get(("time", "limit_minutes")),
            f"`time.limit_minutes` is {time['limit_minutes']}; for an estimate of {time['estimated_minutes']} minutes "
            f"Prolific allows no less than {shortest}.",
        )
