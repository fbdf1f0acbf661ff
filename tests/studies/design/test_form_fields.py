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
        shown = fields[f"ask.{option}"].shown
        usual = part.get("default", "")
        expected = (
            "\n".join(usual)
            if isinstance(usual, list)
            else str(usual).lower()
            if usual in (True, False) and isinstance(usual, bool)
            else str(usual)
        )
        assert shown == expected


def test_what_is_wrong_stands_beside_its_field_and_the_rest_above() -> None:
    source = apply_changes(FILE, {("answers",): "many", ("title",): None, ("ask", "steps"): 99})
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    form = build_form(values, lines, refused.value.problems)
    beside = {each.name: each.problems for section in form.sections for each in section.all_fields() if each.problems}
    assert beside.keys() == {"answers", "title", "ask.steps"}
    assert "must be a whole number" in beside["answers"][0]
    assert form.elsewhere == []


def test_what_stands_in_no_field_is_told_above() -> None:
    source = FILE + "colour: red\n"
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    assert [problem.message[:8] for problem in build_form(values, lines, refused.value.problems).elsewhere] == [
        "`colour`"
    ]


def test_what_is_wrong_with_a_section_stands_beside_the_field_that_is_named() -> None:
    source = "study: a\ntitle: b\nkind: rating\nrecruitment:\n  any_ids: true\n  prolific: false\n  invite: false\n"
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    form = build_form(values, lines, refused.value.problems)
    beside = {each.name for section in form.sections for each in section.all_fields() if each.problems}
    assert beside == {"recruitment.prolific"}


def test_what_is_missing_in_an_entry_stands_beside_the_field_that_is_to_say_it() -> None:
    source = "study: a\ntitle: b\nkind: rating\neligibility:\n- rule: not_author\n- rule: in_group\n"
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    form = build_form(values, lines, refused.value.problems)
    beside = {each.name for section in form.sections for each in section.all_fields() if each.problems}
    assert beside == {"eligibility.1.group"}


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
