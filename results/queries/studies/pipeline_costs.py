"""What the pipelines of a project have cost: language models, and what is owed to people."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from making.models import Pipeline
from making.queries.yields import StageYield
from results.queries.studies.overview import project_spending


@dataclass(frozen=True)
class PipelineCost:
    """What a pipeline has cost in one currency: for language models, and owed to people, without fees and machines.

    each: of that, per instance: those that people accepted in its last study or, without a study, those that it made.
    None before there is one.
    """

    currency: str
    amount: Decimal
    each: Decimal | None


def pipeline_costs(pipeline: Pipeline, stages: Sequence[StageYield]) -> list[PipelineCost]:
    """Return what a pipeline has cost, by currency."""
    costs: dict[str, Decimal] = {}
    for stage in stages:
        if stage.cost is not None:
            costs[stage.cost.currency] = costs.get(stage.cost.currency, Decimal(0)) + stage.cost.amount
    asked = [stage for stage in stages if stage.is_study]
    if asked:
        names = {stage.maker for stage in asked}
        for money in project_spending(pipeline.project):
            owed = sum((of.owed for of in money.studies if of.study in names), Decimal(0))
            costs[money.currency] = costs.get(money.currency, Decimal(0)) + owed
    instances = asked[-1].kept if asked else pipeline.instances.count()
    return [
        PipelineCost(currency, amount, amount / instances if instances else None)
        for currency, amount in sorted(costs.items())
        if amount
    ]
