"""Registry of acceptance rules.

A new rule is one file and one line here. Never edit a rule in use: a change is a new rule with its own name.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from pkgutil import resolve_name
from typing import Any

from studies.kinds.base import Kind
from studies.rules.base import Needs, Rule, State, Verdict, Vote, VoteContext

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
    rule: Rule = resolve_name(RULES[name])()
    return rule


def decide(rule: str, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
    """Apply the rule called `rule` to the votes on one question, in the order in which they came.

    Raises KeyError for an unknown rule, ValueError if fewer than 1 answer is wanted.
    """
    return get_rule(rule).decide(asked, answers)


def misfit(rule: Rule, kind: Kind, ask: Mapping[str, Any]) -> str:
    """Return why `rule` does not fit `kind` with this `ask`, as the end of a sentence; "" if it fits."""
    lacking = sorted(rule.needs.options - kind.common_options(ask))
    if lacking:
        return f"needs the option {' and '.join(lacking)}, which {kind.name} does not offer"
    if rule.needs.one_label and not kind.has_one_label:
        return f"compares answers that are one label each, and those of {kind.name} are not"
    if rule.needs.right and not kind.knows_right(ask):
        return f"needs to know the right answer, which {kind.name} does not"
    if rule.needs.downstream_outcome and not kind.answers_are_sources:
        return f"decides by the outcomes of answers in other studies, and no study can ask about answers of {kind.name}"
    return _misread_option(rule, kind, ask)


def _misread_option(rule: Rule, kind: Kind, ask: Mapping[str, Any]) -> str:
    """Return which option the rule reads differently from `kind`, as the end of a sentence; "" if none.

    The rule decides on 1 to 3 equal votes for each option. It must not accept by a rejecting option of the kind, and
    must not reject by any other option.
    """
    if not rule.needs.one_label or rule.needs.right:
        return ""
    for option, n in product(sorted(kind.common_options(ask)), range(1, 4)):
        rejects = option in kind.rejecting_options
        asked = VoteContext(wanted=n, most=n, rejecting=kind.rejecting_options)
        verdict = rule.decide(asked, [Vote(option, option)] * n)
        if rejects and verdict.state is State.ACCEPTED:
            return f"would accept an instance by the answer {option}, which rejects it in {kind.name}"
        if not rejects and verdict.state is State.REJECTED:
            return f"would reject an instance by the answer {option}, which does not reject it in {kind.name}"
    return ""


def fitting_rules(kind: Kind, ask: Mapping[str, Any]) -> list[str]:
    """Return the names of the rules that fit `kind` with this `ask`, its default first."""
    names = [name for name in RULES if not misfit(get_rule(name), kind, ask)]
    return sorted(names, key=lambda name: name != kind.rule)


__all__ = [
    "RULES",
    "Needs",
    "Rule",
    "State",
    "Verdict",
    "Vote",
    "VoteContext",
    "decide",
    "fitting_rules",
    "get_rule",
    "misfit",
]
