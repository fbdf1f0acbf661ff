"""The form of a study file: each value that its schema knows has a field, and what comes back changed is all that
changes."""

from typing import Any

import pytest
import yaml

from studies.design import DesignRefused, read_design
from studies.design.editing import with_changes
from studies.design.fields import Field, changes_of, form_of
from studies.design.reading import read_values
from studies.kinds import KINDS, get_kind
from studies.shipped import shipped

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
PRACTISED = {"instance": "one", "right": "3"}
ELIGIBILITY = [{"rule": "in_group", "group": "experts"}, {"rule": "not_same_instance"}]


def fields_of(source: str) -> dict[str, Field]:
    form = form_of(read_values(source)[0])
    return {each.name: each for section in form.sections for each in section.all_fields()}


def untouched(source: str) -> dict[str, str]:
    """Return what a browser sends of a form in which nothing was done."""
    return {name: each.shown.replace("\n", "\r\n") for name, each in fields_of(source).items()}


def after(source: str, **typed: str) -> str:
    sent = untouched(source) | {name.replace("__", "."): value for name, value in typed.items()}
    return with_changes(source, changes_of(read_values(source)[0], sent))


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_form_that_comes_back_as_it_was_shown_changes_nothing(name: str) -> None:
    source = shipped()[name].source
    assert changes_of(read_values(source)[0], untouched(source)) == {}


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


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ({"answers": "5"}, {"answers": 5}),
        ({"answers": ""}, {"answers": None}),
        ({"answers": "many"}, {"answers": "many"}),
        ({"ask__steps": "4"}, {"ask": {"steps": 4}}),
        ({"ask__images": "left\r\n\r\n right \r\n"}, {"ask": {"steps": 7, "images": ["left", "right"]}}),
        ({"ask__caption": ""}, {"ask": {"steps": 7, "caption": ""}}),
        ({"dataset": "true"}, {"dataset": True}),
        ({"recruitment__invite": ""}, {"recruitment": {"invite": False}}),
        ({"instances__sample": "50"}, {"instances": {"sample": 50}}),
        ({"consent": "One.\r\n\r\nTwo.\r\n"}, {"consent": "One.\n\nTwo.\n"}),
        ({"practice__questions__0__feedback": "Look"}, {"practice": {"questions": [PRACTISED | {"feedback": "Look"}]}}),
        ({"eligibility__0__out": "on"}, {"eligibility": [{"rule": "not_same_instance"}]}),
        ({"eligibility__0__out": "on", "eligibility__1__out": "on"}, {"eligibility": None}),
        ({"eligibility__new__rule": "not_author"}, {"eligibility": [*ELIGIBILITY, {"rule": "not_author"}]}),
        # Scales have steps, which the question of which image is best has not.
        ({"kind": "best_of_n"}, {"kind": "best_of_n", "ask": None}),
    ],
)  # fmt: skip
def test_what_is_typed_is_what_the_file_says_then(typed: dict[str, str], value: dict[str, Any]) -> None:
    expected = {name: each for name, each in (yaml.safe_load(FILE) | value).items() if each is not None}
    changed = after(FILE, **typed)
    assert read_values(changed)[0] == expected
    assert changed.startswith("# Which is best?\n")


def test_what_is_wrong_stands_beside_its_field_and_the_rest_above() -> None:
    source = after(FILE, answers="many", title="", ask__steps="99")
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    form = form_of(values, lines, refused.value.problems)
    beside = {each.name: each.problems for section in form.sections for each in section.all_fields() if each.problems}
    assert beside.keys() == {"answers", "title", "ask.steps"}
    assert "must be a whole number" in beside["answers"][0]
    assert form.elsewhere == []


def test_what_stands_in_no_field_is_told_above() -> None:
    source = FILE + "colour: red\n"
    values, lines = read_values(source)
    with pytest.raises(DesignRefused) as refused:
        read_design(source)
    assert [problem.message[:8] for problem in form_of(values, lines, refused.value.problems).elsewhere] == ["`colour`"]
