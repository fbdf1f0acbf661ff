"""Designs stored by older versions: what they lack, filled with what those versions did. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.design.schema import VERSION, with_defaults
from studies.kinds import KINDS, get_kind

# The first part stands at the top as well: before `parts` it stood there alone, and older versions look for it there.
ASKING = ("kind", "ask", "instructions")
VERSION_2, VERSION_3, VERSION_4 = 2, 3, 4


def filled(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored design with all that one of the current version has, and its parts in `parts` alone.

    Designs had no version at first, and a line came now and then: `parts` and `max_answers`, `instances.from` and
    `sample`, then `purpose` and `dataset`, then `recruitment.any_ids`; version 2 knows `language`, `contact`,
    `time.more_minutes`, `answering` and `endings`, version 3 `eligibility`, `lobby`, `answering.record_writing`
    and `pay.per_answer`, version 4 `conditions`, version 5 `pay.least_answers`.
    That one is missing means here what Lineup did then, not what it does for a new study file: whoever came with an id
    of any form may go on, pages follow the reader's language, nobody was kept out by what they had done, a launch had
    no conditions, and every finished session was paid in full.
    """
    whole = {name: value for name, value in stored.items() if name not in ASKING}
    given = stored.get("parts") or [{name: stored[name] for name in ASKING if name in stored}]
    whole["parts"] = parts = [_part(part) for part in given]
    if whole.get("version") == VERSION:
        return whole
    if isinstance(whole.get("pay"), Mapping):
        whole["pay"] = {"least_answers": 1} | dict(whole["pay"])
    if stored.get("version") == VERSION_4:
        return whole | {"version": VERSION}
    whole = {**whole, "conditions": {"blind_solvability": None}}
    if stored.get("version") == VERSION_3:
        return whole | {"version": VERSION}
    whole = {"eligibility": [], "lobby": {"minutes": 0, "pay": "0", "either_role": False}} | whole
    usual = {"one_action": "off", "last_look": False, "record_writing": False}
    whole["answering"] = usual | dict(stored.get("answering", {}))
    if isinstance(whole.get("pay"), Mapping):
        whole["pay"] = {"per_answer": "0.00"} | dict(whole["pay"])
    if whole.get("version") == VERSION_2:
        return whole | {"version": VERSION}
    lacked = {
        "max_answers": stored.get("answers"),
        "dataset": None,
        "language": "",
        "contact": "",
        "endings": {"stopped": "return", "time_over": "return"},
    }
    if "purpose" not in whole:
        lacked["purpose"] = "baseline" if any_right_is_known(parts) else "filter"
    whole = lacked | whole | {"version": VERSION}
    whole["instances"] = {"from": "", "sample": None} | dict(stored.get("instances", {}))
    whole["time"] = {"more_minutes": 0} | dict(stored.get("time", {}))
    whole["recruitment"] = {"any_ids": True} | dict(stored.get("recruitment", {}))
    return whole


def any_right_is_known(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether parts, with their `kind` and `ask`, have a question whose right answer is known beforehand."""
    return any(get_kind(part["kind"]).knows_right(part["ask"]) for part in parts)


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Fill what a kind has learnt to be asked since."""
    kind = part.get("kind")
    if kind not in KINDS:
        return dict(part)
    return {**part, "ask": with_defaults(part.get("ask", {}), get_kind(kind).ask_schema)}
