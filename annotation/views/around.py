"""What stands around every page of a session: the bar, its addresses, the help, and the way back to where it is."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import get_language

from annotation.models import Session
from annotation.pages import session_bar, session_urls
from studies.markdown import render_headed


def context(session: Session) -> dict[str, Any]:
    """Return what every template of a session is given."""
    instructions = render_headed(session.study.design.parts[session.part_begun].instructions)
    return {
        "bar": session_bar(session, now=timezone.now()),
        "urls": session_urls(session.token),
        "instructions_heading": instructions.heading,
        "instructions_html": instructions.body,
        "language": get_language(),
    }


def back(session: Session) -> HttpResponse:
    """Lead to the page where the session is."""
    response = redirect("session", session.token)
    response.status_code = 303
    return response
