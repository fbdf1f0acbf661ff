"""What holds for every rule of eligibility."""

from dataclasses import replace

import jsonschema
import pytest

from studies.design import Design, DesignRefused, read_design
from studies.eligibility import RULES, BarredQuestions, Eligibility, Person, Record, bars_questions, get_rule

every_rule = pytest.mark.parametrize("name", RULES)
SMALL = "study: things\ntitle: Things\nkind: best_of_n\n"
VALUES = {"study": "others", "group": "people", "right": 1, "of": 2, "at_least": 0.5, "answers": 3, "by": "acceptance"}
PEOPLE = [
    Person(),
    Person({"others": Record(answered=4, known=4, right=2, instances=frozenset({1}))}, frozenset({"people"})),
    Person({"others": Record(answered=4, known=4, right=0, rejected=9)}, answers=frozenset({3})),
]


def given_to(name: str) -> dict[str, object]:
    """Return an entry for the rule, with a value for all that may stand in it."""
    return {entry: VALUES[entry] for entry in get_rule(name).schema["properties"]}


def file_with(name: str, **entries: object) -> str:
    listed = "".join(f", {entry}: {value}" for entry, value in entries.items())
    return f"{SMALL}eligibility:\n  - {{rule: {name}{listed}}}\n"


@every_rule
def test_it_goes_by_its_name_and_has_whole_sentences_for_both_sides(name: str) -> None:
    rule = get_rule(name)
    assert rule.name == name
    assert rule.told[0].isupper()
    assert rule.told.endswith(".")
    assert rule.reason[0].islower()
    assert rule.reason.endswith(".")


@every_rule
def test_it_keeps_people_from_studies_or_from_questions_and_never_from_both(name: str) -> None:
    rule = get_rule(name)
    assert bars_questions(name) != (type(rule).refuses is not Eligibility.refuses)


@every_rule
def test_it_says_the_same_of_the_same_person_and_somebody_new_is_barred_from_nothing(name: str) -> None:
    rule, given = get_rule(name), given_to(name)
    for person in PEOPLE:
        assert rule.refuses(person, given) is rule.refuses(replace(person), given)
        assert rule.bars(person, given) == rule.bars(replace(person), given)
    assert rule.bars(Person(), given) == BarredQuestions()


@every_rule
def test_a_study_file_may_name_it_and_its_design_comes_back_as_it_was_stored(name: str) -> None:
    rule = get_rule(name)
    jsonschema.Draft202012Validator.check_schema(dict(rule.schema))
    design = read_design(file_with(name, **given_to(name)))
    (condition,) = design.eligibility
    assert (condition.rule, dict(condition.parameters)) == (name, given_to(name))
    assert Design.from_stored(design.to_stored()) == design
    needed = {entry: value for entry, value in given_to(name).items() if entry in rule.schema["required"]}
    assert set(read_design(file_with(name, **needed)).eligibility[0].parameters) == set(given_to(name))


@every_rule
def test_what_it_needs_and_does_not_know_is_said_with_its_line(name: str) -> None:
    rule = get_rule(name)
    lacking = dict.fromkeys(VALUES) if not rule.schema["required"] else {}
    unknown = next(entry for entry in VALUES if entry not in rule.schema["properties"])
    with pytest.raises(DesignRefused, match=r"Line 5: .*`.*` is (not known here|missing)"):
        read_design(file_with(name, **({unknown: 1 if unknown in {"right", "of"} else "x"} if lacking else {})))
