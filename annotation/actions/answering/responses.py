"""Store responses: each submission once, and an edit as a new version."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext

from annotation.actions import seats, sessions
from annotation.actions.answering import advance_session, answer_sql, drafts, live_sessions
from annotation.actions.answering import answer_notices as notices
from annotation.actions.answering.answer_sql import NextSlot, Prefetch, QuestionState, SessionProgress
from annotation.actions.answering.duplicate_answers import lock_and_reject_duplicate, reject_duplicate
from annotation.actions.deciding.decisions import DecisionInput, decide_question, decision_input, decision_with_answer
from annotation.actions.deciding.undo_acceptance import (
    downstream_questions,
    is_answer_final,
    update_downstream_of_questions,
)
from annotation.actions.ending.time_checks import check_times, possible_so_far
from annotation.errors import BadAnswer, NotYourQuestion
from annotation.language import translate
from annotation.models import Annotator, AnswerNotice, Removal, Response, Session, SessionState, Skip, Slot
from annotation.models.responses import LeftOut
from studies.kinds import Answer, NotAnAnswer, get_kind, shown_order
from studies.models import Question
from studies.rules import VoteContext, get_rule

NO_PREFETCH = Prefetch()
Why = AnswerNotice.Why
# How often an answer is stored in one statement before the rows that it depends on are locked instead.
ATTEMPTS = 3


@dataclass(frozen=True)
class SendOrder:
    """The position of a submission among those of its browser: `number` grows with each, across tabs."""

    browser: uuid.UUID
    number: int


@dataclass(frozen=True)
class Submission:
    """One press of Send.

    posted: fields of the answer. measured: timings and image loads measured by the browser. after: earlier submissions
    of this question by the same browser, received or not. order: None for a page without scripts or of an older
    version.
    """

    slot: int
    submission: uuid.UUID
    posted: Mapping[str, str]
    replaces: int | None = None
    after: frozenset[uuid.UUID] = frozenset()
    order: SendOrder | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmissionResult:
    """The result of a submission, and the state of its session.

    stored: False only when the session can no longer answer and a newer session of the same person will, or when the
    person has withdrawn their consent. late: stored, but somebody else holds the slot. withdrawn: the question was
    withdrawn first; the answer is stored like one that came in time. first_kept: an earlier answer of the annotator
    stands. newer_kept: a later answer or an edit from elsewhere stands. is_final: the current answer can no longer
    change. replaced_earlier: it replaced another answer. skipped: the session has skipped the question, so nothing is
    stored. unseen_notices: number of notices that the annotator has not seen. asks_consent: a changed consent
    text comes before the next question. following: the slots after those that the
    page holds; None if they were not looked up.
    """

    state: SessionState
    answered: int
    total: int
    annotator: int
    seat: int
    part_begun: int
    seed: str
    stored: bool = True
    late: bool = False
    withdrawn: bool = False
    first_kept: bool = False
    newer_kept: bool = False
    is_final: bool = False
    replaced_earlier: bool = False
    skipped: bool = False
    unseen_notices: int = 0
    asks_consent: bool = False
    following: Sequence[NextSlot] | None = None


class _FastPathNotApplicable(Exception):
    """Raised when the fast path does not apply: repeat, late, or session not active."""


def submit(*, token: str, sent: Submission, now: datetime, prefetch: Prefetch = NO_PREFETCH) -> SubmissionResult:
    """Store an answer; repeating a submission changes nothing. Raises NotYourQuestion or BadAnswer.

    prefetch: the slots that the sending page holds, and its room for more.
    """
    result = _submit(token=token, sent=sent, prefetch=prefetch, now=now)
    if result.state == SessionState.WORKING and result.answered == result.total:
        return _continue_after_last_answer(result, token=token, now=now)
    return result


def _continue_after_last_answer(result: SubmissionResult, *, token: str, now: datetime) -> SubmissionResult:
    """Let a live session continue after its last answer, which is already stored."""
    session = Session.objects.select_related("study", "annotator").get(token=token)
    if not live_sessions.may_grow(session.study):
        # It waits for its last look.
        return result
    advance_session.advance(session=session, now=now)
    return replace(result, state=SessionState(session.state), total=session.questions_total)


def _submit(*, token: str, sent: Submission, prefetch: Prefetch, now: datetime) -> SubmissionResult:
    try:
        if sent.replaces is None:
            try:
                return _store_fast_path(token=token, sent=sent, prefetch=prefetch, now=now)
            except _FastPathNotApplicable:
                pass
        return _store_slow_path(token=token, sent=sent, now=now)
    except IntegrityError as error:
        raise BadAnswer(
            gettext("This answer was already sent for another question. Reload the page and continue.")
        ) from error


def _store_fast_path(
    *, token: str, sent: Submission, prefetch: Prefetch, now: datetime, attempts: int = ATTEMPTS
) -> SubmissionResult:
    """Store the first answer to an open question of a working session: nearly every answer.

    If what was read has changed before the answer is stored, it is read again.
    """
    asked = answer_sql.question_state(sent.slot, token=token)
    if asked is None:
        raise _FastPathNotApplicable
    kind = get_kind(asked.kind)
    order = shown_order(kind, asked.content, seed=asked.order_seed, annotator=asked.annotator, question=asked.question)
    answer = read_answer(asked.kind, asked.content, order, sent.posted)
    columns = _columns(asked.study, asked.question, asked.session, asked.annotator, sent, answer, order, now=now)
    columns |= {
        "slot_id": sent.slot,
        "is_check": asked.is_check,
        "possible_ms": possible_so_far(sent.measured, begun=asked.begun, now=now),
    }
    if not attempts or not _can_store_in_one_statement(asked):
        return _store_step_by_step(asked, columns, answer, now=now)
    result = _store_in_one_statement(asked, columns, answer, prefetch=prefetch, now=now)
    return result or _store_fast_path(token=token, sent=sent, prefetch=prefetch, now=now, attempts=attempts - 1)


def _can_store_in_one_statement(asked: QuestionState) -> bool:
    """Whether the database can, and the answer affects only its own decision.

    It also affects others if it may restore questions, or decides on an answer whose own decision needs that outcome.
    Where such a decision has earlier answers, it reads their outcomes, which lead through further studies.
    """
    reads_outcomes = get_rule(asked.rule).needs.downstream_outcome and any(each.answers for each in asked.related)
    is_outcome = asked.source_rule and get_rule(asked.source_rule).needs.downstream_outcome
    return answer_sql.supports_one_statement() and not (asked.undone or is_outcome or reads_outcomes)


def _store_in_one_statement(
    asked: QuestionState, columns: Mapping[str, Any], answer: Answer, *, prefetch: Prefetch, now: datetime
) -> SubmissionResult | None:
    """Store an answer if nothing has changed since `asked` was read; otherwise return None."""
    reject_duplicate(asked.kind, answer, [value for each in asked.related for _, value in each.answers])
    earlier = [given for each in asked.related if each.question == asked.question for given in each.answers]
    decided = decision_with_answer(answer, earlier=earlier, asked=_decision_input(asked), now=now)
    counted = SessionProgress(asked.answered + 1, asked.total, asked.part_begun)
    # The last answer is stored only together with the end of its session.
    with transaction.atomic() if counted.answered == counted.total else nullcontext():
        following = answer_sql.store_in_one_statement(
            asked=asked, columns=columns, decided=decided, prefetch=prefetch, now=now
        )
        if following is None:
            return None
        return _fast_path_result(asked, counted, _state_after(asked.session, counted, now=now), following)


@transaction.atomic
def _store_step_by_step(
    asked: QuestionState, columns: Mapping[str, Any], answer: Answer, *, now: datetime
) -> SubmissionResult:
    counted = answer_sql.count_answer(session=asked.session, now=now)
    # Exceptions from here on roll the count back.
    if counted is None:
        raise _FastPathNotApplicable
    open_slot = Slot.objects.filter(pk=columns["slot_id"], annotator=asked.annotator, answered_at=None)
    if not open_slot.update(answered_at=now):
        raise _FastPathNotApplicable
    lock_and_reject_duplicate(asked.kind, answer, study=asked.study, question=asked.question, slot=columns["slot_id"])
    Response.objects.create(**columns)
    if get_kind(asked.kind).is_written:
        drafts.discard(session=asked.session, slot=columns["slot_id"])
    decide_question(asked=_decision_input(asked), now=now)
    if asked.undone:
        update_downstream_of_questions(questions=[asked.question], now=now)
    return _fast_path_result(asked, counted, _state_after(asked.session, counted, now=now))


def _fast_path_result(
    asked: QuestionState, counted: SessionProgress, state: SessionState, following: Sequence[NextSlot] | None = None
) -> SubmissionResult:
    return SubmissionResult(
        state=state,
        answered=counted.answered,
        total=counted.total,
        annotator=asked.annotator,
        seat=asked.seat,
        part_begun=counted.part_begun,
        seed=asked.order_seed,
        unseen_notices=asked.unseen_notices,
        asks_consent=bool(asked.asks_consent),
        following=following,
    )


def _decision_input(asked: QuestionState) -> DecisionInput:
    seen = VoteContext.of_question(
        get_kind(asked.kind),
        asked.content,
        wanted=asked.answers_wanted,
        most=asked.max_answers,
        right=asked.right,
    )
    return DecisionInput(asked.question, asked.kind, asked.rule, seen, asked.response, asked.is_check)


def _state_after(session: int, counted: SessionProgress, *, now: datetime) -> SessionState:
    """Return the state of a session after an answer; the last answer ends it unless it is live."""
    if counted.answered < counted.total:
        return SessionState.WORKING
    ending = Session.objects.select_related("study").get(pk=session)
    if live_sessions.may_grow(ending.study):
        return SessionState.WORKING
    sessions.finish_unless_last_look(session=ending, now=now)
    return SessionState(ending.state)


def read_answer(kind: str, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
    """Return the answer that a page posted. Raises BadAnswer, in the reader's language."""
    try:
        return get_kind(kind).parse(content, order, posted)
    except NotAnAnswer as error:
        raise BadAnswer(translate(str(error)) % error.named if error.named else translate(str(error))) from error


def order_for(*, session: Session, question: Question) -> list[str]:
    """Return the option keys of `question` in the order shown to this annotator."""
    kind = get_kind(question.kind)
    return shown_order(
        kind, question.content, seed=session.order_seed, annotator=session.annotator_id, question=question.pk
    )


@dataclass(frozen=True)
class _Arrival:
    """A readable answer on the slow path, with the current rows of its session and slot."""

    session: Session
    slot: Slot
    sent: Submission
    answer: Answer
    order: list[str]
    now: datetime

    def notify(self, why: AnswerNotice.Why) -> None:
        """Create a notice about the submitted answer."""
        about = {"submission": self.sent.submission, "answer": self.answer.value}
        notices.add(session=self.session, slot=self.slot, why=why, now=self.now, **about)

    def result(self, why: AnswerNotice.Why | None = None, **flags: Any) -> SubmissionResult:
        """Return the result, after a notice that says why the answer is no ordinary one."""
        if why is not None:
            self.notify(why)
        return _result(self.session, self.slot, **flags)

    def is_same_as(self, stored: Response) -> bool:
        return stored.choice == self.answer.label and stored.whole_answer == self.answer.value


def _result(session: Session, slot: Slot, **flags: Any) -> SubmissionResult:
    return SubmissionResult(
        state=SessionState(session.state),
        answered=session.questions_answered,
        total=session.questions_total,
        annotator=session.annotator_id,
        seat=slot.seat_id,
        part_begun=session.part_begun,
        seed=session.order_seed,
        unseen_notices=session.unseen_notices,
        asks_consent=session.asks_consent,
        **flags,
    )


@transaction.atomic
def _store_slow_path(*, token: str, sent: Submission, now: datetime) -> SubmissionResult:
    """Slow path: repeats, edits, late answers, inactive sessions."""
    # Lock order of `sessions.start`: nobody gets questions while an older answer of theirs is stored.
    sessions.lock_annotator(Annotator.objects.filter(sessions__token=token))
    locked = Session.objects.select_for_update(of=("self",)).select_related("study", "last_seat")
    session = locked.filter(token=token).first()
    slot = Slot.objects.select_related("question", "seat").filter(pk=sent.slot).first()
    if session is not None and slot is not None and was_skipped(session=session, slot=slot):
        return _refuse_skipped(session, slot, sent, now=now)
    if session is None or slot is None or not _was_given(session=session, slot=slot):
        raise NotYourQuestion(gettext("This question does not belong to your session. Reload the page to continue."))
    if slot.part > session.part_begun:
        raise BadAnswer(
            gettext("This question belongs to a part that you have not started. Reload the page to continue.")
        )
    order = order_for(session=session, question=slot.question)
    answer = read_answer(slot.question.kind, slot.question.content, order, sent.posted)
    arrival = _Arrival(session, slot, sent, answer, order, now)
    known = Response.objects.filter(session=session, question=slot.question, submission_id=sent.submission).first()
    if known is not None and arrival.is_same_as(known):
        return arrival.result()
    if known is not None:
        # A different answer with the same submission id comes from a page restored by the Back button.
        return arrival.result(Why.FIRST_STANDS, first_kept=True)
    if sent.replaces is not None:
        return _replace(arrival)
    given = Response.objects.filter(question=slot.question, annotator=session.annotator_id)
    current = given.filter(session=session, slot=slot, is_current=True).first()
    # A second answer may replace the current one if its browser tells the order of its submissions, or has sent it
    # while the current one was in transit.
    if current is not None and (sent.order is not None or current.submission_id in sent.after):
        return _replace(arrival)
    if given.exists():
        return arrival.result(Why.FIRST_STANDS, first_kept=True)
    if session.state == SessionState.LAPSED:
        sessions.revive(session=session, now=now)
        slot.refresh_from_db(fields=["annotator", "answered_at"])
    if slot.annotator_id != session.annotator_id:
        return _store_without_slot(arrival)
    if session.state == SessionState.WORKING:
        # The seat was still free and has been reclaimed, now or by a page just before: the answer counts as usual.
        return _store_fast_path(token=token, sent=sent, prefetch=NO_PREFETCH, now=now)
    # The question is open, but this session is not answering yet, or a newer session of the same person is.
    return arrival.result(Why.MOVED, stored=False)


def _refuse_skipped(session: Session, slot: Slot, sent: Submission, *, now: datetime) -> SubmissionResult:
    """Store no answer to a skipped question, which may no longer have the content to read it."""
    order = order_for(session=session, question=slot.question)
    try:
        value = read_answer(slot.question.kind, slot.question.content, order, sent.posted).value
    except BadAnswer:
        value = None
    notices.add(session=session, slot=slot, submission=sent.submission, answer=value, why=Why.SKIPPED, now=now)
    return _result(session, slot, skipped=True)


def _store_without_slot(arrival: _Arrival) -> SubmissionResult:
    """Store an answer to a question that its session no longer has.

    It counts only if the question was withdrawn, because then nobody else has its slot.
    """
    session, slot, now = arrival.session, arrival.slot, arrival.now
    removed = Removal.objects.reasons(annotator=session.annotator_id, project=session.study.project_id)
    if Removal.Why.WITHDRAWN in removed:
        # Consent ended before the answer arrived: nothing more is stored.
        return arrival.result(stored=False)
    if Slot.objects.filter(annotator=session.annotator_id, question=slot.question_id).exists():
        # A newer session of the same person asks the question; storing an answer now would block it.
        return arrival.result(Why.MOVED, stored=False)
    if not removed and _reclaim_slot(session=session, slot=slot, now=now):
        # The question was withdrawn before the answer arrived; it counts like one in time.
        _store(arrival, left_out=LeftOut.TAKEN_OUT if slot.question.taken_out_at is not None else "")
        decide_question(asked=decision_input(slot.question, session.study), now=now)
        if session.state == SessionState.WORKING:
            counted = SessionProgress(session.questions_answered, session.questions_total, session.part_begun)
            _state_after(session.pk, counted, now=now)
            session.refresh_from_db()
        return arrival.result(Why.WITHDRAWN, withdrawn=True)
    _store(arrival, counted=False, left_out=Removal.Why.EXCLUDED if removed else "")
    if session.ended_at is not None:
        # Its times were checked when it ended, without this answer, which is paid too.
        check_times(session=session)
    return arrival.result(Why.LATE, late=True)


def was_withdrawn(*, session: Session, slot: Slot) -> bool:
    """Whether the question in `slot` was withdrawn from `session`, and the slot is free."""
    return slot.withdrawn_from_id == session.pk and slot.annotator_id is None


def _reclaim_slot(*, session: Session, slot: Slot, now: datetime) -> bool:
    """Give an open session the slot of a withdrawn question back, to store its answer; return whether it was free."""
    is_open = session.state in (SessionState.WORKING, SessionState.WAITING)
    if not is_open or not was_withdrawn(session=session, slot=slot):
        return False
    free = Slot.objects.filter(pk=slot.pk, annotator=None, answered_at=None)
    if not free.update(annotator=session.annotator_id, answered_at=now):
        return False
    seats.record_filled_seat(session=session, seat=slot.seat, now=now)
    counted = {"questions_answered": F("questions_answered") + 1, "questions_total": F("questions_total") + 1}
    Session.objects.filter(pk=session.pk).update(last_seen_at=now, **counted)
    session.refresh_from_db(fields=["questions_answered", "questions_total", "last_seen_at"])
    return True


def was_skipped(*, session: Session, slot: Slot) -> bool:
    """Whether the annotator has skipped this question in any session, or it was taken out of the study.

    A question that was taken out while this session or annotator held it counts as withdrawn instead.
    """
    if slot.question.taken_out_at is not None:
        return slot.withdrawn_from_id != session.pk and slot.annotator_id != session.annotator_id
    return Skip.objects.filter(annotator=session.annotator_id, question=slot.question_id).exists()


def is_skipped_or_withdrawn(*, session: Session, slot: Slot) -> bool:
    """Whether `session` no longer asks this question."""
    return was_skipped(session=session, slot=slot) or was_withdrawn(session=session, slot=slot)


def _was_given(*, session: Session, slot: Slot) -> bool:
    if slot.question.study_id != session.study_id:
        return False
    if slot.annotator_id == session.annotator_id or was_withdrawn(session=session, slot=slot):
        return True
    # The session was answering and lost its seat: its answers are late, but valid. The new holder of the seat may have
    # moved some of its slots to another seat of the survey.
    last = session.last_seat
    return session.first_question_at is not None and last is not None and last.survey_id == slot.seat.survey_id


def _columns(
    study: int,
    question: int,
    session: int,
    annotator: int,
    sent: Submission,
    answer: Answer,
    order: Sequence[str],
    *,
    now: datetime,
) -> dict[str, Any]:
    """Return the columns of a first, counted response, without its slot and those that have their default."""
    return {
        "study_id": study,
        "question_id": question,
        "session_id": session,
        "annotator_id": annotator,
        "submission_id": sent.submission,
        "browser": sent.order and sent.order.browser,
        "send_number": sent.order and sent.order.number,
        "choice": answer.label,
        "answer": answer.value,
        "shown_order": list(order),
        "received_at": now,
        **sent.measured,
    }


def _store(arrival: _Arrival, *, replaces: Response | None = None, counted: bool = True, left_out: str = "") -> None:
    """Store an answer, in the order in which the answer that it replaces was shown."""
    session, slot, sent = arrival.session, arrival.slot, arrival.sent
    order = arrival.order if replaces is None else replaces.shown_order
    ids = session.study_id, slot.question_id, session.pk, session.annotator_id
    Response.objects.create(
        **_columns(*ids, sent, arrival.answer, order, now=arrival.now)
        | {
            "version": 1 if replaces is None else replaces.version + 1,
            "left_out": left_out,
            "slot_id": slot.pk if counted else None,
            "is_check": slot.is_check,
            "possible_ms": possible_so_far(sent.measured, begun=session.first_question_at, now=arrival.now),
        }
    )


def _replace(arrival: _Arrival) -> SubmissionResult:
    """Store an answer as the next version of an earlier one, if it may change and the new answer takes precedence.

    Creates a notice about the answer that does not stand, unless the page had shown it.
    """
    session, slot, sent, answer, now = arrival.session, arrival.slot, arrival.sent, arrival.answer, arrival.now
    if session.state == SessionState.LAPSED:
        # An answer sent in time may arrive after the lapse, and reclaims the seat.
        sessions.revive(session=session, now=now)
    locked = Response.objects.select_for_update(of=("self",)).select_related("question")
    current = locked.filter(session=session, slot=slot, is_current=True).first()
    if current is None:
        raise BadAnswer(gettext("This answer can no longer be changed; your earlier answer is kept."))
    if current.left_out == LeftOut.WITHDRAWN:
        # Nothing more is stored after consent was withdrawn.
        return arrival.result(stored=False)
    if (final := _why_final(session, current, now=now)) is not None:
        return arrival.result(final, is_final=True)
    if (newer := _why_current_stands(current, sent)) is not None:
        return arrival.result(newer, newer_kept=True)
    lock_and_reject_duplicate(
        slot.question.kind, answer, study=session.study_id, question=slot.question_id, slot=slot.pk
    )
    Response.objects.filter(pk=current.pk).update(is_current=False)
    _store(arrival, replaces=current, left_out=current.left_out)
    Session.objects.filter(pk=session.pk).update(last_seen_at=now)
    decide_question(asked=decision_input(slot.question, session.study), now=now)
    if downstream_questions(slot.question).exists():
        update_downstream_of_questions(questions=[slot.question_id], now=now)
    notices.discard_for_answer(session=session, slot=slot, answer=answer.value, now=now)
    if current.version != sent.replaces and not arrival.is_same_as(current):
        # The annotator did not edit it on a page that showed it.
        is_same = sent.order is not None and current.browser == sent.order.browser
        why = Why.SENT_AGAIN if is_same or current.submission_id in sent.after else Why.OTHER_BROWSER
        about: dict[str, Any] = {"submission": current.submission_id, "answer": current.whole_answer}
        notices.add(session=session, slot=slot, why=why, now=now, **about)
    return arrival.result(replaced_earlier=True)


def _why_final(session: Session, current: Response, *, now: datetime) -> AnswerNotice.Why | None:
    """Return why the current answer can no longer change; None if it can.

    Tabs of a session that has just ended may still hold its questions; what they send counts until the lease ends.
    """
    if is_answer_final(current):
        return Why.BUILT_ON
    is_open = session.state in (SessionState.WORKING, SessionState.WAITING)
    has_just_ended = session.state == SessionState.FINISHED and now < session.lease_until
    is_excluded = current.left_out == LeftOut.EXCLUDED
    return Why.ENDED if is_excluded or not (is_open or has_just_ended) else None


def _why_current_stands(current: Response, sent: Submission) -> AnswerNotice.Why | None:
    """Return why the current answer stays; None if the submitted one replaces it.

    Within one browser the last Send counts, even if it arrives first. Between two browsers the answer that arrives last
    counts, because their clocks differ. A page that does not send its order must have known the current answer.
    """
    if sent.order is not None:
        same = Response.objects.filter(session=current.session_id, slot=current.slot_id, browser=sent.order.browser)
        return Why.SENT_AGAIN if same.filter(send_number__gt=sent.order.number).exists() else None
    is_known = current.version == sent.replaces or current.submission_id in sent.after
    return None if is_known else Why.NEWER_STANDS


def open_slots(*, session: Session, limit: int) -> list[Slot]:
    """Return the next `limit` open slots of `session` in order, with their questions.

    Each comes with the current row of the session, as `slot.seat.session`.
    """
    open_here = Slot.objects.filter(seat__session=session, annotator=session.annotator_id, answered_at=None)
    following = open_here.order_by("position")[:limit]
    # Select the slots before joining their questions; otherwise the questions of the whole survey would be read.
    found = Slot.objects.filter(pk__in=following.values("pk"))
    return list(found.select_related("question", "seat__session").order_by("position"))


def questions_in_part(*, session: Session, part: int) -> int:
    """Return how many questions `session` has in `part` of its survey, answered or not."""
    return Slot.objects.filter(seat__session=session, annotator=session.annotator_id, part=part).count()


def set_aside_answers(*, session: Session) -> QuerySet[Response]:
    """Return answers of a session that came too late to count, or whose question was taken out."""
    without_place = Q(slot=None) | Q(left_out=LeftOut.TAKEN_OUT)
    return Response.objects.filter(without_place, session=session, is_current=True)


def stored_answers(*, session: Session) -> int:
    """Return how many answers of a session were stored, counted or not: those that are paid."""
    return Response.objects.filter(session=session, is_current=True).count()


def own_answers(*, session: Session) -> QuerySet[Response]:
    """Return the answers of a session that stand, to checks too, with their questions, in the order asked."""
    answers = Response.objects.standing().filter(session=session)
    return answers.select_related("question__study").order_by("slot__seat__claimed_at", "slot__position")


def own_slots(*, session: Session) -> list[int]:
    """Return the slots of the answers of a session that stand, in the order of their questions."""
    return list(own_answers(session=session).select_related(None).values_list("slot_id", flat=True))


def current_answer(*, session: Session, slot: int) -> Response:
    """Return the answer of this session that stands in a slot. Raises Response.DoesNotExist."""
    return own_answers(session=session).get(slot=slot)
