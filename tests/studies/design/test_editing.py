"""A value of a study file is changed, and every other line of it stays as it was written."""

import difflib
from collections.abc import Iterator
from typing import Any

import pytest

from studies.design.editing import with_changes
from studies.design.reading import Path, read_values
from studies.shipped import shipped

FILE = """\
# What it is for.
study: vases  # its name
title: "Which vase?"
answers: 2 # by two

ask:
  # the roles
  caption: caption
  images: [a, b]

# who
eligibility:
- rule: in_group
  group: experts  # ours
# what they read
consent: |
  One.

  Two.
# the end
pay: {currency: GBP}
"""
PAY_IN_LINES = ["- pay: {currency: GBP}", "+ pay:", "+   currency: GBP", "+   per_session: '8.0'"]


def changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that went and came, in the order of the file."""
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "-+"]


@pytest.mark.parametrize(
    ("path", "value", "lines"),
    [
        (("answers",), 3, ["- answers: 2 # by two", "+ answers: 3 # by two"]),
        (("title",), "Which: one?", ['- title: "Which vase?"', "+ title: 'Which: one?'"]),
        (("study",), "2024", ["- study: vases  # its name", "+ study: '2024'  # its name"]),
        (("ask", "images"), ["a", "c d"], ["-   images: [a, b]", "+   images: [a, c d]"]),
        (("ask", "becomes"), "c", ["+   becomes: c"]),
        (("ask", "caption"), None, ["-   caption: caption"]),
        (("eligibility", 0, "group"), "others", ["-   group: experts  # ours", "+   group: others  # ours"]),
        (("consent",), "One.\n", ["-   ", "-   Two."]),
        (("consent",), None, ["- consent: |", "-   One.", "- ", "-   Two."]),
        (("pay", "per_session"), "8.0", PAY_IN_LINES),
        (("time", "estimated_minutes"), 20, ["+ time:", "+   estimated_minutes: 20"]),
        (("language",), "eu", ["+ language: eu"]),
        (("seed",), None, []),
    ],
)  # fmt: skip
def test_only_the_lines_of_that_value_change(path: Path, value: Any, lines: list[str]) -> None:
    after = with_changes(FILE, {path: value})
    assert [line.rstrip() for line in changed_lines(FILE, after)] == [line.rstrip() for line in lines]


def test_a_section_that_has_nothing_left_goes() -> None:
    after = with_changes(FILE, {("ask", "caption"): None, ("ask", "images"): None})
    assert "ask" not in read_values(after)[0]
    assert "# who" in after


def test_a_value_that_others_refer_to_is_changed_alone() -> None:
    file = "study: &name vases\ntitle: *name\n"
    after = with_changes(file, {("title",): "Which?"})
    assert read_values(after)[0] == {"study": "vases", "title": "Which?"}


def leaves(values: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(values, dict):
        for name, value in values.items():
            yield from leaves(value, (*path, name))
    elif isinstance(values, list) and any(isinstance(entry, dict) for entry in values):
        for number, value in enumerate(values):
            yield from leaves(value, (*path, number))
    else:
        yield path, values


OTHER = {bool: False, int: 77, str: "Other: 'one', # \u00e9\n\nand two.\n", list: ["x: y", "z"], float: 0.5}


@pytest.mark.parametrize("name", sorted(shipped()))
def test_each_value_of_each_protocol_can_be_changed_alone_and_no_comment_is_lost(name: str) -> None:
    source = shipped()[name].source
    values, _ = read_values(source)
    comments = [line for line in source.splitlines() if line.startswith("#")]
    for path, value in leaves(values):
        after = with_changes(source, {path: OTHER[type(value)]})
        found = dict(leaves(read_values(after)[0]))
        assert found == dict(leaves(values)) | {path: OTHER[type(value)]}, path
        assert [line for line in after.splitlines() if line.startswith("#")] == comments, path
