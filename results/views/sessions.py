"""What a researcher does about single sessions: give back the seat of one that ended on the platform."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.actions import sessions
from annotation.models import Session, SessionState
from annotation.models.sessions import OPEN_STATES
from results.views.guards import study_view
from studies.models import Study


@study_view
@require_POST
def returned(request: HttpRequest, study: Study) -> HttpResponse:
    """Free the seat of a submission that was returned or timed out on the platform; its answers stay.

    The platform's id of the submission is typed in, and shown nowhere: pages name people by pseudonyms only.
    """
    typed = request.POST.get("submission", "").replace("\0", "").strip()
    session = Session.objects.filter(study=study, provider_session_id=typed, state__in=OPEN_STATES).first()
    if session is not None and sessions.leave(session=session, to=SessionState.RETURNED, now=timezone.now()):
        answers = f"{session.questions_answered} answer{'' if session.questions_answered == 1 else 's'}"
        messages.success(request, f"The seat is free again. What was answered in it stays: {answers}.")
    else:
        messages.error(
            request, "No open session of this study has that submission id. Copy the id from the platform's list."
        )
    return redirect(f"{reverse('study', args=[study.project.slug, study.slug])}#sessions")
