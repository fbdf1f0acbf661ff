"""The form of a study file: its fields follow from the definition and from the options of kinds. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from studies.design.amounts import read_amount
from studies.design.editor import LEFT_OUT, value_at
from studies.design.entries import Entry, entries_of
from studies.design.model import PARTS, QUESTION, Design
from studies.design.named_entries import NAMED
from studies.design.parser import Lines, Path, read_value
from studies.design.problems import DesignRefused, Problem
from studies.design.schema import study_schema
from studies.kinds import KINDS, get_kind, role_entries
from studies.wording import AMOUNT as AMOUNT_PATTERN

TEXT, LONG, NUMBER, AMOUNT, CHOICE, SWITCH = "text", "long", "number", "amount", "choice", "switch"
LIST, CHOICES, OTHER = "list", "choices", "other"
"""Controls: a line of text, a long text in Markdown, a number, an amount of money, a choice, a checkbox, a list with
one entry per line, a choice for each entry of a list, and YAML for everything else."""
# What texts of a study file can name besides roles ("captions" and "images"); see `build_form`.
STUDIES = "studies"
# The number of an entry that is not in the file yet.
NEW = "new"
YES, NO = "true", "false"
# What buttons send in `do`, before a colon and a path: move an entry up, add an entry, show the fields that follow from
# a choice.
SOONER, ADD, SHOW = "sooner", "add", "show"
_ENTRY_OUT = "out"


@dataclass(frozen=True)
class Field:
    """One value of a study file. `path`: its place; `name`: the path as one word, which the form sends.

    `shown`: the text in the form. `usual`: the default as text, "" if it follows from other values. `choices`: the
    options, "" for `blank`. `decides`: other fields follow from its value. `first`: its heading on the first screen, ""
    for a field in Advanced. `problems`: sentences about it.
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
    first: str = ""
    blank: str = "Default"
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def full_label(self) -> str:
        """Return the label with its section, as in "Pay: Per answer", unless it is on the first screen."""
        section = "" if self.first or len(self.path) == 1 else f"{_words(str(self.path[0]))}: "
        return f"{section}{self.label}"

    @property
    def chosen_entries(self) -> Sequence[str]:
        """Return the entries of a list of choices, and one more for another."""
        entries = self.shown.split("\n") if self.shown else []
        return [*entries, ""] if set(self.choices) - set(entries) else entries

    def normalize(self, sent: str) -> str:
        """Normalise a sent text for comparison: what forms lose, such as trailing spaces, is not a change."""
        if self.control == SWITCH:
            # A hidden field says that it was there; a ticked box follows.
            return YES if sent.split("\n")[-1] == YES else NO
        text = sent.replace("\r\n", "\n")
        if self.control == LIST:
            return "\n".join(line.strip() for line in text.split("\n") if line.strip())
        return text if self.control in (LONG, OTHER) else text.strip()

    def parse(self, text: str) -> Any:
        """Return the value of a normalised text. A text of the wrong type stays a text, which the schema refuses."""
        if self.control == LIST:
            return text.split("\n") if text else ([] if self.usual else LEFT_OUT)
        if not text:
            return "" if self.control in (TEXT, LONG, AMOUNT) and self.usual else LEFT_OUT
        if self.control in (SWITCH, CHOICE) and text in (YES, NO):
            return text == YES
        if self.control == AMOUNT and (amount := read_amount(text)):
            return amount[0]
        readers = {NUMBER: (int, float), OTHER: (read_value,)}
        for read in readers.get(self.control, ()):
            with suppress(ValueError, DesignRefused):
                return read(text)
        return text


@dataclass(frozen=True)
class Fieldset:
    """Fields that belong together: a section, a part, or one entry of a list. `entries`: those of its list.

    `is_said`: the file sets it. `adds` is sent to add an entry to its list, `removal` to remove it from its list, and
    `sooner` to move it up; each is "" if that is impossible.
    """

    title: str
    about: str
    fields: Sequence[Field] = ()
    entries: Sequence["Fieldset"] = ()
    is_said: bool = True
    adds: str = ""
    removal: str = ""
    sooner: str = ""

    @property
    def is_used(self) -> bool:
        """Whether the form shows it expanded: the file sets it, or it has a problem."""
        return self.is_said or any(each.problems for each in self.all_fields())

    @property
    def says_something(self) -> bool:
        """Whether it has a value, defaults included, other than long texts."""
        return any(each.shown and each.control != LONG for each in self.fields) or any(
            entry.removal for entry in self.entries
        )

    def all_fields(self) -> Iterator[Field]:
        yield from self.fields
        for entry in self.entries:
            yield from entry.fields


@dataclass(frozen=True)
class Form:
    """All entries of a study file, set or not. `elsewhere`: problems that belong to no field."""

    sections: Sequence[Fieldset]
    elsewhere: list[Problem] = field(default_factory=list)

    @property
    def first(self) -> Sequence[Fieldset]:
        """Return the fields of the first screen by heading; the questions come first."""
        found: dict[str, list[Field]] = {QUESTION: []}
        for each in self.all_fields():
            if each.first:
                found.setdefault(each.first, []).append(each)
        return [Fieldset(title, "", fields) for title, fields in found.items() if fields]

    @property
    def advanced_sections(self) -> Sequence[Fieldset]:
        """Return the sections without the fields of the first screen."""
        rest = [replace(each, fields=[one for one in each.fields if not one.first]) for each in self.sections]
        return [each for each in rest if each.fields or each.entries]

    @property
    def opens_advanced(self) -> bool:
        """Whether a field in Advanced has a problem."""
        return any(each.problems and not each.first for each in self.all_fields())

    def all_fields(self) -> Iterator[Field]:
        for section in self.sections:
            yield from section.all_fields()

    def in_words(self, message: str) -> str:
        """Return a problem of a study file as the form says it: by the labels of fields, not the names of entries."""
        missing = _MISSING.fullmatch(message)
        return _NAMED.sub(lambda found: self._label(found[1]), f"Fill in {missing[1]}." if missing else message)

    def _label(self, name: str) -> str:
        fields = [*self.all_fields()]
        one = next((each for each in fields if each.name == name), None)
        if one is None and any(each.name.startswith(f"{name}.") for each in fields):
            return f"“{_words(name.rpartition('.')[2])}”"
        one = one or next((each for each in fields if each.path[-1] == name), None)
        return f"`{name}`" if one is None else f"“{one.full_label}”"

    def focus(self, do: str) -> str:
        """Return the name of the field to go on with after the button that sends `do`, "" for none."""
        step, _, name = do.partition(":")
        names = [each.name for each in self.all_fields()]
        if step == SHOW:
            return name if name in names else ""
        if step == ADD and name == PARTS:
            kinds = [each for each in names if each.startswith(f"{PARTS}.") and each.endswith(".kind")]
            return kinds[-1] if kinds else ""
        if step == ADD:
            return next((_next_field(each) for each in self.sections if each.adds == do and each.entries), "")
        if step == SOONER:
            path, _, number = name.rpartition(".")
            name = f"{path}.{int(number) - 1}" if number.isdecimal() else name
        return next((each for each in names if each.startswith(f"{name}.")), "")


def _next_field(section: Fieldset) -> str:
    """Return the next field to fill in, in an added entry whose first field decided which others there are."""
    *there, new = section.entries
    if there and len(new.fields) == 1:
        return (there[-1].fields[1:] or there[-1].fields)[0].name
    return new.fields[0].name


def name_of(path: Path) -> str:
    return ".".join(map(str, path))


def removal_name(path: Path) -> str:
    """Return the name that a form sends to take out the entry at `path`."""
    return name_of((*path, _ENTRY_OUT))


def move_up_command(path: Path) -> str:
    """Return the `do` that moves the entry at `path` up."""
    return f"{SOONER}:{name_of(path)}"


def adds_to(path: Path) -> str:
    """Return the `do` that adds an entry to the list at `path`."""
    return f"{ADD}:{name_of(path)}"


# The name of an entry in a problem; what says that it is missing in the file.
_NAMED = re.compile(r"`([\w.]+)`")
_MISSING = re.compile(r"(`\w+`) is missing in .*\.")
_FROM: Path = ("instances", "from")
# Value of an empty choice.
_ALL, _NONE = "All instances of the project", "None"
# A form writes the current version, and shows each part separately.
NOT_ASKED = frozenset({"version", PARTS})


def build_form(
    values: Mapping[str, Any],
    lines: Lines | None = None,
    problems: Iterable[Problem] = (),
    known: Mapping[str, Sequence[str]] | None = None,
) -> Form:
    """Return the form of a study file with these values, and each problem beside its field.

    values: checked or not. lines: the line of each value, by which a problem finds its field. known: the caption roles
    ("captions"), image roles ("images") and names of studies ("studies") to choose from, where they are known.
    """
    form = Form([*_sections(study_schema()["properties"], values, known or {})])
    fields = [*form.all_fields()]
    for problem in problems:
        about = _field_of(problem, fields, lines or {})
        if about is None:
            form.elsewhere.append(problem)
        else:
            about.problems.append(form.in_words(problem.message))
    return form


def describe_sent_fields(sent: Mapping[str, str]) -> list[tuple[str, str]] | None:
    """Return the label and the text of each field of a sent study form that is not a default.

    None if another form sent the fields. The study file in the form is not read: anybody may have sent it.
    """
    kinds = [sent[name] for name in sent if re.fullmatch(rf"{PARTS}\.[0-9]+\.kind", name)]
    if not {"source", "title"} <= sent.keys() or not (kinds or "kind" in sent):
        return None
    parts: dict[str, Any] = {PARTS: [{"kind": kind} for kind in kinds]} if kinds else {"kind": sent["kind"]}
    fields = {each.name: each for each in build_form(parts).all_fields()}
    found = []
    for name, text in sent.items():
        if one := fields.get(name):
            shown = one.normalize(text)
            if shown and shown != one.normalize(one.usual):
                found.append((one.full_label, _in_words(one, shown)))
        elif "." in name and text.strip() and not name.endswith(f".{_ENTRY_OUT}"):
            # An entry of a list, such as eligibility.0.rule.
            section, *_, last = name.split(".")
            found.append((f"{_words(section)}: {_words(last)}", text))
    return found


def _in_words(one: Field, shown: str) -> str:
    if one.control == SWITCH:
        return "Yes" if shown == YES else "No"
    return get_kind(shown).title if one.path[-1] == "kind" and shown in KINDS else shown


def find_differences(values: Mapping[str, Any], others: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the name of each field that differs between two study files, with its text in either."""
    shown, other = ({each.name: each.shown for each in build_form(of).all_fields()} for of in (values, others))
    names = [*shown, *(name for name in other if name not in shown)]
    texts = [(name, shown.get(name, ""), other.get(name, "")) for name in names]
    return [(name, own, their) for name, own, their in texts if own != their]


def _sections(
    schema: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> Iterator[Fieldset]:
    """Yield the first group, the questions, the other groups, and then each entry without a group."""
    groups: dict[str, list[str]] = {}
    for name, (entry, _) in entries_of(Design).items():
        groups.setdefault(entry.group, []).append(name)
    alone = [name for name in groups.pop("") if name not in NOT_ASKED]
    needed = study_schema()["required"]
    first, *others = [
        Fieldset(title, "", [_field((name,), schema[name], values, name in needed) for name in names])
        for title, names in groups.items()
    ]
    yield from (first, *_parts(schema, values, known), *others)
    yield from (_section(name, schema[name], values, known) for name in alone)


def _section(
    name: str, schema: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> Fieldset:
    fields: list[Field] = []
    entries: list[Fieldset] = []
    adds = ""
    for path, part in _leaves((name,), schema):
        if _has_entries(part):
            entries, adds = _entries(path, part, values), adds_to(path)
        else:
            one = _field(path, part, values)
            fields.append(_with_choices(one, known, STUDIES, _ALL) if path == _FROM else one)
    is_value = bool(fields) and fields[0].path == (name,)
    about = "" if is_value else schema.get("description", "")
    return Fieldset(_words(name), about, fields, entries, name in values, adds)


def _leaves(path: Path, schema: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield a value, or all values of a section and of the sections within it."""
    if schema.get("type") != "object":
        yield path, schema
        return
    for name, part in schema["properties"].items():
        yield from _leaves((*path, name), part)


def _parts(
    schema: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> Iterator[Fieldset]:
    """Yield the questions with the fields of their kind: once, or part by part."""
    listed = values.get(PARTS)
    if not isinstance(listed, list):
        yield Fieldset("What is asked", "", _ask_fields((), schema, values, known), adds=adds_to((PARTS,)))
        return
    for number, _ in enumerate(listed):
        path = (PARTS, number)
        is_last, can_grow = number == len(listed) - 1, bool(unused_kinds(values))
        yield Fieldset(
            f"Questions of part {number + 1}",
            "",
            _ask_fields(path, schema, values, known),
            adds=adds_to((PARTS,)) if is_last and can_grow else "",
            removal=removal_name(path),
            sooner=move_up_command(path) if number else "",
        )


def unused_kinds(values: Mapping[str, Any]) -> list[str]:
    """Return the kinds that no part of a study file has yet."""
    listed = values.get(PARTS)
    parts = listed if isinstance(listed, list) else [values]
    asked = [part.get("kind") for part in parts if isinstance(part, Mapping)]
    return [name for name in KINDS if name not in asked]


def _ask_fields(
    path: Path, schema: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> list[Field]:
    named = value_at(values, (*path, "kind"))
    kind = get_kind(named) if isinstance(named, str) and named in KINDS else None
    fields = [replace(_field((*path, "kind"), schema["kind"], values, is_needed=True), decides=True)]
    if kind is not None:
        roles = role_entries(kind)
        for where, part in _leaves((*path, "ask"), kind.ask_schema):
            one, of = _field(where, part, values), roles.get(str(where[-1]), "")
            # Roles and lists say what the question is about; the rest has defaults that fit most studies.
            one = replace(one, first=QUESTION if of or one.control == LIST else "")
            fields.append(_with_choices(one, known, of, "" if part.get("minLength") else _NONE))
    usual = kind.instructions if kind else ""
    return [*fields, _field((*path, "instructions"), schema["instructions"] | {"default": usual}, values)]


def _has_entries(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array" and schema.get("items", {}).get("type") == "object"


def _entries(path: Path, schema: Mapping[str, Any], values: Mapping[str, Any]) -> list[Fieldset]:
    there = value_at(values, path)
    found, keys = [], {each.key for each in NAMED.values()}
    for number in [*range(len(there) if isinstance(there, list) else 0), NEW]:
        where = (*path, number)
        fields = [
            replace(_field((*where, name), part, values), decides=name in keys and number != NEW)
            for name, part in _in_entry(schema["items"], where, values).items()
        ]
        if number == NEW:
            found.append(Fieldset("One more", "", fields))
        else:
            title, sooner = f"{_words(str(path[-1]))} {int(number) + 1}", move_up_command(where) if number else ""
            found.append(Fieldset(title, "", fields, removal=removal_name(where), sooner=sooner))
    return found


def _in_entry(items: Mapping[str, Any], where: Path, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of the fields of the entry at `where`.

    The fields of a condition depend on its rule, those of a policy on its name. Values left by another one are shown
    too, so they can be removed.
    """
    properties: Mapping[str, Any] = items["properties"]
    named = NAMED.get(str(where[0]))
    if named is None:
        return properties
    said = value_at(values, where)
    left = [name for name in said if name in properties] if isinstance(said, Mapping) else []
    name = named.name_in(said)
    own = named.properties(name) if name else {}
    return {named.key: properties[named.key], **{name: properties[name] for name in left}, **own}


def _field(path: Path, schema: Mapping[str, Any], values: Mapping[str, Any], is_needed: bool = False) -> Field:
    said, usual = value_at(values, path), schema.get("default", LEFT_OUT)
    shown = usual if said is LEFT_OUT else said
    control = _control(schema, shown)
    choices: Sequence[str] = ()
    if control == CHOICE:
        choices = [str(each) for each in schema.get("enum", (YES, NO))]
        if usual is LEFT_OUT and not (is_needed and said is not LEFT_OUT):
            choices = ["", *choices]
    at = _entry_at(path)
    return Field(
        path,
        (at and at.label) or _words(str(path[-1])),
        schema.get("description", ""),
        control,
        _as_text(shown, control),
        _as_text(usual, control),
        choices,
        is_needed,
        first=at.first if at else "",
    )


def _with_choices(one: Field, known: Mapping[str, Sequence[str]], of: str, blank: str) -> Field:
    """Return a field of names as a choice among the `known` ones.

    `blank`: the meaning of no name, "" if a name is required. Unchanged if no names are known, or if the field contains
    anything but names.
    """
    choices = list(known.get(of, ()))
    if of in known and not choices and not one.shown and blank:
        # There is nothing to choose.
        return replace(one, first="")
    if not choices or one.control not in (TEXT, LIST):
        return one
    control = CHOICES if one.control == LIST else CHOICE
    return replace(one, control=control, choices=["", *choices] if blank else choices, blank=blank)


def _entry_at(path: Path) -> Entry | None:
    """Return the entry of the definition at `path`, None within lists and options."""
    section: Any = Design
    found = None
    for name in path:
        if section is None or name not in (entries := entries_of(section)):
            return None
        found, section = entries[str(name)]
    return found


def _control(schema: Mapping[str, Any], value: Any) -> str:
    """Return the control for a value. A value of the wrong type is shown as YAML."""
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
    if schema.get("pattern") == AMOUNT_PATTERN and isinstance(value, str):
        return AMOUNT
    if sort == "string" and (value is LEFT_OUT or isinstance(value, str)):
        return LONG if "contentMediaType" in schema or "\n" in str(value) else TEXT
    return OTHER


def _is_a_line(value: Any) -> bool:
    """Return whether a list value can be edited as one line of text without loss."""
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
    """Return the field of a problem: the one of its path, the one on its line, or the one that it names."""
    if exact := next((each for each in fields if each.path == problem.path), None):
        return exact
    named = [each for each in fields if f"`{each.name}`" in problem.message or f"`{each.path[-1]}`" in problem.message]
    if problem.line is None:
        return named[0] if named else None
    there = [each for each in fields if lines.get(each.path) == problem.line]
    # The line of a section or of an entry as a whole leads to its fields.
    at = [path for path, line in lines.items() if line == problem.line and path]
    within = [each for each in named if any(each.path[: len(path)] == path for path in at)]
    return next(iter(within or there), None)
