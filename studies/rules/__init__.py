"""Acceptance rules, by name. A new rule is one file and one line here; a rule in use is never edited, a changed one is
a new one with a name of its own."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from studies.kinds.base import Kind
from studies.rules.base import Asked, Given, Needs, Rule, State, Verdict

RULES = {
    "chosen-v1": "studies.rules.chosen.Chosen",
    "unambiguous-v1": "studies.rules.unambiguous.Unambiguous",
    "majority-v1": "studies.rules.majority.Majority",
    "collected-v1": "studies.rules.collected.Collected",
    "described-v1": "studies.rules.described.Described",
    "retrieved-1-of-1-v1": "studies.rules.retrieved_1_of_1.Retrieved1Of1",
    "retrieved-2-of-3-v1": "studies.rules.retrieved_2_of_3.Retrieved2Of3",
}


@cache
def get_rule(name: str) -> Rule:
    """Return the rule called `name`. Raises KeyError for a name that is not in the registry."""
    module, _, attribute = RULES[name].rpartition(".")
    rule: Rule = getattr(import_module(module), attribute)()
    return rule


def decide(rule: str, asked: Asked, answers: Sequence[Given]) -> Verdict:
    """Apply the rule called `rule` to the answers to one question, in the order in which they came.

    Raises KeyError for a name that no rule has, ValueError for a question that wants less than one answer.
    """
    return get_rule(rule).decide(asked, answers)


def misfit(rule: Rule, kind: Kind, ask: Mapping[str, Any]) -> str:
    """Return what questions of `kind`, asked so, lack for `rule`, words that end a sentence; "" where it fits."""
    lacking = sorted(rule.needs.options - kind.always_offers(ask))
    if lacking:
        return f"needs the option {' and '.join(lacking)}, which {kind.name} does not offer"
    if rule.needs.one_label and not kind.has_one_label:
        return f"compares answers that are one label each, and those of {kind.name} are not"
    if rule.needs.right and not kind.knows_right(ask):
        return f"needs to know the right answer, which {kind.name} does not"
    return ""


def fitting(kind: Kind, ask: Mapping[str, Any]) -> list[str]:
    """Return the names of the rules that fit questions of `kind`, asked so; its own first."""
    names = [name for name in RULES if not misfit(get_rule(name), kind, ask)]
    return sorted(names, key=lambda name: name != kind.rule)


__all__ = ["RULES", "Asked", "Given", "Needs", "Rule", "State", "Verdict", "decide", "fitting", "get_rule", "misfit"]
