"""Study files that Lineup writes: copies, and whole designs. Pure."""

from collections.abc import Sequence
from typing import Any

from studies.design.checks import read_design
from studies.design.editor import apply_changes
from studies.design.model import ASKING, Design
from studies.design.parser import Path
from studies.design.problems import DesignRefused
from studies.design.yaml_writer import block_yaml

_ANEW = "# Written by Lineup: the original study file no longer matches what was asked, so this copy was rewritten.\n"


def copy_source(source: str, design: Design, *, study: str, title: str, keys: Sequence[str] = ()) -> str:
    """Return a study file that asks the same as `design` under another name and title; only about `keys` if given.

    The copy is `source`, the file of `design`, with these values changed, so comments and order stay. If that gives a
    different design, for example because a default has changed since, all values are written instead. Name and title
    are not checked.
    """
    seed = study if design.seed == design.study else design.seed
    wanted = design.model_copy(update={"study": study, "title": title, "seed": seed})
    changes: dict[Path, Any] = {("study",): study, ("title",): title}
    if keys:
        only = design.instances.model_copy(
            update={"sample": None, "type": (), "subtype": (), "split": (), "tags": (), "keys": tuple(keys)}
        )
        wanted = wanted.model_copy(update={"instances": only})
        changes["instances",] = ({"from": only.from_study} if only.from_study else {}) | {"keys": list(keys)}
        if only.from_study and design.instances.sample is not None:
            # Without a sample the default differs.
            changes["pay", "least_answers"] = design.pay.least_answers
    try:
        changed = apply_changes(source, changes)
        # The seed may be the default, which depends on the name.
        found = read_design(changed)
        if found == wanted.model_copy(update={"seed": found.seed}):
            return changed
    except DesignRefused:
        pass
    return _ANEW + write_study_file(wanted)


def write_study_file(design: Design) -> str:
    """Return a study file with every value of `design`."""
    values = design.to_stored()
    for name in ASKING if len(design.parts) > 1 else ("parts",):
        del values[name]
    instances = {name: value for name, value in values["instances"].items() if value not in (None, [], "")}
    conditions = {name: value for name, value in values["conditions"].items() if value is not None}
    values |= {"instances": instances, "conditions": conditions}
    values = {name: value for name, value in values.items() if value is not None}
    return block_yaml(values)
