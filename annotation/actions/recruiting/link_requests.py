"""Requests for links to the page of a panel: stored until mailed, so that a mail server that is away loses none."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from annotation.language import interface_language
from annotation.models import LinkRequest, PanelMember
from background.sealed_secrets import CannotUnseal, seal, unseal
from studies.models import Project, StudyState

# Longer than a mail takes to send.
LEASE = timedelta(minutes=2)
RETRY = timedelta(minutes=1)
KEPT_FOR = timedelta(days=1)


def request_link(*, address: str, language: str, now: datetime) -> None:
    """Store that somebody with this normalised address, in a panel or not, wants a link."""
    LinkRequest.objects.create(sealed_address=seal(address), language=language, asked_at=now, due_at=now)


def are_due(*, now: datetime) -> bool:
    return LinkRequest.objects.filter(due_at__lte=now).exists()


def take_due(*, now: datetime) -> Iterator[LinkRequest]:
    """Yield the requests that are due, oldest first. No other worker gets one for `LEASE`."""
    for request in LinkRequest.objects.filter(due_at__lte=now).order_by("asked_at", "pk"):
        if LinkRequest.objects.filter(pk=request.pk, due_at=request.due_at).update(due_at=now + LEASE):
            yield request


def address_in(request: LinkRequest) -> str:
    """Return the address of a request; "" if no key of the site opens it any more."""
    try:
        return unseal(request.sealed_address)
    except CannotUnseal:
        return ""


def postpone(*, request: LinkRequest, now: datetime) -> None:
    LinkRequest.objects.filter(pk=request.pk).update(due_at=now + RETRY)


def finish(*, request: LinkRequest) -> None:
    """Delete a request that was answered, or cannot be."""
    LinkRequest.objects.filter(pk=request.pk).delete()


def delete_old(*, now: datetime) -> None:
    LinkRequest.objects.filter(asked_at__lt=now - KEPT_FOR).delete()


def are_delayed(*, now: datetime) -> bool:
    """Whether requests of anybody have waited longer than a retry."""
    return LinkRequest.objects.filter(asked_at__lt=now - RETRY).exists()


def is_answered(request: LinkRequest, *, annotator: int) -> bool:
    """Whether a link was mailed to this person after the request."""
    return PanelMember.objects.filter(annotator=annotator, link_sent_at__gte=request.asked_at).exists()


def language_of(project: Project) -> str:
    """Return the language of the newest open study of a project; mails that its people did not ask for are in it."""
    newest = project.studies.filter(state=StudyState.OPEN).order_by("-launched_at", "-pk").first()
    return interface_language(newest.design.language if newest else "")
