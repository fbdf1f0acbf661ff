"""Bonuses that a researcher orders by a rule or by a file: who would get how much. Nothing is stored."""

import csv
import io
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from django.db.models import Sum

from analytics.work.ledger import CENT, raise_to_floor
from annotation.actions.paying.order_payments import LARGEST, REWARDS, VOID, Order
from annotation.models import Payment, Response, Session, SessionState, Submission
from annotation.models.sessions import OPEN_STATES
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.session_pay import PayItem
from background.sealed_secrets import CannotUnseal, unseal
from results.models import Pseudonym
from results.queries.paying.study_money import LOST
from results.queries.people.annotators import answer_outcomes
from results.queries.people.payments_due import session_lines
from studies.models import Study
from studies.wording import format_money

Reason, State = Payment.Reason, Payment.State
UNPAID = (*LOST, SubmissionStatus.REJECTED)
LONGEST_NOTE = 500
MOST_LINES = 2000


@dataclass(frozen=True)
class PlannedBonus:
    """A bonus that would be ordered for somebody, by pseudonym."""

    name: str
    order: Order


@dataclass(frozen=True)
class BadLine:
    """A line of a file that cannot be used, and why."""

    number: int
    why: str


def plan_answers(study: Study) -> list[PlannedBonus]:
    """Plan the pay per answer of ended sessions, as the study file owes it."""
    return _planned_items(study, PayItem.ANSWERS, Reason.ANSWERS)


def plan_waiting(study: Study) -> list[PlannedBonus]:
    """Plan the pay for people who waited and got no questions."""
    return _planned_items(study, PayItem.WAITING, Reason.WAITING)


def _planned_items(study: Study, item: PayItem, reason: str) -> list[PlannedBonus]:
    lines = [line for line in session_lines(study) if line.state not in OPEN_STATES]
    rejected = Submission.objects.filter(prolific_study__study=study, status=SubmissionStatus.REJECTED)
    unpaid = set(rejected.values_list("session", flat=True))
    orders = [
        Order(line.pk, reason, amount)
        for line in lines
        if (amount := line.owed.amount(item).quantize(CENT)) and line.pk not in unpaid
    ]
    return _new(study, orders)


def plan_descriptions(study: Study, amount: Decimal) -> list[PlannedBonus]:
    """Plan `amount` (major units) for each description that later studies accepted."""
    accepted = [pk for pk, state in answer_outcomes(study).items() if state == "accepted"]
    rows = Response.objects.filter(pk__in=accepted, study=study, is_current=True).order_by("session_id", "pk")
    orders = [
        Order(session, Reason.DESCRIPTION, amount, subject=str(pk))
        for pk, session in rows.values_list("pk", "session_id")
        if session is not None
    ]
    return _new(study, orders)


def plan_floor(study: Study, floor: Decimal, *, on_platform: bool) -> list[PlannedBonus]:
    """Plan what each finished session lacks to `floor`, in major units an hour.

    on_platform: by the times of its submission; otherwise by those of this site.
    """
    submissions = Submission.objects.filter(
        prolific_study__study=study, session__state=SessionState.FINISHED
    ).select_related("prolific_study", "session")
    # What the study file owes by the answer counts, whether it was ordered yet or not.
    bonuses = {line.pk: line.owed.amount(PayItem.ANSWERS) for line in session_lines(study)}
    rewards: dict[int, Decimal] = {}
    known = Payment.objects.filter(study=study, session__isnull=False).exclude(state__in=VOID).order_by()
    sums = known.values_list("session_id", "reason")
    for session_id, reason, amount in sums.annotate(amount=Sum("amount")):
        if reason in REWARDS:
            rewards[session_id] = amount
        elif reason not in {Reason.HOURLY_FLOOR, Reason.ANSWERS}:
            bonuses[session_id] += amount
    orders = []
    for submission in submissions:
        session = submission.session
        if session is None or session.has_unlikely_times:
            continue
        begun = submission.started_at if on_platform else session.arrived_at
        ended = submission.completed_at if on_platform else session.handed_back_at or session.ended_at
        if begun is None or ended is None or ended <= begun or submission.status in UNPAID:
            continue
        reward = rewards.get(session.pk, submission.prolific_study.reward)
        missing = raise_to_floor(floor, (ended - begun).total_seconds(), [reward, bonuses[session.pk]])
        if missing:
            times = "Prolific's times" if on_platform else "this site's times"
            note = f"Raised to {format_money(floor, study.design.pay.currency)} an hour by {times}."
            orders.append(Order(session.pk, Reason.HOURLY_FLOOR, missing, note=note))
    return _new(study, orders)


def plan_file(study: Study, text: str) -> tuple[list[PlannedBonus], list[BadLine]]:
    """Plan the bonuses of a CSV file: pseudonym or submission id, amount, note. Returns every line that is wrong.

    A first line that names its columns is passed over.
    """
    sessions = _sessions_by_key(study)
    orders, bad, seen = list[Order](), list[BadLine](), set[int]()
    ordered = set(
        Payment.objects.filter(study=study, reason=Reason.DECIDED)
        .exclude(state=State.CANCELLED)
        .values_list("session_id", flat=True)
    )
    for number, cells in _rows(text):
        why, order = _read_line(cells, sessions)
        if order is not None and order.session in seen:
            why = "This person is on an earlier line. Put the total on one line."
        elif order is not None and order.session in ordered:
            why = "This session already has a bonus of its own or from a file."
        if why or order is None:
            bad.append(BadLine(number, why))
        else:
            seen.add(order.session)
            orders.append(order)
    if not orders and not bad:
        bad.append(BadLine(1, "The file is empty. Write a pseudonym or submission ID, an amount and a note per line."))
    return _new(study, orders), bad


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, cells in enumerate(csv.reader(io.StringIO(text.lstrip("\ufeff"))), start=1):
        cells = [cell.strip() for cell in cells]
        is_head = number == 1 and len(cells) > 1 and cells[1].casefold() == "amount"
        if any(cells) and not is_head and number <= MOST_LINES:
            yield number, cells


def _read_line(cells: Sequence[str], sessions: dict[str, list[int]]) -> tuple[str, Order | None]:
    who, amount, note = (*cells, "", "", "")[:3]
    found = sessions.get(who.casefold(), [])
    if len(cells) > 3:
        return f"A line has three columns. This one has {len(cells)}: put a note with commas in quotation marks.", None
    if not found:
        return "Nobody in this study has this pseudonym or submission ID.", None
    if len(found) > 1:
        return "This person has several sessions here. Name the submission ID.", None
    value = read_amount(amount)
    if value is None:
        return f"`amount` must be from 0.01 to {LARGEST:,}, with at most two decimals. It is `{amount[:20]}`.", None
    if len(note) > LONGEST_NOTE:
        return f"`note` may have at most {LONGEST_NOTE} characters. It has {len(note)}.", None
    return "", Order(found[0], Reason.DECIDED, value, note=note)


def read_amount(text: str) -> Decimal | None:
    """Return an amount that was typed, None if it is none. Example: "1.5" is 1.50."""
    try:
        value = Decimal(text.strip())
        return value.quantize(CENT) if 0 < value <= LARGEST and value == value.quantize(CENT) else None
    except (InvalidOperation, ValueError):
        return None


def _sessions_by_key(study: Study) -> dict[str, list[int]]:
    """Return pseudonym, and id of the submission, in lower case -> sessions that can be paid."""
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    found: dict[str, list[int]] = defaultdict(list)
    for submission in Submission.objects.filter(prolific_study__study=study).select_related("session"):
        if submission.session is not None:
            found[names.get(submission.session.annotator_id, "").casefold()].append(submission.session.pk)
            try:
                found[unseal(submission.sealed_id).casefold()].append(submission.session.pk)
            except CannotUnseal:
                continue
    found.pop("", None)
    return found


def _new(study: Study, orders: Collection[Order]) -> list[PlannedBonus]:
    """Return the orders that can be made: of sessions with a submission, and not ordered before."""
    named = _names(study)
    known = Payment.objects.filter(study=study).exclude(state=State.CANCELLED)
    before = set(known.values_list("session_id", "reason", "subject"))
    return [
        PlannedBonus(named[order.session], order)
        for order in orders
        if order.session in named and (order.session, order.reason, order.subject) not in before
    ]


def _names(study: Study) -> dict[int, str]:
    """Return the sessions of `study` with a submission -> their pseudonyms."""
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    sessions = Session.objects.filter(study=study, submission__isnull=False)
    return {pk: names.get(annotator, "") for pk, annotator in sessions.values_list("pk", "annotator_id")}
