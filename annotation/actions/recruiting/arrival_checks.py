"""Check who arrives from Prolific: by the signature of the link, else by asking (prolific.md, sections 2.3 and 2.4).

Nothing is checked for a project without an account, or for a study that is not on Prolific.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from annotation.actions import sessions
from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.recruiting import reconciliation, signing_keys
from annotation.actions.recruiting.prolific_account import clocks, connect
from annotation.actions.recruiting.prolific_studies import workspace_of
from annotation.actions.recruiting.reconciliation import There
from annotation.errors import CannotTakePart, LinkExpired, OtherPerson
from annotation.models import Annotator, EntryEvent, Identity, ProlificAccount, ProlificStudy, Session, SessionState
from annotation.recruitment.base import Entry, normalize_id
from annotation.recruitment.prolific import bodies, signed_links
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.entry import PROVIDER
from background.sealed_secrets import CannotUnseal
from studies.actions.events import TIMETABLE, What, record
from studies.models import Study

logger = logging.getLogger(__name__)

# An annotator waits meanwhile.
SECONDS = 3
# Between loading the start page, when a link is verified, and pressing Start.
VOUCHED_FOR = timedelta(hours=1)
# Clocks of the site's own machines may differ by this.
MARGIN = timedelta(minutes=1)
ASKED_AGAIN_FOR = timedelta(days=1)
ASKED_AT_ONCE = 20


@dataclass(frozen=True)
class Arrival:
    """Somebody who comes from Prolific. `query`: of their link. `host`: under which they reached this site."""

    study: Study
    entry: Entry
    query: Mapping[str, str]
    host: str


@dataclass(frozen=True)
class _Expected:
    """What is known about a study on Prolific. `own`: ids of those that we published."""

    account: ProlificAccount
    own: frozenset[str]
    workspace: str
    is_signed: bool


def is_person(session: Session, participant: str) -> bool:
    """Whether a session is that of a participant."""
    return session.annotator.id_digest in Annotator.digests_of([normalize_id(participant)])


def check_link(arrival: Arrival, *, now: datetime) -> str:
    """Return a proof for `check` that Prolific signed the link; "" if it did not, or cannot be asked for its keys.

    Raises LinkExpired, or OtherPerson if the link is not what Prolific signed.
    """
    expected = _expected(arrival)
    if expected is None:
        return ""
    token = arrival.query.get(signed_links.TOKEN, "")
    if not token and not expected.is_signed:
        return ""
    try:
        is_verified = _verify(token, arrival, expected, now)
    except signed_links.ExpiredLink:
        raise LinkExpired(
            gettext("Links from Prolific are valid for two minutes."),
            gettext("Go back to Prolific and press the study link again. If this page returns, tell the researcher."),
        ) from None
    except signed_links.ForgedLink as error:
        logger.warning("A link to study %s was refused: %s", arrival.study.pk, error)
        raise _not_theirs() from None
    return _proof(arrival) if is_verified else ""


def _verify(token: str, arrival: Arrival, expected: _Expected, now: datetime) -> bool:
    """Whether a link is verified; False if Prolific's keys cannot be read. Raises ExpiredLink or ForgedLink."""
    try:
        client = connect(expected.account, seconds=SECONDS)
        with client.within(SECONDS):
            link = signed_links.Link(arrival.query, arrival.host, expected.workspace)
            # A link expires when it has expired by both clocks.
            earlier = min(clocks(expected.account, now=now))
            return signing_keys.is_signed(token, client=client, link=link, now=earlier)
    except ProlificError as error:
        logger.info("Prolific's keys cannot be read: %s", error.sentence)
        return False


def check(arrival: Arrival, *, proof: str, now: datetime) -> str:
    """Return the `Identity` of an arrival, "" if nothing is checked. Takes seconds: call it outside of transactions.

    proof: from `check_link`. Raises AnnotationError if it is somebody else, or if the submission has ended.
    """
    expected = _expected(arrival)
    if expected is None:
        return ""
    if _is_proof(proof, arrival) or check_link(arrival, now=now):
        return Identity.SIGNED
    try:
        client = connect(expected.account, seconds=SECONDS)
        with client.within(SECONDS):
            submission = client.read_submission(arrival.entry.session_id)
    except ProlificError as error:
        if error.status == 404 and arrival.entry.study_id in expected.own:
            raise _not_theirs() from None
        logger.info("A submission cannot be verified now: %s", error.sentence)
        return Identity.UNVERIFIED
    if not _fits(submission, arrival.entry):
        raise _not_theirs()
    _check_is_open(submission)
    return Identity.CONFIRMED


def _expected(arrival: Arrival) -> _Expected | None:
    account = ProlificAccount.objects.filter(project=arrival.study.project_id).first()
    if account is None:
        return None
    ours = {one.remote_id: one for one in ProlificStudy.objects.filter(study=arrival.study).exclude(remote_id="")}
    published = frozenset(id_ for id_, one in ours.items() if one.published_at)
    # A draft may have been published on Prolific's own page a moment ago.
    known = {*ours, *arrival.study.design.recruitment.prolific_study_ids}
    if not published and arrival.entry.study_id not in known:
        return None
    one = ours.get(arrival.entry.study_id)
    workspace = workspace_of(one, account) if one else account.workspace_id
    is_signed = bool(one and one.details.get("is_external_study_url_secure"))
    return _Expected(account, published, workspace, is_signed)


def _fits(submission: bodies.Submission, entry: Entry) -> bool:
    return normalize_id(submission.participant) == entry.person and submission.study_id == entry.study_id


def _check_is_open(submission: bodies.Submission) -> None:
    if reconciliation.there_of(submission.status) not in {There.OPEN, There.UNKNOWN}:
        raise CannotTakePart(
            gettext("Your submission on Prolific has ended."),
            gettext("If Prolific still offers you the study, take a place again and open the study from there."),
        )


def _not_theirs() -> OtherPerson:
    return OtherPerson(
        gettext("This is not the link that Prolific gave you."),
        gettext("Open the study from your own page on the platform that invited you."),
    )


def _proof(arrival: Arrival) -> str:
    return signing.TimestampSigner(salt="annotation.arrival").sign(_digest(arrival))


def _is_proof(proof: str, arrival: Arrival) -> bool:
    try:
        value = signing.TimestampSigner(salt="annotation.arrival").unsign(proof, max_age=VOUCHED_FOR)
    except signing.BadSignature:
        return False
    return value == _digest(arrival)


def _digest(arrival: Arrival) -> str:
    entry = arrival.entry
    ids = f"{arrival.study.pk}|{entry.person}|{entry.study_id}|{entry.session_id}"
    return salted_hmac("annotation.arrival", ids, algorithm="sha256").hexdigest()


# Arrivals that could not be verified at once


def settle_unverified(*, study: ProlificStudy, participants: Mapping[str, str], now: datetime) -> None:
    """Settle who arrived unverified, by all submissions of a study: the participant of each, by its id."""
    waiting = list(_unverified().filter(study=study.study, provider_study_id=study.remote_id))
    ids = {digest: id_ for id_ in participants if waiting for digest in Session.digests_of([id_])}
    for session in waiting:
        participant = participants.get(ids.get(session.id_digest or "", ""))
        if participant is not None and is_person(session, participant):
            _confirm(session)
        elif participant is not None or session.arrived_at < now - MARGIN:
            _refute(session, now=now)


def unverified_sessions(*, now: datetime) -> list[int]:
    """Return recent sessions to ask Prolific about one by one: of studies that were not published from here."""
    own = ProlificStudy.objects.exclude(remote_id="").values("remote_id")
    found = _unverified().filter(arrived_at__gte=now - ASKED_AGAIN_FOR).exclude(provider_study_id__in=own)
    return list(found.order_by("arrived_at", "pk").values_list("pk", flat=True)[:ASKED_AT_ONCE])


def ask_again(*, session: int, now: datetime) -> None:
    """Ask Prolific about an arrival that could not be verified."""
    found = _unverified().filter(pk=session).first()
    account = ProlificAccount.objects.filter(project=found.study.project_id).first() if found else None
    if found is None or account is None:
        return
    try:
        submission = connect(account).read_submission(found.open_id())
    except (ProlificError, CannotUnseal) as error:
        logger.info("Session %s cannot be verified now: %s", found.pk, error)
        return
    if is_person(found, submission.participant) and submission.study_id == found.provider_study_id:
        _confirm(found)
    else:
        _refute(found, now=now)


def _unverified() -> QuerySet[Session]:
    found = Session.objects.filter(provider=PROVIDER, identity=Identity.UNVERIFIED)
    return found.select_related("study__project", "annotator")


def _confirm(session: Session) -> None:
    Session.objects.filter(pk=session.pk, identity=Identity.UNVERIFIED).update(identity=Identity.CONFIRMED)


@transaction.atomic
def _refute(session: Session, *, now: datetime) -> None:
    """End a session that is not its annotator's own; its place becomes free."""
    unverified = Session.objects.filter(pk=session.pk, identity=Identity.UNVERIFIED)
    if not unverified.update(identity=Identity.MISMATCH):
        return
    study = session.study
    record(project=study.project, study=study, what=What.IDENTITY_REFUTED, by=TIMETABLE, now=now, session=session.pk)
    suspicious_arrivals.note(study=study, what=EntryEvent.What.OTHER_PERSON, person="", now=now)
    session.refresh_from_db(fields=["state"])
    sessions.end_early(session=session, to=SessionState.RETURNED, by=TIMETABLE, now=now)
