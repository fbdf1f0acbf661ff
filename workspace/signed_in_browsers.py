"""Keeps the list of the browsers that people are signed in with: when one begins, and when it was seen last."""

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

from workspace.actions.browser_sessions import note_browser
from workspace.browsers import in_words

logger = logging.getLogger(__name__)

# By each process: looking at pages is not to become writing.
NOTED_EVERY = timedelta(minutes=5)


def note_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Note the browser that somebody has just signed in with (a receiver of Django's `user_logged_in`)."""
    if request.session.session_key is None:
        # Somebody else's session was ended for it, and the new one gets its key when it is stored.
        request.session.create()
    _is_due(request)
    _note(request, user.pk)


class SeenMiddleware:
    """Notes now and then that a browser is still used. A page that does not ask who is signed in costs nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        # Where the page failed, asking for the session again might too.
        asks = response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and request.session.accessed
        user = request.session.get(SESSION_KEY) if asks else None
        if user and request.session.session_key and _is_due(request):
            _note(request, int(user))
        return response


def _is_due(request: HttpRequest) -> bool:
    """Tell whether this process has noted nothing of the browser for a while; from now on it has."""
    return cache.add(f"browser-seen-{request.session.session_key}", True, NOTED_EVERY.total_seconds())


def _note(request: HttpRequest, user_id: int) -> None:
    browser = in_words(request.headers.get("User-Agent", ""))
    try:
        note_browser(
            user_id=user_id, session_key=request.session.session_key or "", browser=browser, now=timezone.now()
        )
    except DatabaseError:
        # Nobody is kept from a page for it.
        logger.warning("it could not be noted that a browser is still used", exc_info=True)
