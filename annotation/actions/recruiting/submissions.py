"""Read studies and their submissions from Prolific, and make what is here fit (prolific.md, sections 3.4 and 4.3).

Nothing is asked of Prolific inside a transaction. Two workers may read the same study: each change is a conditional
update, so that it happens once.
"""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from annotation.actions import sessions
from annotation.actions.arriving.switch_role import switched_session
from annotation.actions.ending import platform_outcome
from annotation.actions.recruiting import arrival_checks, reconciliation
from annotation.actions.recruiting.prolific_account import connect_project, note_clock
from annotation.actions.recruiting.prolific_studies import DRAFT, NOT_STARTED, note_state, researcher_code
from annotation.actions.recruiting.reconciliation import Here, Step, There
from annotation.models import Annotator, ProlificStudy, Session, SessionState, Submission
from annotation.recruitment.base import normalize_id
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.entry import PROVIDER
from annotation.recruitment.prolific.statuses import StudyStatus
from background.sealed_secrets import keyed_digests, seal
from studies.actions.completion_codes import completion_code
from studies.actions.events import TIMETABLE, What, record
from studies.models import Event, Outcome, Study

logger = logging.getLogger(__name__)

# So that a change is here within a minute, also if its webhook is lost.
EVERY = timedelta(seconds=30)
# Of a study that is over, while submissions wait for review.
RARELY = timedelta(minutes=10)
# Of a draft: somebody may publish it on Prolific's own page.
DRAFT_EVERY = timedelta(minutes=5)
# If a worker is lost while it reads a study, another reads it after this time; also if reading takes longer.
LEASE = timedelta(seconds=30)
# Of each request, and of all together.
ATTEMPTS, SECONDS = 3, 60
SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=15), timedelta(minutes=5)
# A session that ended so long before a reading was seen by it, however long its transaction took.
JUST_ENDED = timedelta(minutes=1)
# Whoever finished here is on the way back for so long; then the redirect counts as lost.
REDIRECT_LOST_AFTER = timedelta(minutes=5)
COMPLETE_AGAIN_AFTER = timedelta(minutes=10)
PURPOSE = "submission"
# Statuses of studies that people are in, or may soon be.
_OPEN = [StudyStatus.PUBLISHING, StudyStatus.SCHEDULED, StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW]
_OPEN.append(StudyStatus.PAUSED)


@dataclass(frozen=True)
class RemoteSubmission:
    """A submission as Prolific has it, from a list or by itself."""

    id: str
    participant: str
    status: str
    started_at: datetime
    completed_at: datetime | None
    code: str
    return_requested_at: datetime | None

    @property
    def key(self) -> str:
        return normalize_id(self.id)


def _seen_in_list(one: bodies.ListedSubmission) -> RemoteSubmission:
    return RemoteSubmission(
        one.id,
        one.participant_id,
        one.status,
        one.started_at,
        one.completed_at,
        one.study_code or "",
        one.return_requested,
    )


def _seen_alone(one: bodies.Submission) -> RemoteSubmission:
    return RemoteSubmission(
        one.id,
        one.participant,
        one.status,
        one.started_at,
        one.completed_at,
        one.entered_code or "",
        one.return_requested,
    )


# Which studies are due


def is_due(now: datetime) -> Q:
    """Select studies to read. A draft, and one that is open, is read even if nobody said when."""
    return Q(due_at__lte=now) | Q(due_at=None, status__in=[StudyStatus.UNPUBLISHED, *_OPEN])


def followed(studies: QuerySet[ProlificStudy]) -> QuerySet[ProlificStudy]:
    """Return those that are open, or that are still read."""
    published = studies.exclude(remote_id="").exclude(status__in=DRAFT)
    return published.filter(Q(due_at__isnull=False) | Q(status__in=_OPEN))


def due_studies(*, now: datetime) -> list[int]:
    found = ProlificStudy.objects.filter(is_due(now)).exclude(remote_id="")
    return list(found.order_by("due_at", "pk").values_list("pk", flat=True))


def mark_due(*, studies: Collection[int], now: datetime) -> None:
    """Have studies read soon, also those that were not to be read any more."""
    ProlificStudy.objects.filter(pk__in=studies).filter(Q(due_at=None) | Q(due_at__gt=now)).update(due_at=now)


def read_study(*, study: int, now: datetime) -> None:
    """Read a study and all its submissions if it is due, and do what follows. Twice equals once."""
    lease = now + LEASE
    if not ProlificStudy.objects.filter(is_due(now), pk=study).update(due_at=lease):
        return
    row = ProlificStudy.objects.select_related("study__project").get(pk=study)
    try:
        client = connect_project(row.study.project, attempts=ATTEMPTS)
        with client.within(SECONDS):
            remote = client.read_study(row.remote_id)
            note_clock(project=row.study.project, client=client)
            if row.status in NOT_STARTED:
                _note_start(row, remote, lease=lease, now=now)
                return
            seen = [_seen_in_list(one) for one in client.list_submissions(row.remote_id)]
        _Reading(row, client, now).apply(seen)
    except ProlificError as error:
        _note_problem(row, error.sentence, lease=lease, now=now)
    except Exception:
        # Whatever failed is not lost: the study stays due.
        ProlificStudy.objects.filter(pk=row.pk, due_at=lease).update(due_at=now)
        raise
    else:
        _note_read(row, remote, seen, lease=lease, now=now)


def _note_start(row: ProlificStudy, remote: bodies.Study, *, lease: datetime, now: datetime) -> None:
    """Note that a study has started, by itself or on Prolific's own page; its submissions are then read at once."""
    has_started = remote.status not in NOT_STARTED
    if remote.status != row.status:
        event = (What.PROLIFIC_STUDY_STARTED, TIMETABLE) if has_started else None
        note_state(row, remote, now=now, event=event)
    pause = EVERY if remote.status == StudyStatus.SCHEDULED else DRAFT_EVERY
    ProlificStudy.objects.filter(pk=row.pk, due_at=lease).update(due_at=now + pause)


def _note_problem(row: ProlificStudy, sentence: str, *, lease: datetime, now: datetime) -> None:
    """Write why a study could not be read; the longer that lasts, the longer is the next pause."""
    away = (now - (row.read_at or row.created_at)) / 4
    due = now + min(max(away, SHORTEST_PAUSE), LONGEST_PAUSE)
    logger.info("Study %s could not be read from Prolific: %s", row.pk, sentence)
    # A draft keeps what prevented its last change.
    ProlificStudy.objects.filter(pk=row.pk).exclude(status__in=DRAFT).update(problem=sentence)
    ProlificStudy.objects.filter(pk=row.pk, due_at=lease).update(due_at=due)


def _note_read(
    row: ProlificStudy, remote: bodies.Study, seen: list[RemoteSubmission], *, lease: datetime, now: datetime
) -> None:
    taken = row.places_taken if remote.places_taken is None else max(remote.places_taken, 0)
    ProlificStudy.objects.filter(pk=row.pk).update(
        status=remote.status[:40],
        places=remote.total_available_places,
        places_taken=taken,
        read_at=now,
        problem="",
    )
    # Unless a webhook came meanwhile, which has marked the study due again.
    pause = _pause(remote.status, [reconciliation.there_of(one.status) for one in seen])
    ProlificStudy.objects.filter(pk=row.pk, due_at=lease).update(due_at=None if pause is None else now + pause)


def _pause(status: str, there: Iterable[There]) -> timedelta | None:
    """Return how long a study need not be read; None: for ever."""
    waiting = set(there) - reconciliation.FINAL
    if status != StudyStatus.COMPLETED or waiting - {There.REVIEW}:
        return EVERY
    return RARELY if waiting else None


# What was read


def sessions_of(study: Study, ids: Iterable[str]) -> dict[str, Session]:
    """Return the sessions of submissions, by the ids of these, normalised."""
    by_digest = {digest: id_ for id_ in ids for digest in Session.digests_of([id_])}
    found = Session.objects.filter(study=study, provider=PROVIDER, id_digest__in=by_digest)
    return {
        by_digest[session.id_digest]: session
        for session in found.select_related("study__project", "annotator", "last_seat")
        if session.id_digest is not None
    }


def note_submission(*, submission: Submission, remote: bodies.Submission, client: Client, now: datetime) -> None:
    """Note what one submission is on Prolific, and do what follows, as when its whole study is read."""
    _Reading(submission.prolific_study, client, now).note(submission, _seen_alone(remote))


class _Reading:
    """One reading of a study: `now` is when Prolific was asked, so that a later reading wins."""

    def __init__(self, study: ProlificStudy, client: Client, now: datetime) -> None:
        self._study, self._client, self._now = study, client, now
        self._own_code = researcher_code(study)

    def apply(self, seen: list[RemoteSubmission]) -> None:
        found = sessions_of(self._study.study, [one.key for one in seen])
        participants = {one.key: one.participant for one in seen}
        arrival_checks.settle_unverified(study=self._study, participants=participants, now=self._now)
        rows = self._study.submissions.select_related("session__study__project", "session__annotator")
        known = {row.id_digest: row for row in rows}
        unfinished = []
        for one in seen:
            digests = keyed_digests(one.key, purpose=PURPOSE)
            row = next((known[digest] for digest in digests if digest in known), None)
            # Ids are deleted after a while; the session stays.
            session = row.session if row else None
            arrived = found.get(one.key)
            if session is None and arrived is not None and arrival_checks.is_person(arrived, one.participant):
                session = arrived
            if row is not None and _is_settled(row, one, session):
                continue
            stored = self._store(row, one, session, digest=digests[0])
            if stored is not None and session is not None and self._may_complete(stored, session):
                unfinished.append((stored, one, session))
        for stored, one, session in unfinished:
            self._complete(stored, one, session)
        self._study.submissions.filter(read_at__lt=self._now).update(read_at=self._now)

    def note(self, row: Submission, one: RemoteSubmission) -> None:
        if not _is_settled(row, one, row.session):
            self._store(row, one, row.session, digest=row.id_digest)

    def _here(self, session: Session | None) -> Here:
        session = _acting(session)
        code = platform_outcome.code_for(session=session, now=self._now) if session and session.ended_at else ""
        return reconciliation.here_of(session.state if session else None, has_code=bool(code))

    def _codes(self, session: Session | None) -> list[str]:
        session = _acting(session)
        if session is None or session.ended_at is None:
            return []
        codes = [platform_outcome.code_for(session=session, now=self._now), self._own_code]
        if session.time_evidence is not None:
            # It was shown before a researcher accepted the times.
            codes.append(completion_code(study=session.study, outcome=Outcome.UNLIKELY_TIMES))
        return [code for code in codes if code]

    def _store(
        self, row: Submission | None, one: RemoteSubmission, session: Session | None, *, digest: str
    ) -> Submission | None:
        """Write what was read and do what follows here; None if somebody has read it later."""
        with transaction.atomic():
            if session is not None:
                session = _lock(session)
            if row is not None:
                # As it is now: another reading may have written it, and left its event.
                row = Submission.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
                if row is None or row.read_at > self._now:
                    return None
            here, there = self._here(session), reconciliation.there_of(one.status)
            wanted = reconciliation.row_of(here, there, entered=one.code, codes=self._codes(session))
            flag = self._flag(row, wanted, session)
            if row is not None and row.flag == flag and not _changes(row, one, session) and wanted.step == Step.NOTHING:
                return row
            before = (row.flag, row.entered_code) if row else ("", "")
            row = self._write(row, one, session, flag, digest)
            if row is None:
                return None
            self._record(row, before)
            acting = _acting(session)
            if wanted.step == Step.END_SESSION and acting is not None:
                sessions.end_early(session=acting, to=SessionState.RETURNED, by=TIMETABLE, now=self._now)
        return row

    def _flag(self, row: Submission | None, wanted: reconciliation.Row, session: Session | None) -> str:
        before = row.flag if row else ""
        if wanted.flag is None:
            return before
        if wanted.step == Step.COMPLETE and session is not None:
            # Set once it could not be completed.
            is_waiting = not self._is_redirect_lost(session)
            return "" if is_waiting else Submission.Flag.REDIRECT_LOST if not self._own_code else before
        return wanted.flag

    def _write(
        self, row: Submission | None, one: RemoteSubmission, session: Session | None, flag: str, digest: str
    ) -> Submission | None:
        values = {**_values(one), "flag": flag, "session": session, "read_at": self._now}
        if row is None:
            try:
                with transaction.atomic():
                    return Submission.objects.create(
                        prolific_study=self._study, sealed_id=seal(one.id), id_digest=digest, **values
                    )
            except IntegrityError:
                return None
        if not Submission.objects.filter(pk=row.pk, read_at__lte=self._now, flag=row.flag).update(**values):
            return None
        row.refresh_from_db()
        return row

    def _record(self, row: Submission, before: tuple[str, str]) -> None:
        flag, code = before
        if row.flag != flag:
            self._tell(What.SUBMISSION_FLAGGED if row.flag else What.SUBMISSION_FITS, row, flag=row.flag or flag)
        is_ours = bool(row.completed_by_us_at) and row.entered_code == self._own_code
        if is_ours and row.entered_code != code and not self._was_told(What.SUBMISSION_COMPLETED, row):
            self._tell(What.SUBMISSION_COMPLETED, row)

    def _was_told(self, what: str, row: Submission) -> bool:
        """Whether there is an event: a list that was read before may have taken the code back for a moment."""
        told = Event.objects.filter(study=self._study.study_id, what=what, details__session=row.session_id)
        return told.exists()

    def _tell(self, what: str, row: Submission, **details: str) -> None:
        study = self._study.study
        record(
            project=study.project,
            study=study,
            what=what,
            by=TIMETABLE,
            now=self._now,
            session=row.session_id,
            **details,
        )

    # Completing a submission whose redirect was lost

    def _is_redirect_lost(self, session: Session) -> bool:
        ended = (_acting(session) or session).ended_at
        return ended is not None and ended + REDIRECT_LOST_AFTER <= self._now

    def _may_complete(self, row: Submission, session: Session) -> bool:
        if not self._own_code or not self._is_redirect_lost(session):
            return False
        there = reconciliation.there_of(row.status)
        return reconciliation.TABLE[self._here(session)][there].step == Step.COMPLETE

    def _complete(self, row: Submission, one: RemoteSubmission, session: Session) -> None:
        """Complete a submission once. If the reply is lost, its status says whether that has happened."""
        may = Q(completed_by_us_at=None) | Q(completed_by_us_at__lte=self._now - COMPLETE_AGAIN_AFTER)
        if not Submission.objects.filter(may, pk=row.pk, status=row.status).update(completed_by_us_at=self._now):
            return
        row.refresh_from_db()
        try:
            self._client.complete_submission(one.id, code=self._own_code)
        except ProlificError as error:
            logger.info("Submission %s was not completed: %s", row.pk, error.sentence)
        try:
            one = _seen_alone(self._client.read_submission(one.id))
        except ProlificError as error:
            logger.info("Submission %s could not be read: %s", row.pk, error.sentence)
        if reconciliation.there_of(one.status) == There.OPEN:
            self._flag_lost_redirect(row)
        elif self._store(row, one, session, digest=row.id_digest) is None:
            # A later reading saw it before it was completed.
            mark_due(studies=[self._study.pk], now=self._now)

    @transaction.atomic
    def _flag_lost_redirect(self, row: Submission) -> None:
        lost = Submission.Flag.REDIRECT_LOST
        if Submission.objects.filter(pk=row.pk).exclude(flag=lost).update(flag=lost):
            self._tell(What.SUBMISSION_FLAGGED, row, flag=lost)


def _values(one: RemoteSubmission) -> dict[str, object]:
    return {
        "status": one.status[:40],
        "started_at": one.started_at,
        "completed_at": one.completed_at,
        "entered_code": one.code[:100],
        "return_requested_at": one.return_requested_at,
    }


def _changes(row: Submission, one: RemoteSubmission, session: Session | None) -> bool:
    is_other_session = row.session_id != (session.pk if session else None)
    return is_other_session or any(getattr(row, name) != value for name, value in _values(one).items())


def _is_settled(row: Submission, one: RemoteSubmission, session: Session | None) -> bool:
    """Whether nothing has changed since the last reading, here or there: a shortcut for most rows."""
    there = reconciliation.there_of(one.status)
    if there == There.UNKNOWN or _changes(row, one, session):
        return False
    session = _acting(session)
    if session is None:
        return True
    if session.ended_at is None:
        return there == There.OPEN and not row.flag
    return there != There.OPEN and session.ended_at < row.read_at - JUST_ENDED


def _acting(session: Session | None) -> Session | None:
    """Return the session in which somebody goes on who changed from the lobby to the study before, else `session`."""
    return (switched_session(session=session) or session) if session else None


def _lock(session: Session) -> Session:
    """Return the session as it is now, locked in the order that arrivals and answers use."""
    sessions.lock_annotator(Annotator.objects.filter(pk=session.annotator_id))
    locked = Session.objects.select_for_update(of=("self",)).select_related("study__project", "annotator", "last_seat")
    return locked.get(pk=session.pk)
