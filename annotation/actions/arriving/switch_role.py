"""Switch from the lobby to the upstream study, if the study allows it."""

from datetime import datetime

from django.db import transaction

from annotation.actions import sessions
from annotation.errors import AnnotationError
from annotation.models import Session, SessionState
from annotation.recruitment.base import Entry
from background.sealed_secrets import CannotUnseal


def is_offered(*, session: Session, now: datetime) -> bool:
    """Whether a waiting session may switch to the upstream study, and a place is free there."""
    feeding = session.study.fed_by
    if session.state != SessionState.WAITING or feeding is None or not session.study.design.lobby.either_role:
        return False
    if session.questions_answered:
        # This submission has answers, which are paid in this study.
        return False
    try:
        sessions.check_can_start(study=feeding, entry=_entry_of(session), provider=session.provider, now=now)
    except (AnnotationError, CannotUnseal):
        return False
    return True


@transaction.atomic
def switch(*, session: Session, now: datetime, network: str = "") -> Session:
    """Switch a waiting session to the upstream study; return the session there, which the submission now belongs to.

    Raises what `sessions.start` raises.
    """
    feeding = session.study.fed_by
    if feeding is None or not is_offered(session=session, now=now):
        return session
    other = sessions.start(study=feeding, entry=_entry_of(session), now=now, network=network)
    sessions.leave(session=session, to=SessionState.SUPERSEDED, now=now)
    return other


def switched_session(*, session: Session) -> Session | None:
    """Return the session to which `session` switched with `take`; None if it did not."""
    if session.state != SessionState.SUPERSEDED or session.study.fed_by_id is None:
        return None
    same = Session.objects.filter(provider=session.provider, id_digest__in=session.known_digests())
    return same.filter(study=session.study.fed_by_id, annotator=session.annotator_id).first()


def _entry_of(session: Session) -> Entry:
    return Entry(
        provider=session.provider,
        person=session.annotator.provider_id,
        session_id=session.provider_session_id,
        study_id=session.provider_study_id,
    )
