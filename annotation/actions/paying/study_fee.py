"""The fee on what a study pays: as Prolific says, else as this site's settings estimate it."""

from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from django.conf import settings
from django.core.cache import cache

from analytics.work.pay import platform_fee
from annotation.actions.recruiting.prolific_account import connect
from annotation.models import ProlificAccount, ProlificStudy
from annotation.recruitment.prolific.connection import ProlificError
from studies.models import Study

# Somebody waits for the page.
SECONDS = 3
KEPT, UNKNOWN_KEPT = 3600, 60
_UNKNOWN = Decimal(-1)


@dataclass(frozen=True)
class StudyFee:
    """percent: of what is paid. is_known: whether Prolific says so, and then it is with taxes."""

    percent: Decimal
    is_known: bool = False

    @property
    def name(self) -> str:
        return "Prolific’s fee and taxes" if self.is_known else "Prolific’s fee (estimated)"

    def of(self, amount: Decimal) -> Decimal:
        return platform_fee(amount, self.percent)


def study_fee(study: Study) -> StudyFee:
    """Return the fee of the latest study on Prolific. Prolific is asked at most once an hour."""
    estimate = StudyFee(settings.PLATFORM_FEE_PERCENT)
    row = ProlificStudy.objects.filter(study=study).exclude(remote_id="").first()
    if row is None:
        return estimate
    key = f"prolific-fee-{sha256(f'{settings.PROLIFIC_ADDRESS} {row.remote_id}'.encode()).hexdigest()}"
    percent: Decimal | None = cache.get(key)
    if percent is None:
        percent = _read_percent(study, row)
        cache.set(key, percent, UNKNOWN_KEPT if percent == _UNKNOWN else KEPT)
    return estimate if percent == _UNKNOWN else StudyFee(percent, is_known=True)


def _read_percent(study: Study, row: ProlificStudy) -> Decimal:
    """Return what fee and taxes are of the rewards of all places, in percent with two decimals."""
    account = ProlificAccount.objects.filter(project=study.project_id).first()
    if account is None:
        return _UNKNOWN
    try:
        client = connect(account)
        with client.within(SECONDS):
            cost = client.read_cost(row.remote_id, is_projected=True).rewards
    except ProlificError:
        return _UNKNOWN
    rewards, extra = cost.rewards.amount, cost.fees.amount + cost.tax.amount
    return (Decimal(100 * extra) / rewards).quantize(Decimal("0.01")) if rewards > 0 else _UNKNOWN
