"""Checks of a study file or of plain values: a Design, or every problem with its line. Pure."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

import jsonschema

from studies.design.amounts import explain_amount
from studies.design.entries import Entry, entries_of, fill, with_defaults
from studies.design.model import ASKING, PARTS, VERSION, Design, Part, Pay, add_option_defaults, shortest_limit
from studies.design.named_entries import NAMED
from studies.design.parser import Lines, Path, read_values
from studies.design.policy_checks import check_policies, check_repeats
from studies.design.problems import DesignRefused, Problem
from studies.design.quality_checks import check_quality_checks
from studies.design.schema import study_schema
from studies.eligibility import get_rule as get_eligibility
from studies.kinds import KINDS, get_kind, has_own_score
from studies.names import UNSTORABLE, problem_with_line
from studies.policies import get_policy
from studies.rules import fitting_rules, get_rule, misfit
from studies.survey_plan import PlannedSurvey
from studies.wording import AMOUNT, format_count

# A quoted text of YAML, or JSON, can spell them out.

Findings = Iterator[tuple[Path, str]]
"""What is wrong: where, and a sentence."""


def read_design(text: str) -> Design:
    """Return the design in a study file, every default filled in. Raises DesignRefused with all problems found."""
    return check_design(*read_values(text))


def check_design(values: Mapping[str, Any], lines: Lines | None = None) -> Design:
    """Return the design with these plain values of a study file, every default filled in.

    lines: the line of each value, for the problems. Raises DesignRefused with all problems found.
    """

    def problems_of(findings: Iterable[tuple[Path, str]]) -> list[Problem]:
        return [Problem(nearest_line(lines or {}, path), sentence, path) for path, sentence in findings]

    if problems := problems_of(_check_version(values)) or problems_of(check_texts(values)):
        raise DesignRefused(problems)
    if problems := problems_of(_check_values(values)):
        raise DesignRefused(sorted(problems, key=lambda problem: problem.line or 0))
    design = _complete(values)
    if problems := problems_of(_check_sense(design)):
        raise DesignRefused(problems)
    return design


def nearest_line(lines: Lines, path: Path) -> int | None:
    """Return the line of `path`, or of the nearest section or list around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path) if path else None


def _check_version(values: Mapping[str, Any]) -> Findings:
    """Refuse later versions without other checks: entries that are unknown here may be valid there."""
    version = values.get("version")
    if isinstance(version, int) and version > VERSION:
        yield (
            ("version",),
            f"The study file is of version {version}; this Lineup reads versions up to {VERSION}. "
            "Update Lineup, or write the file for this version.",
        )


def check_texts(values: Mapping[str, Any]) -> Findings:
    """Yield every text and every number that cannot be stored."""
    waiting: list[tuple[Path, Any]] = [((), values)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, str(name)), each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, number), each) for number, each in enumerate(value)]
        if any(isinstance(text, str) and UNSTORABLE.search(text) for text in (value, *path[-1:])):
            yield path, "The text has a NUL or half a character, which cannot be stored. Remove it."
        if isinstance(value, float) and not isfinite(value):
            yield path, f"`{'.'.join(map(str, path))}` is {value}, which is no amount. Write digits, such as 0.2."


def _check_values(values: Mapping[str, Any]) -> Findings:
    """Check each value by the schema, by its kind, and by its rule of eligibility or policy."""
    found = [*check_schema(values, study_schema(), ())]
    asked = _readable_parts(values)
    if not asked and not found:
        found.append(((), "`kind` is missing in the study file, or `parts` in its place."))
    if PARTS in values and values.keys() & set(ASKING):
        found.append(((PARTS,), "With `parts`, write `kind`, `ask` and `instructions` inside."))
    for path, part in asked:
        found += _check_ask(part, path)
    found += _check_parts(asked, str(values.get("language", "en")))
    yield from found or (*_check_eligibility(values), *_check_named_policies(values))


def check_schema(value: Any, schema: Mapping[str, Any], prefix: Path, *, file: str = "study file") -> Findings:
    """Yield every violation of a JSON Schema, as sentences for people; `file` is what people call the whole."""
    missing: dict[Path, int] = {}
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        path, rule = (*prefix, *error.absolute_path), error.schema
        if error.validator == "additionalProperties" and isinstance(rule, Mapping):
            known = rule.get("properties", {})
            unknown = next(str(name) for name in error.instance if name not in known)
            near = difflib.get_close_matches(unknown, known, n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known are: {', '.join(known)}."
            hint = hint if known else "Nothing can be set here. Remove it."
            yield (*path, unknown), f"`{unknown}` is not known here. {hint}"
        elif error.validator == "required":
            # There is an error for each missing entry, in their order.
            number = missing[path] = missing.get(path, -1) + 1
            names = [name for name in error.validator_value if name not in error.instance]
            yield path, f"`{names[number]}` is missing in {'.'.join(map(str, path)) or f'the {file}'}."
        else:
            yield path, _sentence(error, path, file, _currency(value))


_TYPE_NAMES = {
    "string": "text (put it in quotes)",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a section of `name: value` lines",
}
# Violated keyword of JSON Schema -> the end of the sentence about the value.
_SENTENCES: Mapping[str, Callable[[Any, Any], str]] = {
    "type": lambda limit, value: f" must be {_TYPE_NAMES[str(limit)]}, not {value!r}.",
    "enum": lambda limit, value: f" is {value!r}. Choose one of: {', '.join(map(str, limit))}.",
    "minimum": lambda limit, value: f" is {value}; it must be at least {limit}.",
    "maximum": lambda limit, value: f" is {value}; it must be at most {limit}.",
    "minLength": lambda limit, value: " is empty.",
    "maxLength": lambda limit, value: f" is longer than {limit} characters.",
    "minItems": lambda limit, value: f" has too few entries: {len(value)}, of at least {limit}.",
    "maxItems": lambda limit, value: f" has too many entries: {len(value)}, of at most {limit}.",
    "uniqueItems": lambda limit, value: " names something twice.",
}


def _currency(values: Any) -> str:
    """Return the currency of a study file, the default one if it says none."""
    usual = str(entries_of(Pay)["currency"][0].default)
    pay = values.get("pay") if isinstance(values, Mapping) else None
    return str(pay.get("currency", usual)) if isinstance(pay, Mapping) else usual


def _sentence(error: jsonschema.ValidationError, path: Path, file: str, currency: str) -> str:
    """Put a schema error into a sentence that a researcher can act on."""
    name = ".".join(map(str, path)) or f"the {file}"
    limit: Any = error.validator_value
    instance: Any = error.instance
    if error.validator == "pattern" and isinstance(error.schema, Mapping):
        advice = explain_amount(str(instance), currency) if limit == AMOUNT else error.schema.get("description", "")
        return f"`{name}` is {instance!r}. {advice}".strip()
    say = _SENTENCES.get(str(error.validator), lambda limit, value: f": {error.message}.")
    return f"`{name}`{say(limit, instance)}"


def _readable_parts(values: Mapping[str, Any]) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return the parts of a study file that name a known kind and have a readable `ask`, each with its path."""
    parts: list[tuple[Path, Any]] = [((), values)]
    if PARTS in values:
        listed = values[PARTS] if isinstance(values[PARTS], list) else []
        parts = [((PARTS, number), part) for number, part in enumerate(listed)]
    return [(path, part) for path, part in parts if isinstance(part, Mapping) and _is_readable(part)]


def _is_readable(part: Mapping[str, Any]) -> bool:
    kind = part.get("kind")
    return isinstance(kind, str) and kind in KINDS and isinstance(part.get("ask", {}), dict)


def _check_ask(part: Mapping[str, Any], path: Path) -> Findings:
    """Check the options of a kind by its schema and, if they are valid there, by the kind itself."""
    kind = get_kind(part["kind"])
    found = [*check_schema(part.get("ask", {}), kind.ask_schema, (*path, "ask"))]
    yield from found
    if not found:
        for name, sentence in kind.problems(add_option_defaults(part)["ask"]):
            yield (*path, "ask", name), sentence


def _check_parts(asked: Sequence[tuple[Path, Mapping[str, Any]]], language: str) -> Findings:
    """Refuse two parts of one kind, because counts are by kind, and English instructions in another language."""
    kinds = [part["kind"] for _, part in asked]
    for number, (path, part) in enumerate(asked):
        if part["kind"] in kinds[:number]:
            yield (
                (*path, "kind"),
                f"Another part already has the kind {part['kind']}, and counts by kind would mix the two. "
                "Put both into one part if the kind can ask several questions, or create a study for "
                "each.",
            )
        if language.partition("-")[0] != "en" and not part.get("instructions"):
            yield (
                (*path, "kind"),
                f"The study's `language` is {language}, but the default instructions of {part['kind']} "
                "are in English. Write `instructions` in the language of the study.",
            )


def _check_eligibility(values: Mapping[str, Any]) -> Findings:
    """Check each entry by the schema of its own rule."""
    listed = values.get("eligibility", [])
    for number, entry in enumerate(listed):
        rule = get_eligibility(entry["rule"])
        path: Path = ("eligibility", number)
        own = {name: value for name, value in entry.items() if name != "rule"}
        found = [*check_schema(own, rule.schema, path)]
        yield from found
        for name, sentence in () if found else rule.problems(own):
            yield (*path, name), sentence
        if "study" in own and own["study"] == values.get("study") and not rule.of_itself:
            yield (*path, "study"), f"{rule.name} names the study itself. Name another one."
        if entry in listed[:number]:
            yield path, f"{rule.name} is listed twice with the same values."


def _check_named_policies(values: Mapping[str, Any]) -> Findings:
    """Check each policy by the schema of its own name."""
    listed = values.get("policies", [])
    for number, entry in enumerate(listed):
        own = {name: value for name, value in entry.items() if name != "policy"}
        yield from check_schema(own, get_policy(entry["policy"]).schema, ("policies", number))
    yield from check_repeats(listed)


def _complete(values: Mapping[str, Any]) -> Design:
    """Return the design with the defaults of the schema, of its kinds, and those that follow from other values."""
    own = {name: value for name, value in values.items() if name not in ASKING}
    whole = with_defaults(own, study_schema()) | {
        PARTS: [_complete_part(part) for _, part in _readable_parts(values)],
        **{
            listed: [with_defaults(entry, named.schema_of(entry[named.key])) for entry in values.get(listed, [])]
            for listed, named in NAMED.items()
        },
        "version": VERSION,
    }
    return Design.from_stored(fill(Design, whole, partial(_default, values=whole)))


def _complete_part(part: Mapping[str, Any]) -> dict[str, Any]:
    asked = add_option_defaults({name: part[name] for name in ASKING if name in part})
    return fill(Part, asked, partial(_default, values=asked))


def _default(entry: Entry, *, values: Mapping[str, Any]) -> Any:
    """Return a default that is not in the schema: None, or computed from other values; `...` if the schema has it."""
    if callable(entry.default):
        return entry.default(values)
    return None if entry.default is None else ...


def _check_sense(design: Design) -> Findings:
    """Yield problems that the schema cannot express."""
    for name, line in (("title", design.title), ("contact", design.contact)):
        if (line or name == "title") and (reason := problem_with_line(line)):
            yield (name,), f"`{name}` cannot be used. {reason}"
    yield from _check_rule(design)
    if design.max_answers < design.answers:
        yield (
            ("max_answers",),
            f"`max_answers` is {design.max_answers}, less than the {design.answers} answers every question gets.",
        )
    yield from _check_purpose(design)
    if design.instances.from_study == design.study:
        yield ("instances", "from"), "A study cannot take its instances from itself."
    if design.lobby.minutes and not design.is_live:
        yield (
            ("lobby", "minutes"),
            "There is nothing to wait for: all questions of the study exist at its launch. Leave "
            "`lobby` out, or take the instances from another study, without a sample.",
        )
    if design.ethics and not design.consent:
        yield (
            ("ethics",),
            "Annotators read `ethics` on the consent page, and this study has none. Write `consent`, or leave `ethics` "
            "out.",
        )
    if design.pay.least_answers > design.surveys.size:
        yield (
            ("pay", "least_answers"),
            f"`pay.least_answers` is {design.pay.least_answers}, more than the questions of a "
            f"session: `surveys.size` is {design.surveys.size}. Lower it.",
        )
    yield from _check_conditions(design)
    yield from _check_qualification(design)
    if not design.recruitment.prolific and not design.recruitment.invite:
        yield ("recruitment",), "Nobody could take part. Turn on `prolific`, `invite` or both."
    yield from _check_practice(design)
    yield from check_policies(design)
    yield from check_quality_checks(design)
    time, shortest = design.time, shortest_limit(design.time.estimated_minutes)
    if design.recruitment.prolific and time.limit_minutes < shortest:
        yield (
            ("time", "limit_minutes"),
            f"`time.limit_minutes` is {time.limit_minutes}; for an estimate of {time.estimated_minutes} minutes "
            f"Prolific allows no less than {shortest}.",
        )


def _check_rule(design: Design) -> Findings:
    for part in design.parts:
        kind = get_kind(part.kind)
        if lacking := misfit(get_rule(design.rule), kind, part.ask):
            fit = " or ".join(fitting_rules(kind, part.ask))
            yield ("rule",), f"Rule {design.rule} does not fit {kind.name}: it {lacking}. Use {fit}."


def _check_purpose(design: Design) -> Findings:
    if design.purpose == "baseline" and not design.knows_right:
        yield (
            ("purpose",),
            "A baseline compares answers with the right one, and these questions have none. Use another `purpose`.",
        )
    if design.dataset and design.purpose not in ("filter", "collection"):
        yield (
            ("dataset",),
            f"A study whose purpose is {design.purpose} accepts nothing, so `dataset` must be false or left out.",
        )


def _check_qualification(design: Design) -> Findings:
    wanted = design.qualification
    if wanted is None:
        return
    if design.purpose != "qualification":
        yield (
            ("qualification",),
            f"`qualification` lets people pass into a group, and the purpose of this study is {design.purpose}. Write "
            "`purpose: qualification`, or leave `qualification` out.",
        )
    if not design.knows_right:
        yield (
            ("qualification",),
            "The right answers to these questions are unknown, so nobody could pass. Choose a kind and `ask` with "
            "known right answers, or leave `qualification` out.",
        )
    if wanted.right > wanted.of:
        yield (
            ("qualification", "right"),
            f"{wanted.right} right answers of {wanted.of} are impossible. Lower `right`, or raise `of`.",
        )
    yield from check_reachable(design)


def check_reachable(design: Design, surveys: Sequence[PlannedSurvey[Any]] = ()) -> Findings:
    """Yield a problem if no session has as many known questions as a qualification needs.

    surveys: those of a launch; by default the longest possible, because surveys are made even.
    """
    wanted = design.qualification
    if wanted is None or design.is_live or not design.knows_right:
        return
    items = max(1, design.surveys.size // design.questions_per_instance)
    longest = max((len(survey.items) for survey in surveys), default=items + (items - 1) // 2)
    most = design.known_per_instance * longest
    if wanted.of > most:
        how = "select more instances or raise `surveys.size`" if surveys else "raise `surveys.size`"
        yield (
            ("qualification", "of"),
            f"`qualification.of` is {wanted.of}, and one session has at most {format_count(most, 'question')} with a "
            f"known right answer, so nobody could pass. Lower it, or {how}.",
        )


def _check_conditions(design: Design) -> Findings:
    if design.conditions.blind_solvability is None:
        return
    reason = ""
    if not design.knows_right:
        reason = (
            "The right answers to these questions are unknown, so blind baselines cannot be scored. "
            "Leave `conditions.blind_solvability` out."
        )
    elif all(has_own_score(get_kind(part.kind)) for part in design.parts):
        reason = (
            "A blind baseline chooses one option, and answers to these questions are scored in another way. Leave "
            "`conditions.blind_solvability` out."
        )
    elif design.is_live:
        reason = (
            "The questions come from another study one by one, so they are not known before the "
            "launch. Leave `conditions.blind_solvability` out, or take a sample (`instances.sample`)."
        )
    if reason:
        yield ("conditions", "blind_solvability"), reason


def _check_practice(design: Design) -> Findings:
    practice, kind = design.practice, get_kind(design.parts[0].kind)
    if practice.needed > len(practice.questions):
        yield (
            ("practice", "pass"),
            f"`practice.pass` asks for {practice.needed} right answers of {len(practice.questions)} questions.",
        )
    keys = [question.instance for question in practice.questions]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            yield (
                ("practice", "questions", number, "instance"),
                f"`practice.questions` names the instance {key!r} twice; the same question would be asked twice.",
            )
    if practice.questions and not kind.has_one_label:
        yield (
            ("practice",),
            f"Practice says whether the right option was chosen, and answers to {kind.name} are not one option each. "
            "Leave `practice` out.",
        )
