"""Keep the list of signed-in browsers: when each session began, and when it was last seen."""

import logging
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from workspace.actions.browser_sessions import record_browser
from workspace.browsers import browser_name

logger = logging.getLogger(__name__)

# Per process, so that viewing pages does not write each time.
NOTED_EVERY = timedelta(minutes=5)


def record_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Record the browser of a new sign-in (receiver of Django's `user_logged_in`)."""
    if request.session.session_key is None:
        # Django ended another user's session, and the new one has no key until it is saved.
        request.session.create()
    _is_due(request)
    _record(request, user.pk)


class LastSeenMiddleware:
    """Record now and then that a browser is still used; costs nothing on pages without a user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        # Where the page failed, reading the session might fail too.
        asks = response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and request.session.accessed
        user = request.session.get(SESSION_KEY) if asks else None
        if user and request.session.session_key and _is_due(request):
            _record(request, int(user))
        return response


def _is_due(request: HttpRequest) -> bool:
    """Return whether this process should record the browser now, at most every `NOTED_EVERY`."""
    return cache.add(f"browser-seen-{request.session.session_key}", True, NOTED_EVERY.total_seconds())


def _record(request: HttpRequest, user_id: int) -> None:
    browser = browser_name(request.headers.get("User-Agent", ""))
    try:
        record_browser(
            user_id=user_id, session_key=request.session.session_key or "", browser=browser, now=timezone.now()
        )
    except DatabaseError:
        # A failed record must not keep anybody from a page.
        logger.warning("it could not be noted that a browser is still used", exc_info=True)
