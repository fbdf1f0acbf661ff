"""Free the slots of answers that no longer count, and restore them where nobody else has them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, F, Q

from analytics.work.pay import rewards
from annotation.actions.launching.reopen_studies import reopen_asking
from annotation.models import Annotator, Response, Seat, Session, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import UNDER_WAY, Project, Study


@dataclass(frozen=True)
class ReopenedPlaces:
    """Places that were freed for others.

    freed: answers without a place now. answers: how many more answers are to come; an answer is asked of nobody if its
    question is undone or taken out, or its study closed. cost: their pay by currency, without fees.
    """

    freed: int = 0
    answers: int = 0
    cost: Mapping[str, Decimal] = field(default_factory=dict)


def free_places(*, annotator: Annotator, project: Project, study: Study | None = None) -> ReopenedPlaces:
    """Take the uncounted answers of `annotator` out of their slots, and free slots and seats.

    study: only its answers, by default those to all studies of `project`. Runs in a transaction that has locked the
    annotator.
    """
    uncounted = Response.objects.filter(annotator=annotator, study__project=project).exclude(left_out="").order_by()
    if study is not None:
        uncounted = uncounted.filter(study=study)
    placed = uncounted.filter(is_current=True, slot__isnull=False)
    given, freed = dict(placed.values_list("pk", "slot_id")), placed.filter(is_check=False).count()
    slots = Slot.objects.filter(pk__in=list(given.values()))
    # Lock seats before slots, as claims do; their sessions may have ended long ago.
    seats = list(Seat.objects.select_for_update().filter(pk__in=slots.values("seat")).order_by("pk"))
    before = _to_come(seats)
    Response.objects.filter(pk__in=list(given)).update(slot=None)
    slots.update(annotator=None, answered_at=None)
    reopen_asking(questions=list(slots.values_list("question_id", flat=True)))
    for seat in seats:
        _free_seat(seat)
    after = _to_come(seats)
    more = {study: _minus(after[study], before.get(study, (0, 0, 0))) for study in after}
    return ReopenedPlaces(freed, sum(answers for _, answers, _ in more.values()), _cost(more))


# Numbers of places, of answers, and of answers that are paid: with those to checks.
_Numbers = tuple[int, int, int]


def _to_come(seats: Collection[Seat]) -> dict[int, _Numbers]:
    """Return the id of each study that is under way -> how many of `seats` and answers in them are to come."""
    open_slots = Slot.objects.paid_to_come().filter(seat__in=seats, seat__study__state__in=UNDER_WAY).order_by()
    asked = Count("pk", filter=Q(is_check=False))
    counted = open_slots.values_list("seat__study").annotate(
        Count("seat", distinct=True), asked=asked, paid=Count("pk")
    )
    return {study: (places, answers, paid) for study, places, answers, paid in counted}


def _minus(after: _Numbers, before: _Numbers) -> _Numbers:
    return after[0] - before[0], after[1] - before[1], after[2] - before[2]


def _cost(more: Mapping[int, _Numbers]) -> dict[str, Decimal]:
    """Return the pay by currency of these places and answers, by study."""
    cost: dict[str, Decimal] = {}
    for study in Study.objects.filter(pk__in=more).defer("source").order_by("pk"):
        pay, (places, _, paid) = study.design.pay, more[study.pk]
        due = rewards(pay.per_session, pay.per_answer, seats=places, answers=paid)
        cost[pay.currency] = cost.get(pay.currency, Decimal(0)) + due
    return {currency: due for currency, due in cost.items() if due}


def _free_seat(seat: Seat) -> None:
    """Free `seat`, unless an open session holds it: then it becomes free when that session ends."""
    session = seat.session
    if session is not None and session.state in OPEN_STATES:
        return
    if session is not None:
        Session.objects.filter(pk=session.pk).update(last_seat=seat)
    Seat.objects.filter(pk=seat.pk).update(session=None, claimed_at=None, filled_at=None)


def restore_places(*, annotator: Annotator, project: Project, now: datetime) -> int:
    """Put answers of `annotator` back into their slots where nobody holds them; return how many were taken.

    Answers to checks are put back too, and not counted. Answers that came late never had a slot. Runs in a transaction
    that has locked the annotator.
    """
    placeless = Response.objects.filter(annotator=annotator, study__project=project, is_current=True, slot=None)
    # Only an answer that had a slot can be edited, also shortly after its session has ended.
    had_slot = Q(version__gt=1) | Q(received_at__lte=F("session__ended_at"))
    in_time = placeless.filter(had_slot, session__last_seat__isnull=False)
    lost = [(response, _slot_of(response)) for response in in_time.select_related("session").order_by("pk")]
    lost.sort(key=lambda each: (each[0].session.last_seat_id or 0, each[0].pk))
    seats = {place.seat_id for _, place in lost if place is not None}
    list(Seat.objects.select_for_update().filter(pk__in=seats).order_by("pk"))
    back = {response.pk for response, place in lost if place is not None and _take_slot(response, place)}
    still_open = Slot.objects.ordinary().filter(seat__in=seats, answered_at=None).values("seat")
    Seat.objects.filter(pk__in=seats, session=None).exclude(pk__in=still_open).update(filled_at=now)
    return sum(not response.is_check and response.pk not in back for response, _ in lost)


def _slot_of(response: Response) -> Slot | None:
    """Return the slot that `response` had in the seat of its session.

    Of a live session only the last seat is known; then any free slot of the same question.
    """
    of_question = Slot.objects.filter(question=response.question_id)
    own = of_question.filter(seat=response.session.last_seat).first()
    return own or of_question.filter(annotator=None, answered_at=None).order_by("seat_id").first()


def _take_slot(response: Response, slot: Slot) -> bool:
    """Give `response` its slot back if nobody holds it; return whether it was free."""
    free = Slot.objects.filter(pk=slot.pk, annotator=None, answered_at=None)
    if not free.update(annotator=response.annotator_id, answered_at=response.received_at):
        return False
    Response.objects.filter(pk=response.pk).update(slot=slot)
    return True
