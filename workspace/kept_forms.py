"""Keep what somebody typed into a form when their session had ended, until they have signed in again."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone

KEY = "kept_form"
KEPT = timedelta(hours=1)
# Longer forms are not kept: sessions are read with every request.
MOST_CHARACTERS = 200_000
# Fields that are never kept, because they are secret or belong to the old session.
NEVER = ("csrfmiddlewaretoken", "password", "secret", "token")
DISCARD = "discard_kept_form"


class KeptFormsMiddleware:
    """Keep a form that was sent signed out, and offer to send it after signing in.

    Only a form with a valid token comes this far, so nobody else's page can put one here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            offered = _offer(request)
            if offered is not None:
                return offered
        response = self.get_response(request)
        # The user last: asking for it reads the session, which annotators have none of.
        if request.method == "POST" and _leads_to_sign_in(response) and not request.user.is_authenticated:
            _keep(request)
        return response


def _leads_to_sign_in(response: HttpResponse) -> bool:
    sign_in = resolve_url(settings.LOGIN_URL)
    return isinstance(response, HttpResponseRedirect) and response.url.startswith(f"{sign_in}?")


def _keep(request: HttpRequest) -> None:
    fields = [
        (name, values) for name, values in request.POST.lists() if not any(secret in name.lower() for secret in NEVER)
    ]
    if not request.FILES and 0 < sum(len(value) for _, values in fields for value in values) <= MOST_CHARACTERS:
        kept_until = (timezone.now() + KEPT).isoformat()
        request.session[KEY] = {"path": request.get_full_path(), "fields": fields, "until": kept_until}


def _offer(request: HttpRequest) -> HttpResponse | None:
    """Return the page that offers to send the kept form, at the address that it was sent to; None elsewhere."""
    kept = request.session.get(KEY)
    if kept is None:
        return None
    if datetime.fromisoformat(kept["until"]) < timezone.now():
        del request.session[KEY]
    elif kept["path"] == request.get_full_path():
        if request.method in {"GET", "HEAD"}:
            return render(request, "workspace/kept_form.html", {"kept": kept, "discard": DISCARD})
        if request.method == "POST":
            del request.session[KEY]
            return redirect("home") if DISCARD in request.POST else None
    return None
