"""The end of a session: stopping early, returning late, and the last page."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions import sessions
from annotation.actions.answering import responses, skip_allowance
from annotation.actions.ending import platform_outcome
from annotation.actions.recruiting import panel
from annotation.actions.removing import removals
from annotation.models import Removal, Session, SessionState
from annotation.models.sessions import OPEN_STATES
from annotation.money import ending_pay, format_waiting_pay
from annotation.views.guards import session_view
from annotation.views.page_context import context, redirect_to_session, typed_text, withdrawn_context
from studies.actions.events import ANNOTATOR

# WCAG 2.2.1: no redirect in less than 20 seconds, and it can be stopped.
REDIRECT_SECONDS = 20
# There is more to read if a researcher decides about the pay.
REVIEW_REDIRECT_SECONDS = 60


def show_end(request: HttpRequest, session: Session) -> HttpResponse:
    # No automatic redirect for annotators who return to this page, or who have unseen notices.
    stays = session.handed_back_at is not None or session.unseen_notices > 0
    now = timezone.now()
    if _is_shown(request):
        code = platform_outcome.show_completion_code(session=session, now=now)
    else:
        code = platform_outcome.code_for(session=session, now=now)
    is_finished = session.state == SessionState.FINISHED
    withdrawn = _has_withdrawn(session)
    extra = {
        "ending": SessionState.WITHDRAWN if withdrawn else session.state,
        "finished": is_finished,
        "left_out_here": skip_allowance.unproven_skips(session=session)
        if session.state == SessionState.LEFT_OUT
        else 0,
        # A session without questions was not in practice: its questions were withdrawn.
        "in_practice": session.first_question_at is None and session.questions_total > 0,
        "can_revive": sessions.can_revive(session=session, now=now),
        "pay": ending_pay(session, responses.stored_answers(session=session), code=code),
        "waiting_pay": format_waiting_pay(session.study),
        "code": code,
        "completion_url": f"{settings.PROLIFIC_COMPLETION_URL}?{urlencode({'cc': code})}" if code else "",
        "redirect_seconds": 0 if stays or withdrawn else REDIRECT_SECONDS if is_finished else REVIEW_REDIRECT_SECONDS,
        "answered": session.questions_answered,
        "comment_saved": bool(session.comment),
        "in_panel": panel.came_through_panel(session),
    }
    return render(request, "annotation/end.html", context(session) | withdrawn_context(session) | extra)


def _is_shown(request: HttpRequest) -> bool:
    """Whether the browser shows the page, rather than its worker caching it or testing the connection.

    Browsers with workers say so (W3C Fetch Metadata, 2.3); without these headers it counts as shown.
    """
    return request.method == "GET" and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


@session_view
@require_POST
def go_on(request: HttpRequest, session: Session) -> HttpResponse:
    """Reclaim the seat of a lapsed session, if it is still free."""
    sessions.resume(session=session, now=timezone.now())
    return redirect_to_session(session)


@session_view
@require_http_methods(["GET", "HEAD", "POST"])
def give_up(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for confirmation (the page's script uses a dialog instead), then end the session."""
    if request.method == "POST":
        sessions.give_up(session=session, now=timezone.now())
    elif session.state in OPEN_STATES | {SessionState.LAPSED}:
        return render(request, "annotation/give_up.html", context(session))
    return redirect_to_session(session)


@session_view
@require_http_methods(["GET", "HEAD", "POST"])
def take_back(request: HttpRequest, session: Session) -> HttpResponse:
    """Explain the withdrawal of consent, and withdraw when confirmed. It is final."""
    if request.method != "POST":
        extra = {"withdrawn": _has_withdrawn(session), "finished": session.state == SessionState.FINISHED}
        return render(request, "annotation/take_back.html", context(session) | extra)
    removals.withdraw(annotator=session.annotator, project=session.study.project, by=ANNOTATOR, now=timezone.now())
    return redirect_to_session(session)


def _has_withdrawn(session: Session) -> bool:
    reasons = Removal.objects.reasons(annotator=session.annotator_id, project=session.study.project_id)
    return Removal.Why.WITHDRAWN in reasons


@session_view
@require_POST
def comment(request: HttpRequest, session: Session) -> HttpResponse:
    platform_outcome.save_comment(session=session, text=typed_text(request, "comment"))
    return redirect_to_session(session)
