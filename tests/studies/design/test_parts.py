"""What is asked at once becomes a part, and a part that is left alone is asked at once; comments come along."""

import pytest

from studies.design.parser import read_values
from studies.design.parts import move_into_parts, move_out_of_parts

ALONE = """\
# For the paper.
study: vases
# what
kind: check  # one by one
title: Which vase?
# the roles
ask:
  # of the sets
  image: left
instructions: |
  # Look

    closely
  and long
# the end
pay: {currency: GBP}
"""
PARTED = """\
# For the paper.
study: vases
# what
parts:
- kind: check  # one by one
  # the roles
  ask:
    # of the sets
    image: left
  instructions: |
    # Look

      closely
    and long
title: Which vase?
# the end
pay: {currency: GBP}
"""
# The title stays behind what is asked.
BACK = ALONE.replace("title: Which vase?\n", "").replace("# the end\n", "title: Which vase?\n# the end\n")


def test_what_is_asked_moves_with_its_comments() -> None:
    assert move_into_parts(ALONE) == PARTED
    assert move_out_of_parts(PARTED) == BACK


def test_a_part_that_stands_deeper_comes_to_the_top_with_what_is_said_above_it() -> None:
    file = "study: a\nparts:  # two, once\n    # the first\n    - kind: check\n      ask:\n          image: left\n"
    assert move_out_of_parts(file) == "study: a\n# two, once\n# the first\nkind: check\nask:\n    image: left\n"


@pytest.mark.parametrize(
    ("below", "left"),
    [
        ("  # short\n", "# short\n"),
        ("\n   # short\n # the end\n# pay\n", "\n # short\n# the end\n# pay\n"),
        ("\n", "\n"),
        ("  # short", "# short"),
    ],
)
def test_comments_below_a_text_that_comes_to_the_top_become_none_of_it(below: str, left: str) -> None:
    file = f"study: a\nparts:\n-\n  # well-known\n  kind: rating\n  instructions: |\n    Look.\n{below}"
    assert move_out_of_parts(file) == f"study: a\n# well-known\nkind: rating\ninstructions: |\n  Look.\n{left}"


def test_a_text_of_many_lines_that_ends_the_file_without_a_line_end_moves_with_its_comments() -> None:
    file = "study: a\nkind: check\n# short\ninstructions: |\n  Look."
    parted = "study: a\nparts:\n- kind: check\n  # short\n  instructions: |\n    Look.\n"
    assert move_into_parts(file) == parted


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("{study: a, kind: check, ask: {}}\n", {"study": "a", "parts": [{"kind": "check", "ask": {}}]}),
        ("study: a\n", {"study": "a", "parts": [{}]}),
    ],
)
def test_a_file_that_is_written_otherwise_says_the_same(file: str, values: object) -> None:
    assert read_values(move_into_parts(file))[0] == values


@pytest.mark.parametrize(
    "file",
    [
        "study: a\nparts: [{kind: check}, {kind: rating}]\n",
        "study: a\nparts: []\n",
        "study: a\nparts: [check]\n",
        "study: a\nkind: check\n",
        "study: a\ninstructions: Above.\nparts:\n- kind: rating\n",
        "study: a\ntitle: Which?\nparts:\n- kind: rating\n  title: Another\n",
    ],
)
def test_what_is_no_single_part_of_what_is_asked_stays(file: str) -> None:
    assert move_out_of_parts(file) == file


def test_a_single_part_in_brackets_comes_to_the_top() -> None:
    assert read_values(move_out_of_parts("study: a\nparts: [{kind: check}]\n"))[0] == {"study": "a", "kind": "check"}
