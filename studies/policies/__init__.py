"""Registry of policies: what a study does by itself when a number crosses a bound.

A new policy is one file and one line here. A study file lists its policies under `policies`.
"""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

from studies.policies.base import Act, Need, Outline, Policy, PolicyFacts, Standing

POLICIES = {
    "flagged": "studies.policies.flag_share.FlagShare",
    "gold": "studies.policies.gold.GoldAccuracy",
    "cost": "studies.policies.cost.Cost",
    "wage": "studies.policies.wage.HourlyWage",
    "precise": "studies.policies.precise.Precise",
    "replace_excluded": "studies.policies.replacement.Replacement",
}


@cache
def get_policy(name: str) -> Policy:
    """Return the policy called `name`. Raises KeyError for a name that is not in the registry."""
    policy: Policy = resolve_name(POLICIES[name])()
    return policy


def every_property() -> dict[str, Mapping[str, Any]]:
    """Return the schemas of all properties that an entry of any policy may have besides its name."""
    return {name: part for policy in POLICIES for name, part in get_policy(policy).schema["properties"].items()}


__all__ = [
    "POLICIES",
    "Act",
    "Need",
    "Outline",
    "Policy",
    "PolicyFacts",
    "Standing",
    "every_property",
    "get_policy",
]
