"""Wages of a study and of a project on two clocks, and what it costs to finish."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings

from analytics.work.wages import ClockedPay, CostToFinish, TwoClocks, cost_to_finish, is_alarming, two_clocks
from annotation.actions.paying.order_payments import REWARDS
from annotation.minimum_pay import PROLIFIC_HOURLY, minimum_hourly_pay
from annotation.models import Payment, ProlificStudy, Session, SessionState, Submission
from annotation.models.sessions import has_unlikely_times
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.session_pay import PayItem, compute_pay, stored_answers
from studies.models import Project, Study

S, State = SubmissionStatus, Payment.State
# A longer one usually means a last page that people do not leave.
LONG_GAP_MINUTES = 3
TIMED = frozenset({S.APPROVED, S.AWAITING_REVIEW, S.PARTIALLY_APPROVED})


@dataclass(frozen=True)
class StudyWages:
    """floor: hourly minimum in the study's currency, None without one. to_finish: None without a study on Prolific."""

    currency: str
    clocks: TwoClocks
    floor: Decimal | None
    to_finish: CostToFinish | None = None
    open_places: int = 0

    @property
    def is_alarming(self) -> bool:
        """Whether either clock shows less than the minimum, from five sessions on."""
        if self.floor is None:
            return False
        return is_alarming(self.clocks.own, self.floor) or is_alarming(self.clocks.platform, self.floor)

    @property
    def limits(self) -> tuple[Decimal, ...]:
        """The hourly amounts below which sessions are counted: what Prolific requires, and what it recommends."""
        return _limits(self.currency)

    @property
    def gap_minutes(self) -> float:
        return (self.clocks.gap_seconds or 0) / 60

    @property
    def is_gap_long(self) -> bool:
        return self.gap_minutes > LONG_GAP_MINUTES

    @property
    def is_known(self) -> bool:
        return bool(self.clocks.own.reward_only.n or self.clocks.platform.reward_only.n)


def _limits(currency: str) -> tuple[Decimal, ...]:
    return PROLIFIC_HOURLY.get(currency, ())


def study_wages(study: Study, fee_percent: Decimal | None = None) -> StudyWages:
    """Return the wages of the finished sessions of `study`, without those with unlikely times.

    fee_percent: None for the estimate of this site's settings.
    """
    sessions = clocked_sessions(study)
    currency = study.design.pay.currency
    remotes = list(ProlificStudy.objects.filter(study=study).exclude(remote_id="").order_by("-created_at", "-pk"))
    open_places = sum(max(each.places - each.places_taken, 0) for each in remotes)
    to_finish = None
    if remotes:
        to_finish = cost_to_finish(
            remotes[0].reward,
            open_places,
            bonuses=sum((each.bonuses for each in sessions), Decimal(0)),
            sessions=len(sessions),
            fee_percent=settings.PLATFORM_FEE_PERCENT if fee_percent is None else fee_percent,
        )
    return StudyWages(
        currency, two_clocks(sessions, _limits(currency)), minimum_hourly_pay(currency), to_finish, open_places
    )


def project_wages(project: Project) -> list[tuple[str, StudyWages]]:
    """Return the wages of all sessions of `project` by currency."""
    by_currency: dict[str, list[ClockedPay]] = defaultdict(list)
    for study in project.studies.filter(launched_at__isnull=False).order_by("pk"):
        by_currency[study.design.pay.currency] += clocked_sessions(study)
    return [
        (currency, StudyWages(currency, two_clocks(found, _limits(currency)), minimum_hourly_pay(currency)))
        for currency, found in sorted(by_currency.items())
        if found
    ]


def clocked_sessions(study: Study, since: datetime | None = None) -> list[ClockedPay]:
    """Return the time and the pay of each finished session of `study`, of all or of those that ended after `since`."""
    finished = Session.objects.filter(study=study, state=SessionState.FINISHED).exclude(has_unlikely_times())
    if since is not None:
        finished = finished.filter(ended_at__gt=since)
    sessions = list(finished.order_by("pk").values_list("pk", "arrived_at", "handed_back_at", "ended_at"))
    answers = stored_answers([pk for pk, *_ in sessions])
    submissions = {
        each.session_id: each
        for each in Submission.objects.filter(session__in=finished).select_related("prolific_study")
    }
    payments: dict[int, list[Payment]] = defaultdict(list)
    rows = Payment.objects.filter(study=study).exclude(state__in=(State.REFUSED, State.CANCELLED))
    for row in rows.filter(session__isnull=False):
        payments[row.session_id or 0].append(row)
    found = []
    for pk, arrived, handed_back, ended in sessions:
        submission, ordered = submissions.get(pk), payments[pk]
        owed = compute_pay(SessionState.FINISHED, answers.get(pk, 0), study.design)
        # By the answer: owed, whether it was ordered yet or not.
        extra = [row.amount for row in ordered if row.reason not in REWARDS and row.reason != Payment.Reason.ANSWERS]
        found.append(
            ClockedPay(
                own_seconds=_seconds(arrived, handed_back or ended),
                platform_seconds=_platform_seconds(submission),
                reward=_reward(submission, ordered, owed.amount(PayItem.SESSION)),
                bonuses=sum(extra, owed.amount(PayItem.ANSWERS)),
            )
        )
    return found


def _reward(submission: Submission | None, ordered: list[Payment], owed: Decimal) -> Decimal:
    for row in ordered:
        if row.reason in REWARDS:
            return row.amount
    return owed if submission is None else submission.prolific_study.reward


def _platform_seconds(submission: Submission | None) -> float | None:
    if submission is None or submission.status not in TIMED:
        return None
    return _seconds(submission.started_at, submission.completed_at)


def _seconds(begun: datetime | None, ended: datetime | None) -> float | None:
    return None if begun is None or ended is None else (ended - begun).total_seconds()
