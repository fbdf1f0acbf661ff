"""Registry of eligibility rules: who may take part in a study, and which questions they may get.

A new rule is one file and one line here. A study file lists its rules under `eligibility`.
"""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

from studies.eligibility.base import ACCEPTANCE, NOTHING, BarredQuestions, Eligibility, Person, Record

RULES = {
    "not_author": "studies.eligibility.not_author.NotAuthor",
    "not_same_instance": "studies.eligibility.not_same_instance.NotSameInstance",
    "in_study": "studies.eligibility.in_study.InStudy",
    "not_in_study": "studies.eligibility.not_in_study.NotInStudy",
    "in_group": "studies.eligibility.in_group.InGroup",
    "qualified": "studies.eligibility.qualified.Qualified",
    "accuracy": "studies.eligibility.accuracy.Accuracy",
}


@cache
def get_rule(name: str) -> Eligibility:
    """Return the rule called `name`. Raises KeyError for a name that is not in the registry."""
    rule: Eligibility = resolve_name(RULES[name])()
    return rule


def bars_questions(name: str) -> bool:
    """Return whether the rule called `name` can exclude people from single questions, not only from whole studies."""
    return type(get_rule(name)).bars is not Eligibility.bars


def every_property() -> dict[str, Mapping[str, Any]]:
    """Return the schemas of all properties that an entry of any rule may have besides its name."""
    return {name: part for rule in RULES for name, part in get_rule(rule).schema["properties"].items()}


__all__ = [
    "ACCEPTANCE",
    "NOTHING",
    "RULES",
    "BarredQuestions",
    "Eligibility",
    "Person",
    "Record",
    "bars_questions",
    "every_property",
    "get_rule",
]
