"""The lobby page, and the view that it polls."""

from math import ceil

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.actions.arriving import switch_role
from annotation.models import Session, SessionState
from annotation.money import format_pay, format_waiting_pay
from annotation.pages import session_urls
from annotation.views.guards import session_view, wants_json
from annotation.views.page_context import context, redirect_to_session, withdrawn_context
from throttle.networks import network_of


def show_lobby(request: HttpRequest, session: Session) -> HttpResponse:
    extra = {"longest": _longest(session), "waiting_pay": format_waiting_pay(session.study)}
    extra |= withdrawn_context(session)
    feeding = session.study.fed_by
    if feeding is not None and switch_role.is_offered(session=session, now=timezone.now()):
        extra |= {"other_title": feeding.title, "other_pay": format_pay(feeding.design.pay)}
    return render(request, "annotation/lobby.html", context(session) | extra)


@session_view
@require_POST
def wait(request: HttpRequest, session: Session) -> HttpResponse:
    """Check for questions; the page's script receives where to go, or how much longer it may wait."""
    now = timezone.now()
    # Called first, because it reads when the page was last seen.
    advance_session.update_waiting(session=session, now=now)
    sessions.record_visit(session=session, now=now)
    if not wants_json(request):
        return redirect_to_session(session)
    if session.state != SessionState.WAITING:
        return JsonResponse({"go": session_urls(session.token)["page"]})
    return JsonResponse({"go": None, "longest": _longest(session)})


@session_view
@require_POST
def take_other_role(request: HttpRequest, session: Session) -> HttpResponse:
    """Switch to the upstream study."""
    return redirect_to_session(switch_role.switch(session=session, now=timezone.now(), network=network_of(request)))


def _longest(session: Session) -> str:
    minutes = max(1, ceil((session.lease_until - timezone.now()).total_seconds() / 60))
    return ngettext(
        "You will wait for one more minute at most.", "You will wait for %(minutes)s more minutes at most.", minutes
    ) % {"minutes": minutes}
