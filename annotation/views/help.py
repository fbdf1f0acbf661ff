"""Help, more time and question reports, available to annotators at any time."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions import sessions
from annotation.actions.answering import question_reports, responses
from annotation.errors import BadAnswer
from annotation.forms import read_id
from annotation.models import Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from annotation.pages import deadline, session_urls
from annotation.views.guards import session_view, wants_json
from annotation.views.page_context import context, redirect_to_session, typed_text


@session_view
@require_safe
def show_help(request: HttpRequest, session: Session) -> HttpResponse:
    """Show as a page what the page's script opens as a menu."""
    extra = {"report_slot": _current_slot(session), "can_stop": session.state in OPEN_STATES}
    return render(request, "annotation/help.html", context(session) | extra)


def _current_slot(session: Session) -> int | None:
    if session.state != SessionState.WORKING:
        return None
    return next((slot.pk for slot in responses.open_slots(session=session, limit=1)), None)


@session_view
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the report form (the page's script uses a dialog instead), and store the report."""
    if request.method != "POST":
        return _show_report_form(request, session, read_id(request.GET.get("slot", "")) or _current_slot(session))
    slot = read_id(request.POST.get("slot", ""))
    if slot is None:
        raise BadAnswer(gettext("The page did not say which question you mean. Reload it and try again."))
    try:
        kept = question_reports.report(
            session=session,
            slot=slot,
            reason=request.POST.get("reason", ""),
            words=typed_text(request, "words"),
            instead="instead" in request.POST,
            now=timezone.now(),
        )
    except BadAnswer as error:
        if wants_json(request):
            raise
        return _show_report_form(request, session, slot, error=error.whole, status=error.status)
    if not wants_json(request):
        return redirect_to_session(session, said="reported")
    onward = f"{session_urls(session.token)['page']}?said=reported" if kept.instead_of_answer else None
    return JsonResponse({"thanks": gettext("Thank you. The researchers will see what you wrote."), "go": onward})


def _show_report_form(
    request: HttpRequest, session: Session, slot: int | None, *, error: str = "", status: int = 200
) -> HttpResponse:
    asked = Slot.objects.filter(pk=slot or 0, annotator=session.annotator_id, question__study=session.study_id).first()
    if asked is None or session.state != SessionState.WORKING:
        return redirect_to_session(session)
    is_open = asked.answered_at is None
    extra: dict[str, Any] = {"slot": asked.pk, "is_open": is_open, "error": error, "posted": request.POST}
    return render(request, "annotation/report.html", context(session) | extra, status=status)


@session_view
@require_POST
def more_time(request: HttpRequest, session: Session) -> HttpResponse:
    """Extend the lease by the minutes that the study allows, once."""
    sessions.grant_more_time(session=session, now=timezone.now())
    if not wants_json(request):
        return redirect_to_session(session)
    until = deadline(session, timezone.now())
    if until is None:
        return JsonResponse({"go": session_urls(session.token)["page"]})
    return JsonResponse({"moment": until["moment"], "seconds": until["seconds"]})
