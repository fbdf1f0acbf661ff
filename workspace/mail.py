"""Mail of the site, if a mail server is configured; nothing depends on it.

The functions that send return whether a server accepted the mail.
"""

import logging
from collections.abc import Iterable, Mapping
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import get_connection, send_mail
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from studies.actions.events import who_launched
from studies.actions.projects.members import owners_of
from studies.models import Invitation, Project, ProjectDeletion, Study
from studies.permissions import Role, with_article

logger = logging.getLogger(__name__)


def can_send() -> bool:
    return bool(settings.MAIL_FROM)


def invitation_link(secret: str) -> str:
    return f"{settings.SITE_URL}{reverse('invitation', args=[secret])}"


def send_invitation(invitation: Invitation, secret: str, *, to: str) -> bool:
    """Mail an invitation link, unless `to` is empty; return whether the mail server took it.

    The link is valid either way.
    """
    if not to:
        return False
    project, by = invitation.project.name, invitation.made_by.get_full_name() or invitation.made_by.get_username()
    text = (
        f"{by} invites you to {project} on Lineup, as {with_article(Role(invitation.role))}.\n\n"
        f"Use this link to join. It works once, until {invitation.expires_at:%-d %B %Y, %H:%M} UTC:\n\n"
        f"{invitation_link(secret)}\n\n"
        "If you did not expect this, ignore this mail.\n"
    )
    return _send(f"Invitation to {project}", text, to=to, about=f"invitation {invitation.pk}")


def send_mail_link(user: User, link: str, *, to: str) -> bool:
    """Mail the link that confirms an account's new address; return whether the mail server took it."""
    text = (
        f"Somebody asked to send mail for {user.get_username()} on Lineup to this address.\n\n"
        f"If it was you, confirm it with this link. It works once, within a day:\n\n{link}\n\n"
        "If it was not you, ignore this mail: nothing will change.\n"
    )
    return _send("Your address for Lineup", text, to=to, about=f"the address of account {user.pk}")


def send_address_changed(user: User, *, to: str) -> bool:
    """Tell the former address of an account that it was replaced; return whether the mail server took it."""
    text = (
        f"Mail for {user.get_username()} on Lineup now goes to another address.\n\nIf that was "
        f"not you, tell the administrator of {settings.SITE_URL}: somebody may be using your "
        "account.\n"
    )
    return _send("Your address for Lineup was changed", text, to=to, about=f"the former address of account {user.pk}")


def send_account_linked(user: User) -> bool:
    """Tell a user that an account of the provider signs in as them from now on."""
    text = (
        f"You signed in to Lineup as {user.get_username()} with {settings.OIDC_NAME} for the "
        "first time. From now on that opens your account.\n\nIf that was not you, tell the "
        f"administrator of {settings.SITE_URL}.\n"
    )
    return _send("A new way to sign in to Lineup", text, to=user.email, about=f"the provider of account {user.pk}")


def send_panel_link(key: str, *, to: str, language: str, minutes: int) -> bool:
    """Mail a link that signs somebody in to the page of their studies, in `language`.

    Return whether the mail server took it, or refused it for good. False: try again.
    """
    with translation.override(language):
        subject = gettext("Your studies")
        validity = gettext("This link shows your studies. It works once, within %(minutes)s minutes:")
        paragraphs = (
            validity % {"minutes": minutes},
            f"{settings.SITE_URL}{reverse('panel_sign_in', args=[key])}",
            gettext("You can ask for a new link here:"),
            f"{settings.SITE_URL}{reverse('panel')}",
            gettext("If you did not expect this email, ignore it."),
        )
    try:
        send_mail(subject, "\n\n".join(paragraphs) + "\n", settings.MAIL_FROM, [to])
    except (SMTPException, OSError) as error:
        logger.warning("the mail to a person of a panel was not taken (%s)", type(error).__name__)
        return _is_refused_for_good(error)
    return True


def send_person_message(text: str, study: Study, *, to: str) -> bool:
    """Mail what a researcher wrote to somebody who took part in `study`; return whether the mail server took it.

    Raises OSError if that is unknown.
    """
    contact = study.design.contact
    signature = "\n".join(filter(None, [study.title, contact]))
    try:
        send_mail(study.title, f"{text}\n\n-- \n{signature}\n", settings.MAIL_FROM, [to])
    except (SMTPException, OSError) as error:
        logger.warning("the mail to a person of a panel was not taken (%s)", type(error).__name__)
        if _is_refused_for_good(error):
            return False
        raise OSError("It is unknown whether the mail was taken.") from error
    return True


def _is_refused_for_good(error: Exception) -> bool:
    """Whether the mail server answered that it will never take this mail. Other answers may be about the site."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPDataError) and error.smtp_code >= 500


def server_answers() -> bool:
    """Whether the mail server lets the site in at present."""
    connection = get_connection()
    try:
        connection.open()
        connection.close()
    except (SMTPException, OSError) as error:
        logger.warning("the mail server cannot be used (%s: %s)", type(error).__name__, error)
        return False
    return True


def send_completion(study: Study, *, is_closed: bool) -> bool:
    """Mail that `study` is complete to who launched it, or else to the owners of its project."""
    launcher = who_launched(study)
    people = [launcher] if launcher else owners_of(study.project)
    address = f"{settings.SITE_URL}{reverse('study', args=[study.project.slug, study.slug])}"
    closed = " It has been closed, so nobody else can take part." if is_closed else ""
    text = f"All answers to {study.title} ({study.slug}) are in.{closed}\n\n{address}\n"
    return _send_to_all(people, f"{study.slug} is complete", text, about=f"study {study.pk}")


def send_policy_pause(study: Study, reasons: Mapping[str, str]) -> bool:
    """Mail who launched `study`, or else the owners of its project, which policies paused it and why."""
    launcher = who_launched(study)
    people = [launcher] if launcher else owners_of(study.project)
    address = f"{settings.SITE_URL}{reverse('study', args=[study.project.slug, study.slug])}"
    said = "\n".join(f"{policy}: {sentence}" for policy, sentence in reasons.items())
    text = (
        f"The policies of {study.title} ({study.slug}) paused it.\n\n{said}\n\n"
        f"Nobody new can take part. People who are at work can finish. Look at it, and resume it here:\n\n{address}\n"
    )
    return _send_to_all(people, f"{study.slug} is paused", text, about=f"study {study.pk}")


def send_deletion_planned(deletion: ProjectDeletion) -> bool:
    """Mail the owners of a project when it will be deleted, and where that can be cancelled."""
    if deletion.project is None:
        return False
    address = f"{settings.SITE_URL}{reverse('delete_project', args=[deletion.slug])}"
    text = (
        f"{deletion.by_name} asked for the deletion of {deletion.name} on Lineup. It will be deleted on "
        f"{deletion.due_at:%-d %B %Y, %H:%M} UTC, with all of its instances, answers and releases.\n\n"
        f"Until then any owner can cancel it:\n\n{address}\n"
    )
    return _send_to_owners(deletion.project, f"{deletion.name} will be deleted", text)


def send_deletion_cancelled(project: Project, *, by: User) -> bool:
    """Mail the owners of a project that it stays."""
    text = f"{by.get_full_name() or by.get_username()} cancelled the deletion of {project.name} on Lineup. It stays.\n"
    return _send_to_owners(project, f"{project.name} will not be deleted", text)


def send_deletion_done(deletion: ProjectDeletion) -> bool:
    """Mail those who owned a project that it is deleted, and where the record of what was deleted is."""
    address = f"{settings.SITE_URL}{reverse('deletion_record', args=[deletion.pk])}"
    text = f"{deletion.name} on Lineup was deleted.\n\nThe record of what it held:\n\n{address}\n"
    return _send_to_all(deletion.owners.all(), f"{deletion.name} was deleted", text, about=f"deletion {deletion.pk}")


def _send_to_owners(project: Project, subject: str, text: str) -> bool:
    return _send_to_all(owners_of(project), subject, text, about=f"the deletion of project {project.pk}")


def _send_to_all(people: Iterable[User], subject: str, text: str, *, about: str) -> bool:
    """Mail each address of `people` once; return whether a server accepted any."""
    addresses = sorted({person.email for person in people if person.email})
    sent = [_send(subject, text, to=to, about=about) for to in addresses]
    return any(sent)


def _send(subject: str, text: str, *, to: str, about: str) -> bool:
    if not can_send():
        return False
    try:
        send_mail(subject, text, settings.MAIL_FROM, [to])
    except (SMTPException, OSError):
        logger.exception("the mail about %s was not taken", about)
        return False
    return True
