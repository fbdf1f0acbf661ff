"""`replace_excluded`: ask others what people answered who were excluded."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.entry_schema import entry_schema
from studies.policies.base import Act, Need, Policy, PolicyFacts, Standing
from studies.wording import format_count


class Replacement(Policy):
    """Open the places of excluded answers again, so that others answer these questions."""

    name = "replace_excluded"
    title = "Replace excluded answers"
    about = "Opens the places of excluded answers again, as often as somebody is excluded."
    act = Act.REPLACE
    need = Need.EXCLUDED
    schema: ClassVar[Mapping[str, Any]] = entry_schema()

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        waiting = format_count(facts.excluded, "excluded answer")
        return Standing(
            value=f"{facts.excluded:,} without another place",
            n=waiting,
            bound="any",
            crossed=facts.excluded > 0,
            sentence=f"{waiting} had no other place.",
        )
