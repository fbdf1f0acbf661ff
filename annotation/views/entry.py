"""The door of a study: /take/<slug>/, from Prolific or by an invite link."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotation.actions import door, sessions
from annotation.errors import BadEntry, CannotTakePart, NothingLeft, OtherPerson
from annotation.models import EntryEvent, Session
from annotation.recruitment import invite
from annotation.recruitment.base import Entry
from annotation.recruitment.prolific import entry as prolific
from annotation.views.guards import annotator_view
from studies.models import Study

INVITE_COOKIE_DAYS = 60


@annotator_view
@require_http_methods(["GET", "HEAD", "POST"])
def take(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study.objects.select_related("project"), slug=slug)
    if "invite" in request.GET:
        return _arrive_by_invite(request, study)
    return _arrive_from_prolific(request, study)


def _arrive_from_prolific(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        entry = prolific.read_entry(request.GET)
    except prolific.MissingIds as error:
        _note(study, EntryEvent.What.MISSING, prolific.read_person(request.GET))
        raise BadEntry(
            gettext("Please open this study from Prolific."),
            gettext("The link must carry your participant, study and session ids; Prolific adds them by itself."),
        ) from error
    except prolific.UnfilledIds as error:
        _note(study, EntryEvent.What.UNFILLED, prolific.read_person(request.GET))
        raise BadEntry(
            gettext("The study link was not filled in by Prolific."),
            gettext("Go back to Prolific and press the study link again. If this page returns, tell the researcher."),
        ) from error
    _check_sent_here(study, entry)
    return _go_to_session(_start(study, entry))


def _check_sent_here(study: Study, entry: Entry) -> None:
    recruitment = study.design["recruitment"]
    if not recruitment["prolific"]:
        raise CannotTakePart(
            gettext("This study does not recruit on Prolific."), gettext("Ask the researcher for the right link.")
        )
    known = recruitment["prolific_study_ids"]
    if known and entry.study_id not in known:
        _note(study, EntryEvent.What.OTHER_STUDY, entry.person)
        if recruitment["other_studies"] == "refuse":
            raise CannotTakePart(
                gettext("This link came from another study on Prolific."),
                gettext("Open the study again from its own page on Prolific."),
            )


def _arrive_by_invite(request: HttpRequest, study: Study) -> HttpResponse:
    if request.GET["invite"] != study.invite_token or not study.design["recruitment"]["invite"]:
        raise BadEntry(
            gettext("This invitation is not valid."),
            gettext("Check that you have the whole link, or ask for a new one."),
        )
    cookie = f"invite-{study.pk}"
    name = request.GET.get("who", "").strip()[: invite.LONGEST_NAME]
    if name and not name.isprintable():
        raise BadEntry(gettext("The name in this link cannot be read."), gettext("Ask the researcher for a new link."))
    if not name:
        token = request.get_signed_cookie(cookie, default="", max_age=INVITE_COOKIE_DAYS * 86400)
        known = Session.objects.filter(study=study, token=token).select_related("study", "last_seat").first()
        if known is not None:
            return _go_to_session(sessions.resume(session=known, now=timezone.now()))
    if request.method != "POST":
        # A look at the link (a chat's preview, a virus scanner) must not take anybody's place.
        entry = invite.named_entry(name) if name else None
        _look_in(study, entry)
        estimated = study.design["time"]["estimated_minutes"]
        context = {"title": study.title, "estimated_minutes": estimated, "visit": invite.new_visit()}
        return render(request, "annotation/start.html", context)
    visit = request.POST.get("visit", "")
    session = _start(study, invite.named_entry(name) if name else invite.anonymous_entry(visit))
    response = _go_to_session(session)
    if not name:
        age = INVITE_COOKIE_DAYS * 86400
        response.set_signed_cookie(
            cookie, session.token, max_age=age, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    return response


def _look_in(study: Study, entry: Entry | None) -> None:
    try:
        sessions.look_in(study=study, entry=entry, provider=invite.PROVIDER)
    except NothingLeft:
        _note(study, EntryEvent.What.NO_SEAT, entry.person if entry else "")
        raise


def _start(study: Study, entry: Entry) -> Session:
    try:
        return sessions.start(study=study, entry=entry, now=timezone.now())
    except OtherPerson:
        _note(study, EntryEvent.What.OTHER_PERSON, entry.person)
        raise
    except NothingLeft:
        _note(study, EntryEvent.What.NO_SEAT, entry.person)
        raise


def _note(study: Study, what: EntryEvent.What, person: str) -> None:
    door.note(study=study, what=what, person=person, now=timezone.now())


def _go_to_session(session: Session) -> HttpResponse:
    # The clean address: ids of people stand in no further address, log line or Referer.
    response = redirect("session", session.token)
    response.status_code = 303
    return response
