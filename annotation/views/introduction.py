"""Pages before the questions: consent, and the instructions of each part."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation.actions import sessions
from annotation.actions.answering import advance_session, practice, responses
from annotation.actions.launching import consent_versions
from annotation.errors import BadAnswer
from annotation.forms import read_id
from annotation.models import Session, SessionState
from annotation.money import format_practice_pay
from annotation.views.guards import session_view
from annotation.views.page_context import context, redirect_to_session
from studies.markdown import render_headed

PART_NUMBERS = {str(number) for number in range(9)}


def show_consent(request: HttpRequest, session: Session) -> HttpResponse:
    design = session.study.design
    version = consent_versions.latest_version(session.study)
    consent = render_headed(version.text if version else design.consent)
    extra = {
        "consent_version": version.number if version else 1,
        "is_asked_again": session.state != SessionState.CONSENT,
        "consent_heading": consent.heading,
        "consent_html": consent.body,
        "records_writing": design.records_writing,
    }
    return render(request, "annotation/consent.html", context(session) | extra)


def show_instructions(request: HttpRequest, session: Session, *, part: int = 0) -> HttpResponse:
    design = session.study.design
    instructions = render_headed(design.parts[part].instructions)
    terms = practice.terms(session=session) if part == 0 else None
    extra = {
        "estimated_minutes": design.time.estimated_minutes if part == 0 else 0,
        "total": session.questions_total,
        "in_part": responses.questions_in_part(session=session, part=part),
        "practice": terms,
        "practice_pay": format_practice_pay(session) if terms and terms.needed else "",
        "instructions_heading": instructions.heading,
        "instructions_html": instructions.body,
        "part": part,
        "part_number": part + 1,
        "parts": len(design.parts),
    }
    return render(request, "annotation/instructions.html", context(session) | extra)


@session_view
@require_POST
def consent(request: HttpRequest, session: Session) -> HttpResponse:
    """Store consent or refusal; a refusal is final, so it must be confirmed."""
    agree, is_sure = request.POST.get("agree"), "sure" in request.POST
    if agree not in {"yes", "no"}:
        raise BadAnswer(
            gettext("Choose whether you agree to take part."), gettext("Go back and press one of the two buttons.")
        )
    now = timezone.now()
    # Consent after the lease is over still counts.
    session = sessions.resume(session=session, now=now)
    if agree == "no" and not is_sure and session.awaits_consent:
        extra = {"has_answers": session.questions_answered > 0}
        return render(request, "annotation/no_consent.html", context(session) | extra)
    # Pages of versions before consent texts had numbers show the first.
    version = read_id(request.POST.get("version", "1")) or 1
    sessions.consent(session=session, agreed=agree == "yes", version=version, now=now)
    return redirect_to_session(session)


@session_view
@require_POST
def begin(request: HttpRequest, session: Session) -> HttpResponse:
    part = request.POST.get("part", "0")
    # An annotator who reads past the lease continues if the seat is free.
    session = sessions.resume(session=session, now=timezone.now())
    if session.state in {SessionState.INSTRUCTIONS, SessionState.WORKING} and part in PART_NUMBERS:
        advance_session.begin(session=session, part=int(part), now=timezone.now())
    return redirect_to_session(session)


@session_view
@require_POST
def here(request: HttpRequest, session: Session) -> JsonResponse:
    """Record a sign that the page of a session is open; tell its script whether to send another one."""
    return JsonResponse({"again": sessions.record_open_page(session=session, now=timezone.now())})
