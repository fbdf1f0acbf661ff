"""The page of a panel: sign in by an emailed link, see studies, time and pay, and start a study."""

from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.recruiting import panel
from annotation.errors import AnnotationError
from annotation.models import Annotator
from annotation.recruitment.base import normalize_id
from background.sealed_secrets import seal
from studies.errors import StudyError
from studies.models import Study
from throttle.networks import network_of
from workspace.actions.sign_in import may_send_panel_link
from workspace.mail import can_send
from workspace.tasks import mail_panel_link

COOKIE = "panel"
SIGNED_IN_FOR = timedelta(days=30)


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the studies and sessions of who is signed in, or how to sign in."""
    annotator = _signed_in(request)
    if annotator is None:
        return render(request, "workspace/panel/sign_in.html", {"can_send": can_send()})
    own_sessions = panel.panel_sessions(annotator)
    context = {
        "open_studies": panel.open_studies(annotator, now=timezone.now()),
        "sessions": own_sessions,
        "total": panel.total_of(own_sessions),
    }
    return render(request, "workspace/panel/home.html", context)


@sensitive_post_parameters("address")
@never_cache
@require_POST
@sensitive_variables()
def send_link(request: HttpRequest) -> HttpResponse:
    """Mail a link. The answer is the same for every address, and a task sends: nobody learns who is in a panel."""
    address = normalize_id(request.POST.get("address", ""))
    verdict = may_send_panel_link(network_of(request), address, now=timezone.now())
    if not verdict.allowed:
        context = {"can_send": can_send(), "minutes": verdict.minutes, "address": address}
        response = render(request, "workspace/panel/sign_in.html", context, status=429)
        response["Retry-After"] = str(verdict.retry_after)
        return response
    if can_send():
        mail_panel_link.delay_on_commit(seal(address))
    return render(request, "workspace/panel/link_sent.html", {"minutes": panel.LINK_LASTS.seconds // 60})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest, key: str) -> HttpResponse:
    """Ask for a press of a button, because scanners of mail open links; then sign in."""
    try:
        if request.method != "POST":
            panel.check_link(key)
            return render(request, "workspace/panel/confirm.html")
        annotator = panel.use_link(key=key, now=timezone.now())
    except panel.BadLink:
        return render(request, "workspace/panel/bad_link.html", status=410)
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
    except (AnnotationError, StudyError) as error:
        messages.error(request, error.whole if isinstance(error, AnnotationError) else str(error))
        return redirect("panel")
    return redirect("session", session.token)


def _signed_in(request: HttpRequest) -> Annotator | None:
    number = request.get_signed_cookie(COOKIE, default="", salt=COOKIE, max_age=SIGNED_IN_FOR) or ""
    return panel.find_member(int(number)) if number.isdecimal() else None
