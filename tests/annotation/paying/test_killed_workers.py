"""A worker is killed between any two steps of paying: nobody is paid twice, and everything is paid or held."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from annotation.actions.paying import confirm_payments, send_bonuses, send_rewards
from annotation.actions.paying.payment_states import move
from annotation.models import Payment
from annotation.recruitment.prolific.connection import Connection
from tests.annotation.paying.stage import Stage, stage

pytestmark = pytest.mark.django_db
State = Payment.State
# One more than a run has.
STEPS = 45
REWARDS, BONUSES = [400, 400, 400], [150, 7, 200]


class Killed(BaseException):
    """The process ends here: no handler of the code under test runs, and an open transaction is rolled back."""


@contextmanager
def killed_at(step: int) -> Iterator[Counter[str]]:
    """End the process at the step of this number: before or after a request, or before or after a commit."""
    seen = Counter[str]()

    def ending(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            _step()
            done = function(*arguments, **named)
            _step()
            return done

        return call

    def _step() -> None:
        seen["steps"] += 1
        if seen["steps"] == step:
            raise Killed

    with (
        mock.patch.object(Connection, "request", ending(Connection.request)),
        mock.patch.object(send_bonuses, "move", ending(move)),
        mock.patch.object(send_rewards, "move", ending(move)),
        mock.patch.object(confirm_payments, "move", ending(move)),
    ):
        yield seen


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path, is_checked=False) as begun:
        begun.approve()
        begun.bonus("1.50", "0.07", "2.00")
        yield begun


def test_a_run_has_as_many_steps_as_are_tried(paying: Stage) -> None:
    with killed_at(0) as seen:
        paying.minute()
    assert seen["steps"] == STEPS - 1


@pytest.mark.parametrize("step", range(1, STEPS))
def test_a_worker_that_is_killed_at_any_step_pays_nobody_twice(paying: Stage, step: int) -> None:
    with killed_at(step), suppress(Killed):
        paying.minute()
    # The next workers.
    paying.settle()
    assert paying.paid("reward") == REWARDS
    held = set(Payment.objects.filter(state=State.UNCERTAIN).values_list("session", flat=True))
    assert set(paying.states()) <= {State.PAID, State.UNCERTAIN}
    if held:
        # Killed between the commit and the call: it is not known here that nothing was paid.
        assert paying.paid() == [0, 0, 0]
        problems = set(Payment.objects.filter(state=State.UNCERTAIN).values_list("problem", flat=True))
        assert problems == {confirm_payments.LOST_WORKER}
    else:
        assert paying.paid() == BONUSES


@pytest.mark.parametrize("step", range(1, STEPS, 6))
def test_workers_that_are_killed_again_and_again_pay_nobody_twice(paying: Stage, step: int) -> None:
    for again in range(8):
        with killed_at(step + again), suppress(Killed):
            # What the one before had claimed is stale.
            paying.minute()
            paying.local.later(minutes=5)
    paying.settle()
    assert paying.paid("reward") == REWARDS
    assert all(found in (0, whole) for found, whole in zip(paying.paid(), BONUSES, strict=True))
    assert set(paying.states()) <= {State.PAID, State.UNCERTAIN}
