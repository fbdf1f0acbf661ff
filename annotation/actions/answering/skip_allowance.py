"""How many questions a session may skip without proof.

One allowance for images that fail only in the browser and for questions reported as unanswerable.
"""

from django.db.models import Q

from annotation.models import Response, Session, SessionState, Skip

# If the server has every file, only the browser reports the failure, so few such skips are accepted.
MOST_UNPROVEN = 3
# Per cent of the questions given to a session; counts in surveys large enough for this to be more.
MOST_UNPROVEN_PERCENT = 5
_WITH_A_CODE = (SessionState.FINISHED, SessionState.LEFT_OUT)


def _in_same_count(session: Session) -> Q:
    """Select the rows of the annotator in this session and in those of the study that ended without a code.

    A new session does not reset the count.
    """
    ended = Session.objects.filter(study=session.study_id, annotator=session.annotator_id, state__in=_WITH_A_CODE)
    mine = Q(study=session.study_id, annotator=session.annotator_id)
    return mine & ~Q(session__in=ended.exclude(pk=session.pk))


def unproven_skips(*, session: Session) -> int:
    """Return how many questions were skipped although the server has their images."""
    return Skip.objects.filter(_in_same_count(session), file_missing=False).count()


def remaining(*, session: Session) -> int:
    """Return how many more questions may be skipped without proof; negative if there were too many."""
    given = session.questions_total + Skip.objects.filter(session=session).count()
    return max(MOST_UNPROVEN, given * MOST_UNPROVEN_PERCENT // 100) - unproven_skips(session=session)


def outweigh_answers(*, session: Session) -> bool:
    """Whether more questions were skipped without proof than were answered."""
    answered = Response.objects.filter(_in_same_count(session), is_current=True).count()
    return unproven_skips(session=session) > answered
