"""Lists of a study file whose entries say by a name which properties they have: `eligibility` and `policies`. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from studies.eligibility import RULES, get_rule
from studies.policies import POLICIES, get_policy


@dataclass(frozen=True)
class NamedEntries:
    """key: the property with the name. registry: the names. schema_of: name -> the schema of its other properties."""

    key: str
    registry: Mapping[str, str]
    schema_of: Callable[[str], Mapping[str, Any]]

    def name_in(self, entry: Any) -> str | None:
        """Return the known name in an entry, None without one."""
        name = entry.get(self.key) if isinstance(entry, Mapping) else None
        return name if isinstance(name, str) and name in self.registry else None

    def properties(self, name: str) -> dict[str, Any]:
        return dict(self.schema_of(name)["properties"])


NAMED: Mapping[str, NamedEntries] = {
    "eligibility": NamedEntries("rule", RULES, lambda name: get_rule(name).schema),
    "policies": NamedEntries("policy", POLICIES, lambda name: get_policy(name).schema),
}
