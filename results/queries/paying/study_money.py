"""What a study, or a project, has paid, ordered and still owes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Count, Q, Sum

from analytics.work.ledger import CENT
from annotation.actions.paying.order_payments import REWARDS, VOID
from annotation.models import Payment, Submission
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.session_pay import PayItem
from results.queries.paying.switched_roles import arrived_at
from results.queries.people.payments_due import SessionLine, owed_sums, session_lines
from studies.models import Project, Study

Reason, State = Payment.Reason, Payment.State
LOST = frozenset({SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT})
ON_ITS_WAY = frozenset({State.PLANNED, State.SENDING, State.REQUESTED})


@dataclass(frozen=True)
class StudyMoney:
    """Amounts of a study in its currency, without fees. numbers: state -> how many payments.

    still_owed: to sessions, as `_still_owed` says. paid_otherwise: currency -> what was paid in another one.
    """

    currency: str
    owed: Decimal
    paid: Decimal
    on_its_way: Decimal
    held: Decimal
    refused: Decimal
    still_owed: Decimal
    numbers: dict[str, int] = field(default_factory=dict)
    paid_otherwise: dict[str, Decimal] = field(default_factory=dict)

    @property
    def held_number(self) -> int:
        return self.numbers.get(State.UNCERTAIN, 0)

    @property
    def refused_number(self) -> int:
        return self.numbers.get(State.REFUSED, 0)


def study_money(study: Study) -> StudyMoney:
    """Return the money of a study."""
    currency = study.design.pay.currency
    sums = Payment.objects.filter(study=study).order_by().values_list("currency", "state")
    rows = list(sums.annotate(amount=Sum("amount"), n=Count("pk")))

    def total(states: Iterable[str]) -> Decimal:
        wanted = set(states)
        return sum((amount for own, state, amount, _ in rows if own == currency and state in wanted), Decimal(0))

    numbers: dict[str, int] = {}
    for _, state, _, n in rows:
        numbers[state] = numbers.get(state, 0) + n
    return StudyMoney(
        currency=currency,
        owed=owed_sums(study).cost(study.design.pay.per_answer),
        paid=total([State.PAID]),
        on_its_way=total(ON_ITS_WAY),
        held=total([State.UNCERTAIN]),
        refused=total([State.REFUSED]),
        still_owed=_still_owed(study),
        numbers=numbers,
        paid_otherwise={own: amount for own, state, amount, _ in rows if own != currency and state == State.PAID},
    )


def _still_owed(study: Study) -> Decimal:
    """Return what the study file owes to sessions and nobody has ordered, session by session.

    Who got a part of the reward, or was rejected, is owed no more of it. Who lost their place on Prolific gets the
    reward as a bonus. Who arrived through another study was ordered their pay there.
    """
    statuses = dict(
        Submission.objects.filter(prolific_study__study=study, session__isnull=False).values_list("session", "status")
    )
    ordered: dict[int, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    pairs = arrived_at(study)
    statuses |= {taken.pk: left.submission.status for left, taken in pairs}
    here = {left.pk: taken.pk for left, taken in pairs}
    of_study = Q(study=study, session__isnull=False) | Q(session__in=here)
    live = Payment.objects.filter(of_study).exclude(state__in=VOID).order_by()
    for session, reason, amount in live.values_list("session", "reason").annotate(amount=Sum("amount")):
        ordered[here.get(session, session)][reason] = amount
    open_ = (_still_owed_to(line, ordered[line.pk], statuses.get(line.pk, "")) for line in session_lines(study))
    return sum(open_, Decimal(0))


def _still_owed_to(line: SessionLine, ordered: Mapping[str, Decimal], status: str) -> Decimal:
    if status == SubmissionStatus.REJECTED:
        return Decimal(0)
    reward = Decimal(0) if REWARDS & set(ordered) else line.owed.amount(PayItem.SESSION)
    missing = [
        reward - ordered.get(Reason.DECIDED, Decimal(0)) if status in LOST else reward,
        line.owed.amount(PayItem.ANSWERS).quantize(CENT) - ordered.get(Reason.ANSWERS, Decimal(0)),
        line.owed.amount(PayItem.WAITING) - ordered.get(Reason.WAITING, Decimal(0)),
    ]
    return sum((max(each, Decimal(0)) for each in missing), Decimal(0))


def unsettled_numbers(project: Project) -> dict[str, int]:
    """Return how many payments of a project are held, and how many were refused."""
    return Payment.objects.filter(study__project=project).aggregate(
        held=Count("pk", filter=Q(state=State.UNCERTAIN)), refused=Count("pk", filter=Q(state=State.REFUSED))
    )
