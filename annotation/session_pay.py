"""Pay of a session: the only definition, used by payments due, costs, wages and completion codes.

Every stored answer is paid, counted or not.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from django.db.models import Count

from analytics.work.pay import session_pay
from annotation.models.responses import Response
from annotation.models.sessions import OPEN_STATES, SessionState
from studies.design import Design

S = SessionState


class PayItem(StrEnum):
    """What an amount is for."""

    SESSION = "session"
    ANSWERS = "answers"
    WAITING = "waiting"


@dataclass(frozen=True)
class OwedAmount:
    """One amount owed for a session, in the study's currency, for `times` sessions, answers or waits."""

    item: PayItem
    times: int
    amount: Decimal


@dataclass(frozen=True)
class SessionOwed:
    """What is owed for one session, and why. to_decide: a researcher decides about further pay."""

    items: tuple[OwedAmount, ...]
    why: str
    to_decide: bool = False

    def amount(self, *items: PayItem) -> Decimal:
        """Return the sum of all items, or of these items only."""
        return sum((each.amount for each in self.items if not items or each.item in items), Decimal(0))


def is_short(state: str, answers: int, design: Design) -> bool:
    """Whether a finished session has too few answers for the full `pay.per_session`."""
    pay = design.pay
    return state == S.FINISHED and bool(pay.per_session) and 1 < pay.least_answers > answers


def compute_pay(state: str, answers: int, design: Design, *, unlikely_times: bool = False) -> SessionOwed:
    """Return what is owed for a session in `state`.

    answers: all its stored answers, at least 0. unlikely_times: its times are implausible and no researcher has
    accepted them; then nothing is owed yet. Example: 1.20 per session from 15 answers on, 0.08 per answer; 3 answers:
    0.24 and 0.24.
    """
    if unlikely_times:
        return SessionOwed((), "unlikely times, so you decide about all of its pay", to_decide=True)
    pay = design.pay
    items = [
        OwedAmount(
            PayItem.SESSION,
            1,
            session_pay(pay.per_session, answers, pay.least_answers) if state == S.FINISHED else Decimal(0),
        ),
        OwedAmount(PayItem.WAITING, 1, design.lobby.pay if state == S.WAITED else Decimal(0)),
        OwedAmount(PayItem.ANSWERS, answers, pay.per_answer * answers),
    ]
    why, to_decide = _reason(SessionState(state), answers, design)
    return SessionOwed(tuple(each for each in items if each.amount), why, to_decide)


def stored_answers(sessions: Collection[int]) -> dict[int, int]:
    """Return the id of each of these sessions that has answers -> how many, counted or not."""
    answers = Response.objects.filter(session__in=sessions, is_current=True).order_by()
    return dict(answers.values_list("session_id").annotate(n=Count("pk")))


def total(of: Iterable[SessionOwed], *items: PayItem) -> Decimal:
    """Return the sum owed for several sessions, or of these items only."""
    return sum((each.amount(*items) for each in of), Decimal(0))


_UNPAID = {
    S.RETURNED: "returned on the platform, so the session is unpaid",
    S.SUPERSEDED: "went on in a later session, so this one is unpaid",
    S.FAILED_CHECKS: "failed the practice, for which the study file pays nothing",
    S.NO_CONSENT: "did not consent",
}
_TO_DECIDE = {
    S.LEFT_OUT: "lost too many questions, so you decide about the session",
    S.WITHDRAWN: "withdrew before the end, so you decide about the session",
    S.STOPPED: "was ended by a researcher, so you decide about the session",
}


def _reason(state: SessionState, answers: int, design: Design) -> tuple[str, bool]:
    """Return the reason for a session's pay, and whether a researcher decides about it."""
    if state in OPEN_STATES:
        return "still open: the session is paid once it is finished", False
    if state == S.NO_CONSENT and answers:
        return "did not agree to a changed consent text, so you decide about the session", True
    if state in _UNPAID:
        return _UNPAID[state], False
    if state in _TO_DECIDE:
        return _TO_DECIDE[state], True
    if state == S.FINISHED:
        few = f"finished with {answers} of {design.pay.least_answers} answers, so the session is paid that share"
        return few if is_short(state, answers, design) else "finished", False
    if state == S.WAITED:
        return "waited, and nothing came", False
    words = "stopped early" if state == S.GIVEN_UP else "ran out of time"
    way = design.endings.stopped if state == S.GIVEN_UP else design.endings.time_over
    if way == "code":
        return f"{words}, so you decide about the session", True
    return f"{words}, so the session is unpaid", False
