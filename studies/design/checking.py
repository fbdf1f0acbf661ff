"""A design from a study file or from plain values, checked: a Design, or every problem, with its line. Pure."""

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema

from studies.design.model import Design
from studies.design.older import ASKING, any_right_is_known
from studies.design.problems import DesignRefused, Problem
from studies.design.reading import Lines, Path, read_values
from studies.design.schema import VERSION, study_schema, with_defaults
from studies.eligibility import get_rule as get_eligibility
from studies.kinds import KINDS, get_kind, has_own_score
from studies.names import problem_with_line
from studies.rules import fitting, get_rule, misfit

# A quoted text of YAML, or JSON, can spell them out.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def read_design(text: str) -> Design:
    """Return the design in a study file, every default filled in. Raises DesignRefused with all problems found."""
    return check_design(*read_values(text))


def check_design(values: Mapping[str, Any], lines: Lines | None = None) -> Design:
    """Return the design that plain values ask for, as a study file has them, every default filled in.

    `lines` says where each stands, for the problems. Raises DesignRefused with all problems found.
    """
    lines = lines or {}
    given = dict(values)
    if problems := [*_check_version(given, lines)] or [*_unstorable(given, lines)]:
        raise DesignRefused(problems)
    problems = [*_check(given, study_schema(), lines, ())]
    asked = _asked(given)
    if not asked and not problems:
        problems.append(Problem(None, "`kind` is missing in the study file, or `parts` in its place."))
    if "parts" in given and {"kind", "ask", "instructions"} & set(given):
        problems.append(Problem(lines.get(("parts",)), "With `parts`, write `kind`, `ask` and `instructions` inside."))
    for path, part in asked:
        problems += _check_ask(part, lines, path)
    problems += [*_asked_twice(asked, lines), *_not_in_its_language(given, asked, lines)]
    if not problems:
        problems += _check_eligibility(given, lines)
    if problems:
        raise DesignRefused(sorted(problems, key=lambda problem: problem.line or 0))
    design = _with_what_is_left_out(given, [part for _, part in asked])
    if problems := [*_check_sense(design, lines)]:
        raise DesignRefused(problems)
    return design


def _check_version(given: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    """Say nothing else of a later version: what is unknown in it here may be known there."""
    version = given.get("version")
    if isinstance(version, int) and version > VERSION:
        yield Problem(
            lines.get(("version",)),
            f"The study file is of version {version}; this Lineup reads versions up to {VERSION}. "
            "Update Lineup, or write the file for this version.",
        )


def _unstorable(given: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    waiting: list[tuple[Path, Any]] = [((), given)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, str(name)), entry) for name, entry in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, number), entry) for number, entry in enumerate(value)]
        if any(isinstance(text, str) and _UNSTORABLE.search(text) for text in (value, *path[-1:])):
            message = "The text has a NUL or half a character, which cannot be stored. Remove it."
            yield Problem(lines.get(path), message)


def _with_what_is_left_out(given: Mapping[str, Any], asked: list[Mapping[str, Any]]) -> Design:
    """Return the design with the defaults of the schema, of its kinds, and those that follow from other values."""
    parts = [_part(part) for part in asked]
    own = {name: value for name, value in given.items() if name not in ASKING}
    design = with_defaults(own, study_schema()) | {"parts": parts, "version": VERSION}
    design["purpose"] = design.get("purpose") or _usual_purpose(parts)
    design["seed"] = design.get("seed") or design["study"]
    design["rule"] = design.get("rule") or get_kind(parts[0]["kind"]).rule
    design["max_answers"] = design.get("max_answers") or design["answers"]
    design["time"].setdefault("limit_minutes", shortest_limit(design["time"]["estimated_minutes"]))
    design["instances"].setdefault("sample", None)
    is_live = bool(design["instances"]["from"]) and design["instances"]["sample"] is None
    design["pay"].setdefault("least_answers", design["surveys"]["size"] if is_live else 1)
    design["conditions"].setdefault("blind_solvability", None)
    design["eligibility"] = [
        with_defaults(entry, get_eligibility(entry["rule"]).schema) for entry in design["eligibility"]
    ]
    return Design.from_stored({"dataset": None} | design)


def _asked_twice(asked: Sequence[tuple[Path, Mapping[str, Any]]], lines: Lines) -> Iterator[Problem]:
    """Refuse parts of one kind: whatever is counted of a study, and what may be asked about an instance, goes by it."""
    seen: set[str] = set()
    for path, part in asked:
        if part["kind"] in seen:
            yield Problem(
                _nearest(lines, (*path, "kind")),
                f"Another part asks {part['kind']} already, and their answers could not be told apart. "
                "Put both into one part where the kind can ask several questions, or make a study of each.",
            )
        seen.add(part["kind"])


def _not_in_its_language(
    given: Mapping[str, Any], asked: Sequence[tuple[Path, Mapping[str, Any]]], lines: Lines
) -> Iterator[Problem]:
    """Want instructions of its own of a study in another language: those that kinds bring are English."""
    language = str(given.get("language", "en"))
    if language.partition("-")[0] == "en":
        return
    for path, part in asked:
        if not part.get("instructions"):
            yield Problem(
                _nearest(lines, (*path, "kind")),
                f"The study's `language` is {language}, and the instructions that {part['kind']} brings are English. "
                "Write `instructions` in the language of the study.",
            )


def _usual_purpose(parts: Sequence[Mapping[str, Any]]) -> str:
    if any(get_kind(part["kind"]).asks_about_answers for part in parts):
        # What people find decides about the answers that it is asked about.
        return "filter"
    if any_right_is_known(parts):
        return "baseline"
    return "collection" if all(get_kind(part["kind"]).collect_only for part in parts) else "filter"


def _asked(given: Mapping[str, Any]) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return the parts of a study file that name a known kind and have a readable `ask`, each with its path."""
    listed = given.get("parts", [])
    parts: list[tuple[Path, Any]] = [((), given)]
    if "parts" in given:
        parts = [(("parts", number), part) for number, part in enumerate(listed if isinstance(listed, list) else [])]
    return [(path, part) for path, part in parts if isinstance(part, dict) and _can_be_asked(part)]


def _can_be_asked(part: Mapping[str, Any]) -> bool:
    kind = part.get("kind")
    return isinstance(kind, str) and kind in KINDS and isinstance(part.get("ask", {}), dict)


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = get_kind(part["kind"])
    return {
        "kind": kind.name,
        "ask": with_defaults(part.get("ask", {}), kind.ask_schema),
        "instructions": part.get("instructions") or kind.instructions,
    }


def shortest_limit(estimated_minutes: int) -> int:
    """Return the least maximum time, in minutes, that Prolific allows: 2 + 2t + 2 sqrt(t), rounded up.

    Source: prolific.md, section 3.5. Example: 20 -> 51.
    """
    return math.ceil(2 + 2 * estimated_minutes + 2 * math.sqrt(estimated_minutes))


def _check(value: Any, schema: Mapping[str, Any], lines: Lines, prefix: Path) -> Iterator[Problem]:
    validator = jsonschema.Draft202012Validator(dict(schema))
    for error in validator.iter_errors(value):
        path = (*prefix, *error.absolute_path)
        yield Problem(_line(lines, path, error), _say(error, path))


def _line(lines: Lines, path: Path, error: jsonschema.ValidationError) -> int | None:
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
    "number": "a number",
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


def _check_sense(design: Design, lines: Lines) -> Iterator[Problem]:
    """Find what the schema cannot say."""
    if reason := problem_with_line(design.title):
        yield Problem(lines.get(("title",)), f"`title` cannot be used. {reason}")
    if design.contact and (reason := problem_with_line(design.contact)):
        yield Problem(lines.get(("contact",)), f"`contact` cannot be used. {reason}")
    yield from _check_rule(design, lines)
    if design.max_answers < design.answers:
        yield Problem(
            lines.get(("max_answers",)),
            f"`max_answers` is {design.max_answers}, less than the {design.answers} answers every question gets.",
        )
    yield from _check_purpose(design, lines)
    if design.instances.from_study == design.study:
        yield Problem(lines.get(("instances", "from")), "A study cannot take its instances from itself.")
    if design.lobby.minutes and (not design.instances.from_study or design.instances.sample is not None):
        yield Problem(
            _nearest(lines, ("lobby", "minutes")),
            "There is nothing to wait for: all that the study asks is there at its launch. Leave `lobby` out, or take "
            "the instances from another study, without a sample.",
        )
    if design.pay.least_answers > design.surveys.size:
        yield Problem(
            _nearest(lines, ("pay", "least_answers")),
            f"`pay.least_answers` is {design.pay.least_answers}, more than a session is asked: `surveys.size` is "
            f"{design.surveys.size}. Lower it.",
        )
    yield from _check_conditions(design, lines)
    recruitment, practice, time = design.recruitment, design.practice, design.time
    if not recruitment.prolific and not recruitment.invite:
        yield Problem(lines.get(("recruitment",)), "Nobody could come in: turn on `prolific`, `invite` or both.")
    if practice.needed > len(practice.questions):
        yield Problem(
            lines.get(("practice", "pass")),
            f"`practice.pass` asks for {practice.needed} right answers of {len(practice.questions)} questions.",
        )
    practised = [entry.instance for entry in practice.questions]
    for number, key in enumerate(practised):
        if key in practised[:number]:
            yield Problem(
                _nearest(lines, ("practice", "questions", number, "instance")),
                f"`practice.questions` names the instance {key!r} twice; the same question would be asked again.",
            )
    kind = get_kind(design.parts[0].kind)
    if practice.questions and not kind.has_one_label:
        yield Problem(
            lines.get(("practice",)),
            f"Practice says whether the right option was chosen, and answers to {kind.name} are not one option each. "
            "Leave `practice` out.",
        )
    shortest = shortest_limit(time.estimated_minutes)
    if recruitment.prolific and time.limit_minutes < shortest:
        yield Problem(
            lines.get(("time", "limit_minutes")),
            f"`time.limit_minutes` is {time.limit_minutes}; for an estimate of {time.estimated_minutes} minutes "
            f"Prolific allows no less than {shortest}.",
        )


def _check_conditions(design: Design, lines: Lines) -> Iterator[Problem]:
    if design.conditions.blind_solvability is None:
        return
    if not design.knows_right:
        yield Problem(
            _nearest(lines, ("conditions", "blind_solvability")),
            "Nobody knows which answers to these questions are right, so nothing can be said of who finds them without "
            "looking. Leave `conditions.blind_solvability` out.",
        )
    elif all(has_own_score(get_kind(part.kind)) for part in design.parts):
        yield Problem(
            _nearest(lines, ("conditions", "blind_solvability")),
            "A blind baseline chooses one option, and answers to these questions are scored in another way. Leave "
            "`conditions.blind_solvability` out.",
        )
    elif design.instances.from_study and design.instances.sample is None:
        yield Problem(
            _nearest(lines, ("conditions", "blind_solvability")),
            "What the study asks comes from another study one by one, so it is not known before the launch. Leave "
            "`conditions.blind_solvability` out, or take a sample (`instances.sample`).",
        )


def _check_rule(design: Design, lines: Lines) -> Iterator[Problem]:
    for part in design.parts:
        kind = get_kind(part.kind)
        if lacking := misfit(get_rule(design.rule), kind, part.ask):
            fit = " or ".join(fitting(kind, part.ask))
            message = f"Rule {design.rule} does not fit {kind.name}: it {lacking}. Use {fit}."
            yield Problem(lines.get(("rule",)), message)


def _check_ask(part: Mapping[str, Any], lines: Lines, path: Path) -> Iterator[Problem]:
    """Check what a kind is asked by its schema, and where that finds nothing let the kind say what is wrong."""
    kind = get_kind(part["kind"])
    problems = [*_check(part.get("ask", {}), dict(kind.ask_schema), lines, (*path, "ask"))]
    yield from problems
    if not problems:
        for entry, sentence in kind.problems(_part(part)["ask"]):
            yield Problem(_nearest(lines, (*path, "ask", entry)), sentence)


def _check_eligibility(given: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    """Check each entry by the schema of its own rule."""
    for number, entry in enumerate(given.get("eligibility", [])):
        rule = get_eligibility(entry["rule"])
        path: Path = ("eligibility", number)
        own = {name: value for name, value in entry.items() if name != "rule"}
        problems = [*_check(own, rule.schema, lines, path)]
        yield from problems
        for name, sentence in () if problems else rule.problems(own):
            yield Problem(_nearest(lines, (*path, name)), sentence)
        if own.get("study") == given.get("study") and "study" in own and not rule.of_itself:
            yield Problem(_nearest(lines, (*path, "study")), f"{rule.name} names the study itself. Name another one.")
        if entry in given["eligibility"][:number]:
            yield Problem(_nearest(lines, path), f"{rule.name} stands here twice with the same values.")


def _nearest(lines: Lines, path: Path) -> int | None:
    """Return the line of `path`, or of what it stands in."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path) if path else None


def _check_purpose(design: Design, lines: Lines) -> Iterator[Problem]:
    if design.purpose == "baseline" and not design.knows_right:
        yield Problem(
            lines.get(("purpose",)),
            "A baseline compares answers with the right one, and these questions have none. Use another `purpose`.",
        )
    if design.dataset and design.purpose not in ("filter", "collection"):
        yield Problem(
            lines.get(("dataset",)),
            f"A study whose purpose is {design.purpose} keeps nothing, so `dataset` must be false or left out.",
        )
