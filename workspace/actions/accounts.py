"""Makes an account for somebody who follows an invitation: there is no other way to one but the operator's."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from studies.actions.projects.membership import join
from studies.models import Project


@transaction.atomic
def sign_up(*, secret: str, account: User, now: datetime) -> Project:
    """Store an account, which is not stored yet, and make it a member; both or nothing. Raises StudyError."""
    account.save()
    return join(secret=secret, by=account, now=now)
