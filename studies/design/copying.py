"""Study files written by Lineup: a copy of one under another name, and a design written out. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import yaml

from studies.design.checking import read_design
from studies.design.model import Design, InstanceSelection
from studies.design.older import ASKING
from studies.design.problems import DesignRefused

# No line of a text is broken.
_WIDEST = 1_000_000
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
    changed = _with_values(source, {"study": study, "title": title})
    if keys:
        only = replace(design.instances, sample=None, type=(), subtype=(), split=(), keys=tuple(keys))
        wanted = replace(wanted, instances=only)
        changed = _with_instances(changed, only)
    if _is_read_as(changed, wanted):
        return changed
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
    return yaml.dump(values, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=_WIDEST)


class Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Dumper.add_representer(str, _text)


def _with_values(source: str, values: dict[str, str]) -> str:
    """Return a YAML text with other values of its top names, or as it is where it cannot be read."""
    try:
        whole = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return source
    if not isinstance(whole, yaml.MappingNode):
        return source
    # From the end on, so that the places before stay where they are.
    for key, value in reversed(whole.value):
        if key.value in values and isinstance(value, yaml.ScalarNode):
            source = source[: value.start_mark.index] + _scalar(values[key.value]) + source[value.end_mark.index :]
    return source


def _with_instances(source: str, wanted: InstanceSelection) -> str:
    """Return a YAML text that selects its instances so, or as it is where it cannot be read."""
    selection = {"from": wanted.from_study} if wanted.from_study else {}
    entry = yaml.dump(
        {"instances": selection | {"keys": list(wanted.keys)}},
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDEST,
    )
    try:
        whole = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return source
    if not isinstance(whole, yaml.MappingNode):
        return source
    for key, value in whole.value:
        if key.value == "instances":
            return source[: key.start_mark.index] + entry + source[_end(value) :].removeprefix("\n")
    return f"{source.rstrip()}\n{entry}"


def _end(node: yaml.Node) -> int:
    """Return where the text of a value ends. A block is said to end only where the next thing begins, after what stands
    in between, such as a comment about that."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _scalar(text: Any) -> str:
    dumped: str = yaml.safe_dump(text, allow_unicode=True, width=_WIDEST)
    return dumped.removesuffix("\n").removesuffix("\n...")


def _is_read_as(source: str, wanted: Design) -> bool:
    """Tell whether `source` gives the design, whose seed may be its own."""
    try:
        found = read_design(source)
    except DesignRefused:
        return False
    return found == replace(wanted, seed=found.seed)
