"""Free the slots of answers that no longer count, and restore them where nobody else has them."""

from datetime import datetime

from django.db.models import F

from annotation.actions.launching.reopen_studies import reopen_asking
from annotation.models import Annotator, Response, Seat, Session, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import Project


def free_places(*, annotator: Annotator, project: Project) -> int:
    """Take the uncounted answers of `annotator` out of their slots, and free slots and seats; return how many.

    Runs in a transaction that has locked the annotator.
    """
    uncounted = Response.objects.filter(annotator=annotator, study__project=project).exclude(left_out="").order_by()
    given = dict(uncounted.filter(is_current=True, slot__isnull=False).values_list("pk", "slot_id"))
    slots = Slot.objects.filter(pk__in=list(given.values()))
    # Lock seats before slots, as claims do; their sessions may have ended long ago.
    seats = list(Seat.objects.select_for_update().filter(pk__in=slots.values("seat")).order_by("pk"))
    Response.objects.filter(pk__in=list(given)).update(slot=None)
    slots.update(annotator=None, answered_at=None)
    reopen_asking(questions=list(slots.values_list("question_id", flat=True)))
    for seat in seats:
        _free_seat(seat)
    return len(given)


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

    Answers that came late never had a slot. Runs in a transaction that has locked the annotator.
    """
    placeless = Response.objects.filter(annotator=annotator, study__project=project, is_current=True, slot=None)
    in_time = placeless.filter(received_at__lte=F("session__ended_at"), session__last_seat__isnull=False)
    lost = [(response, _slot_of(response)) for response in in_time.select_related("session").order_by("pk")]
    lost.sort(key=lambda each: (each[0].session.last_seat_id or 0, each[0].pk))
    seats = {place.seat_id for _, place in lost if place is not None}
    list(Seat.objects.select_for_update().filter(pk__in=seats).order_by("pk"))
    back = sum(_take_slot(response, place) for response, place in lost if place is not None)
    still_open = Slot.objects.filter(seat__in=seats, answered_at=None).values("seat")
    Seat.objects.filter(pk__in=seats, session=None).exclude(pk__in=still_open).update(filled_at=now)
    return len(lost) - back


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
