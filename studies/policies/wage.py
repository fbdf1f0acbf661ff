"""`wage`: pause when people earn too little by the hour."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from studies.entry_schema import entry_schema
from studies.policies.base import SESSIONS, Need, Outline, Policy, PolicyFacts, Standing
from studies.wording import AMOUNT, format_count, format_money


class HourlyWage(Policy):
    """Pause when the median hourly wage of finished sessions, bonuses included, is below an amount."""

    name = "wage"
    title = "Hourly wage"
    about = "Pauses when the median hourly wage, with bonuses, is below the bound."
    need = Need.WAGE
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        wage_below={
            "type": "string",
            "pattern": AMOUNT,
            "description": "It acts when the median hourly wage is below this amount, such as 9.00.",
        },
        sessions=SESSIONS,
    )

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        if not outline.pays:
            yield "", "The study pays nothing, so there is no wage to watch. Leave the policy out, or set `pay`."
        elif not Decimal(given["wage_below"]):
            yield "wage_below", "No wage is below 0, so this policy could never act. Raise it."
        elif (bound := Decimal(given["wage_below"])) > outline.hourly:
            hourly, limit = (format_money(each, outline.currency) for each in (outline.hourly, bound))
            yield (
                "wage_below",
                f"The study pays {hourly} an hour at its estimated time, less than the bound of {limit}, so people as "
                f"fast as estimated would pause it. Lower the bound to at most {hourly}, raise `pay`, or correct "
                "`time.estimated_minutes`.",
            )

    def least_sessions(self, given: Mapping[str, Any], outline: Outline) -> int:
        return int(given["sessions"])

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        bound, n = Decimal(given["wage_below"]), facts.wage_sessions
        limit = f"{format_money(bound, facts.currency)} an hour"
        said = "" if facts.wage is None else f"{format_money(facts.wage, facts.currency)} an hour"
        return Standing(
            value=said,
            n=format_count(n, "session"),
            bound=f"below {limit}, from {format_count(given['sessions'], 'session')} on",
            crossed=facts.wage is not None and n >= given["sessions"] and facts.wage < bound,
            sentence=f"The median wage of {format_count(n, 'session')} is {said or 'unknown'}, bound {limit}.",
        )
