"""The form of a study file: each value that its schema knows has a field, with what is wrong beside it."""

import pytest

from studies.design import DesignRefused, read_design
from studies.design.editor import apply_changes
from studies.design.form_fields import Field, build_form
from studies.design.parser import read_values
from studies.kinds import KINDS, get_kind

FILE = """\
# Which is best?
study: vases
title: Which vase?
kind: rating
ask: {steps: 7}
answers: 3
practice:
  questions:
  - {instance: one, right: "3"}
eligibility:
- {rule: in_group, group: experts}
- {rule: not_same_instance}
"""


def fields_of(source: str) -> dict[str, Field]:
    form = build_form(read_values(source)[0])
    return {each.name: each for section in form.sections for each in section.all_fields()}


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_option_of_every_kind_has_a_field_with_what_holds_without_it(name: str) -> None:
    fields = fields_of(f"study: a\ntitle: b\nkind: {name}\n")
    options = get_kind(name).ask_schema["properties"]
    assert {each.path[-1] for each in fields.values() if each.path[0] == "ask"} == options.keys()
    for option, part in options.items():
        usual = part.get("default", "")
        expected = "\n".join(usual) if isinstance(usual, list) else str(usual)
        shown = fields[f"ask.{option}"].shown
        assert shown == (expected.lower() if isinstance(usual, bool) else expected)


SMALL = "study: a\ntitle: b\nkind: rating\n"
MISTAKEN = apply_changes(FILE, {("answers",): "many", ("title",): None, ("ask", "steps"): 99})


@pytest.mark.parametrize(
    ("source", "beside", "above"),
    [
        (MISTAKEN, {"answers", "title", "ask.steps"}, []),
        (f"{FILE}colour: red\n", set(), ["`colour`"]),
        # What is wrong with a section stands beside the field that is named.
        (f"{SMALL}recruitment: {{any_ids: true, prolific: false, invite: false}}\n", {"recruitment.prolific"}, []),
        # What is missing in an entry stands beside the field that is to say it.
        (f"{SMALL}eligibility:\n- rule: not_author\n- rule: in_group\n", {"eligibility.1.group"}, []),
    ],
    ids=["values", "unknown", "section", "entry"],
)
def test_what_is_wrong_stands_beside_its_field_and_the_rest_above(
    source: str, beside: set[str], above: list[str]
) -> None:
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    form = build_form(values, lines, refused.value.problems)
    found = {each.name: each.problems for section in form.sections for each in section.all_fields() if each.problems}
    assert found.keys() == beside
    assert "answers" not in beside or "must be a whole number" in found["answers"][0]
    assert [problem.message[:8] for problem in form.elsewhere] == above


def test_an_entry_shows_what_its_rule_knows_and_what_another_one_left_there() -> None:
    source = "study: a\neligibility:\n- {rule: in_group, group: ours, by: acceptance, colour: red}\n- {rule: who}\n"
    shown = [each for each in fields_of(source) if each.startswith("eligibility")]
    assert shown == [
        "eligibility.0.rule",
        "eligibility.0.group",
        "eligibility.0.by",
        "eligibility.1.rule",
        "eligibility.new.rule",
    ]


def test_a_problem_names_a_section_before_a_field_of_another_section_with_the_same_name() -> None:
    form = build_form({"study": "x", "kind": "best_of_n"})
    said = form.in_words("Raise `pay`, lower `pay.per_session`, or change `title`.")
    assert said == "Raise “Pay”, lower “Pay per survey”, or change “Title”."
