"""Positions of values and comments in the text of a study file. Pure."""

from collections import Counter
from collections.abc import Iterator

import yaml


def end_of(source: str, node: yaml.Node) -> int:
    """Return where the text of a value ends, without the comments that YAML assigns to a list or a section."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        if not node.value:
            return node.start_mark.index
        last = node.value[-1]
        return end_of(source, last[1] if isinstance(node, yaml.MappingNode) else last)
    end = node.end_mark.index
    return len(source[:end].rstrip()) if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") else end


def start_of_line(source: str, at: int) -> int:
    return source.rfind("\n", 0, at) + 1


def end_of_line(source: str, at: int) -> int:
    found = source.find("\n", at)
    return len(source) if found < 0 else found


def start_with_comments(source: str, at: int, least: int) -> int:
    """Return the start of the comments right above the line of `at`, at the earliest `least`."""
    start = start_of_line(source, at)
    while start > least:
        above = start_of_line(source, start - 1)
        if above < least or not source[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def lost_comments(before: str, after: str) -> list[str]:
    """Return the comments of the first study file that the second lacks. Both are valid YAML."""
    return [*(Counter(_comments(before)) - Counter(_comments(after))).elements()]


def _comments(source: str) -> Iterator[str]:
    """Yield each comment: a text after a # between two YAML tokens. Inside a token, # does not begin a comment."""
    end = 0
    for token in yaml.scan(source, Loader=yaml.SafeLoader):
        for line in source[end : token.start_mark.index].split("\n"):
            _, mark, comment = line.partition("#")
            if mark:
                yield comment.strip()
        end = token.end_mark.index
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            # A comment next to the mark of a multi-line text; comments below belong to what follows.
            _, mark, comment = source[token.start_mark.index : end].partition("\n")[0].partition("#")
            if mark:
                yield comment.strip()
