"""Single sessions: release a place, accept suspicious times."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions import sessions
from annotation.actions.arriving import network_places
from annotation.actions.ending import time_checks
from annotation.models import Session, SessionState
from annotation.models.sessions import OPEN_STATES
from annotation.recruitment.base import normalize_id
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.views.form_values import read_field
from results.views.guards import signed_in_user, study_view
from studies.errors import StudyError
from studies.models import Study
from studies.permissions import Verb
from studies.wording import format_count
from workspace.views.studies.study import recruit_page


@study_view(Verb.RUN)
@require_POST
def release_returned(request: HttpRequest, study: Study) -> HttpResponse:
    """Release the place of a submission that was returned or timed out; its answers stay.

    The researcher types the platform's id of the submission, and no page shows it: pages use pseudonyms only.
    """
    submission = read_field(request.POST, "submission")
    digests = Session.digests_of([submission, normalize_id(submission)])
    session = Session.objects.filter(study=study, id_digest__in=digests, state__in=OPEN_STATES).first()
    if session is None:
        messages.error(
            request, "No open session of this study has that submission id. Copy the id from the platform's list."
        )
        return _redirect_to_study(study)
    return _release(request, study, session)


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def release_place(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Show what releasing the place of a session does, and release it on confirmation."""
    found = get_object_or_404(Session.objects.filter(study=study), pk=session)
    if request.method == "POST" or found.state not in OPEN_STATES:
        return _release(request, study, found)
    name_annotators(project=study.project)
    name = Pseudonym.objects.get(project=study.project, annotator=found.annotator_id).name
    places = network_places.open_sessions_from_same_network(session=found).count()
    context = {"study": study, "session": found, "name": name, "network_places": places}
    return render(request, "workspace/free_seat.html", context)


@study_view(Verb.RUN)
@require_POST
def release_network(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Release all places that the session's network holds."""
    found = get_object_or_404(Session.objects.filter(study=study), pk=session)
    freed = sessions.end_sessions_from_network(session=found, by=signed_in_user(request), now=timezone.now())
    if freed:
        messages.success(
            request, f"{format_count(freed, 'place')} of that network {'is' if freed == 1 else 'are'} free."
        )
    else:
        messages.error(request, "That network holds no places (any more). Nothing changed.")
    return _redirect_to_study(study)


@study_view(Verb.RUN)
@require_POST
def exempt_networks(request: HttpRequest, study: Study) -> HttpResponse:
    """Exempt the submitted networks from the limit on places."""
    networks = read_field(request.POST, "networks")
    try:
        network_places.exempt_networks(study=study, networks=networks, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        return recruit_page(request, study, networks=networks, problem=str(error))
    messages.success(request, "Saved. These networks may hold any number of places.")
    return redirect(f"{reverse('study_recruit', args=[study.project.slug, study.slug])}#networks")


def _release(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    by, now = signed_in_user(request), timezone.now()
    if request.method == "POST" and sessions.end_early(session=session, to=SessionState.RETURNED, by=by, now=now):
        answers = format_count(session.questions_answered, "answer")
        messages.success(request, f"Place released. {answers} kept.")
    else:
        session.refresh_from_db()
        state = session.get_state_display().lower()
        messages.error(request, f"This session has already ended ({state}) and holds no place. Nothing changed.")
    return _redirect_to_study(study)


@study_view(Verb.RUN)
@require_POST
def accept_times(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Accept the times of a session despite the evidence: it is paid like any other."""
    found = get_object_or_404(Session.objects.filter(study=study).select_related("study__project"), pk=session)
    if time_checks.accept_times(session=found, by=signed_in_user(request), now=timezone.now()):
        messages.success(request, "The times were accepted. The session is paid like any other.")
    else:
        messages.error(request, "This session has no unlikely times to accept. Nothing changed.")
    if "from_owed" in request.POST:
        return redirect("study_owed", study.project.slug, study.slug)
    return _redirect_to_study(study)


def _redirect_to_study(study: Study) -> HttpResponse:
    return redirect(f"{reverse('study', args=[study.project.slug, study.slug])}#sessions")
