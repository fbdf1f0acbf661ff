"""Several workers pay at the same moment, and one is ended with kill -9 in the middle: the books show nobody twice."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from annotation.actions.paying.order_payments import Order, order_payments
from annotation.models import Payment
from tests.annotation.paying.stage import Stage, stage
from tests.factories import TESTS
from tests.together import at_once
from tests.workers import site_environment

pytestmark = pytest.mark.django_db(transaction=True)
State, Reason = Payment.State, Payment.Reason
PEOPLE = 12
AMOUNTS = [f"1.{number:02}" for number in range(PEOPLE)]
# The worker ends itself at the request of this number: before it is sent, or after it was done.
WORKER = """
    import os, signal, sys
    import django
    django.setup()
    from django.utils import timezone
    from annotation.actions.paying.send_payments import send_project
    from annotation.recruitment.prolific.connection import Connection
    from studies.models import Project

    path, when = sys.argv[1:]
    request = Connection.request

    def fatal(self, method, asked, **more):
        if method == "POST" and asked.endswith(path) and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        reply = request(self, method, asked, **more)
        if method == "POST" and asked.endswith(path):
            os.kill(os.getpid(), signal.SIGKILL)
        return reply

    Connection.request = fatal
    send_project(project=Project.objects.get(slug="vases"), now=timezone.now)
"""


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path / "platform", people=PEOPLE) as begun:
        yield begun


def test_four_workers_at_once_pay_everybody_once(paying: Stage) -> None:
    paying.approve()
    paying.bonus(*AMOUNTS)
    at_once(*[paying.send] * 4)
    paying.minute(3)
    assert paying.paid("reward") == [400] * PEOPLE
    assert paying.paid() == [100 + number for number in range(PEOPLE)]
    assert paying.states() == [State.PAID] * 2 * PEOPLE


def test_the_same_order_from_four_browsers_at_once_is_one_order(paying: Stage) -> None:
    session = paying.sessions[0].pk
    orders = [
        Order(session, Reason.DECIDED, paying.remote.reward),
        Order(session, Reason.REWARD, paying.remote.reward),
    ]

    def order() -> int:
        return order_payments(study=paying.study, orders=orders, by=TESTS, now=paying.now()).made

    assert sorted(at_once(*[order] * 4)) == [0, 0, 0, 2]
    assert Payment.objects.count() == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_is_killed_with_kill_9_pays_nobody_twice(paying: Stage, tmp_path: Path, when: str) -> None:
    """At the call that pays. `test_killed_workers` ends workers at every other step, without processes."""
    if connection.vendor == "sqlite" and ":memory:" in str(connection.settings_dict["NAME"]):
        pytest.skip("Another process cannot see a database in memory.")
    paying.approve()
    paying.bonus(*AMOUNTS)
    environment = site_environment(tmp_path, PROLIFIC_ADDRESS=paying.local.double.address)
    environment["DJANGO_SETTINGS_MODULE"] = os.environ.get("DJANGO_SETTINGS_MODULE", "config.settings")
    command = [sys.executable, "-c", textwrap.dedent(WORKER), "/pay/", when]
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    # The clock of the worker that was killed is that of this machine.
    Payment.objects.exclude(state=State.PLANNED).update(state_at=paying.now())
    paying.settle()
    assert paying.paid("reward") == [400] * PEOPLE
    if when == "before":
        # Nobody can know here that nothing was paid.
        assert set(Payment.objects.filter(reason=Reason.DECIDED).values_list("state", flat=True)) == {State.UNCERTAIN}
        assert paying.paid() == [0] * PEOPLE
    else:
        assert paying.states() == [State.PAID] * 2 * PEOPLE
        assert paying.paid() == [100 + number for number in range(PEOPLE)]
