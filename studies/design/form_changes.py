"""What a form that comes back changes in a study file. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.design.editing import LEFT_OUT
from studies.design.fields import (
    CHOICE,
    LIST,
    LONG,
    NO,
    NUMBER,
    OTHER,
    SWITCH,
    TEXT,
    YES,
    Entry,
    Field,
    form_of,
    value_at,
)
from studies.design.problems import DesignRefused
from studies.design.reading import Path, read_value
from studies.kinds import KINDS, get_kind


def changes_of(values: Mapping[str, Any], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return what a form that was sent changes in a study file that says `values`: by path, None for what goes.

    sent: by the names of fields, as text; a field that was not sent is not touched. What comes back as it was shown
    changes nothing, so that it stays as it was written.
    """
    changes: dict[Path, Any] = {}
    for section in form_of(values).sections:
        for each in section.fields:
            # Compared as it comes back: what a form does not keep, such as spaces at an end, is no change either.
            if each.name in sent and (text := _sent(each, sent)) != _sent(each, {each.name: each.shown}):
                changes[each.path] = _read(each, text)
        if section.entries:
            changes |= _changed_entries(values, section.entries, sent)
    return changes | _of_another_kind(values, changes)


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


def _changed_entries(values: Mapping[str, Any], entries: Sequence[Entry], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return what changes in a list of entries: single values where that is all, or else the whole list."""
    path: Path = entries[0].fields[0].path[:-2]
    changes: dict[Path, Any] = {}
    kept: list[Mapping[str, Any]] = []
    is_longer_or_shorter = False
    for number, entry in enumerate(entries):
        typed = {
            each.path: _read(each, text)
            for each in entry.fields
            if each.name in sent and (text := _sent(each, sent)) != each.shown
        }
        said = {str(where[-1]): value for where, value in typed.items()}
        if not entry.removal:
            if any(value not in (LEFT_OUT, "", False) for value in said.values()):
                kept.append({name: value for name, value in said.items() if value is not LEFT_OUT})
                is_longer_or_shorter = True
        elif entry.removal in sent:
            is_longer_or_shorter = True
        else:
            changes |= typed
            whole = dict(value_at(values, (*path, number)) or {}) | said
            kept.append({name: value for name, value in whole.items() if value is not LEFT_OUT})
    return {path: kept or LEFT_OUT} if is_longer_or_shorter else changes


def _of_another_kind(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> dict[Path, Any]:
    """Return what must go from what is asked where another kind is chosen, which has no such options, and the
    instructions that were those of the kind before."""
    gone: dict[Path, Any] = {}
    for path, named in changes.items():
        if path[-1] != "kind" or not isinstance(named, str) or named not in KINDS:
            continue
        before = path[:-1]
        known = get_kind(named).ask_schema["properties"]
        asked = value_at(values, (*before, "ask"))
        gone |= {(*before, "ask", name): LEFT_OUT for name in asked or {} if name not in known}
        gone |= {each: LEFT_OUT for each in changes if each[:-1] == (*before, "ask") and each[-1] not in known}
    return gone
