"""What holds for every policy."""

import jsonschema
import pytest

from studies.design import Design, DesignRefused, read_design
from studies.policies import POLICIES, PolicyFacts, get_policy

every_policy = pytest.mark.parametrize("name", POLICIES)
# Right answers are known, some questions are gold, and people are paid, so every policy can act.
SMALL = "study: things\ntitle: Things\nkind: image_to_text\nask: {}\npay: {per_session: '2.00'}\n"
SMALL += "checks: {gold: {per_survey: 1, questions: [{instance: vase-1}]}}\n"
VALUES = {
    **{"flagged_above": 0.2, "gold_below": 0.7, "gold_answers": 3, "cost_above": "'90.00'", "wage_below": "'3.00'"},
    **{"sessions": 3, "width": 0.9, "per": "question"},
}


def file_with(name: str, **entries: object) -> str:
    listed = "".join(f", {entry}: {value}" for entry, value in entries.items())
    return f"{SMALL}policies:\n  - {{policy: {name}{listed}}}\n"


def given_to(name: str) -> dict[str, object]:
    return {entry: VALUES[entry] for entry in get_policy(name).schema["properties"]}


@every_policy
def test_it_goes_by_its_name_and_is_described_in_sentences(name: str) -> None:
    policy = get_policy(name)
    assert policy.name == name
    assert policy.title[0].isupper()
    assert policy.about[0].isupper()
    assert policy.about.endswith(".")


@every_policy
def test_a_study_file_may_name_it_and_its_design_comes_back_as_it_was_stored(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(dict(get_policy(name).schema))
    design = read_design(file_with(name, **given_to(name)))
    (entry,) = design.policies
    assert (entry.policy, set(entry.parameters)) == (name, set(given_to(name)))
    assert Design.from_stored(design.to_stored()) == design


@every_policy
def test_without_evidence_it_does_nothing_and_says_so(name: str) -> None:
    (entry,) = read_design(file_with(name, **given_to(name))).policies
    standing = get_policy(name).judge(entry.parameters, PolicyFacts())
    assert not standing.crossed
    assert standing.sentence[0].isupper() or standing.sentence[0].isdigit()
    assert standing.sentence.endswith(".")


@every_policy
def test_listed_twice_it_is_refused(name: str) -> None:
    entry = file_with(name, **given_to(name))
    with pytest.raises(DesignRefused, match=rf"Line 9: The policy {name} is listed twice\. Keep one of them\."):
        read_design(entry + entry.rpartition("policies:\n")[2])


@every_policy
def test_what_it_does_not_know_is_said_with_its_line(name: str) -> None:
    unknown = next(entry for entry in VALUES if entry not in get_policy(name).schema["properties"])
    with pytest.raises(DesignRefused, match=rf"Line 8: .*`{unknown}` is not known here"):
        read_design(file_with(name, **given_to(name), **{unknown: VALUES[unknown]}))
