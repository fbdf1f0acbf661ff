"""A study whose people have finished on the local platform and here, and wait to be paid."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from django.test import override_settings

from annotation.actions.paying.order_payments import Order, OrderResult, order_payments, order_rewards
from annotation.actions.paying.send_payments import send_project
from annotation.actions.recruiting import prolific_account
from annotation.models import Payment, ProlificAccount, ProlificStudy, Session, SessionState, Submission
from annotation.recruitment.prolific.connection import Connection
from background.sealed_secrets import seal
from simulation.prolific_double.server import WORKSPACE
from studies.models import Study
from tests.factories import NOON, TESTS, make_project, make_prolific_study, make_study, make_submission, sit_down
from tests.prolific import DONE, TOKEN, CheckedConnection, Local, local_platform, new_study

State = Payment.State
PEOPLE = 3


class Stage:
    """`study` and its sessions here, and the same on the local platform. The clock of both is `local.time`."""

    def __init__(self, local: Local, *, people: int = PEOPLE, **remote: Any) -> None:
        self.local = local
        project = make_project()
        ProlificAccount.objects.create(
            project=project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
        )
        self.study: Study = make_study(project, pay={"currency": "USD", "per_session": "4.00"})
        self.study.state, self.study.launched_at = "open", NOON
        self.study.save()
        details = new_study(total_available_places=people + 3, **remote)
        remote_id = local.client.publish_study(local.client.create_study(details).id).id
        self.remote: ProlificStudy = make_prolific_study(
            self.study, remote_id, details=details.model_dump(mode="json"), places=people + 3
        )
        self.ids = [local.opened(remote_id, f"person-{number}") for number in range(people)]
        local.later(minutes=15)
        for id_ in self.ids:
            local.play("complete", submission=id_, code=DONE)
        self.sessions = [self._finish(number) for number in range(people)]

    def _finish(self, number: int) -> Session:
        session = sit_down(self.study, f"person-{number}", state=SessionState.FINISHED)
        make_submission(self.remote, session, self.ids[number])
        return session

    def approve(self, sessions: Sequence[Session] | None = None, *, chosen: bool = False) -> OrderResult:
        named = [session.pk for session in (self.sessions if sessions is None else sessions)]
        return order_rewards(study=self.study, sessions=named, chosen=chosen, by=TESTS, now=self.now())

    def bonus(self, *amounts: str, reason: str = Payment.Reason.DECIDED, note: str = "") -> OrderResult:
        """Order a bonus for each of the first sessions."""
        orders = [
            Order(session.pk, reason, Decimal(amount), note=note)
            for session, amount in zip(self.sessions, amounts, strict=False)
        ]
        return order_payments(study=self.study, orders=orders, by=TESTS, now=self.now())

    def send(self) -> None:
        send_project(project=self.study.project, now=self.now)

    def now(self) -> datetime:
        """The time, which is another one whenever it is asked for."""
        self.local.time += timedelta(microseconds=1)
        return self.local.time

    def minute(self, minutes: int = 1) -> None:
        """Let minutes pass on both, and the minute's task run."""
        for _ in range(minutes):
            self.local.later(minutes=1)
            self.send()

    def settle(self) -> None:
        """Let 20 minutes pass in five runs: claims are stale after five minutes, and bulk approvals lost after ten."""
        for minutes in (6, 6, 6, 1, 1):
            self.local.later(minutes=minutes)
            self.send()

    def states(self) -> list[str]:
        return list(Payment.objects.order_by("session_id", "pk").values_list("state", flat=True))

    def paid(self, why: str = "bonus") -> list[int]:
        """Return the cents that the platform's own books have for each submission."""
        found = Counter[str]()
        for payment in self.local.double.store.list("payment"):
            if payment["why"] == why:
                found[payment["submission"]] += payment["cents"]
        return [found[id_] for id_ in self.ids]

    def held(self) -> Payment:
        """Return a bonus that is held since two hours before noon, and was not paid."""
        self.bonus("1.50")
        Payment.objects.update(state=State.UNCERTAIN, state_at=NOON - timedelta(hours=2))
        return Payment.objects.select_related("study__project").get()

    def submission(self) -> Submission:
        """Return the submission of the first person."""
        found = Submission.objects.select_related("prolific_study__study__project", "session")
        return found.get(session=self.sessions[0])


@contextmanager
def stage(folder: Path, *, people: int = PEOPLE, is_checked: bool = True, **remote: Any) -> Iterator[Stage]:
    """Run the local platform. is_checked: what is sent and answered is compared with the published description."""
    connection = CheckedConnection if is_checked else Connection
    with (
        local_platform(folder) as local,
        override_settings(PROLIFIC_ADDRESS=local.double.address),
        mock.patch.object(prolific_account, "Connection", partial(connection, sleep=lambda seconds: None)),
    ):
        yield Stage(local, people=people, **remote)
