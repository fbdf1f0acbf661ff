"""The entry page of a study: /take/<name>/, from Prolific or by invite link.

Loading it, as link previews and virus scanners do, claims no seat: that needs a press of Start.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotation.actions import sessions
from annotation.actions.arriving import entry_links, suspicious_arrivals
from annotation.errors import (
    BadEntry,
    CannotTakePart,
    NetworkFull,
    NotEligible,
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
from studies.models import Study
from throttle.networks import network_of

INVITE_COOKIE_DAYS = 60


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
    own = _own_session(study, entry)
    if own is not None:
        return _go_to_session(own)
    if request.method != "POST":
        _look_in(study, entry, provider=entry.provider)
        return _start_page(request, study, invited=False)
    return _go_to_session(_start(request, study, entry))


def _read_prolific(request: HttpRequest, study: Study) -> Entry:
    try:
        return prolific.read_entry(request.GET, any_ids=study.design.recruitment.any_ids)
    except prolific.MissingIds as error:
        _note(study, EntryEvent.What.MISSING, prolific.read_person(request.GET))
        raise BadEntry(
            gettext("Please open this study from Prolific."),
            gettext("The link must contain your participant, study and session IDs. Prolific adds them automatically."),
        ) from error
    except prolific.UnfilledIds as error:
        _note(study, EntryEvent.What.UNFILLED, prolific.read_person(request.GET))
        raise BadEntry(
            gettext("Prolific did not fill in the study link."),
            gettext("Go back to Prolific and press the study link again. If this page returns, tell the researcher."),
        ) from error
    except prolific.NotIds as error:
        _note(study, EntryEvent.What.NOT_AN_ID, prolific.read_person(request.GET))
        raise BadEntry(
            gettext("The IDs in this link are not from Prolific."),
            gettext("Go back to Prolific and press the study link again. If this page returns, tell the researcher."),
        ) from error


def _check_sent_here(study: Study, entry: Entry) -> None:
    recruitment = study.design.recruitment
    if not recruitment.prolific:
        raise CannotTakePart(
            gettext("This study does not recruit on Prolific."), gettext("Ask the researcher for the right link.")
        )
    known = recruitment.prolific_study_ids
    if known and entry.study_id not in known:
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
    entry = _named(request, study)
    own = _own_session(study, entry) if entry else _session_of_this_browser(request, study)
    if own is not None:
        return _go_to_session(own)
    if request.method != "POST":
        _look_in(study, entry, provider=invite.PROVIDER)
        return _start_page(request, study, invited=True)
    named = entry is not None
    session = _start(request, study, entry or invite.anonymous_entry(request.POST.get("visit", "")), is_named=named)
    response = _go_to_session(session)
    if entry is None:
        age = INVITE_COOKIE_DAYS * 86400
        response.set_signed_cookie(
            _cookie(study),
            session.token,
            max_age=age,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


def _named(request: HttpRequest, study: Study) -> Entry | None:
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


def _own_session(study: Study, entry: Entry) -> Session | None:
    try:
        return sessions.find(study=study, entry=entry)
    except OtherPerson:
        _note(study, EntryEvent.What.OTHER_PERSON, entry.person)
        raise


def _look_in(study: Study, entry: Entry | None, *, provider: str) -> None:
    try:
        sessions.check_can_start(study=study, entry=entry, provider=provider, now=timezone.now())
    except (NothingLeft, NotEligible) as error:
        _note_refusal(study, error, entry.person if entry else "")
        raise


def _start_page(request: HttpRequest, study: Study, *, invited: bool) -> HttpResponse:
    estimated = study.design.time.estimated_minutes
    context = {
        "title": study.title,
        "estimated_minutes": estimated,
        "invited": invited,
        "visit": invite.new_visit(),
        "text_language": lang_attribute(study.design.language),
    }
    return render(request, "annotation/start.html", context)


def _start(request: HttpRequest, study: Study, entry: Entry, *, is_named: bool = False) -> Session:
    now = timezone.now()
    try:
        # Personal links are exempt from the network limits.
        network = "" if is_named else network_of(request)
        entry_links.count_newcomer(study=study, network=network, now=now)
        return sessions.start(study=study, entry=entry, now=now, network=network)
    except OtherPerson:
        _note(study, EntryEvent.What.OTHER_PERSON, entry.person)
        raise
    except (NothingLeft, NotEligible) as error:
        _note_refusal(study, error, entry.person)
        raise
    except NetworkFull:
        _note(study, EntryEvent.What.NETWORK_FULL, entry.person)
        raise
    except TooManyAtOnce:
        _note(study, EntryEvent.What.TOO_MANY, "")
        raise


def _note_refusal(study: Study, error: NothingLeft | NotEligible, person: str) -> None:
    what = EntryEvent.What.NOTHING_YET if isinstance(error, NothingYet) else EntryEvent.What.NO_SEAT
    if error.rule:
        what = EntryEvent.What.REFUSED
    _note(study, what, person, rule=error.rule)


def _note(study: Study, what: EntryEvent.What, person: str, *, rule: str = "") -> None:
    suspicious_arrivals.note(study=study, what=what, person=person, now=timezone.now(), rule=rule)


def _go_to_session(session: Session) -> HttpResponse:
    # Redirect to a clean address, so that ids of people appear in no further address, log line or Referer.
    response = redirect("session", session.token)
    response.status_code = 303
    return response
