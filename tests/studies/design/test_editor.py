"""A value of a study file is changed, and every other line of it stays as it was written."""

import difflib
from collections.abc import Iterator
from typing import Any

import pytest

from studies.design.editor import apply_changes
from studies.design.parser import Path, read_values
from studies.shipped_designs import shipped_designs

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
PAID = ["- pay: {currency: GBP}", "+ pay: {currency: GBP, per_session: '8.0'}"]


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
        (("pay", "per_session"), "8.0", PAID),
        (("time", "estimated_minutes"), 20, ["+ time:", "+   estimated_minutes: 20"]),
        (("language",), "eu", ["+ language: eu"]),
        (("seed",), None, []),
    ],
)  # fmt: skip
def test_only_the_lines_of_that_value_change(path: Path, value: Any, lines: list[str]) -> None:
    after = apply_changes(FILE, {path: value})
    assert [line.rstrip() for line in changed_lines(FILE, after)] == [line.rstrip() for line in lines]


def test_a_section_that_has_nothing_left_goes() -> None:
    after = apply_changes(FILE, {("ask", "caption"): None, ("ask", "images"): None})
    assert "ask" not in read_values(after)[0]
    assert "# who" in after


@pytest.mark.parametrize(
    ("changed", "after"), [("title", "study: vases\ntitle: X\n"), ("study", "study: X\ntitle: vases\n")]
)
def test_where_others_refer_to_a_value_the_file_is_written_anew_and_says_so(changed: str, after: str) -> None:
    why = "a value could not be changed in place, so the whole file was rewritten, without comments."
    file = "# Ours.\nstudy: &name vases\ntitle: *name\n"
    assert apply_changes(file, {(changed,): "X"}) == f"# Written by Lineup: {why}\n{after}"


IN_BRACES = "{study: vases, # its name\n title: 'Which vase?', ask: {}, pay: {currency: GBP, per_answer: '0.10'}}\n"


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (("title",), "Which?", "'Which vase?'", "'Which?'"),
        (("title",), "One,\ntwo", "'Which vase?'", "'One,\n\n    two'"),
        (("title",), None, "title: 'Which vase?', ", ""),
        (("answers",), 3, "'0.10'}}", "'0.10'}, answers: 3}"),
        (("time", "estimated_minutes"), 20, "'0.10'}}", "'0.10'}, time: {estimated_minutes: 20}}"),
        (("ask", "caption"), "a, b", "ask: {}", "ask: {caption: 'a, b'}"),
        (("ask", "images"), ["a", "b"], "ask: {}", "ask: {images: [a, b]}"),
        (("pay", "per_session"), "2.00", "'0.10'}", "'0.10', per_session: '2.00'}"),
        (("pay", "per_answer"), None, ", per_answer: '0.10'", ""),
        (("pay", "currency"), None, "currency: GBP, ", ""),
    ],
)  # fmt: skip
def test_a_file_in_braces_stays_one(path: Path, value: Any, before: str, after: str) -> None:
    assert apply_changes(IN_BRACES, {path: value}) == IN_BRACES.replace(before, after)


def test_sections_in_braces_go_whole_and_their_comments_stay() -> None:
    changed = apply_changes(IN_BRACES, {("pay", "currency"): None, ("pay", "per_answer"): None})
    assert changed == "{study: vases, # its name\n title: 'Which vase?', ask: {}}\n"
    changed = apply_changes("{study: vases, # its name\n title: Which}", {("title",): None})
    assert changed == "{study: vases, # its name\n }"


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ([{"rule": "not_same_instance"}], "eligibility:  # who\n# and who not\n- rule: not_same_instance\n"),
        ([], "eligibility:  # who\n# and who not\n  []\n"),
        ("One.\nTwo.\n", "eligibility:  # who\n# and who not\n  |\n  One.\n  Two.\n"),
    ],
)
def test_comments_between_a_name_and_its_value_stay(value: Any, after: str) -> None:
    file = "eligibility:  # who\n# and who not\n- rule: in_group\n  group: experts\nstudy: vases\n"
    assert apply_changes(file, {("eligibility",): value}) == f"{after}study: vases\n"


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


@pytest.mark.parametrize("name", sorted(shipped_designs()))
def test_each_value_of_each_protocol_can_be_changed_alone_and_no_comment_is_lost(name: str) -> None:
    source = shipped_designs()[name].source
    values, _ = read_values(source)
    comments = [line for line in source.splitlines() if line.startswith("#")]
    for path, value in leaves(values):
        after = apply_changes(source, {path: OTHER[type(value)]})
        found = dict(leaves(read_values(after)[0]))
        assert found == dict(leaves(values)) | {path: OTHER[type(value)]}, path
        assert [line for line in after.splitlines() if line.startswith("#")] == comments, path
