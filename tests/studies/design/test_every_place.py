"""The form and the file are two views of one design: whatever a study file may say can be said in the form."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from studies.design import read_design
from studies.design.editor import value_at
from studies.design.form_changes import apply_form
from studies.design.form_fields import NEW
from studies.design.named_entries import NAMED
from studies.design.parser import Path, read_values
from studies.design.schema import study_schema
from studies.eligibility import RULES, get_rule
from studies.kinds import KINDS, get_kind
from studies.policies import POLICIES, get_policy
from tests.studies.design.test_form_changes import untouched
from tests.studies.design.test_form_fields import fields_of

# What is not asked in the form, each with why.
LEFT_TO_THE_FILE = {
    ("version",): "Whoever writes a file says which version they wrote it for; a form writes for the current one."
}
PART = "study: vases\ntitle: Which vase?\nparts:\n- kind: {}\n- kind: {}\n"
ALONE = "study: vases\ntitle: Which vase?\nkind: {}\n"
# Texts of the shapes that the schema asks for.
SHAPED = ("second", "8.25", "eu", "text-only:ngrams")


def places(schema: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield all that may stand in a section of a study file, but for what is asked and of whom, of
    which kinds and rules say more."""
    for name, part in schema["properties"].items():
        where = (*path, name)
        if part.get("type") == "object" and "properties" in part:
            yield from places(part, where)
        elif len(where) == 1 and (named := NAMED.get(name)):
            yield (*where, NEW, named.key), part["items"]["properties"][named.key]
        elif part.get("type") == "array" and "properties" in part["items"]:
            yield from places(part["items"], (*where, NEW))
        elif where not in LEFT_TO_THE_FILE and where != ("ask",) and where[0] != "parts":
            yield where, part


def another(part: Mapping[str, Any]) -> Any:
    """Return a value that the schema allows and that does not hold by itself."""
    usual = part.get("default")
    if "enum" in part:
        return next(each for each in reversed(part["enum"]) if each != usual)
    match part["type"]:
        case "boolean":
            return not usual
        case "integer":
            return next(each for each in (part["minimum"] + 1, part["minimum"]) if each != usual)
        case "number":
            return 0.25
        case "array":
            first = another(part["items"])
            return [first, f"{first} too" if "pattern" not in part["items"] else f"{first}-2"]
    if "pattern" in part:
        found = [each for each in SHAPED if re.search(part["pattern"], each)]
        assert found, f"add a text that matches {part['pattern']} to SHAPED in {__file__}"
        return found[0]
    return "Other words: \u201cthese\u201d" + ("\n\n# And more\n" if "contentMediaType" in part else "")


def typed(value: Any) -> str:
    """Return what somebody types, ticks or chooses for a value."""
    if isinstance(value, bool):
        return str(value).lower()
    return "\r\n".join(value if isinstance(value, list) else str(value).split("\n"))


def said_after(source: str, path: Path, value: Any) -> Any:
    """Return what a study file says at `path` once that was typed into its form, and nothing else."""
    name = ".".join(map(str, path))
    assert name in fields_of(source), f"`{name}` has no field"
    after = apply_form(source, untouched(source) | {name: typed(value)})
    return value_at(read_values(after)[0], tuple(0 if each == NEW else each for each in path))


def test_every_value_that_is_not_of_a_kind_can_be_set_in_the_form() -> None:
    found = list(places(study_schema()))
    assert {path[0] for path, _ in found} | {path[0] for path in LEFT_TO_THE_FILE} | {"ask", "parts"} == set(
        study_schema()["properties"]
    )
    for path, part in found:
        value = another(part)
        assert said_after(ALONE.format("check"), path, value) == value, path


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_value_of_a_kind_can_be_set_in_the_form_alone_and_in_a_part(kind: str) -> None:
    other = next(name for name in KINDS if name != kind)
    asked = [(("ask", *path), part) for path, part in places(get_kind(kind).ask_schema)]
    for path, part in [*asked, (("instructions",), study_schema()["properties"]["instructions"])]:
        value = another(part)
        assert said_after(ALONE.format(kind), path, value) == value, path
        assert said_after(PART.format(other, kind), ("parts", 1, *path), value) == value, path


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_of_eligibility_can_be_chosen_and_all_that_it_knows_be_set(rule: str) -> None:
    source = apply_form(ALONE.format("check"), {"eligibility.new.rule": rule})
    for name, part in get_rule(rule).schema["properties"].items():
        value = another(part)
        assert said_after(source, ("eligibility", 0, name), value) == value, name
        source = apply_form(source, {f"eligibility.0.{name}": typed(value)})
    assert said_after(source, ("eligibility", 0, "rule"), rule) == rule
    # Another one knows nothing of that.
    changed_to = apply_form(source, {"eligibility.0.rule": "not_author"})
    assert read_values(changed_to)[0]["eligibility"] == [{"rule": "not_author"}]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_can_be_chosen_and_all_that_it_knows_be_set(policy: str) -> None:
    source = apply_form(ALONE.format("check"), {"policies.new.policy": policy})
    for name, part in get_policy(policy).schema["properties"].items():
        value = another(part)
        assert said_after(source, ("policies", 0, name), value) == value, name
        source = apply_form(source, {f"policies.0.{name}": typed(value)})
    # Another one knows nothing of that.
    changed_to = apply_form(source, {"policies.0.policy": "replace_excluded"})
    assert read_values(changed_to)[0]["policies"] == [{"policy": "replace_excluded"}]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_chosen_alone_and_in_a_part(kind: str) -> None:
    other = next(name for name in KINDS if name != kind)
    third = next(name for name in KINDS if name not in (kind, other))
    assert said_after(ALONE.format(other), ("kind",), kind) == kind
    assert said_after(PART.format(other, third), ("parts", 1, "kind"), kind) == kind


def test_parts_come_go_and_change_places() -> None:
    source = apply_form(ALONE.format("check"), {"do": "add:parts"})
    first = next(iter(KINDS))
    assert read_values(source)[0]["parts"] == [{"kind": "check"}, {"kind": first}]
    source = apply_form(source, {"parts.1.ask.images": "left", "do": "sooner:parts.1"})
    assert read_values(source)[0]["parts"] == [{"kind": first, "ask": {"images": "left"}}, {"kind": "check"}]
    source = apply_form(source, {"do": "add:parts", "parts.0.out": "on"})
    assert read_values(source)[0]["parts"][0] == {"kind": "check"}
    source = apply_form(source, {"parts.1.out": "on"})
    assert read_values(source)[0] == {"study": "vases", "title": "Which vase?", "kind": "check"}


def test_as_many_parts_can_come_as_there_are_kinds() -> None:
    source = ALONE.format("check") + "rule: collected-v1\n"
    for count in range(2, len(KINDS) + 1):
        source = apply_form(source, {"do": "add:parts"})
        assert len(read_values(source)[0]["parts"]) == count
    assert {part.kind for part in read_design(source).parts} == set(KINDS)
    assert apply_form(source, {"do": "add:parts"}) == source
