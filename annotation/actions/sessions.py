"""The life of a session: start or resume, change state, lapse, give up, finish."""

import logging
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext

from annotation.actions import seats
from annotation.actions.answering import live_sessions, skip_allowance
from annotation.actions.arriving import admission, lobby, network_places
from annotation.actions.ending import time_checks
from annotation.actions.ending.qualification import join_group_if_passed
from annotation.actions.launching.consent_versions import stored_version
from annotation.errors import OtherPerson
from annotation.models import Annotator, ConsentAgreement, Seat, Session, SessionState
from annotation.models.sessions import OPEN_STATES, SESSION_TRANSITIONS
from annotation.recruitment.base import Entry, normalize_id
from background.sealed_secrets import CannotUnseal
from studies.actions.events import Actor, What, record
from studies.models import Study, StudyState

logger = logging.getLogger(__name__)

# A seat is kept a little longer than the platform's limit, so that answers sent at the limit still arrive.
GRACE = timedelta(minutes=10)
# For annotators who press Start and do not return; the full time begins with consent, or with the questions.
FIRST_LEASE = timedelta(minutes=15)
# A seat without answers is released after this long without a sign. Open pages send one every minute (here.js).
SILENCE = timedelta(minutes=5)
_RETRIES = 2
# PostgreSQL's code of an error (appendix A of its manual).
DEADLOCK = "40P01"


def start(*, study: Study, entry: Entry, now: datetime, network: str = "", identity: str = "") -> Session:
    """Return the session of this arrival: the existing one in any state, or a new one with a seat.

    network: origin, as given by `throttle.networks`; "" if irrelevant. identity: an `Identity`, for a new session.
    Raises OtherPerson, CannotTakePart, NetworkFull or NothingLeft.
    """
    for _ in range(_RETRIES):
        try:
            with transaction.atomic():
                return _start(study=study, entry=entry, network=network, identity=identity, now=now)
        except IntegrityError:
            # Another request of the same person was faster: the next attempt finds its session.
            continue
        except OperationalError as error:
            # Of arrivals that waited for each other's seats, PostgreSQL ends one, which can try again.
            if getattr(error.__cause__, "sqlstate", "") != DEADLOCK:
                raise
    with transaction.atomic():
        return _start(study=study, entry=entry, network=network, identity=identity, now=now)


def _start(*, study: Study, entry: Entry, network: str, identity: str, now: datetime) -> Session:
    known = find(study=study, entry=entry)
    if known is not None:
        return resume(session=known, now=now)
    annotator = _annotator(entry)
    if annotator is None:
        annotator = Annotator.objects.create(provider=entry.provider, **Annotator.seal_id(entry.person))
    locked = lock_annotator(Annotator.objects.filter(pk=annotator.pk))
    if locked is None or locked.id_digest is None:
        # Their id was deleted at this very moment: they are somebody new.
        annotator = Annotator.objects.create(provider=entry.provider, **Annotator.seal_id(entry.person))
    older = _open_session(study, annotator)
    if older is not None and live_sessions.has_filled_first_seat(older):
        # It is paid even if they continue under another submission.
        leave(session=older, to=SessionState.FINISHED, now=now)
    admission.check_open_to(study=study, annotator=annotator, provider=entry.provider)
    digest = network_places.admit(study=study, annotator=annotator, network=network, now=now)
    seat = _supersede_open_session(study=study, annotator=annotator, now=now)
    session = Session.objects.create(
        token=secrets.token_urlsafe(24),
        study=study,
        annotator=annotator,
        provider=entry.provider,
        **Session.seal_id(entry.session_id),
        provider_study_id=entry.study_id,
        identity=identity,
        state=SessionState.CONSENT if study.design.consent else SessionState.INSTRUCTIONS,
        questions_total=0,
        order_key=study.order_secret,
        network=digest,
        arrived_at=now,
        last_seen_at=now,
        lease_until=now + min(FIRST_LEASE, lease_of(study)),
    )
    given = lobby.take_seat(session=session, now=now, seat=seat)
    if given is None and not lobby.may_wait(study=study, annotator=annotator, now=now):
        raise admission.nothing_left(study=study, annotator=annotator, provider=entry.provider, now=now)
    session.questions_total = given or 0
    session.save(update_fields=["questions_total"])
    logger.info("session %s of study %s started with %s questions", session.pk, study.slug, given or 0)
    return session


def find(*, study: Study, entry: Entry) -> Session | None:
    """Return the session of this arrival, in any state; None without one. Raises OtherPerson."""
    found = Session.objects.select_related("annotator", "study", "last_seat").filter(study=study)
    known = found.with_id(entry.provider, entry.session_spellings).first()
    if known is not None and not _is_person_of(known.annotator, entry):
        logger.warning("session %s was opened with the id of another person", known.pk)
        raise OtherPerson(
            gettext("This link was already used by another participant."),
            gettext("Open the study from your own page on the platform that invited you."),
        )
    return known


def _is_person_of(annotator: Annotator, entry: Entry) -> bool:
    if annotator.id_digest in Annotator.digests_of(entry.person_spellings):
        return True
    try:
        return normalize_id(annotator.provider_id) == normalize_id(entry.person)
    except CannotUnseal:
        return False


def _annotator(entry: Entry) -> Annotator | None:
    preferred = Annotator.digests_of(entry.person_spellings)
    known = Annotator.objects.filter(provider=entry.provider, id_digest__in=preferred)
    return min(known, key=lambda annotator: preferred.index(annotator.id_digest or ""), default=None)


def lock_annotator(found: QuerySet[Annotator]) -> Annotator | None:
    """Lock an annotator until the transaction ends, and return what the row says then.

    Nobody else gives them questions, and the slow path of their answers waits. The fast path does not.
    """
    return found.select_for_update(of=("self",), no_key=True).first()


def lease_of(study: Study) -> timedelta:
    return timedelta(minutes=study.design.time.limit_minutes) + GRACE


def check_can_start(*, study: Study, entry: Entry | None, provider: str, now: datetime) -> None:
    """Raise what `start` would raise for this arrival (None: somebody new), but start nothing.

    Raises OtherPerson, CannotTakePart or NothingLeft. A free seat may be gone when they start.
    """
    annotator = _annotator(entry) if entry is not None else None
    if entry is not None and find(study=study, entry=entry) is not None:
        return
    admission.check_open_to(study=study, annotator=annotator, provider=provider)
    if annotator is not None and Session.objects.filter(study=study, annotator=annotator, ended_at=None).exists():
        # The new session would take over its seat.
        return
    if lobby.has_questions_ready(study=study, annotator=annotator, now=now):
        return
    if not lobby.may_wait(study=study, annotator=annotator, now=now):
        raise admission.nothing_left(study=study, annotator=annotator, provider=provider, now=now)


def _open_session(study: Study, annotator: Annotator) -> Session | None:
    """Return the annotator's open session of this study, locked."""
    found = Session.objects.select_for_update(of=("self",)).select_related("study")
    return found.filter(study=study, annotator=annotator, state__in=OPEN_STATES).first()


def _supersede_open_session(*, study: Study, annotator: Annotator, now: datetime) -> Seat | None:
    """End the annotator's open session of this study and return the seat that it leaves to the new one."""
    older = _open_session(study, annotator)
    if older is None:
        return None
    leave(session=older, to=SessionState.SUPERSEDED, now=now)
    older.refresh_from_db()
    return older.last_seat


def resume(*, session: Session, now: datetime) -> Session:
    """Return `session`, with the visit recorded; a lapsed session is revived if its seat is free."""
    if session.state == SessionState.LAPSED:
        return revive(session=session, now=now)
    return record_visit(session=session, now=now)


def record_visit(*, session: Session, now: datetime) -> Session:
    """Record that somebody looks at `session`, and extend its first lease.

    It claims nothing, but nobody loses their seat while reading.
    """
    seen: dict[str, Any] = {"last_seen_at": now}
    session.last_seen_at = now
    if session.state in OPEN_STATES and is_on_first_lease(session):
        prolonged = min(now + FIRST_LEASE, session.arrived_at + lease_of(session.study))
        seen["lease_until"] = session.lease_until = max(session.lease_until, prolonged)
    Session.objects.filter(pk=session.pk).update(**seen)
    return session


def record_open_page(*, session: Session, now: datetime) -> bool:
    """Record that the page of `session` is open; return whether it should keep sending signs.

    A seat that was released for lack of a sign is claimed again, if its lease is not over: somebody may have forgotten
    an open page. After the first answer only the time limit of the study counts.
    """
    until = session.lease_until
    if session.questions_answered or (session.state == SessionState.LAPSED and until <= now):
        return False
    was_lapsed = session.state == SessionState.LAPSED
    resume(session=session, now=now)
    if was_lapsed and session.state in OPEN_STATES:
        Session.objects.filter(pk=session.pk).update(lease_until=until)
    return session.state in OPEN_STATES


def is_silent(*, now: datetime) -> Q:
    """Select open sessions with a seat, without answers, whose pages have stopped sending signs."""
    holding = OPEN_STATES - {SessionState.WAITING}
    return Q(state__in=holding, questions_answered=0, last_seen_at__lt=now - SILENCE)


def more_minutes(*, session: Session) -> int:
    """Return how many more minutes the annotator may request now, once they have begun; 0 for none."""
    if session.more_time_at is not None or session.state not in OPEN_STATES or is_on_first_lease(session):
        return 0
    return session.study.design.time.more_minutes


def grant_more_time(*, session: Session, now: datetime) -> bool:
    """Extend the lease of `session` by the minutes that its study allows, once; return whether it was extended."""
    minutes = more_minutes(session=session)
    if not minutes:
        return False
    first = Session.objects.filter(pk=session.pk, more_time_at=None, state__in=OPEN_STATES)
    longer = first.update(more_time_at=now, lease_until=F("lease_until") + timedelta(minutes=minutes), last_seen_at=now)
    session.refresh_from_db()
    return bool(longer)


def is_on_first_lease(session: Session) -> bool:
    before_work = SessionState.CONSENT, SessionState.INSTRUCTIONS
    return session.consented_at is None and session.state in before_work


def can_revive(*, session: Session, now: datetime) -> bool:
    """Whether `revive` would let a lapsed session continue, with its seat if it had one."""
    if session.state != SessionState.LAPSED or not _may_continue(session):
        return False
    if Session.objects.filter(study=session.study_id, annotator=session.annotator_id, ended_at=None).exists():
        return False
    if session.last_seat is None:
        return _may_wait_again(session, now)
    return seats.has_free_seat(study=session.study, annotator=session.annotator, seat=session.last_seat)


def _may_continue(session: Session) -> bool:
    if session.study.state == StudyState.CLOSED:
        return False
    if admission.is_blocked(study=session.study, annotator=session.annotator):
        return False
    return not admission.has_taken_part(study=session.study, annotator=session.annotator)


def _may_wait_again(session: Session, now: datetime) -> bool:
    """Whether a session that never had a seat may still get one."""
    return not session.questions_total and lobby.may_wait(study=session.study, annotator=session.annotator, now=now)


def revive(*, session: Session, now: datetime) -> Session:
    """Reclaim the seat of a lapsed session, with the questions still open in it.

    The session is unchanged if the seat is taken, the study is closed, or the annotator is blocked or has since taken
    part under another session. After a lapse during practice the annotator reads the instructions again, then practises
    if required.
    """
    if not _may_continue(session) or (session.last_seat is None and not _may_wait_again(session, now)):
        return session
    before = SessionState(session.state_before_lapse)
    to = SessionState.INSTRUCTIONS if before == SessionState.PRACTICE else before
    is_first = to == SessionState.CONSENT or (to == SessionState.INSTRUCTIONS and session.consented_at is None)
    lease = min(FIRST_LEASE, lease_of(session.study)) if is_first else lease_of(session.study)
    if to == SessionState.WAITING:
        lease = timedelta(minutes=session.study.design.lobby.minutes)
    try:
        with transaction.atomic():
            # Lock order: annotator (as `start` does), session, seat. A simultaneous arrival or answer causes no
            # deadlock.
            lock_annotator(Annotator.objects.filter(pk=session.annotator_id))
            lapsed = Session.objects.select_for_update().filter(pk=session.pk, state=SessionState.LAPSED)
            seat, given = session.last_seat, None
            if lapsed.first() is not None:
                given = 0 if seat is None else seats.claim(session=session, now=now, seat=seat)
            if given is not None:
                lapsed.update(
                    state=to,
                    state_before_lapse="",
                    ended_at=None,
                    handed_back_at=None,
                    lease_until=now + lease,
                    last_seen_at=now,
                    questions_total=session.questions_answered + given,
                )
    except IntegrityError:
        # The annotator has another open session in this study, which continues.
        return session
    session.refresh_from_db()
    return session


def move(*, session: Session, to: SessionState, now: datetime, **fields: Any) -> bool:
    """Change the state of `session` if the table of transitions allows it and no other request was faster."""
    state = SessionState(session.state)
    if to not in SESSION_TRANSITIONS.get(state, frozenset()):
        return False
    ended = {} if to in OPEN_STATES else {"ended_at": now}
    moved = Session.objects.filter(pk=session.pk, state=state).update(state=to, last_seen_at=now, **ended, **fields)
    if moved:
        if ended:
            time_checks.check_times(session=session)
        if to == SessionState.FINISHED:
            join_group_if_passed(session=session, now=now)
        session.refresh_from_db()
    return bool(moved)


@transaction.atomic
def leave(*, session: Session, to: SessionState, now: datetime) -> bool:
    """End an open session early: its seat becomes free, its answers stay."""
    before = session.state if to == SessionState.LAPSED else ""
    if not move(session=session, to=to, now=now, state_before_lapse=before):
        return False
    seats.release(session=session)
    logger.info("session %s left: %s", session.pk, to)
    return True


@transaction.atomic
def end_early(*, session: Session, to: SessionState, by: Actor, now: datetime) -> bool:
    """End an open session that was returned on the platform or whose time is over, and record the event."""
    if not leave(session=session, to=to, now=now):
        return False
    what = What.SESSION_LAPSED if to == SessionState.LAPSED else What.SEAT_FREED
    study, answers = session.study, session.questions_answered
    record(project=study.project, study=study, what=what, by=by, now=now, session=session.pk, answers=answers)
    return True


def end_sessions_from_network(*, session: Session, by: Actor, now: datetime) -> int:
    """End all open sessions that began from the network of `session`; return how many. Answers stay."""
    found = network_places.open_sessions_from_same_network(session=session).select_related("study__project")
    return sum(end_early(session=each, to=SessionState.RETURNED, by=by, now=now) for each in list(found.order_by("pk")))


@transaction.atomic
def consent(*, session: Session, agreed: bool, now: datetime, version: int | None = None) -> None:
    """Store whether the annotator agrees to the latest consent text, or to a changed one; then they go on.

    version: the number of the text that they saw, None for the latest. Agreement to an older text is not stored: the
    page shows the latest. Whoever declines a changed text leaves with their answers kept.
    """
    # An amendment at the same moment writes this session too: either it is seen below, or it asks the session again.
    list(Session.objects.select_for_update(of=("self",)).filter(pk=session.pk))
    session.refresh_from_db(fields=["state", "asks_consent", "consent", "consented_at"])
    if not session.awaits_consent:
        return
    if not agreed:
        # Whoever has filled their seat is paid for it.
        is_done = live_sessions.has_filled_first_seat(session)
        leave(session=session, to=SessionState.FINISHED if is_done else SessionState.NO_CONSENT, now=now)
        return
    latest = stored_version(study=session.study, now=now)
    if latest is not None and version is not None and version != latest.number:
        return
    before = (session.consent_id, session.consented_at)
    given = {"consent": latest, "consented_at": now, "asks_consent": False}
    if session.state == SessionState.CONSENT:
        lease_until = now + lease_of(session.study)
        move(session=session, to=SessionState.INSTRUCTIONS, now=now, lease_until=lease_until, **given)
        _keep_agreements(session, before)
        return
    Session.objects.filter(pk=session.pk).update(**given, last_seen_at=now)
    session.refresh_from_db()
    _keep_agreements(session, before)


def _keep_agreements(session: Session, before: tuple[int | None, datetime | None]) -> None:
    """Store that the session agreed to its consent text, and to the one `before`, which an older Lineup did not."""
    given = [before, (session.consent_id, session.consented_at)]
    rows = [
        ConsentAgreement(session=session, version_id=version, at=at)
        for version, at in given
        if version is not None and at is not None
    ]
    ConsentAgreement.objects.bulk_create(rows, ignore_conflicts=True)


def give_up(*, session: Session, now: datetime) -> None:
    """End a session whose annotator stops early; it counts as finished if it has filled its first seat."""
    is_done = live_sessions.has_filled_first_seat(session)
    leave(session=session, to=SessionState.FINISHED if is_done else SessionState.GIVEN_UP, now=now)


def finish_unless_last_look(*, session: Session, now: datetime) -> None:
    """Finish a session after its last answer or skip, unless its study offers a last look."""
    if not waits_for_last_look(session=session):
        finish(session=session, now=now)


def waits_for_last_look(*, session: Session) -> bool:
    """Whether a session without open questions still reviews its answers."""
    return session.study.design.answering.last_look and session.questions_answered > 0


@transaction.atomic
def finish(*, session: Session, now: datetime) -> None:
    """Finish a session without open questions.

    It keeps its seat unless skipped questions are left in it: those become free. A session without answers, or with
    more unproven skips than answers, is not finished: a researcher reviews it.
    """
    if session.questions_answered and seats.close_if_answered(session=session, now=now):
        move(session=session, to=SessionState.FINISHED, now=now)
        return
    is_done = session.questions_answered > 0 and not skip_allowance.outweigh_answers(session=session)
    leave(session=session, to=SessionState.FINISHED if is_done else SessionState.LEFT_OUT, now=now)
