"""What a form that comes back changes in a study file. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.design.editing import LEFT_OUT, changed_values, value_at, with_changes
from studies.design.fields import (
    ADD,
    CHOICE,
    LIST,
    LONG,
    NO,
    NUMBER,
    OTHER,
    SHOW,
    SOONER,
    SWITCH,
    TEXT,
    YES,
    Field,
    Form,
    Section,
    adds_to,
    form_of,
    kinds_left,
    removal_of,
    sooner_of,
)
from studies.design.parts import PARTS, at_the_top, in_parts
from studies.design.problems import DesignRefused
from studies.design.reading import Path, read_value, read_values
from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import get_rule
from studies.kinds import KINDS, get_kind


def changed(source: str, sent: Mapping[str, str]) -> str:
    """Return the text of a study file with all that a form which was sent changes in it, parts too, and what the button
    does that sent it, `do`. Raises DesignRefused for a text that cannot be read."""
    before, _ = read_values(source)
    source = with_changes(source, changes_of(before, sent))
    if sent.get("do") == adds_to((PARTS,)):
        source = _with_a_part_more(source)
    # A file that was written with one part stays so.
    return at_the_top(source) if _count(before) > 1 else source


def _count(values: Mapping[str, Any]) -> int:
    parts = values.get(PARTS)
    return len(parts) if isinstance(parts, list) else 0


def _with_a_part_more(source: str) -> str:
    if not isinstance(read_values(source)[0].get(PARTS), list):
        source = in_parts(source)
    values, _ = read_values(source)
    added = [{"kind": name} for name in kinds_left(values)[:1]]
    return with_changes(source, {(PARTS,): [*values[PARTS], *added]})


def begins_at(form: Form, do: str) -> str:
    """Return the name of the field that somebody goes on with after the button that sends `do`, "" for none."""
    step, _, name = do.partition(":")
    names = [each.name for section in form.sections for each in section.all_fields()]
    if step == SHOW:
        return name if name in names else ""
    if step == SOONER:
        of, _, number = name.rpartition(".")
        name = f"{of}.{int(number) - 1}" if number.isdecimal() else name
    elif step == ADD and name == PARTS:
        return next((each for each in reversed(names) if each.startswith(f"{PARTS}.") and each.endswith(".kind")), "")
    elif step == ADD:
        return _begin_of_what_came([section for section in form.sections if section.adds == do and section.entries])
    return next((each for each in names if each.startswith(f"{name}.")), "")


def _begin_of_what_came(sections: Sequence[Section]) -> str:
    """Return the name of the next field to fill in: of the entry that came, where its first decided about others."""
    for section in sections:
        *there, new = section.entries
        if there and len(new.fields) == 1:
            return (there[-1].fields[1:] or there[-1].fields)[0].name
        return new.fields[0].name
    return ""


def changes_of(values: Mapping[str, Any], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return what a form that was sent changes in a study file that says `values`: by path, None for what goes, in the
    order in which it is to be done.

    sent: by the names of fields, as text; a field that was not sent is not touched. What comes back as it was shown
    changes nothing, so that it stays as it was written.
    """
    changes: dict[Path, Any] = {}
    listed: dict[Path, Mapping[str, Any]] = {(PARTS,): {}}
    for section in form_of(values).sections:
        changes |= _typed(section.fields, sent)
        for entry in section.entries:
            typed = _typed(entry.fields, sent)
            if entry.removal:
                changes |= typed
            else:
                listed[entry.fields[0].path[:-2]] = {str(path[-1]): value for path, value in typed.items()}
    changes |= _of_another_kind(values, changes)
    changes |= _of_another_rule(values, changes)
    after = changed_values(values, changes)
    for path, added in listed.items():
        rows = value_at(after, path)
        rows = rows if isinstance(rows, list) else []
        wanted = [rows[number] for number in _order(path, len(rows), sent)]
        if any(value not in (LEFT_OUT, "", False) for value in added.values()):
            wanted.append({name: value for name, value in added.items() if value is not LEFT_OUT})
        if wanted != rows:
            changes[path] = wanted or LEFT_OUT
    return changes


def _typed(fields: Sequence[Field], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return what was typed into fields that were sent, where that is not what they showed."""
    # Compared as it comes back: what a form does not keep, such as spaces at an end, is no change either.
    return {
        each.path: _read(each, text)
        for each in fields
        if each.name in sent and (text := _sent(each, sent)) != _sent(each, {each.name: each.shown})
    }


def _order(path: Path, count: int, sent: Mapping[str, str]) -> list[int]:
    """Return which entries of a list stay, in their new order."""
    order = list(range(count))
    for number in order[1:]:
        if sent.get("do") == sooner_of((*path, number)):
            order[number - 1], order[number] = number, number - 1
            break
    return [number for number in order if removal_of((*path, number)) not in sent]


def _sent(each: Field, sent: Mapping[str, str]) -> str:
    if each.control == SWITCH:
        return YES if sent[each.name] == YES else NO
    text = sent[each.name].replace("\r\n", "\n")
    if each.control == LIST:
        return "\n".join(line.strip() for line in text.split("\n") if line.strip())
    return text if each.control in (LONG, OTHER) else text.strip()


def _read(each: Field, text: str) -> Any:
    """Return the value that was typed. One that is not of its sort stays text, which the schema then refuses."""
    if each.control == SWITCH:
        return text == YES
    if each.control == LIST:
        return text.split("\n") if text else ([] if each.usual else LEFT_OUT)
    if not text:
        return "" if each.control in (TEXT, LONG) and each.usual else LEFT_OUT
    if each.control == CHOICE and text in (YES, NO):
        return text == YES
    if each.control == NUMBER:
        return _number(text)
    if each.control == OTHER:
        try:
            return read_value(text)
        except DesignRefused:
            return text
    return text


def _number(text: str) -> int | float | str:
    for sort in (int, float):
        try:
            return sort(text)
        except ValueError:
            continue
    return text


def _of_another_kind(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> dict[Path, Any]:
    """Return what must go from what is asked where another kind is chosen, which has no such options, and the
    instructions that were those of the kind before."""
    gone: dict[Path, Any] = {}
    for path, named in changes.items():
        if path[-1] != "kind" or not isinstance(named, str) or named not in KINDS:
            continue
        before = path[:-1]
        known = get_kind(named).ask_schema["properties"]
        asked = _names(value_at(values, (*before, "ask")))
        gone |= {(*before, "ask", name): LEFT_OUT for name in asked if name not in known}
        gone |= {each: LEFT_OUT for each in changes if each[:-1] == (*before, "ask") and each[-1] not in known}
    return gone


def _of_another_rule(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> dict[Path, Any]:
    """Return what must go from an entry of `eligibility` where another rule is chosen, which knows nothing of it."""
    gone: dict[Path, Any] = {}
    for path, named in changes.items():
        if path[0] != "eligibility" or path[-1] != "rule" or named not in ELIGIBILITY:
            continue
        entry = path[:-1]
        known = {"rule", *get_rule(named).schema["properties"]}
        said = _names(value_at(values, entry))
        gone |= {(*entry, name): LEFT_OUT for name in said if name not in known}
        gone |= {each: LEFT_OUT for each in changes if each[:-1] == entry and each[-1] not in known}
    return gone


def _names(said: Any) -> list[str]:
    """Return the names that stand in a section, none in what is no section, which the schema refuses then."""
    return [*said] if isinstance(said, Mapping) else []
