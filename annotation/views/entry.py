"""The entry page of a study: /take/<name>/, from Prolific or by invite link.

Loading it, as link previews and virus scanners do, claims no seat: that needs a press of Start.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods
from django_stubs_ext import StrOrPromise

from annotation.actions import sessions
from annotation.actions.arriving import entry_links, suspicious_arrivals
from annotation.actions.recruiting import arrival_checks
from annotation.actions.recruiting.prolific_studies import sends_people
from annotation.errors import (
    AnnotationError,
    BadEntry,
    CannotTakePart,
    NetworkFull,
    NothingLeft,
    NothingYet,
    OtherPerson,
    TooManyAtOnce,
)
from annotation.language import activate_language, lang_attribute
from annotation.models import EntryEvent, Session
from annotation.recruitment import invite
from annotation.recruitment.base import Entry
from annotation.recruitment.prolific import entry as prolific
from annotation.views.guards import annotator_view
from annotation.views.page_context import redirect_to_session
from studies.models import Study
from throttle.networks import network_of

INVITE_COOKIE_DAYS = 60
_PRESS_AGAIN = gettext_lazy(
    "Go back to Prolific and press the study link again. If this page returns, tell the researcher."
)


@annotator_view
@require_http_methods(["GET", "HEAD", "POST"])
def take(request: HttpRequest, name: str) -> HttpResponse:
    study = entry_links.study_at(name)
    activate_language(study.design.language)
    if "invite" in request.GET:
        return _arrive_by_invite(request, study)
    return _arrive_from_prolific(request, study)


def _arrive_from_prolific(request: HttpRequest, study: Study) -> HttpResponse:
    entry = _read_prolific(request, study)
    _check_sent_here(study, entry)
    with _note_refusals(study, entry.person):
        session = sessions.find(study=study, entry=entry)
        if session is not None:
            return redirect_to_session(session)
        arrival, now = _arrival(request, study, entry), timezone.now()
        if request.method != "POST":
            sessions.check_can_start(study=study, entry=entry, provider=entry.provider, now=now)
            return _start_page(request, study, invited=False, proof=arrival_checks.check_link(arrival, now=now))
        identity = arrival_checks.check(arrival, proof=request.POST.get("proof", ""), now=now)
        return redirect_to_session(_start(study, entry, network=network_of(request), identity=identity))


def _arrival(request: HttpRequest, study: Study, entry: Entry) -> arrival_checks.Arrival:
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    return arrival_checks.Arrival(study, entry, request.GET.dict(), host)


# What is wrong with a link from Prolific -> how it is counted, and what the annotator reads.
_WRONG_LINKS: dict[type[Exception], tuple[EntryEvent.What, StrOrPromise, StrOrPromise]] = {
    prolific.MissingIds: (
        EntryEvent.What.MISSING,
        gettext_lazy("Please open this study from Prolific."),
        gettext_lazy(
            "The link must contain your participant, study and session IDs. Prolific adds them automatically."
        ),
    ),
    prolific.UnfilledIds: (
        EntryEvent.What.UNFILLED,
        gettext_lazy("Prolific did not fill in the study link."),
        _PRESS_AGAIN,
    ),
    prolific.NotIds: (
        EntryEvent.What.NOT_AN_ID,
        gettext_lazy("The IDs in this link are not from Prolific."),
        _PRESS_AGAIN,
    ),
}


def _read_prolific(request: HttpRequest, study: Study) -> Entry:
    try:
        return prolific.read_entry(request.GET, any_ids=study.design.recruitment.any_ids)
    except tuple(_WRONG_LINKS) as error:
        what, message, what_next = _WRONG_LINKS[type(error)]
        _note(study, what, prolific.read_person(request.GET))
        raise BadEntry(str(message), str(what_next)) from error


def _check_sent_here(study: Study, entry: Entry) -> None:
    recruitment = study.design.recruitment
    if not recruitment.prolific:
        raise CannotTakePart(
            gettext("This study does not recruit on Prolific."), gettext("Ask the researcher for the right link.")
        )
    known = recruitment.prolific_study_ids
    if known and entry.study_id not in known and not sends_people(study=study, remote_id=entry.study_id):
        _note(study, EntryEvent.What.OTHER_STUDY, entry.person)
        if recruitment.other_studies == "refuse":
            raise CannotTakePart(
                gettext("This link came from another study on Prolific."),
                gettext("Open the study again from its own page on Prolific."),
            )


def _arrive_by_invite(request: HttpRequest, study: Study) -> HttpResponse:
    if request.GET["invite"] != study.invite_token or not study.design.recruitment.invite:
        raise BadEntry(
            gettext("This invitation is not valid."),
            gettext("Check that you have the whole link, or ask for a new one."),
        )
    entry = _read_personal_link(request, study)
    with _note_refusals(study, entry.person if entry else ""):
        session = sessions.find(study=study, entry=entry) if entry else _session_of_this_browser(request, study)
        if session is not None:
            return redirect_to_session(session)
        if request.method != "POST":
            sessions.check_can_start(study=study, entry=entry, provider=invite.PROVIDER, now=timezone.now())
            return _start_page(request, study, invited=True)
        # Personal links are exempt from the network limits.
        if entry is not None:
            return redirect_to_session(_start(study, entry, network=""))
    return _start_anonymously(request, study)


def _start_anonymously(request: HttpRequest, study: Study) -> HttpResponse:
    """Start the session of an unknown person; its token is kept in a cookie of their browser."""
    entry = invite.anonymous_entry(request.POST.get("visit", ""))
    with _note_refusals(study, entry.person):
        session = _start(study, entry, network=network_of(request))
    response = redirect_to_session(session)
    response.set_signed_cookie(
        _cookie(study),
        session.token,
        max_age=INVITE_COOKIE_DAYS * 86400,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def _read_personal_link(request: HttpRequest, study: Study) -> Entry | None:
    """Return the arrival of a personal link, None for the shared link. Raises BadEntry if its key is wrong."""
    name = request.GET.get("who", "").strip()
    if not name:
        return None
    key = request.GET.get("key", "")
    if not invite.is_valid_name(name) or not invite.is_key_of(key, name, study=study.pk, secret=study.order_secret):
        raise BadEntry(
            gettext("This personal link is incomplete."),
            gettext("Check that you have the whole link, or ask the researcher for a new one."),
        )
    return invite.named_entry(name)


def _cookie(study: Study) -> str:
    return f"invite-{study.pk}"


def _session_of_this_browser(request: HttpRequest, study: Study) -> Session | None:
    token = request.get_signed_cookie(_cookie(study), default="", max_age=INVITE_COOKIE_DAYS * 86400)
    return Session.objects.filter(study=study, token=token).first() if token else None


def _start_page(request: HttpRequest, study: Study, *, invited: bool, proof: str = "") -> HttpResponse:
    context = {
        "title": study.title,
        "estimated_minutes": study.design.time.estimated_minutes,
        "invited": invited,
        "visit": invite.new_visit(),
        "proof": proof,
        "text_language": lang_attribute(study.design.language),
    }
    return render(request, "annotation/start.html", context)


def _start(study: Study, entry: Entry, *, network: str, identity: str = "") -> Session:
    now = timezone.now()
    entry_links.count_newcomer(study=study, network=network, now=now)
    return sessions.start(study=study, entry=entry, now=now, network=network, identity=identity)


# Refusals that the researcher sees; the first that fits counts.
_NOTED: dict[type[AnnotationError], EntryEvent.What] = {
    OtherPerson: EntryEvent.What.OTHER_PERSON,
    NothingYet: EntryEvent.What.NOTHING_YET,
    NothingLeft: EntryEvent.What.NO_SEAT,
    NetworkFull: EntryEvent.What.NETWORK_FULL,
    TooManyAtOnce: EntryEvent.What.TOO_MANY,
}


@contextmanager
def _note_refusals(study: Study, person: str) -> Iterator[None]:
    """Count a refusal inside as a suspicious arrival of `person`, "" if unknown."""
    try:
        yield
    except AnnotationError as error:
        what = next((what for kind, what in _NOTED.items() if isinstance(error, kind)), None)
        if error.rule:
            what = EntryEvent.What.REFUSED
        if what is not None:
            _note(study, what, "" if what == EntryEvent.What.TOO_MANY else person, rule=error.rule)
        raise


def _note(study: Study, what: EntryEvent.What, person: str, *, rule: str = "") -> None:
    suspicious_arrivals.note(study=study, what=what, person=person, now=timezone.now(), rule=rule)
