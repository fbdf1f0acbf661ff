"""Mail that the site sends, where it is told of a server for it; nothing depends on it."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail

from studies.models import Invitation
from studies.permissions import Role, with_article

logger = logging.getLogger(__name__)


def can_send() -> bool:
    return bool(settings.MAIL_FROM)


def send_invitation(invitation: Invitation, link: str, *, to: str) -> bool:
    """Mail the link of an invitation; whether a server took it. A link that was not taken is still good."""
    if not can_send():
        return False
    project, by = invitation.project.name, invitation.made_by.get_full_name() or invitation.made_by.get_username()
    text = (
        f"{by} invites you to {project} on Lineup, as {with_article(Role(invitation.role))}.\n\n"
        f"Follow this link to join; it works once, until {invitation.expires_at:%-d %B %Y, %H:%M} UTC:\n\n{link}\n\n"
        "If you do not know what this is about, do nothing.\n"
    )
    try:
        send_mail(f"Invitation to {project}", text, settings.MAIL_FROM, [to])
    except (SMTPException, OSError):
        logger.exception("the mail with invitation %s was not taken", invitation.pk)
        return False
    return True
