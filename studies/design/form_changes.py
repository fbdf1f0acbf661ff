"""Apply a submitted form to a study file. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.design.amounts import read_amount
from studies.design.editor import LEFT_OUT, apply_changes, changed_values, value_at
from studies.design.form_fields import AMOUNT, Field, adds_to, build_form, move_up_command, removal_name, unused_kinds
from studies.design.model import PARTS
from studies.design.named_entries import NAMED
from studies.design.parser import Path, read_values
from studies.design.parts import move_into_parts, move_out_of_parts
from studies.kinds import KINDS, get_kind

CURRENCY = "pay.currency"


def apply_form(source: str, sent: Mapping[str, str]) -> str:
    """Return the text of a study file after a form was submitted by the button `do`.

    Raises DesignRefused for a text that cannot be read.
    """
    before, _ = read_values(source)
    source = apply_changes(source, find_changes(before, sent))
    if sent.get("do") == adds_to((PARTS,)):
        source = _add_part(source)
    # A file with a list of one part keeps the list.
    return move_out_of_parts(source) if _count(before) > 1 else source


def _count(values: Mapping[str, Any]) -> int:
    parts = values.get(PARTS)
    return len(parts) if isinstance(parts, list) else 0


def _add_part(source: str) -> str:
    if not isinstance(read_values(source)[0].get(PARTS), list):
        source = move_into_parts(source)
    values, _ = read_values(source)
    added = [{"kind": name} for name in unused_kinds(values)[:1]]
    return apply_changes(source, {(PARTS,): [*values[PARTS], *added]})


def find_changes(values: Mapping[str, Any], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return the changes of a sent form to a study file with these values, by path, in their order; None leaves out.

    sent: texts by the names of fields. A field that was not sent, or is unchanged, changes nothing, so the file keeps
    its text.
    """
    changes: dict[Path, Any] = {}
    listed: dict[Path, Mapping[str, Any]] = {(PARTS,): {}}
    for section in build_form(values).sections:
        changes |= _changed_values(section.fields, sent)
        for entry in section.entries:
            typed = _changed_values(entry.fields, sent)
            if entry.removal:
                changes |= typed
            else:
                listed[entry.fields[0].path[:-2]] = {str(path[-1]): value for path, value in typed.items()}
    changes |= _obsolete(values, changes)
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


def _changed_values(fields: Sequence[Field], sent: Mapping[str, str]) -> dict[Path, Any]:
    """Return the new values of fields whose text was changed."""
    return {
        each.path: text if _is_in_another_currency(each, text, sent) else each.parse(text)
        for each in fields
        if each.name in sent and (text := each.normalize(sent[each.name])) != each.normalize(each.shown)
    }


def _is_in_another_currency(amount: Field, text: str, sent: Mapping[str, str]) -> bool:
    """Return whether an amount names another currency than the form; the schema then refuses it."""
    read = read_amount(text) if amount.control == AMOUNT else None
    return read is not None and read[1] not in ("", sent.get(CURRENCY, read[1]))


def _order(path: Path, count: int, sent: Mapping[str, str]) -> list[int]:
    """Return the positions of the entries that stay in a list, in their new order."""
    order = list(range(count))
    for number in order[1:]:
        if sent.get("do") == move_up_command((*path, number)):
            order[number - 1], order[number] = number, number - 1
            break
    return [number for number in order if removal_name((*path, number)) not in sent]


def _obsolete(values: Mapping[str, Any], changes: Mapping[Path, Any]) -> dict[Path, Any]:
    """Return the entries that the newly chosen kinds, rules and policies do not have, to be removed."""
    gone: dict[Path, Any] = {}
    for path, chosen in changes.items():
        if path[-1] == "kind" and chosen in [*KINDS]:
            owner, known = (*path[:-1], "ask"), {*get_kind(chosen).ask_schema["properties"]}
        elif (named := NAMED.get(str(path[0]))) and path[-1] == named.key and chosen in [*named.registry]:
            owner, known = path[:-1], {named.key, *named.properties(chosen)}
        else:
            continue
        # The schema refuses anything that is not a section.
        section = value_at(values, owner)
        names = [
            *(section if isinstance(section, Mapping) else ()),
            *(each[-1] for each in changes if each[:-1] == owner),
        ]
        gone |= {(*owner, name): LEFT_OUT for name in names if name not in known}
    return gone
