"""A form of a study file that comes back: what was changed in it is all that changes."""

from typing import Any

import pytest
import yaml

from studies.design.editor import apply_changes
from studies.design.form_changes import apply_form, find_changes
from studies.design.form_fields import build_form
from studies.design.parser import read_values
from studies.shipped_designs import shipped_designs
from tests.studies.design.test_form_fields import FILE, fields_of

PRACTISED = {"instance": "one", "right": "3"}
OURS = {"rule": "in_group", "group": "ours"}
ELIGIBILITY = [{"rule": "in_group", "group": "experts"}, {"rule": "not_same_instance"}]


def untouched(source: str) -> dict[str, str]:
    """Return what a browser sends of a form in which nothing was done."""
    return {name: each.shown.replace("\n", "\r\n") for name, each in fields_of(source).items()}


def after(source: str, **typed: str) -> str:
    sent = untouched(source) | {name.replace("__", "."): value for name, value in typed.items()}
    return apply_changes(source, find_changes(read_values(source)[0], sent))


@pytest.mark.parametrize("name", sorted(shipped_designs()))
def test_a_form_that_comes_back_as_it_was_shown_changes_nothing(name: str) -> None:
    source = shipped_designs()[name].source
    assert find_changes(read_values(source)[0], untouched(source)) == {}


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
        ({"eligibility__0__group": "ours", "do": "sooner:eligibility.1"}, {"eligibility": [ELIGIBILITY[1], OURS]}),
        ({"do": "sooner:eligibility.1", "eligibility__1__out": "on"}, {"eligibility": [ELIGIBILITY[0]]}),
        ({"do": "sooner:eligibility.7"}, {}),
        ({"practice__questions__0__right": "5", "practice__questions__new__instance": "two"},
            {"practice": {"questions": [PRACTISED | {"right": "5"}, {"instance": "two"}]}}),
        # Scales have steps, which the question of which image is best has not.
        ({"kind": "best_of_n"}, {"kind": "best_of_n", "ask": None}),
    ],
)  # fmt: skip
def test_what_is_typed_is_what_the_file_says_then(typed: dict[str, str], value: dict[str, Any]) -> None:
    expected = {name: each for name, each in (yaml.safe_load(FILE) | value).items() if each is not None}
    file = after(FILE, **typed)
    assert read_values(file)[0] == expected
    assert file.startswith("# Which is best?\n")


def test_a_list_whose_texts_are_no_lines_is_shown_as_the_file_has_it() -> None:
    source = FILE.replace("rating", "check").replace("{steps: 7}", '{statements: ["One,\\nand two", Three]}')
    field = fields_of(source)["ask.statements"]
    assert field.control == "other"
    assert find_changes(read_values(source)[0], untouched(source)) == {}
    file = after(source, ask__statements="- Four")
    assert read_values(file)[0]["ask"] == {"statements": ["Four"]}


@pytest.mark.parametrize(
    ("said", "typed", "value"),
    [
        ("eligibility: [5]", {"eligibility.0.rule": "in_group"}, {"eligibility": [{"rule": "in_group"}]}),
        ("eligibility: [[1]]", {"eligibility.0.rule": "in_group"}, {"eligibility": [{"rule": "in_group"}]}),
        ("ask: 5", {"kind": "check"}, {"kind": "check", "ask": 5}),
        ("ask: [5]", {"kind": "check"}, {"kind": "check", "ask": [5]}),
        ("ask: true", {"kind": "check"}, {"kind": "check", "ask": True}),
        ("ask: {5: 1, yes: 2}", {"kind": "check"}, {"kind": "check"}),
        ("parts: [{kind: 5, ask: 5}, {}]", {"parts.0.kind": "check"}, {"parts": [{"kind": "check", "ask": 5}, {}]}),
    ],
)  # fmt: skip
def test_what_is_no_section_stays_for_the_schema_to_refuse(
    said: str, typed: dict[str, str], value: dict[str, Any]
) -> None:
    assert read_values(apply_form(f"study: a\n{said}\n", typed))[0] == {"study": "a"} | value


def test_a_single_part_stays_one_but_where_the_form_took_the_other_out() -> None:
    single = "study: a\nparts:\n# first\n- kind: rating\n  ask: {image: left}\n"
    assert apply_form(single, {}) == single
    assert apply_form(single, {"do": "sooner:eligibility.1", "title": "T"}) == f"{single}title: T\n"
    double = f"{single}- kind: check\n"
    alone = "study: a\n# first\nkind: rating\nask: {image: left}\n"
    assert apply_form(double, {}) == double
    assert apply_form(double, {"parts.1.out": "on"}) == alone


@pytest.mark.parametrize(
    ("do", "name"),
    [
        ("sooner:eligibility.1", "eligibility.0.rule"),
        ("add:practice.questions", "practice.questions.new.instance"),
        ("add:eligibility", "eligibility.1.study"),
        ("add:nothing", ""),
        ("show:kind", "kind"),
        ("show:nothing", ""),
        ("add:parts", ""),
        ("sooner:parts", ""),
        ("save", ""),
    ],
)
def test_somebody_goes_on_where_the_button_led(do: str, name: str) -> None:
    assert build_form(read_values(FILE)[0]).focus(do) == name


def test_somebody_goes_on_with_the_part_that_came() -> None:
    values = {"study": "a", "parts": [{"kind": "check"}, {"kind": "rating"}], "eligibility": [{"rule": "in_group"}]}
    assert build_form(values).focus("add:parts") == "parts.1.kind"
    assert build_form(values).focus("add:eligibility") == "eligibility.0.group"
