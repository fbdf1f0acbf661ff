"""Decide which checks of a claimed seat its new annotator gets."""

from collections.abc import Iterable

from django.db.models import QuerySet

from annotation.actions.arriving.eligibility import is_barred
from annotation.models import Response, Session, Skip, Slot
from studies.eligibility import BarredQuestions
from studies.models import Check, Question


def checks_to_leave(*, session: Session, given: QuerySet[Slot], bars: BarredQuestions) -> list[int]:
    """Return the slots of checks, among `given`, that the annotator of `session` does not get with a seat.

    given: the open slots that they could get with it. A check that they have had is exchanged for another one if nobody
    has seen the slot yet; otherwise it stays in the seat, for nobody or for a later annotator. So do repeats of
    questions that the annotator does not get, and checks before their first question of the seat. Runs in a
    transaction that has locked the seat.
    """
    slots = list(given.select_related("question").order_by("position"))
    checks = [slot for slot in slots if slot.is_check]
    if not checks:
        return []
    had = _questions_had(session)
    barred = set()
    if bars:
        asked = Question.with_checks.filter(pk__in=[slot.question_id for slot in checks])
        barred = set(asked.filter(is_barred(bars)).values_list("pk", flat=True))
    left = {slot.pk for slot in checks if slot.question_id in had | barred}
    exchanged = _exchange([slot for slot in checks if slot.pk in left], slots, session, had, bars)
    # An exchanged question is not asked, so neither is its repeat.
    asked_once = [slot.question_id for slot in slots if slot.pk not in left]
    answered = _answered_in(session, checks[0].seat_id)
    firsts = answered | set(asked_once)
    left -= exchanged
    left |= {
        slot.pk for slot in checks if slot.question.check_type == Check.REPEAT and slot.question.source_id not in firsts
    }
    if not session.questions_answered and not answered:
        left |= _before_first_question(slots)
    return sorted(left)


def _questions_had(session: Session) -> set[int]:
    """Return the checks of the study that the annotator holds, has answered or has skipped.

    Also gold questions copied from a question that they had in another study: most of what a person has seen before
    would be gold.
    """
    mine = {"annotator": session.annotator_id, "study": session.study_id}
    checks = Question.with_checks.filter(study=session.study_id).exclude(check_type="")
    held = Slot.objects.filter(annotator=session.annotator_id, is_check=True, question__in=checks)
    answered = Response.objects.filter(is_check=True, **mine)
    skipped = Skip.objects.filter(question__in=checks, **mine)
    rows: Iterable[QuerySet[Slot] | QuerySet[Response] | QuerySet[Skip]] = (held, answered, skipped)
    had = {pk for some in rows for pk in some.order_by().values_list("question_id", flat=True)}
    gold = dict(checks.filter(check_type=Check.GOLD).exclude(source_id=0).values_list("source_id", "pk"))
    elsewhere = (
        Slot.objects.filter(annotator=session.annotator_id, question__in=list(gold)) if gold else Slot.objects.none()
    )
    return had | {gold[source] for source in elsewhere.order_by().values_list("question_id", flat=True)}


def _answered_in(session: Session, seat: int) -> set[int]:
    """Return the questions of `seat` that the annotator has answered already, before it was released."""
    answered = Slot.objects.filter(seat=seat, annotator=session.annotator_id, answered_at__isnull=False)
    return set(answered.values_list("question_id", flat=True))


def _exchange(slots: list[Slot], seat: list[Slot], session: Session, had: set[int], bars: BarredQuestions) -> set[int]:
    """Put other gold questions and instruction checks into `slots`; return the slots where this was possible.

    Not where somebody has seen the slot: their answer may be on its way, and would be read as one to another question.
    """
    changeable = [slot for slot in slots if slot.question.check_type != Check.REPEAT]
    if not changeable or Session.objects.filter(last_seat=slots[0].seat_id, first_question_at__isnull=False).exists():
        return set()
    others = Question.with_checks.filter(study=session.study_id, undone_at=None).exclude(check_type="")
    others = others.exclude(pk__in=had | {slot.question_id for slot in seat})
    if bars:
        others = others.exclude(is_barred(bars))
    pool = list(others.only("check_type", "kind", "variant", "part").order_by("pk"))
    done = set()
    for slot in changeable:
        asked = slot.question
        alike = (asked.check_type, asked.kind, asked.variant, asked.part)
        other = next((one for one in pool if (one.check_type, one.kind, one.variant, one.part) == alike), None)
        if other is not None:
            pool.remove(other)
            Slot.objects.filter(pk=slot.pk).update(question=other)
            done.add(slot.pk)
    return done


def _before_first_question(slots: list[Slot]) -> set[int]:
    """Return the slots of checks that stand before the first ordinary question."""
    first = next((slot.position for slot in slots if not slot.is_check), None)
    return {slot.pk for slot in slots if slot.is_check and (first is None or slot.position < first)}
