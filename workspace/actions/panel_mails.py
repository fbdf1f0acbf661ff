"""Mail the links that people of panels asked for, or get because an owner added them."""

from collections.abc import Callable
from datetime import datetime

from annotation.actions.recruiting import link_requests, panel
from annotation.models import LinkRequest
from workspace import mail


def send_links(*, now: Callable[[], datetime]) -> None:
    """Answer the requests that are due; those that the mail server does not take now stay.

    The server is asked first, so that requests for addresses of nobody wait as long as all others: that pages say that
    mails are delayed tells nobody who is in a panel.
    """
    link_requests.delete_old(now=now())
    if not mail.can_send() or not link_requests.are_due(now=now()) or not mail.server_answers():
        return
    for request in link_requests.take_due(now=now()):
        if _answer(request, now()):
            link_requests.finish(request=request)
        else:
            link_requests.postpone(request=request, now=now())


def _answer(request: LinkRequest, now: datetime) -> bool:
    """Mail a link if somebody in a panel has the address; return whether the request is settled."""
    address = link_requests.address_in(request)
    annotator = panel.find_annotator(address) if address else None
    if annotator is None or link_requests.is_answered(request, annotator=annotator.pk):
        return True
    key, minutes = panel.make_link_key(annotator), panel.LINK_LASTS.seconds // 60
    if not mail.send_panel_link(key, to=address, language=request.language, minutes=minutes):
        return False
    panel.note_link_sent(annotator=annotator, now=now)
    return True
