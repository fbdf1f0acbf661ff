from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import Settings

from annotation.actions.paying.study_fee import StudyFee, study_fee
from annotation.models import ProlificAccount, ProlificStudy
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from simulation.prolific_double.switches import Switch
from tests.annotation.paying.stage import Stage, stage

pytestmark = pytest.mark.django_db
ESTIMATE = StudyFee(Decimal("42.80"))


@pytest.fixture
def paying(tmp_path: Path, settings: Settings) -> Iterator[Stage]:
    settings.PLATFORM_FEE_PERCENT = Decimal("42.80")
    with stage(tmp_path, people=1) as begun:
        yield begun


def test_prolific_tells_the_fee_and_is_asked_once(paying: Stage) -> None:
    """4 places of 4.00 are 16.00, of which a third is 5.33: 33.31 %."""
    known = study_fee(paying.study)
    assert known == StudyFee(Decimal("33.31"), is_known=True)
    assert (known.of(Decimal("4.00")), known.name) == (Decimal("1.33"), "Prolific’s fee and taxes")
    paying.local.switch(Switch.AWAY)
    assert study_fee(paying.study) == known


def test_taxes_are_part_of_it(paying: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20.00, 6.00 fee and 1.20 tax are 36 %."""
    rewards, fees, tax = (bodies.Amount(amount=cents, currency="GBP") for cents in (2000, 600, 120))
    cost = bodies.StudyCost(rewards=bodies.CostParts(rewards=rewards, fees=fees, tax=tax))
    monkeypatch.setattr(Client, "read_cost", lambda client, study, *, is_projected: cost)
    assert study_fee(paying.study).percent == Decimal("36.00")


@pytest.mark.parametrize("change", ["away", "no account", "no study"])
def test_without_an_answer_it_is_the_estimate_of_the_site(paying: Stage, change: str) -> None:
    if change == "away":
        paying.local.switch(Switch.AWAY)
    elif change == "no account":
        ProlificAccount.objects.all().delete()
    else:
        ProlificStudy.objects.update(remote_id="")
    assert study_fee(paying.study) == ESTIMATE
    assert ESTIMATE.name == "Prolific’s fee (estimated)"
    if change == "away":
        # Asked again after a minute.
        paying.local.switch(Switch.AWAY, "off")
        cache.clear()
        assert study_fee(paying.study).is_known
