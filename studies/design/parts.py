"""Move the questions of a study file into `parts` and back, with their comments. Pure."""

import yaml

from studies.design.editor import ensure_values
from studies.design.model import ASKING, PARTS
from studies.design.parser import read_values
from studies.design.spans import end_of, end_of_line, start_of_line, start_with_comments

_STEP = 2


def move_into_parts(source: str) -> str:
    """Return a study file with its top-level questions as the only one of `parts`.

    The result ends with a line end. Raises DesignRefused for an unreadable text.
    """
    source = source if source.endswith("\n") else f"{source}\n"
    values, _ = read_values(source)
    asked = {name: value for name, value in values.items() if name in ASKING}
    wanted = {name: value for name, value in values.items() if name not in ASKING} | {PARTS: [asked]}
    return ensure_values(_move_in(source), wanted)


def move_out_of_parts(source: str) -> str:
    """Return a study file with its only part at the top, in place of `parts`.

    The file is unchanged if it has several parts, questions at the top level, or unknown entries in the part. Raises
    DesignRefused for a text that cannot be read.
    """
    values, _ = read_values(source)
    listed = values.get(PARTS)
    if not isinstance(listed, list) or len(listed) != 1 or not isinstance(listed[0], dict):
        return source
    if not listed[0].keys() <= set(ASKING) or values.keys() & set(ASKING):
        return source
    wanted = {name: value for name, value in values.items() if name != PARTS} | listed[0]
    return ensure_values(_move_out(source), wanted)


def _move_in(source: str) -> str:
    whole = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(whole, yaml.MappingNode) or whole.flow_style:
        return source
    asking = [(key, value) for key, value in whole.value if key.value in ASKING]
    if not asking:
        return source
    begin = start_of_line(source, asking[0][0].start_mark.index)
    least, moved, rest = begin, "", source[:begin]
    for number, (key, value) in enumerate(asking):
        start = start_with_comments(source, key.start_mark.index, least) if number else begin
        end = end_of_line(source, max(key.end_mark.index, end_of(source, value)))
        rest += source[least:start]
        moved += source[start:end] + "\n"
        least = min(end + 1, len(source))
    lines = [f"{' ' * _STEP}{line}" if line else "" for line in moved.removesuffix("\n").split("\n")]
    lines[0] = f"- {lines[0].lstrip()}"
    between = rest[begin:]
    return source[:begin] + "\n".join([f"{PARTS}:", *lines]) + "\n" + between + source[least:]


def _move_out(source: str) -> str:
    whole = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(whole, yaml.MappingNode) or whole.flow_style:
        return source
    found = next(((key, value) for key, value in whole.value if key.value == PARTS), None)
    if found is None or not isinstance(found[1], yaml.SequenceNode) or found[1].flow_style:
        return source
    key, listed = found
    part = listed.value[0]
    if not isinstance(part, yaml.MappingNode) or part.flow_style:
        return source
    begin, named, dash = start_of_line(source, key.start_mark.index), part.start_mark, listed.start_mark.index
    above = source[source.index(":", key.end_mark.index) + 1 : dash] + source[dash + 1 : named.index]
    comments = [line.strip() for line in above.split("\n") if line.strip()]
    end = _end_with_comments(source, end_of_line(source, end_of(source, part)))
    first, *others = source[named.index : end].split("\n")
    dedented = [line[named.column :] if not line[: named.column].strip() else line.lstrip() for line in others]
    return source[:begin] + "\n".join([*comments, first, *dedented]) + source[end:]


def _end_with_comments(source: str, end: int) -> int:
    """Return the end of the indented comments below the line that ends at `end`.

    Left in place, they would become lines of a long text that moves to the top.
    """
    found = end
    while end < len(source):
        start, end = end + 1, end_of_line(source, end + 1)
        line = source[start:end]
        if line.strip():
            if not line.startswith(" ") or not line.lstrip(" ").startswith("#"):
                break
            found = end
    return found
