"""`gold`: pause when too many answers to gold questions are wrong."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, ClassVar

from studies.entry_schema import entry_schema
from studies.policies.base import Need, Outline, Policy, PolicyFacts, Standing
from studies.wording import format_count, format_share


class GoldAccuracy(Policy):
    """Pause when a smaller share of the answers to gold questions is right than wanted."""

    name = "gold"
    title = "Gold questions"
    about = "Pauses when the share of right answers to gold questions is below the bound."
    need = Need.GOLD
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        gold_below={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "It acts when the share of right answers to gold questions is below this, such as 0.7.",
        },
        gold_answers={
            "type": "integer",
            "minimum": 1,
            "maximum": 1_000_000,
            "description": "The minimum number of answers to gold questions; with fewer it does nothing.",
        },
    )

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        if not outline.gold:
            yield "", "The study asks no gold questions. Leave the policy out, or add `checks.gold`."
        elif not given["gold_below"]:
            yield "gold_below", "No share of right answers is below 0, so this policy could never act. Raise it."

    def least_sessions(self, given: Mapping[str, Any], outline: Outline) -> int:
        return ceil(given["gold_answers"] / outline.gold) if outline.gold else 0

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        n, bound = facts.gold_answers, format_share(given["gold_below"])
        share = facts.gold_right / n if n else 0.0
        noun = "answer to gold questions" if n == 1 else "answers to gold questions"
        least = given["gold_answers"]
        return Standing(
            value=format_share(share) if n else "",
            n=f"{n:,} {noun}",
            bound=f"below {bound}, from {format_count(least, 'answer')} on",
            crossed=n >= least and share < given["gold_below"],
            sentence=f"{facts.gold_right:,} of {n:,} {noun} right ({format_share(share)}), bound {bound}."
            if n
            else f"0 {noun}, bound {bound}.",
        )
