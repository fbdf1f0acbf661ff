"""The fields of a form that shows a study file, declared by its schema and those of its kinds. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from studies.design.editing import LEFT_OUT, value_at
from studies.design.parts import PARTS
from studies.design.problems import Problem
from studies.design.reading import Lines, Path
from studies.design.schema import study_schema
from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import get_rule
from studies.kinds import KINDS, get_kind

TEXT, LONG, NUMBER, CHOICE, SWITCH, LIST, OTHER = "text", "long", "number", "choice", "switch", "list", "other"
"""Controls: a line of text, a text of many lines in Markdown, a number, one of several, yes or no, a list with an entry
a line, and whatever else there may be, as it stands in the file."""
# What stands in a form for the name of an entry that is not there yet.
NEW = "new"
YES, NO = "true", "false"
# What a form sends in `do` for an entry that is to stand one place sooner, for one more in a list, and for a value that
# decides which other fields there are: behind a colon, what it is about.
SOONER, ADD, SHOW = "sooner", "add", "show"
_ENTRY_OUT = "out"


@dataclass(frozen=True)
class Field:
    """One value of a study file. `path`: where it stands; `name`: that as one word, which the form sends.

    `shown`: what the form shows, as text. `usual`: what holds where the file says nothing, as text, "" where that
    follows from other values. `choices`: what can be chosen, "" for what is usual. `decides`: which fields there are
    follows from it. `problems`: what is wrong with it.
    """

    path: Path
    label: str
    about: str
    control: str
    shown: str
    usual: str = ""
    choices: Sequence[str] = ()
    is_needed: bool = False
    decides: bool = False
    problems: Sequence[str] = ()

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def is_on(self) -> bool:
        return self.shown == YES


@dataclass(frozen=True)
class Entry:
    """The fields of one entry of a list. `removal` is sent where it is to go, "" for one that is not there yet;
    `sooner` where it is to stand before the one above, "" for the first."""

    title: str
    fields: Sequence[Field]
    removal: str = ""
    sooner: str = ""


@dataclass(frozen=True)
class Section:
    """Fields that belong together, and the entries of a list. `is_used`: the file says something of it.

    `adds` is sent where the list is to get one more; `removal` and `sooner`, as of an entry, where it is one of several
    parts.
    """

    title: str
    about: str
    fields: Sequence[Field] = ()
    entries: Sequence[Entry] = ()
    is_used: bool = True
    adds: str = ""
    removal: str = ""
    sooner: str = ""

    @property
    def says_something(self) -> bool:
        """Whether there is a value in it, a usual one too, besides texts of many lines."""
        return any(each.shown and each.control != LONG for each in self.fields) or any(
            entry.removal for entry in self.entries
        )

    def all_fields(self) -> Iterator[Field]:
        yield from self.fields
        for entry in self.entries:
            yield from entry.fields


@dataclass(frozen=True)
class Form:
    """All that a study file says and could say. `elsewhere`: what is wrong with it as a whole."""

    sections: Sequence[Section]
    elsewhere: Sequence[Problem] = field(default=())


def name_of(path: Path) -> str:
    return ".".join(map(str, path))


def removal_of(path: Path) -> str:
    """Return what a form sends where the entry at `path` is to go."""
    return name_of((*path, _ENTRY_OUT))


def sooner_of(path: Path) -> str:
    """Return what a form sends in `do` where the entry at `path` is to stand one place sooner."""
    return f"{SOONER}:{name_of(path)}"


def adds_to(path: Path) -> str:
    """Return what a form sends in `do` where the list at `path` is to get one more."""
    return f"{ADD}:{name_of(path)}"


# Names of the top of a study file that are read together, and what they are about. The rest are sections of their own.
_TOGETHER = (
    ("What it is", ("study", "title", "purpose", "dataset", "language", "contact")),
    ("How many answers", ("answers", "max_answers", "rule", "seed")),
)
_ASKING = ("kind", "ask", "instructions")
_RULE = "rule"
# Which version a file was written for is no matter of taste.
NOT_ASKED = frozenset({"version"})


def form_of(values: Mapping[str, Any], lines: Lines | None = None, problems: Iterable[Problem] = ()) -> Form:
    """Return the form of a study file that says `values`, with what is wrong with it beside its fields.

    values: what the file says, checked or not. lines: where each value stands, which is how a problem finds its field.
    """
    schema = study_schema()["properties"]
    sections = [*_sections(schema, values)]
    fields = [each for section in sections for each in section.all_fields()]
    beside: dict[str, list[str]] = {}
    elsewhere = []
    for problem in problems:
        about = _field_of(problem, fields, lines or {})
        if about is None:
            elsewhere.append(problem)
        else:
            beside.setdefault(about.name, []).append(problem.message)
    return Form([_with_problems(section, beside) for section in sections], elsewhere)


def _sections(schema: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Section]:
    together = {name for _, names in _TOGETHER for name in names}
    for number, (title, names) in enumerate(_TOGETHER):
        needed = study_schema()["required"]
        yield Section(title, "", [_field((name,), schema[name], values, name in needed) for name in names])
        if not number:
            yield from _parts(schema, values)
    for name, part in schema.items():
        if name in together or name in NOT_ASKED or name in (PARTS, *_ASKING):
            continue
        if part.get("type") == "object" or _is_of_entries(part):
            yield _section(name, part, values)
        else:
            yield Section(_words(name), "", [_field((name,), part, values)], is_used=name in values)


def _section(name: str, schema: Mapping[str, Any], values: Mapping[str, Any]) -> Section:
    if _is_of_entries(schema):
        entries = _entries((name,), schema, values)
        about, adds = schema.get("description", ""), adds_to((name,))
        return Section(_words(name), about, entries=entries, is_used=name in values, adds=adds)
    fields: list[Field] = []
    entries = []
    adds = ""
    for path, part in _leaves((name,), schema):
        if _is_of_entries(part):
            entries, adds = _entries(path, part, values), adds_to(path)
        else:
            fields.append(_field(path, part, values))
    return Section(_words(name), schema.get("description", ""), fields, entries, is_used=name in values, adds=adds)


def _leaves(path: Path, schema: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield what stands in a section, and in the sections within it."""
    for name, part in schema["properties"].items():
        if part.get("type") == "object":
            yield from _leaves((*path, name), part)
        else:
            yield (*path, name), part


def _parts(schema: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what is asked, with the fields of its kind: once, or part by part."""
    listed = values.get(PARTS)
    if not isinstance(listed, list):
        yield Section("What is asked", "", _asking((), schema, values), adds=adds_to((PARTS,)))
        return
    for number, _ in enumerate(listed):
        path = (PARTS, number)
        is_last, can_grow = number == len(listed) - 1, bool(kinds_left(values))
        yield Section(
            f"What is asked in part {number + 1}",
            "",
            _asking(path, schema, values),
            adds=adds_to((PARTS,)) if is_last and can_grow else "",
            removal=removal_of(path),
            sooner=sooner_of(path) if number else "",
        )


def kinds_left(values: Mapping[str, Any]) -> list[str]:
    """Return the kinds that no part of a study file asks yet; each can be asked in one part."""
    listed = values.get(PARTS)
    parts = listed if isinstance(listed, list) else [values]
    asked = [part.get("kind") for part in parts if isinstance(part, Mapping)]
    return [name for name in KINDS if name not in asked]


def _asking(path: Path, schema: Mapping[str, Any], values: Mapping[str, Any]) -> list[Field]:
    named = value_at(values, (*path, "kind"))
    kind = get_kind(named) if isinstance(named, str) and named in KINDS else None
    fields = [replace(_field((*path, "kind"), schema["kind"], values, is_needed=True), decides=True)]
    if kind is not None:
        fields += [_field(where, part, values) for where, part in _leaves((*path, "ask"), kind.ask_schema)]
    usual = kind.instructions if kind else ""
    return [*fields, _field((*path, "instructions"), schema["instructions"] | {"default": usual}, values)]


def _is_of_entries(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array" and schema.get("items", {}).get("type") == "object"


def _entries(path: Path, schema: Mapping[str, Any], values: Mapping[str, Any]) -> list[Entry]:
    there = value_at(values, path)
    found = []
    for number in [*range(len(there) if isinstance(there, list) else 0), NEW]:
        where = (*path, number)
        fields = [
            replace(_field((*where, name), part, values), decides=name == _RULE and number != NEW)
            for name, part in _in_entry(schema["items"], where, values).items()
        ]
        if number == NEW:
            found.append(Entry("One more", fields))
        else:
            sooner = sooner_of(where) if number else ""
            found.append(Entry(f"{_words(str(path[-1]))} {int(number) + 1}", fields, removal_of(where), sooner))
    return found


def _in_entry(items: Mapping[str, Any], where: Path, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what may stand in the entry at `where`. Which rule of eligibility it is decides about the rest; what
    another one left there is shown too, so that it can go."""
    properties: Mapping[str, Any] = items["properties"]
    if where[0] != "eligibility":
        return properties
    said = value_at(values, where)
    left = [name for name in said if name in properties] if isinstance(said, Mapping) else []
    rule = value_at(values, (*where, _RULE))
    own = get_rule(rule).schema["properties"] if isinstance(rule, str) and rule in ELIGIBILITY else {}
    return {_RULE: properties[_RULE]} | {name: properties[name] for name in left} | own


def _field(path: Path, schema: Mapping[str, Any], values: Mapping[str, Any], is_needed: bool = False) -> Field:
    value = value_at(values, path)
    usual = schema.get("default", LEFT_OUT)
    control = _control(schema, usual if value is LEFT_OUT else value)
    shown = usual if value is LEFT_OUT else value
    choices: Sequence[str] = ()
    if control == CHOICE:
        named = [YES, NO] if schema.get("type") == "boolean" else [str(each) for each in schema["enum"]]
        choices = named if usual is not LEFT_OUT or (is_needed and value is not LEFT_OUT) else ["", *named]
    return Field(
        path,
        _words(str(path[-1])),
        schema.get("description", ""),
        control,
        _as_text(shown, control),
        _as_text(usual, control),
        choices,
        is_needed,
    )


def _control(schema: Mapping[str, Any], value: Any) -> str:
    """Return what a value is typed into. One that is not of its sort is shown as it stands in the file."""
    sort = schema.get("type")
    if "enum" in schema or (sort == "boolean" and "default" not in schema):
        return CHOICE
    if sort == "boolean":
        return SWITCH if isinstance(value, bool) else OTHER
    if sort in ("integer", "number"):
        return NUMBER
    if sort == "array":
        is_list = value is LEFT_OUT or (isinstance(value, list) and all(_is_a_line(each) for each in value))
        of_texts = schema.get("items", {}).get("type") == "string"
        return LIST if is_list and of_texts else OTHER
    if sort == "string" and (value is LEFT_OUT or isinstance(value, str)):
        return LONG if "contentMediaType" in schema or "\n" in str(value) else TEXT
    return OTHER


def _is_a_line(value: Any) -> bool:
    """Tell whether a value of a list comes back as it is from a line of text."""
    return isinstance(value, str) and value == value.strip() != "" and len(value.splitlines()) == 1


def _as_text(value: Any, control: str) -> str:
    if value is LEFT_OUT:
        return ""
    if isinstance(value, bool):
        return YES if value else NO
    if control == LIST:
        return "\n".join(value)
    if control == OTHER:
        return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False)).removesuffix("\n").removesuffix("\n...")
    return str(value)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _field_of(problem: Problem, fields: Sequence[Field], lines: Lines) -> Field | None:
    """Return the field that a problem is about: the one on its line, or that it names."""
    named = [each for each in fields if f"`{each.name}`" in problem.message or f"`{each.path[-1]}`" in problem.message]
    if problem.line is None:
        return named[0] if named else None
    there = [each for each in fields if lines.get(each.path) == problem.line]
    # A section or an entry as a whole: what it says, or could say, stands in its fields.
    at = [path for path, line in lines.items() if line == problem.line and path]
    within = [each for each in named if any(each.path[: len(path)] == path for path in at)]
    return next(iter(within or there), None)


def _with_problems(section: Section, beside: Mapping[str, Sequence[str]]) -> Section:
    def told(fields: Sequence[Field]) -> list[Field]:
        return [replace(each, problems=beside.get(each.name, ())) for each in fields]

    return replace(
        section,
        fields=told(section.fields),
        entries=[replace(each, fields=told(each.fields)) for each in section.entries],
        is_used=section.is_used or any(each.name in beside for each in section.all_fields()),
    )
