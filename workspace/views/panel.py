"""The page of a panel: sign in by an emailed link, see studies, time and pay, and start a study."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.recruiting import link_requests, panel
from annotation.errors import AnnotationError
from annotation.language import in_readers_language
from annotation.models import Annotator
from annotation.recruitment.base import normalize_id
from studies.models import Study
from throttle.networks import network_of
from workspace.actions.sign_in import may_send_panel_link
from workspace.mail import can_send
from workspace.tasks import mail_panel_links

COOKIE = "panel"
SIGNED_IN_FOR = timedelta(days=30)
LINK_MINUTES = panel.LINK_LASTS.seconds // 60


@in_readers_language
@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the studies and sessions of who is signed in, or how to sign in."""
    annotator = _signed_in(request)
    if annotator is None:
        return _sign_in_page(request)
    own_sessions = panel.panel_sessions(annotator)
    context = {
        "open_studies": panel.open_studies(annotator, now=timezone.now()),
        "begun": {each.study.pk for each in own_sessions if each.is_open},
        "sessions": own_sessions,
        "total": panel.total_of(own_sessions),
    }
    return render(request, "workspace/panel/home.html", context)


@in_readers_language
@sensitive_post_parameters("address")
@never_cache
@require_POST
@sensitive_variables()
def send_link(request: HttpRequest) -> HttpResponse:
    """Mail a link. The answer is the same for every address, and a task sends: nobody learns who is in a panel."""
    address = normalize_id(request.POST.get("address", ""))
    verdict = may_send_panel_link(network_of(request), address, now=timezone.now())
    if not verdict.allowed:
        response = _sign_in_page(request, status=429, minutes=verdict.minutes, address=address)
        response["Retry-After"] = str(verdict.retry_after)
        return response
    if not can_send():
        return _sign_in_page(request)
    now = timezone.now()
    is_delayed = link_requests.are_delayed(now=now)
    link_requests.request_link(address=address, language=get_language() or settings.LANGUAGE_CODE, now=now)
    mail_panel_links.delay_on_commit()
    return render(request, "workspace/panel/link_sent.html", {"minutes": LINK_MINUTES, "is_delayed": is_delayed})


@in_readers_language
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest, key: str) -> HttpResponse:
    """Ask for a press of a button, because scanners of mail open links; then sign in."""
    try:
        if request.method != "POST":
            panel.check_link(key)
            return render(request, "workspace/panel/confirm.html", {"days": SIGNED_IN_FOR.days})
        annotator = panel.use_link(key=key, now=timezone.now())
    except panel.BadLink:
        return render(request, "workspace/panel/bad_link.html", {"minutes": LINK_MINUTES}, status=410)
    response = redirect("panel")
    response.set_signed_cookie(
        COOKIE,
        str(annotator),
        salt=COOKIE,
        max_age=int(SIGNED_IN_FOR.total_seconds()),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    response = redirect("panel")
    response.delete_cookie(COOKIE)
    return response


@in_readers_language
@never_cache
@require_POST
def start(request: HttpRequest, study: int) -> HttpResponse:
    """Start or continue a study."""
    annotator = _signed_in(request)
    if annotator is None:
        return redirect("panel")
    chosen = get_object_or_404(Study.objects.select_related("project"), pk=study)
    if not panel.may_see(chosen, annotator):
        return render(request, "404.html", status=404)
    try:
        session = panel.start(study=chosen, annotator=annotator, now=timezone.now())
    except AnnotationError as error:
        messages.error(request, error.whole)
        return redirect("panel")
    return redirect("session", session.token)


def _sign_in_page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {"can_send": can_send(), "is_delayed": link_requests.are_delayed(now=timezone.now()), **more}
    return render(request, "workspace/panel/sign_in.html", context, status=status)


def _signed_in(request: HttpRequest) -> Annotator | None:
    number = request.get_signed_cookie(COOKIE, default="", salt=COOKIE, max_age=SIGNED_IN_FOR) or ""
    return panel.find_member(int(number)) if number.isdecimal() else None
