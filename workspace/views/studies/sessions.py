"""What a researcher does about single sessions: free a seat, accept the times of the answers."""

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
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.views.form_values import typed
from results.views.guards import signed_in, study_view
from studies.errors import StudyError
from studies.models import Study
from studies.permissions import Verb
from studies.wording import counted


@study_view(Verb.RUN)
@require_POST
def returned(request: HttpRequest, study: Study) -> HttpResponse:
    """Free the seat of a submission that was returned or timed out on the platform; its answers stay.

    The platform's id of the submission is typed in, and shown nowhere: pages name people by pseudonyms only.
    """
    submission = typed(request.POST, "submission")
    session = Session.objects.filter(study=study, provider_session_id=submission, state__in=OPEN_STATES).first()
    if session is None:
        messages.error(
            request, "No open session of this study has that submission id. Copy the id from the platform's list."
        )
        return _back(study)
    return _free(request, study, session)


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def free(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Say what freeing the seat of a session does, and free it when that is confirmed."""
    found = get_object_or_404(Session.objects.filter(study=study), pk=session)
    if request.method == "POST" or found.state not in OPEN_STATES:
        return _free(request, study, found)
    name_annotators(project=study.project)
    name = Pseudonym.objects.get(project=study.project, annotator=found.annotator_id).name
    places = network_places.open_sessions_from_same_network(session=found).count()
    context = {"study": study, "session": found, "name": name, "network_places": places}
    return render(request, "workspace/free_seat.html", context)


@study_view(Verb.RUN)
@require_POST
def free_network(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Free all places that the network of a session holds."""
    found = get_object_or_404(Session.objects.filter(study=study), pk=session)
    freed = sessions.end_sessions_from_network(session=found, by=signed_in(request), now=timezone.now())
    if freed:
        messages.success(request, f"{counted(freed, 'place')} of that network {'is' if freed == 1 else 'are'} free.")
    else:
        messages.error(request, "That network holds no places (any more). Nothing changed.")
    return _back(study)


@study_view(Verb.RUN)
@require_POST
def open_networks(request: HttpRequest, study: Study) -> HttpResponse:
    """Let the networks that are typed in hold any number of places."""
    try:
        network_places.open_to_networks(
            study=study, networks=typed(request.POST, "networks"), by=signed_in(request), now=timezone.now()
        )
    except StudyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Saved. These networks may hold any number of places.")
    return redirect(f"{reverse('study', args=[study.project.slug, study.slug])}#networks")


def _free(request: HttpRequest, study: Study, session: Session) -> HttpResponse:
    by, now = signed_in(request), timezone.now()
    if request.method == "POST" and sessions.end_early(session=session, to=SessionState.RETURNED, by=by, now=now):
        answers = counted(session.questions_answered, "answer")
        messages.success(request, f"The seat is free again. What was answered in it stays: {answers}.")
    else:
        session.refresh_from_db()
        state = session.get_state_display().lower()
        messages.error(request, f"This session has ended already ({state}), so its seat is not held. Nothing changed.")
    return _back(study)


@study_view(Verb.RUN)
@require_POST
def accept_times(request: HttpRequest, study: Study, session: int) -> HttpResponse:
    """Accept the times of a session in spite of the evidence: it is paid like any other."""
    found = get_object_or_404(Session.objects.filter(study=study).select_related("study__project"), pk=session)
    if time_checks.accept_times(session=found, by=signed_in(request), now=timezone.now()):
        messages.success(request, "The times are accepted. The session is paid like any other.")
    else:
        messages.error(request, "The times of this session are not in doubt (any more). Nothing changed.")
    if "from_owed" in request.POST:
        return redirect("study_owed", study.project.slug, study.slug)
    return _back(study)


def _back(study: Study) -> HttpResponse:
    return redirect(f"{reverse('study', args=[study.project.slug, study.slug])}#sessions")
