"""Template context of every page of a session, and the redirect to its current page."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy

from annotation.actions.answering import live_sessions, responses
from annotation.language import lang_attribute
from annotation.models import Report, Session
from annotation.models.sessions import OPEN_STATES
from annotation.money import format_owed
from annotation.notices import notice_pages
from annotation.pages import session_bar, session_urls
from annotation.recruitment import invite
from studies.markdown import render_headed
from studies.models import Study

LONGEST_TEXT = 5000
REASONS = {
    Report.Reason.BROKEN: gettext_lazy("Something in it is broken"),
    Report.Reason.OFFENSIVE: gettext_lazy("It is offensive"),
    Report.Reason.UNANSWERABLE: gettext_lazy("It cannot be answered"),
    Report.Reason.OTHER: gettext_lazy("Something else"),
}


def context(session: Session) -> dict[str, Any]:
    """Return the template context of every page of a session."""
    # These annotators lose nothing by stopping.
    free_to_stop = {"stopped_by": "", "has_pay": False} if live_sessions.has_filled_first_seat(session) else {}
    told = study_context(session.study, part=session.part_begun, provider=session.provider) | free_to_stop
    return told | {
        "bar": session_bar(session, now=timezone.now()),
        "urls": session_urls(session.token),
        "language": get_language(),
        "keeps_place": session.state in OPEN_STATES and not session.questions_answered,
        "answer_notices": notice_pages(session),
    }


def study_context(study: Study, *, part: int, provider: str) -> dict[str, Any]:
    """Return the context of help texts about `study`, for annotators who came by `provider`."""
    instructions = render_headed(study.design.parts[part].instructions)
    # "return" or "code", as the study file says, for annotators from a platform; invited ones get neither.
    from_platform = provider != invite.PROVIDER
    return {
        "instructions_heading": instructions.heading,
        "instructions_html": instructions.body,
        "text_language": lang_attribute(study.design.language),
        "contact": study.design.contact,
        "ethics": study.design.ethics,
        "reasons": REASONS,
        "one_action": study.design.answering.one_action,
        "has_pay": bool(study.design.pay.per_session or study.design.pay.per_answer),
        "stopped_by": study.design.endings.stopped if from_platform else "",
        "time_over_by": study.design.endings.time_over if from_platform else "",
    }


def withdrawn_context(session: Session) -> dict[str, Any]:
    """Return the context about withdrawn questions and late answers, and about the pay for what was answered.

    withdrawn_by: who withdrew questions of the session: "author", "researchers", or "" for nobody.
    """
    withdrawn = session.withdrawn_slots.values_list("question__taken_out_at", flat=True)
    taken_out = [at is not None for at in withdrawn]
    return {
        "owed": format_owed(session, responses.stored_answers(session=session)),
        "withdrawn_by": ("researchers" if all(taken_out) else "author") if taken_out else "",
        "kept_aside": responses.set_aside_answers(session=session).count(),
        "pays_answers": bool(session.study.design.pay.per_answer),
    }


def redirect_to_session(session: Session | str, **said: str) -> HttpResponse:
    """Redirect to the current page of a session or of the one with this token, with `said` in the query."""
    response = redirect("session", session if isinstance(session, str) else session.token)
    response.status_code = 303
    if said:
        response["Location"] += f"?{urlencode(said)}"
    return response


def typed_text(request: HttpRequest, name: str) -> str:
    # PostgreSQL stores no NUL characters.
    return request.POST.get(name, "").replace("\0", "")[:LONGEST_TEXT]
