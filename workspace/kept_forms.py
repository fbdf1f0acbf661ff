"""What pages send after their session has ended: a form is kept until the user has signed in again."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone

from studies.design.form_fields import describe_sent_fields

KEY = "kept_form"
KEPT = timedelta(hours=1)
# Longer forms are not kept: sessions are read with every request.
MOST_CHARACTERS = 200_000
# Fields that are never kept, because they are secret or belong to the old session.
NEVER = ("csrfmiddlewaretoken", "password", "secret", "token")
# Fields that a form sends without anybody having typed them: hidden ones, and the values of buttons.
UNTYPED = frozenset(
    {"currency", "do", "edited_from", "filters", "form_key", "instead_of", "named", "next", "notices", "replaces"}
    | {"show", "shown", "slot", "sort", "sure", "then", "tried", "unmeasured", "upload", "visit"}
)
# Labels of fields whose names in words would not be understood.
LABELS = {
    "agree": "Agreement",
    "at_most": "Maximum time in minutes",
    "at_once": "Import at once",
    "closes": "Close the study automatically",
    "days": "Valid for (days)",
    "dataset": "Release the whole dataset",
    "mail": "Email address",
    "mails": "Email when complete",
    "people": "Prolific IDs",
    "part": "Pay a part of the reward",
    "provider_id": "Prolific ID",
    "q": "Search",
    "signed": "Signed links",
    "slug": "Name in addresses",
    "source": "Study file (YAML)",
    "url": "Address (URL)",
    "who": "Person",
    "whom": "For whom",
}
DISCARD = "discard_kept_form"
# What htmx takes as the end of a fragment that asks for itself again.
STOP_POLLING = 286
# Who was signed in last in a browser: nobody else there is shown what was typed.
COOKIE, FLAG, COOKIE_SECONDS = "last_person", "form_is_kept", 30 * 86400


class KeptFormsMiddleware:
    """Keep a form that was sent signed out, and offer to send it after signing in; files must be chosen again.

    Only a form with a valid token comes this far, so nobody else's page can put one here. It is offered only to the
    person who was signed in when the session ended.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Only this cookie says that there is something to offer: pages that need no database ask for no session.
        response = (_offer(request) if FLAG in request.COOKIES else None) or self.get_response(request)
        if _leads_to_sign_in(response) and not request.user.is_authenticated:
            # Requests that a page sends while somebody types are not submitted forms.
            if "HX-Request" in request.headers:
                return _say_signed_out(request)
            if request.method == "POST":
                _keep(request, response)
        _note_person(request, response)
        if FLAG in request.COOKIES and request.user.is_authenticated and KEY not in request.session:
            response.delete_cookie(FLAG)
        return response


def _last_person(request: HttpRequest) -> str:
    """Return the id of the person who was signed in last in this browser, or ""."""
    return request.get_signed_cookie(COOKIE, default="", salt=COOKIE, max_age=COOKIE_SECONDS) or ""


def _note_person(request: HttpRequest, response: HttpResponse) -> None:
    # Where Django stores the user of a request once somebody has asked for it.
    person = getattr(request, "_cached_user", None)
    if person is not None and person.is_authenticated and _last_person(request) != str(person.pk):
        response.set_signed_cookie(COOKIE, str(person.pk), salt=COOKIE, **_cookie_options())


def _cookie_options() -> dict[str, Any]:
    secure = settings.SESSION_COOKIE_SECURE
    return {"max_age": COOKIE_SECONDS, "secure": secure, "httponly": True, "samesite": "Lax"}


def _leads_to_sign_in(response: HttpResponse) -> bool:
    # Most responses are no redirects, and looking up the address takes time.
    if not isinstance(response, HttpResponseRedirect):
        return False
    return response.url.startswith(f"{resolve_url(settings.LOGIN_URL)}?")


def _say_signed_out(request: HttpRequest) -> HttpResponse:
    """Return a notice for the page; htmx would put the sign-in page inside it."""
    here = urlsplit(request.headers.get("HX-Current-URL", ""))
    page = f"{here.path}?{here.query}" if here.query else here.path
    response = render(request, "registration/_signed_out.html", {"page": page}, status=STOP_POLLING)
    response["HX-Reswap"] = "none"
    return response


def show_stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a form without a valid token, with its entries to copy in case the browser lost them.

    Nothing of it is kept and it offers no button, because another site may have sent the form.
    """
    return render(request, "403_csrf.html", {"entries": _entries(_fields(request))}, status=403)


def _fields(request: HttpRequest) -> list[tuple[str, list[str]]]:
    """Return the sent fields with their values, except secret ones."""
    return [
        (name, values) for name, values in request.POST.lists() if not any(secret in name.lower() for secret in NEVER)
    ]


def _entries(fields: Iterable[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    """Return what the person typed, by the labels of the form."""
    sent = {name: "\n".join(values) for name, values in fields}
    of_study = describe_sent_fields(sent)
    if of_study is not None:
        return of_study
    return [(_label(name), text) for name, text in sent.items() if name not in UNTYPED and text.strip()]


def _label(name: str) -> str:
    words = re.sub(r"[^\w]+|_", " ", name).strip()
    return LABELS.get(name, f"{words[:1].upper()}{words[1:]}")


def _keep(request: HttpRequest, response: HttpResponse) -> None:
    fields = _fields(request)
    person = _last_person(request)
    # Nothing is stored on the disk for somebody who is not signed in.
    files = [(name, [file.name or "" for file in sent]) for name, sent in request.FILES.lists()]
    typed = sum(len(value) for _, values in (*fields, *files) for value in values)
    if person and 0 < typed <= MOST_CHARACTERS:
        kept_until = (timezone.now() + KEPT).isoformat()
        request.session[KEY] = {
            "path": request.get_full_path(),
            "fields": fields,
            "files": files,
            "until": kept_until,
            "person": person,
        }
        response.set_cookie(FLAG, "yes", **_cookie_options())


def _offer(request: HttpRequest) -> HttpResponse | None:
    """Return the page that offers to send the kept form, at the address that it was sent to; None elsewhere."""
    kept = request.session.get(KEY) if request.user.is_authenticated else None
    if kept is None:
        return None
    if kept["person"] != str(request.user.pk) or datetime.fromisoformat(kept["until"]) < timezone.now():
        del request.session[KEY]
    elif kept["path"] == request.get_full_path():
        if request.method in {"GET", "HEAD"}:
            context = {"kept": kept, "entries": _entries(kept["fields"]), "discard": DISCARD}
            return render(request, "workspace/kept_form.html", context)
        if request.method == "POST":
            del request.session[KEY]
            return redirect("home") if DISCARD in request.POST else None
    return None
