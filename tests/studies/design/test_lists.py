"""A list of a study file gets other rows: those that stay keep their comments, wherever they stand then."""

from typing import Any

import pytest

from studies.design.editor import apply_changes
from studies.design.parser import read_values
from studies.design.spans import lost_comments

RULES = """\
study: vases
eligibility:  # who
  # ours
  - rule: in_group
    group: experts  # by hand
    # all of them
  # nobody again

  - {rule: not_in_study, study: first}  # that one
  -
    # the rest
    rule: not_author
# what they read
consent: Yes.
"""
OURS = {"rule": "in_group", "group": "experts"}
AGAIN = {"rule": "not_in_study", "study": "first"}
REST = {"rule": "not_author"}
NEW = {"rule": "not_same_instance"}
OURS_TEXT = "  # ours\n  - rule: in_group\n    group: experts  # by hand\n    # all of them\n"
BARE_TEXT = "  - rule: in_group\n    group: experts\n"
AGAIN_TEXT = "  # nobody again\n\n  - {rule: not_in_study, study: first}  # that one\n"
REST_TEXT = "  -\n    # the rest\n    rule: not_author\n"
NEW_TEXT = "  - rule: not_same_instance\n"


@pytest.mark.parametrize(
    ("rows", "text", "lost"),
    [
        ([OURS, AGAIN, REST, NEW], OURS_TEXT + AGAIN_TEXT + REST_TEXT + NEW_TEXT, []),
        ([NEW, REST, AGAIN, OURS], NEW_TEXT + REST_TEXT + AGAIN_TEXT + OURS_TEXT, []),
        ([OURS, REST], OURS_TEXT + REST_TEXT, ["nobody again", "that one"]),
        # What stands above a list is about the list.
        ([AGAIN, REST], "  # ours\n" + AGAIN_TEXT + REST_TEXT, ["all of them", "by hand"]),
        ([OURS, OURS], OURS_TEXT + BARE_TEXT, ["nobody again", "that one", "the rest"]),
    ],
)  # fmt: skip
def test_rows_that_stay_keep_their_text(rows: list[Any], text: str, lost: list[str]) -> None:
    head, tail = "study: vases\neligibility:  # who\n", "# what they read\nconsent: Yes.\n"
    after = apply_changes(RULES, {("eligibility",): rows})
    assert after == head + text + tail
    assert read_values(after)[0]["eligibility"] == rows
    assert sorted(lost_comments(RULES, after)) == lost


def test_rows_of_one_word_keep_theirs_and_a_list_without_a_last_line_end_grows() -> None:
    file = "instances:\n  keys:\n  - one  # hard\n  - two"
    after = apply_changes(file, {("instances", "keys"): ["zero", "one", "two", "3"]})
    assert after == "instances:\n  keys:\n  - zero\n  - one  # hard\n  - two\n  - '3'"


def test_a_text_of_many_lines_that_comes_to_the_end_of_a_file_keeps_its_line_end() -> None:
    row = {"instance": "one", "feedback": "Look.\n"}
    file = "practice:\n  questions:\n  # why\n  - instance: one\n    feedback: |\n      Look.\n  - {instance: two}"
    after = "practice:\n  questions:\n  # why\n  - instance: one\n    feedback: |\n      Look.\n"
    assert apply_changes(file, {("practice", "questions"): [row]}) == after


def test_what_is_lost_of_a_list_in_brackets_is_known() -> None:
    file = "instances:\n  keys: [one, # hard\n    'two # no comment']\n"
    after = apply_changes(file, {("instances", "keys"): ["one"]})
    assert after == "instances:\n  keys: [one]\n"
    assert lost_comments(file, after) == ["hard"]


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    file = "consent: |  # why\n  # A heading\n  and a#b\n# real\ntitle: 'a # b' # real\n"
    assert lost_comments(file, "title: x\n") == ["why", "real", "real"]
