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
    "majority-v2": "studies.rules.majority.MajorityV2",
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
    if rule.needs.became and not kind.answers_are_sources:
        return f"decides by what other studies make of the answers, and no study can ask about answers of {kind.name}"
    return _misread_option(rule, kind, ask)


def _misread_option(rule: Rule, kind: Kind, ask: Mapping[str, Any]) -> str:
    """Return which option the rule takes for something else than `kind` does, words that end a sentence; "" for none.

    A rule that compares labels is asked about single answers. It may accept an instance with an option only where the
    kind says that the option is none of those that reject, and reject it only by those that do.
    """
    if not rule.needs.one_label or rule.needs.right:
        return ""
    for option in sorted(kind.always_offers(ask)):
        rejects = option in kind.rejecting_options
        verdict = rule.decide(Asked(wanted=1, rejecting=kind.rejecting_options), [Given(option, option)])
        if rejects and verdict.winner == option:
            return f"would accept an instance by the answer {option}, which rejects it in {kind.name}"
        if not rejects and verdict.state is State.REJECTED:
            return f"would reject an instance by the answer {option}, which does not reject it in {kind.name}"
    return ""


def fitting(kind: Kind, ask: Mapping[str, Any]) -> list[str]:
    """Return the names of the rules that fit questions of `kind`, asked so; its own first."""
    names = [name for name in RULES if not misfit(get_rule(name), kind, ask)]
    return sorted(names, key=lambda name: name != kind.rule)


__all__ = ["RULES", "Asked", "Given", "Needs", "Rule", "State", "Verdict", "decide", "fitting", "get_rule", "misfit"]
