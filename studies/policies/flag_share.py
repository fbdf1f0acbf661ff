"""`flagged`: pause when too many sessions are flagged."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from studies.entry_schema import entry_schema
from studies.policies.base import SESSIONS, Need, Outline, Policy, PolicyFacts, Standing
from studies.wording import format_count, format_share


class FlagShare(Policy):
    """Pause when more than a share of the finished sessions have a flag that nobody dismissed."""

    name = "flagged"
    title = "Flagged sessions"
    about = "Pauses when the share of flagged sessions is above the bound."
    need = Need.FLAGS
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        flagged_above={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "It acts when the share of flagged sessions is above this, such as 0.2.",
        },
        sessions=SESSIONS,
    )

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        if given["flagged_above"] >= 1:
            yield "flagged_above", "No share of sessions is above 1, so this policy could never act. Lower it."

    def least_sessions(self, given: Mapping[str, Any], outline: Outline) -> int:
        return int(given["sessions"])

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        n, bound = facts.sessions, format_share(given["flagged_above"])
        share = facts.flagged / n if n else 0.0
        of = f"{facts.flagged:,} of {format_count(n, 'session')} flagged"
        return Standing(
            value=format_share(share) if n else "",
            n=format_count(n, "session"),
            bound=f"above {bound}, from {format_count(given['sessions'], 'session')} on",
            crossed=n >= given["sessions"] and share > given["flagged_above"],
            sentence=f"{of} ({format_share(share)}), bound {bound}.",
        )
