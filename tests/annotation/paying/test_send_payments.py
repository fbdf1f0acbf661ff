from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.models import Payment
from tests.annotation.paying.stage import Stage, stage

pytestmark = pytest.mark.django_db
State = Payment.State


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path) as begun:
        yield begun


def test_rewards_are_approved_and_confirmed(paying: Stage) -> None:
    assert str(paying.approve()) == "3 payments ordered, 12.00 in all, without fees."
    paying.send()
    # In bulk, which Prolific does later.
    assert paying.states() == [State.REQUESTED] * 3
    paying.minute()
    assert paying.states() == [State.PAID] * 3
    assert paying.paid("reward") == [400, 400, 400]


def test_bonuses_are_paid_and_confirmed(paying: Stage) -> None:
    paying.bonus("1.50", "0.07")
    paying.send()
    assert paying.states() == [State.PAID] * 2
    assert paying.paid() == [150, 7, 0]


def test_the_same_order_again_changes_nothing(paying: Stage) -> None:
    paying.bonus("1.50")
    assert str(paying.bonus("1.50", "2.00")) == (
        "1 payment ordered, 2.00 in all, without fees. 1 had been ordered before."
    )
    paying.send()
    paying.bonus("1.50", "2.00")
    paying.minute(2)
    assert paying.paid() == [150, 200, 0]
