"""People who pass a qualification study join its group, until their membership expires."""

from datetime import datetime, timedelta

from annotation.actions.arriving.eligibility import session_score
from annotation.models import GroupMember, Session
from studies.eligibility.qualified import passes


def join_group_if_passed(*, session: Session, now: datetime) -> None:
    """Let the annotator of a finished session join the group of its qualification study, or renew their membership.

    Does nothing in other studies, and for somebody whom a researcher declared a member: that never expires.
    """
    wanted = session.study.design.qualification
    if wanted is None:
        return
    known, right = session_score(session)
    if not passes(known, right, needed=wanted.right, of=wanted.of):
        return
    expires_at = now + timedelta(days=wanted.days)
    member, is_new = GroupMember.objects.get_or_create(
        project_id=session.study.project_id,
        group=wanted.group,
        annotator_id=session.annotator_id,
        defaults={"source": session.study, "expires_at": expires_at},
    )
    # Another study may have let them in for longer.
    if not is_new and member.expires_at is not None and member.expires_at < expires_at:
        GroupMember.objects.filter(pk=member.pk).update(source=session.study, expires_at=expires_at)
