"""Study files written by Lineup: a copy of one under another name, and a design written out. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from studies.design.checking import read_design
from studies.design.dumping import in_lines
from studies.design.editing import with_changes
from studies.design.model import Design
from studies.design.older import ASKING
from studies.design.problems import DesignRefused
from studies.design.reading import Path

_ANEW = (
    "# Written by Lineup: the study file that this is a copy of does not say any more, line by line, what was asked.\n"
)


def copied_source(source: str, design: Design, *, study: str, title: str, keys: Sequence[str] = ()) -> str:
    """Return a study file that asks what `design` asks, under another name and title; with `keys` about the instances
    that are called so, and no others.

    It is `source`, the file of `design`, with those values changed, so that its comments and its order stay. Where that
    does not give the same design, because a default is another one by now, say, or because the values stand where they
    cannot be changed, the file is written anew. What a name or a title may be is not checked.
    """
    seed = study if design.seed == design.study else design.seed
    wanted = replace(design, study=study, title=title, seed=seed)
    changes: dict[Path, Any] = {("study",): study, ("title",): title}
    if keys:
        only = replace(design.instances, sample=None, type=(), subtype=(), split=(), keys=tuple(keys))
        wanted = replace(wanted, instances=only)
        changes["instances",] = ({"from": only.from_study} if only.from_study else {}) | {"keys": list(keys)}
        if only.from_study and design.instances.sample is not None:
            # Without a sample another number is the default.
            changes["pay", "least_answers"] = design.pay.least_answers
    try:
        changed = with_changes(source, changes)
        # The seed may be the file's own.
        found = read_design(changed)
        if found == replace(wanted, seed=found.seed):
            return changed
    except DesignRefused:
        pass
    return _ANEW + written(wanted)


def written(design: Design) -> str:
    """Return a study file of `design`, every value in it."""
    values = design.to_stored()
    for name in ASKING if len(design.parts) > 1 else ("parts",):
        del values[name]
    instances = {name: value for name, value in values["instances"].items() if value not in (None, [], "")}
    conditions = {name: value for name, value in values["conditions"].items() if value is not None}
    values |= {"instances": instances, "conditions": conditions}
    values = {name: value for name, value in values.items() if value is not None}
    return in_lines(values)
