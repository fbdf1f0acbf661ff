"""`cost`: pause when the study has cost too much."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from studies.entry_schema import entry_schema
from studies.policies.base import Need, Outline, Policy, PolicyFacts, Standing
from studies.wording import AMOUNT, format_count, format_money


class Cost(Policy):
    """Pause when what is paid, ordered and owed is above an amount, without fees. Sessions under way still add to it.

    After a resume the same amount may be spent once more.
    """

    name = "cost"
    title = "Cost"
    about = "Pauses when the cost so far, without fees, is above the bound."
    need = Need.COST
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        cost_above={
            "type": "string",
            "pattern": AMOUNT,
            "description": "It acts when the cost without fees is above this amount, such as 500.00.",
        }
    )

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        if not outline.pays:
            yield "", "The study pays nothing, so its cost never crosses a bound. Leave the policy out, or set `pay`."
        elif not (bound := Decimal(given["cost_above"])):
            yield "cost_above", "Every session costs more than 0, so this policy would act at once. Raise it."
        elif bound < outline.pay:
            pay, limit = (format_money(each, outline.currency) for each in (outline.pay, bound))
            answers = format_count(outline.paid_answers, "answer")
            costs = f"of at least {answers} costs at least {pay}" if outline.paid_answers else f"costs {pay}"
            yield (
                "cost_above",
                f"One session {costs}, more than the bound of {limit}: the first session would pause the study, also "
                f"after each resume. Raise it to at least {pay}, or lower `pay`.",
            )
        elif outline.cost is not None and bound >= outline.cost and not outline.replaces:
            whole, limit = (format_money(each, outline.currency) for each in (outline.cost, bound))
            yield (
                "cost_above",
                f"The cost of {format_count(outline.sessions or 0, 'place')} is at most {whole}, so it is never above "
                f"the bound of {limit} unless bonuses or places are added. Lower the bound, or leave the policy out.",
            )

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        bound = Decimal(given["cost_above"])
        said, limit = format_money(facts.cost, facts.currency), format_money(bound, facts.currency)
        return Standing(
            value=said,
            n="",
            bound=f"above {limit}",
            crossed=facts.cost > bound,
            sentence=f"The cost is {said}, bound {limit}.",
        )
