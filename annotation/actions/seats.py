"""Seats and slots: created at launch, claimed by sessions, released. The rows exist in advance."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from annotation.actions.answering import drafts, live_sessions
from annotation.actions.arriving.eligibility import find_bars, is_barred
from annotation.actions.checking.claim_checks import checks_to_leave
from annotation.actions.checking.place_checks import Place, order_of_seats
from annotation.actions.launching.reopen_studies import reopen
from annotation.models import Annotator, Decision, Response, Seat, Session, Skip, Slot
from studies.actions.images import can_be_shown
from studies.batches import Progress, create_in_batches, ignore_progress
from studies.eligibility import BarredQuestions
from studies.models import Question, Study, Survey, SurveyQuestion

BATCH = 1000


def open_seats(*, study: Study, surveys: Sequence[Survey], progress: Progress = ignore_progress) -> None:
    """Create the seats and slots of new surveys, with their checks, and the decision rows of their questions."""
    seats = [
        Seat(study=study, survey=survey, number=number)
        for survey in surveys
        for number in range(1, survey.seats_planned + 1)
    ]
    Seat.objects.bulk_create(seats, batch_size=BATCH)
    reopen(studies=[study.pk])
    # Of these surveys only: a live study opens them one by one, and must not read all its questions each time.
    asked = SurveyQuestion.objects.filter(survey__in=[survey.pk for survey in surveys])
    planned: dict[int, list[Place]] = {}
    columns = ("survey_id", "question_id", "question__part", "question__answers_wanted")
    rows = asked.order_by("survey_id", "position").values_list(*columns)
    for survey, question, part, wanted in rows.iterator(chunk_size=BATCH):
        planned.setdefault(survey, []).append(Place(question, part, wanted))
    orders = order_of_seats(study=study, surveys=surveys, seats=seats, planned=planned)
    places = [(seat, orders.get(seat.pk) or planned.get(seat.survey_id, [])) for seat in seats]
    create_in_batches(
        Slot.objects.all(),
        (
            Slot(seat=seat, question_id=each.question, position=position, part=each.part, is_check=each.is_check)
            for seat, asked_here in places
            for position, each in enumerate(asked_here)
        ),
        size=BATCH,
        stage="Creating places for answers",
        total=sum(len(asked_here) for _, asked_here in places),
        progress=progress,
    )
    asked = asked.filter(question__decision=None)
    undecided = asked.order_by("question_id").values_list("question_id", flat=True).distinct()
    Decision.objects.bulk_create(
        (Decision(study=study, question_id=question, rule=study.rule) for question in undecided), batch_size=BATCH
    )


def questions_missing_images(study: Study) -> set[int]:
    """Return the questions that are not asked for now, because image files of theirs are missing.

    Otherwise everybody who arrives would be asked them, and paid for skipping them.
    """
    missing: dict[str, set[int]] = {}
    for question, images in Skip.objects.filter(study=study, file_missing=True).values_list("question_id", "images"):
        for image in images:
            if image["missing"]:
                missing.setdefault(image["image"], set()).add(question)
    return set().union(*(questions for image, questions in missing.items() if not can_be_shown(image)))


def _slots_for(*, study: Study, annotator: Annotator | None, bars: BarredQuestions) -> QuerySet[Slot]:
    """Return the open slots that `annotator` receives with a seat.

    Without questions that `bars` excludes, that they skipped, whose images are missing, or that are undone. In live
    studies also without questions that they hold or have answered.
    """
    undone = Question.with_checks.filter(study=study, undone_at__isnull=False)
    slots = Slot.objects.filter(answered_at=None).exclude(question__in=questions_missing_images(study))
    slots = slots.exclude(question__in=undone.values("pk"))
    if bars:
        slots = slots.exclude(_is_barred_slot(study, bars))
    if annotator is None:
        return slots
    if live_sessions.may_grow(study):
        slots = slots.exclude(_is_held_or_answered(annotator))
    return slots.filter(~Exists(Skip.objects.filter(annotator=annotator, question=OuterRef("question"))))


def _is_held_or_answered(annotator: Annotator) -> Q:
    """Select the slots of questions that `annotator` holds or has answered."""
    held = Slot.objects.filter(annotator=annotator, question=OuterRef("question"))
    answered = Response.objects.filter(annotator=annotator, question=OuterRef("question"), is_current=True)
    return Q(Exists(held)) | Q(Exists(answered))


def _is_barred_slot(study: Study, bars: BarredQuestions) -> Q:
    return Q(question__in=Question.objects.filter(is_barred(bars), study=study).values("pk"))


def _free_seats(
    *, study: Study, annotator: Annotator | None, bars: BarredQuestions, seat: Seat | None
) -> tuple[QuerySet[Slot], QuerySet[Seat]]:
    """Return the open slots that `annotator` receives with a seat, and the free seats with at least one of them.

    A seat in which only checks are open is free for nobody new. Except in live studies, a seat with an open question
    that they hold or have answered is left out. In live studies such questions move to another seat: seats are split
    there, and one question could keep two people from every seat. seat: only this one, if given.
    """
    slots = _slots_for(study=study, annotator=annotator, bars=bars)
    # Whoever comes back for the rest of their seat gets it, even if only checks are left.
    asked = slots.filter(seat=OuterRef("pk"), **({"is_check": False} if seat is None else {}))
    seats = Seat.objects.filter(Exists(asked), study=study, session=None, filled_at=None)
    if annotator is not None and not live_sessions.may_grow(study):
        clash = Slot.objects.ordinary().filter(_is_held_or_answered(annotator), seat=OuterRef("pk"), answered_at=None)
        seats = seats.exclude(Exists(clash))
    if seat is not None:
        seats = seats.filter(pk=seat.pk)
    return slots, seats.order_by("survey_id", "number")


def has_free_seat(*, study: Study, annotator: Annotator | None, seat: Seat | None = None) -> bool:
    """Whether `annotator` could claim a seat now; None: somebody new. seat: only this one, if given."""
    bars = find_bars(study=study, annotator=annotator)
    return _free_seats(study=study, annotator=annotator, bars=bars, seat=seat)[1].exists()


def claim(
    *, session: Session, now: datetime, seat: Seat | None = None, room: int | None = None, waits: bool = True
) -> int | None:
    """Give `session` a free seat and return its number of questions; None if no seat is left.

    seat: claim this seat or none. room: maximum number of questions. Runs in a transaction. Seats locked by another
    claim are passed over; if no other is left and `waits`, this waits for them, in case that claim fails. Questions
    that the session cannot get, by the rules of the study or for lack of room, move to a seat for somebody else at
    once.
    """
    study, annotator = session.study, session.annotator
    bars = find_bars(study=study, annotator=annotator)
    slots, free = _free_seats(study=study, annotator=annotator, bars=bars, seat=seat)
    unlocked = free.select_for_update(skip_locked=True, of=("self",))
    taken = unlocked.first()
    if taken is None and waits:
        taken = free.select_for_update(of=("self",)).first()
    if taken is None:
        return None
    Seat.objects.filter(pk=taken.pk).update(session=session, claimed_at=now)
    still_open = Slot.objects.filter(seat=taken, answered_at=None)
    if bars:
        _move_to_other_seat(taken, still_open.filter(_is_barred_slot(study, bars)))
    if live_sessions.may_grow(study):
        _move_to_other_seat(taken, still_open.filter(_is_held_or_answered(annotator)))
    if room is not None:
        too_many = slots.filter(seat=taken).order_by("position").values_list("pk", flat=True)[room:]
        _move_to_other_seat(taken, Slot.objects.filter(pk__in=list(too_many)))
    here = slots.filter(seat=taken)
    if study.design.checks is not None:
        here = Slot.objects.filter(pk__in=_with_checks(here, session=session, seat=taken, bars=bars))
    return here.update(annotator=annotator)


def _with_checks(slots: QuerySet[Slot], *, session: Session, seat: Seat, bars: BarredQuestions) -> list[int]:
    """Return the slots that `session` gets: of `slots`, and of the checks in `seat`, those that its annotator can get.

    A check that they have skipped may be exchanged, so that it is not among `slots`.
    """
    ordinary = list(slots.filter(is_check=False).values_list("pk", flat=True))
    undone = Question.with_checks.filter(study=session.study_id, undone_at__isnull=False)
    checks = Slot.objects.filter(seat=seat, answered_at=None, is_check=True).exclude(question__in=undone)
    checks = checks.exclude(question__in=questions_missing_images(session.study))
    given = Slot.objects.filter(pk__in=[*ordinary, *checks.values_list("pk", flat=True)])
    left = set(checks_to_leave(session=session, given=given, bars=bars))
    return [pk for pk in given.values_list("pk", flat=True) if pk not in left]


def _move_to_other_seat(seat: Seat, moved: QuerySet[Slot]) -> None:
    """Move open slots of a claimed seat to a free seat of the same survey: an earlier split-off seat or a new one.

    The number of slots stays, and each stays in the survey for which it was planned.
    """
    positions = list(moved.values_list("position", flat=True))
    if not positions:
        return
    # Serialised, so that two seats split at the same moment do not create the same new seat. Whoever locks a survey has
    # locked their seat before.
    survey = Survey.objects.select_for_update(of=("self",), no_key=True).get(pk=seat.survey_id)
    added = Seat.objects.filter(survey=survey, number__gt=survey.seats_planned)
    room = added.filter(session=None, filled_at=None).exclude(slots__position__in=positions).exclude(pk=seat.pk)
    # In studies with checks each seat has an order of its own: a question may stand at another position there.
    room = room.exclude(slots__question__in=list(moved.values_list("question_id", flat=True)))
    into = room.select_for_update(skip_locked=True, of=("self",)).first()
    if into is None:
        number = survey.seats.aggregate(last=Max("number"))["last"] + 1
        into = Seat.objects.create(study_id=seat.study_id, survey=survey, number=number)
    moved.update(seat=into)


def close_if_answered(*, session: Session, now: datetime) -> bool:
    """Close the seat of `session` if no question is left for it; return whether none is left. Runs in a transaction.

    Open questions of the seat that may still be restored move to a seat for somebody else.
    """
    # Lock the seat first: slots in it, of removed answers, may be reopened at this moment.
    held = Seat.objects.select_for_update().filter(session=session, filled_at=None).first()
    unanswered = Slot.objects.filter(seat__session=session, answered_at=None)
    # A check that nobody holds is asked of nobody: people arrive for questions.
    unanswered = unanswered.exclude(is_check=True, annotator=None)
    undone = unanswered.filter(annotator=None, question__undone_at__isnull=False)
    if held is not None:
        # Questions that may be restored move to another seat; those whose author withdrew never return.
        stands_again = undone.filter(Q(withdrawn_from=None) | Q(question__taken_out_at__isnull=False), seat=held)
        _move_to_other_seat(held, stands_again)
    if unanswered.exclude(pk__in=undone.values("pk")).exists():
        return False
    if held is not None:
        Seat.objects.filter(pk=held.pk).update(filled_at=now)
    return True


def record_filled_seat(*, session: Session, seat: Seat, now: datetime) -> None:
    """Record `session` as the one that filled `seat`, if the seat is free and nothing in it is open."""
    free = Seat.objects.select_for_update().filter(pk=seat.pk, session=None, filled_at=None).first()
    if free is not None and not Slot.objects.ordinary().filter(seat=free, answered_at=None).exists():
        Seat.objects.filter(pk=free.pk).update(session=session, claimed_at=now, filled_at=now)


def release(*, session: Session) -> None:
    """Release the unfilled seat of `session`; answered slots keep their annotator, the others become free."""
    seat = Seat.objects.select_for_update().filter(session=session, filled_at=None).first()
    if seat is None:
        return
    Slot.objects.filter(seat=seat, answered_at=None).update(annotator=None)
    drafts.discard(session=session.pk)
    Session.objects.filter(pk=session.pk).update(last_seat=seat)
    Seat.objects.filter(pk=seat.pk).update(session=None, claimed_at=None)
