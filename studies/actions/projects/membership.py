"""Membership: invite, join, change role and remove.

Members join by invitation link, under the account they sign in with. The link is a secret shown once; only its SHA-256
is stored.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from studies.actions.events import What, record
from studies.actions.projects.members import may, owners_of
from studies.errors import StudyError
from studies.models import Invitation, Membership, Project
from studies.names import problem_with_line
from studies.permissions import Role, Verb

DAYS = (1, 7, 30)
LONGEST_WHOM = 200
NO_LONGER = (
    "This invitation can no longer be used: it was used already, it was cancelled, or its time is over. "
    "Ask an owner of the project for a new one."
)
THE_LAST_OWNER = (
    "{name} is the only owner of the project who can sign in, and somebody must be able to decide who is a member. "
    "Make somebody else an owner first."
)


@transaction.atomic
def invite(
    *, project: Project, role: str, days: int, whom: str, by: User, now: datetime, secret: str | None = None
) -> tuple[Invitation, str]:
    """Make an invitation; return it with the secret of its link, which is not stored.

    `whom`: the owner's note on who it is for; may be empty. `secret`: random by default; an invitation with this one is
    returned instead of a new one. Raises StudyError.
    """
    if role not in set(Role):
        raise StudyError(f"Choose a role: {', '.join(Role)}.")
    if days not in DAYS:
        raise StudyError(f"Choose for how many days the invitation is valid: {', '.join(map(str, DAYS))}.")
    if whom and (problem := problem_with_line(whom)):
        raise StudyError(f"Whom it is for: {problem}")
    if len(whom) > LONGEST_WHOM:
        raise StudyError(f"Whom it is for: write at most {LONGEST_WHOM} characters.")
    secret = secret or secrets.token_urlsafe(32)
    invitation, is_new = Invitation.objects.get_or_create(
        secret_hash=_hash(secret),
        defaults={
            "project": project,
            "role": role,
            "whom": whom,
            "made_by": by,
            "made_at": now,
            "expires_at": now + timedelta(days=days),
        },
    )
    if is_new:
        record(project=project, what=What.MEMBER_INVITED, by=by, now=now, whom=whom, role=role)
    return invitation, secret


@transaction.atomic
def cancel_invitation(*, invitation: Invitation, by: User, now: datetime) -> None:
    """Cancel an invitation. Raises StudyError if it was used or cancelled before."""
    open_one = Invitation.objects.filter(pk=invitation.pk, used_at=None, cancelled_at=None)
    if not open_one.update(cancelled_at=now):
        raise StudyError("This invitation was used or cancelled in the meantime.")
    whom, role, what = invitation.whom, invitation.role, What.INVITATION_CANCELLED
    record(project=invitation.project, what=what, by=by, now=now, whom=whom, role=role)


def invitation_of(secret: str, now: datetime) -> Invitation:
    """Return the usable invitation with this secret. Raises StudyError.

    A link stops working when its maker loses the right to invite.
    """
    found = Invitation.objects.open(now).select_related("project", "made_by").filter(secret_hash=_hash(secret)).first()
    if found is None or not may(found.made_by, Verb.MANAGE_MEMBERS, found.project):
        raise StudyError(NO_LONGER)
    return found


@transaction.atomic
def join(*, secret: str, by: User, now: datetime) -> Project:
    """Make `by` a member and use up the link. Raises StudyError; members do not use up the link."""
    invitation = invitation_of(secret, now)
    project = invitation.project
    if Membership.objects.filter(project=project, user=by).exists():
        raise StudyError(f"You are a member of {project.name} already. The link can still be used by somebody else.")
    if not Invitation.objects.open(now).filter(pk=invitation.pk).update(used_at=now, used_by=by):
        raise StudyError(NO_LONGER)
    Membership.objects.create(project=project, user=by, role=invitation.role)
    name, inviter = by.get_username(), invitation.made_by.get_username()
    what, role = What.MEMBER_ADDED, invitation.role
    record(project=project, what=what, by=by, now=now, member=name, role=role, invited_by=inviter)
    return project


@transaction.atomic
def change_role(*, membership: Membership, role: str, by: User, now: datetime) -> None:
    """Change the role of a member. Raises StudyError."""
    if role not in set(Role):
        raise StudyError(f"Choose a role: {', '.join(Role)}.")
    project = _lock_project(membership.project)
    if membership.role == role:
        return
    if role != Role.OWNER:
        _check_an_owner_is_left(project, membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)
    name = membership.user.get_username()
    record(project=project, what=What.MEMBER_CHANGED, by=by, now=now, member=name, role=role)


@transaction.atomic
def remove_member(*, membership: Membership, by: User, now: datetime) -> None:
    """Remove a member; their work stays. Raises StudyError."""
    project = _lock_project(membership.project)
    _check_an_owner_is_left(project, membership)
    membership.delete()
    name, role = membership.user.get_username(), membership.role
    record(project=project, what=What.MEMBER_REMOVED, by=by, now=now, member=name, role=role)


def _lock_project(project: Project) -> Project:
    """Lock the project, so that two owners who demote each other at once cannot both succeed."""
    return Project.objects.select_for_update().get(pk=project.pk)


def _check_an_owner_is_left(project: Project, membership: Membership) -> None:
    if membership.role == Role.OWNER and not [user for user in owners_of(project) if user != membership.user]:
        raise StudyError(THE_LAST_OWNER.format(name=membership.user.get_username()))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
