"""What a study, or a project, has paid, ordered and still owes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, Q, Sum

from analytics.work.pay import platform_fee
from annotation.actions.paying.order_payments import REWARDS, VOID
from annotation.models import Payment
from results.queries.people.payments_due import owed_sums
from studies.models import Project, Study

Reason, State = Payment.Reason, Payment.State
# What the study file promises; everything else is decided by a researcher.
OWED = REWARDS | {Reason.ANSWERS, Reason.WAITING}
ON_ITS_WAY = frozenset({State.PLANNED, State.SENDING, State.REQUESTED})


@dataclass(frozen=True)
class StudyMoney:
    """Amounts of a study in its currency, without fees. numbers: state -> how many payments.

    covered: what was ordered of the amount owed, whatever has become of it, unless it was refused or cancelled.
    """

    currency: str
    owed: Decimal
    paid: Decimal
    on_its_way: Decimal
    held: Decimal
    refused: Decimal
    covered: Decimal
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def still_owed(self) -> Decimal:
        return max(self.owed - self.covered, Decimal(0))

    @property
    def held_number(self) -> int:
        return self.numbers.get(State.UNCERTAIN, 0)

    @property
    def refused_number(self) -> int:
        return self.numbers.get(State.REFUSED, 0)


def study_money(study: Study) -> StudyMoney:
    """Return the money of a study."""
    rows = list(
        Payment.objects.filter(study=study)
        .order_by()
        .values_list("state", "reason")
        .annotate(amount=Sum("amount"), n=Count("pk"))
    )

    def total(states: Iterable[str], reasons: Iterable[str] = Reason.values) -> Decimal:
        wanted, why = set(states), set(reasons)
        return sum((amount for state, reason, amount, _ in rows if state in wanted and reason in why), Decimal(0))

    numbers: dict[str, int] = {}
    for state, _, _, n in rows:
        numbers[state] = numbers.get(state, 0) + n
    return StudyMoney(
        currency=study.design.pay.currency,
        owed=owed_sums(study).cost(study.design.pay.per_answer),
        paid=total([State.PAID]),
        on_its_way=total(ON_ITS_WAY),
        held=total([State.UNCERTAIN]),
        refused=total([State.REFUSED]),
        covered=total(set(State) - VOID, OWED),
        numbers=numbers,
    )


def fee_of(amount: Decimal) -> Decimal:
    """Return the platform's fee on an amount, as this site's settings say."""
    return platform_fee(amount, settings.PLATFORM_FEE_PERCENT)


def unsettled_numbers(project: Project) -> dict[str, int]:
    """Return how many payments of a project are held, and how many were refused."""
    return Payment.objects.filter(study__project=project).aggregate(
        held=Count("pk", filter=Q(state=State.UNCERTAIN)), refused=Count("pk", filter=Q(state=State.REFUSED))
    )
