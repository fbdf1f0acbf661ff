"""States of a payment, and the only way to change them: a conditional update that tells how many rows it found.

The states are such that a process may end between any two steps:

- A worker claims `planned` rows as `sending`, and commits. Nothing was paid yet.
- Immediately before the call that pays, the rows become `uncertain`, and this is committed. If nothing is heard of the
  call, that is what they are. They are never sent again, only looked for on the platform.
- A row that is `sending` for five minutes lost its worker before that commit. It was not paid, and becomes `planned`
  again. A worker that was only slow finds its rows changed, and does not call.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from django.db import transaction

from annotation.models import Payment
from studies.actions.events import TIMETABLE, What, record
from studies.models import Study

Clock: TypeAlias = Callable[[], datetime]
State = Payment.State
PAYMENT_TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.PLANNED: frozenset({State.SENDING, State.CANCELLED}),
    State.SENDING: frozenset({State.PLANNED, State.UNCERTAIN, State.PAID, State.REFUSED}),
    # To planned or refused: the call failed for certain, or an owner saw that it was not paid.
    State.UNCERTAIN: frozenset({State.REQUESTED, State.PAID, State.PLANNED, State.REFUSED}),
    State.REQUESTED: frozenset({State.PAID, State.UNCERTAIN, State.PLANNED, State.REFUSED}),
    State.REFUSED: frozenset({State.PLANNED, State.CANCELLED}),
    # Ordered again.
    State.CANCELLED: frozenset({State.PLANNED}),
    State.PAID: frozenset(),
}
# Longer than a worker takes from its claim to its call (`SECONDS_TO_CALL`).
STALE = timedelta(minutes=5)
SECONDS_TO_CALL = 120
# Statuses of a call that did nothing and may work later: no connection, no token, too many requests.
PASSING = frozenset({None, 401, 403, 429, 502, 503, 504})
# Prolific says no about one study or submission, as after the token became another account's: others can go on.
OF_ONE_ALONE = frozenset({400, 403, 404})


@transaction.atomic
def move(rows: Collection[Payment], *, to: State, now: datetime, problem: str = "", **more: Any) -> list[Payment]:
    """Change rows that nobody has changed since they were read; return those that were.

    Rows that are refused leave an event.
    """
    moved = []
    for row in rows:
        if to not in PAYMENT_TRANSITIONS[State(row.state)]:
            raise ValueError(f"A payment that is {row.state} cannot become {to}.")
        unchanged = Payment.objects.filter(pk=row.pk, state=row.state, state_at=row.state_at)
        if unchanged.update(state=to, state_at=now, problem=problem, **more):
            row.state, row.state_at, row.problem = to, now, problem
            for name, value in more.items():
                setattr(row, name, value)
            moved.append(row)
    if to == State.REFUSED:
        _record(moved, What.PAYMENTS_REFUSED, problem, now)
    return moved


@transaction.atomic
def hold(rows: Collection[Payment], problem: str, now: datetime) -> None:
    """Store why rows are uncertain, unless somebody has changed them, and leave an event."""
    held = [row for row in rows if note_problem([row], problem)]
    _record(held, What.PAYMENTS_HELD, problem, now)


def note_problem(rows: Collection[Payment], problem: str) -> int:
    """Store why rows have their state; return how many nobody had changed meanwhile."""
    return sum(
        Payment.objects.filter(pk=row.pk, state=row.state, state_at=row.state_at).update(problem=problem)
        for row in rows
    )


def _record(rows: Collection[Payment], what: What, why: str, now: datetime) -> None:
    by_study: dict[int, list[Payment]] = defaultdict(list)
    for row in rows:
        by_study[row.study_id].append(row)
    for study in Study.objects.select_related("project").filter(pk__in=by_study).defer("source"):
        theirs = by_study[study.pk]
        amount, currency = sum(row.amount for row in theirs), theirs[0].currency
        told = {"payments": len(theirs), "amount": f"{amount}", "currency": currency, "why": why}
        record(project=study.project, study=study, what=what, by=TIMETABLE, now=now, **told)
