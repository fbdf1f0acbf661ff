"""Create accounts from invitations. Otherwise only operators create accounts."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from studies.actions.projects.membership import join
from studies.models import Project


@transaction.atomic
def sign_up(*, secret: str, account: User, now: datetime) -> Project:
    """Store an unsaved account and make it a member, both or neither. Raises StudyError."""
    account.save()
    return join(secret=secret, by=account, now=now)
